//! Buttons in a row. Each is a stop of Tab, and the arrow keys go from one to the next while one of them has the
//! focus; elsewhere the keys are the page's.

use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use web_sys::{Element, HtmlElement, KeyboardEvent};

use super::view::live;

pub fn group(label: &'static str, buttons: Vec<AnyView>) -> AnyView {
    view! { <div part="buttons" role="group" aria-label=label on:keydown=move_focus>{buttons}</div> }
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

fn move_focus(event: KeyboardEvent) {
    // A move out of line with the keys' usual meaning (Alt and Left is "back") stays the browser's.
    if event.alt_key() || event.ctrl_key() || event.meta_key() {
        return;
    }
    let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    let row = event.current_target().and_then(|row| row.dyn_into::<Element>().ok());
    let (Some(target), Some(row)) = (target, row) else { return };
    let Ok(buttons) = row.query_selector_all("button") else { return };
    let Some(at) = (0..buttons.length()).find(|at| buttons.get(*at).is_some_and(|node| node == *target))
    else {
        return;
    };
    let last = buttons.length() - 1;
    let next = match &*event.key() {
        "ArrowRight" => (at + 1).min(last),
        "ArrowLeft" => at.saturating_sub(1),
        "Home" => 0,
        "End" => last,
        _ => return,
    };
    event.prevent_default();
    if let Some(button) = buttons.get(next).and_then(|node| node.dyn_into::<HtmlElement>().ok()) {
        // An element that cannot take the focus leaves it where it is.
        let _ = button.focus();
    }
}
