//! The parts as views: the HTML text of a part, kept in step with what is shown.
//!
//! All parts take the whole of [`Shown`] and draw through `Signal<String>`: each further type in a signal, and each
//! further closure in a view, is code that a reader downloads.

use leptos::prelude::*;

use crate::part::{self, diagram, keys, readout, script};
use crate::session::shown::Shown;

/// Text that follows what it reads.
pub fn live(text: impl Fn() -> String + Send + Sync + 'static) -> Signal<String> {
    Signal::derive(text)
}

/// Text that follows what is shown.
fn of(shown: Signal<Shown>, text: fn(&Shown) -> String) -> Signal<String> {
    live(move || shown.with(text))
}

/// Text that stays.
pub fn word(text: &str) -> Signal<String> {
    Signal::stored(text.to_owned())
}

/// The widget's one live region, which is silent while `quiet` says so. `initial` stands before the first act.
pub fn readout_view(shown: Signal<Shown>, initial: Signal<String>, quiet: Signal<bool>) -> AnyView {
    let html =
        live(move || initial.with(|initial| shown.with(|shown| readout::html(shown.said.as_ref(), initial))));
    let politeness = live(move || if quiet.get() { "off" } else { "polite" }.to_owned());
    view! { <div part="readout" role="status" aria-live=politeness aria-atomic="true" inner_html=html></div> }
        .into_any()
}

pub fn script_view(shown: Signal<Shown>) -> AnyView {
    view! {
        <section part="script">
            <h3 part="heading" inner_html=of(shown, |shown| script::name(&shown.listing))></h3>
            <details part="contract">
                <summary inner_html=of(shown, |shown| script::contract(&shown.listing))></summary>
                <ol inner_html=of(shown, |shown| script::header(&shown.listing))></ol>
            </details>
            <ol inner_html=of(shown, |shown| script::body(&shown.listing))></ol>
        </section>
    }
    .into_any()
}

pub fn keys_view(shown: Signal<Shown>) -> AnyView {
    view! {
        <section part="keys">
            <h3 part="heading">"The keys, before and after"</h3>
            <div inner_html=of(shown, |shown| keys::html(&shown.keys))></div>
        </section>
    }
    .into_any()
}

/// Where the job is, and the attempts counter next to it.
pub fn diagram_view(shown: Signal<Shown>) -> AnyView {
    view! {
        <div part="diagram">
            <div part="map" data-at=of(shown, |shown| shown.place.to_owned()) inner_html=diagram::SVG></div>
            <div inner_html=of(shown, diagram::counter)></div>
        </div>
    }
    .into_any()
}

/// A line that says what is wrong.
pub fn problem(text: &str) -> AnyView {
    let html = word(&part::escape(text));
    view! { <p part="problem" role="alert" inner_html=html></p> }.into_any()
}
