//! An element's view: markup, slots in it that follow what a session shows, and what the reader asks, by name.
//!
//! One component serves every element, and its events are heard at its root: a view with a type of its own per button
//! is many times as much to download.

use js_sys::Reflect;
use js_sys::futures::JsFuture;
use leptos::ev::Custom;
use leptos::html::div;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::{JsCast as _, JsValue};
use web_sys::{Clipboard, Element, Event, HtmlElement, HtmlInputElement, KeyboardEvent};

use super::Slot;
use crate::element::{Host, follow};

type Ask = Box<dyn Fn(&str, &str)>;

/// `ask` hears the `data-ask` of what was pressed, and the `data-field` and value of what was changed.
pub fn panel(
    host: &Host,
    title: &str,
    markup: &str,
    slots: impl Fn() -> Vec<Slot> + 'static,
    ask: Ask,
) -> AnyView {
    let root = host.root.clone();
    let mut shown = Vec::new();
    follow(Box::new(move || {
        let slots = slots();
        slots.iter().filter(|slot| !shown.contains(*slot)).for_each(|slot| fill(&root, slot));
        shown = slots;
    }));
    let title = super::escape(title);
    let markup =
        format!(r#"<div part="widget" data-slot="frame" role="group" aria-label="{title}">{markup}</div>"#);
    heard(markup, ask)
}

/// A line that wraps nothing and says what is wrong.
pub fn problem(text: &str) -> AnyView {
    let text = super::escape(text);
    heard(format!(r#"<p part="problem" role="alert">{text}</p>"#), Box::new(|_, _| ()))
}

/// Markup and what is asked in it.
fn heard(markup: String, ask: Ask) -> AnyView {
    let ask = StoredValue::new_local(ask);
    // Listeners of one type, at this very element: each type, and a listener of the whole page, has code of its own.
    let [click, submit, input, keydown] = ["click", "submit", "input", "keydown"].map(|name| {
        let hear = move |event: Event| ask.with_value(|ask| hear(&event, ask));
        (Custom::<Event>::new(name), hear)
    });
    div()
        .inner_html(markup)
        .on(click.0, click.1)
        .on(submit.0, submit.1)
        .on(input.0, input.1)
        .on(keydown.0, keydown.1)
        .into_any()
}

fn hear(event: &Event, ask: &Ask) {
    match &*event.type_() {
        "keydown" => event.dyn_ref().map_or((), |event| key(event, ask)),
        "input" => input(event, ask),
        _ => pressed(event, ask),
    }
}

fn fill(root: &Element, slot: &Slot) {
    let (Slot::Html(name, value) | Slot::Attribute(name, _, value) | Slot::Value(name, value)) = slot;
    let named = format!("[data-slot=\"{name}\"]");
    let Ok(Some(element)) = root.query_selector(&named) else { return };
    match slot {
        Slot::Html(..) => element.set_inner_html(value),
        // The names are ours and well formed.
        Slot::Attribute(_, attribute, _) => drop(element.set_attribute(attribute, value)),
        Slot::Value(..) => {
            if let Some(input) = element.dyn_ref::<HtmlInputElement>() {
                // Setting what is there already would move the caret.
                if input.value() != *value {
                    input.set_value(value);
                }
            }
        }
    }
}

fn target(event: &Event) -> Option<Element> {
    event.target()?.dyn_into().ok()
}

fn input(event: &Event, ask: &Ask) {
    let Some(input) = target(event).and_then(|target| target.dyn_into::<HtmlInputElement>().ok()) else {
        return;
    };
    if let Some(field) = input.get_attribute("data-field") {
        ask(&field, &input.value());
    }
}

fn pressed(event: &Event, ask: &Ask) {
    let form = event.type_() == "submit";
    if form {
        event.prevent_default();
    }
    let named = if form { "form[data-ask]" } else { "button[data-ask], button[data-copy]" };
    let Some(pressed) = target(event).and_then(|target| target.closest(named).ok().flatten()) else { return };
    // A button that can do nothing keeps the focus that it may have, so it is not `disabled`.
    if pressed.get_attribute("aria-disabled").as_deref() == Some("true") {
        return;
    }
    match pressed.get_attribute("data-ask") {
        Some(what) => ask(&what, ""),
        None => copy(pressed),
    }
}

/// A place with `data-keys` hears these keys, each as an ask of its name. The focus goes along to what is current then,
/// when it is on something that follows.
fn key(event: &KeyboardEvent, ask: &Ask) {
    // Alt and Left is "back" in a browser.
    if event.alt_key() || event.ctrl_key() || event.meta_key() {
        return;
    }
    let Some(target) = target(event) else { return };
    let key = event.key();
    let place = target.closest("[data-keys]").ok().flatten();
    let keys = place.as_ref().and_then(|place| place.get_attribute("data-keys")).unwrap_or_default();
    let Some(place) = place.filter(|_| keys.split(' ').any(|own| own == key)) else {
        move_focus(event, &target);
        return;
    };
    event.prevent_default();
    ask(&key, "");
    if target.has_attribute("data-follow") {
        // What was asked is drawn in the next task.
        let follow = move || {
            let current = place.query_selector("[data-follow][aria-current=\"step\"]").ok().flatten();
            if let Some(current) = current.and_then(|current| current.dyn_into::<HtmlElement>().ok()) {
                // An element that cannot take the focus leaves it where it is.
                let _ = current.focus();
            }
        };
        set_timeout(follow, std::time::Duration::ZERO);
    }
}

/// The arrow keys go from one button of a row to the next while one of them has the focus; elsewhere the keys are the
/// page's.
fn move_focus(event: &KeyboardEvent, target: &Element) {
    let Some(row) = target.closest("[part=\"buttons\"]").ok().flatten() else { return };
    let Ok(buttons) = row.query_selector_all("button") else { return };
    let Some(at) = (0..buttons.length()).find(|at| buttons.get(*at).is_some_and(|node| node == **target))
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

/// Copies the text before the button, or selects it where the page may not write to the clipboard.
fn copy(button: Element) {
    let Some(shown) = button.previous_element_sibling() else { return };
    spawn_local(async move {
        let copied = write(&shown.text_content().unwrap_or_default()).await.is_some();
        if !copied && let Ok(Some(selection)) = window().get_selection() {
            // Where even that is refused the reader selects by hand.
            let _ = selection.select_all_children(&shown);
        }
        button.set_text_content(Some(if copied { "Copied" } else { "Selected" }));
        set_timeout(move || button.set_text_content(Some("Copy")), std::time::Duration::from_secs(2));
    });
}

/// Puts text on the clipboard; `None`: the browser has none for this page, or forbids it.
async fn write(text: &str) -> Option<()> {
    // Pages that are not served securely have no clipboard at all.
    let clipboard = Reflect::get(&window().navigator(), &JsValue::from_str("clipboard")).ok()?;
    let clipboard = clipboard.dyn_into::<Clipboard>().ok()?;
    JsFuture::from(clipboard.write_text(text)).await.ok().map(drop)
}
