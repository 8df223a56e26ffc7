//! Buttons in a row. Each is a stop of Tab, and the arrow keys go from one to the next while one of them has the
//! focus; elsewhere the keys are the page's.

use leptos::prelude::*;

use super::panel::move_focus;
use super::view::live;

pub fn group(label: &'static str, buttons: Vec<AnyView>) -> AnyView {
    view! { <div part="buttons" role="group" aria-label=label on:keydown=|event| move_focus(&event)>{buttons}</div> }
        .into_any()
}

/// A button: who presses in bold, where somebody does, and what it does. While `off` says so it does nothing, and keeps the focus that it may have.
pub fn press(
    part: &'static str,
    who: &'static str,
    label: Signal<String>,
    off: Signal<bool>,
    act: Callback<()>,
) -> AnyView {
    let click = move |_| {
        if !off.get_untracked() {
            act.run(());
        }
    };
    let disabled = live(move || off.get().to_string());
    view! {
        <button type="button" part=part aria-disabled=disabled on:click=click>
            <b>{who}</b>
            " "
            <span>{label}</span>
        </button>
    }
    .into_any()
}
