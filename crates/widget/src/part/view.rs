//! The parts as views: HTML text of a part, kept in step with its model.

use leptos::prelude::*;

use crate::part::{self, diagram, keys, readout, script};
use crate::session::diff::KeyDiff;
use crate::session::listing::Listing;
use crate::session::shown::Said;

/// The widget's one live region.
/// Nothing is announced while `quiet` says so.
pub fn readout_view(said: Signal<Option<Said>>, initial: Signal<String>, quiet: Signal<bool>) -> AnyView {
    let html = move || initial.with(|initial| said.with(|said| readout::html(said.as_ref(), initial)));
    let live = move || quiet.get().then_some("off");
    view! { <div part="readout" role="status" aria-live=live aria-atomic="true" inner_html=html></div> }
        .into_any()
}

pub fn script_view(listing: Signal<Listing>) -> AnyView {
    let name = move || listing.with(|listing| format!("{}.lua", listing.name));
    let contract = move || listing.with(|listing| format!("contract, {} lines", listing.header.len()));
    view! {
        <section part="script">
            <h3 part="heading">"The script " <code>{name}</code></h3>
            <details part="contract">
                <summary>{contract}</summary>
                <ol inner_html=move || listing.with(script::header)></ol>
            </details>
            <ol inner_html=move || listing.with(script::body)></ol>
        </section>
    }
    .into_any()
}

pub fn keys_view(keys: Signal<Vec<KeyDiff>>) -> AnyView {
    view! {
        <section part="keys">
            <h3 part="heading">"The keys, before and after"</h3>
            <div inner_html=move || keys.with(|keys| keys::html(keys))></div>
        </section>
    }
    .into_any()
}

/// Where the job is, and the attempts counter next to it.
pub fn diagram_view(place: Signal<&'static str>, attempts: Signal<String>) -> AnyView {
    let counter =
        move || attempts.with(|attempts| if attempts.is_empty() { "–".into() } else { attempts.clone() });
    view! {
        <div part="diagram">
            <div part="map" data-at=move || place.get() inner_html=diagram::SVG></div>
            <p part="attempts" aria-hidden="true"><span>"attempts"</span> <b>{counter}</b></p>
            <p class="sr">{move || attempts.with(|attempts| diagram::words(place.get(), attempts))}</p>
        </div>
    }
    .into_any()
}

/// A line that wraps nothing and says what is wrong.
pub fn problem(text: &str) -> AnyView {
    let html = part::escape(text);
    view! { <p part="problem" role="status" inner_html=html></p> }.into_any()
}
