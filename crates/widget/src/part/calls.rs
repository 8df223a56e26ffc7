//! "Do it yourself": the call that the page made, for a shell and for five languages, from the same argv.

use echomq_core::snippet::{Language, snippet};
use js_sys::Reflect;
use js_sys::futures::JsFuture;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::{JsCast as _, JsValue};
use web_sys::{Clipboard, Element, MouseEvent};

use super::view::live;
use crate::session::shown::Shown;

/// The calls that set the scene, then the last act's.
pub fn calls_view(shown: Signal<Shown>) -> AnyView {
    let language = RwSignal::new(Language::Shell);
    let choice = move |choice: Language| {
        view! {
            <label>
                <input
                    type="radio"
                    name="language"
                    checked=choice == Language::Shell
                    on:change=move |_| language.set(choice)
                />
                <span>{choice.name()}</span>
            </label>
        }
        .into_any()
    };
    let choices: Vec<AnyView> = Language::ALL.into_iter().map(choice).collect();
    let once = live(move || shown.with(|shown| shown.once.join("\n")));
    let line = live(move || {
        let language = language.get();
        shown.with(|shown| if shown.argv.is_empty() { String::new() } else { snippet(language, &shown.argv) })
    });
    view! {
        <details part="calls">
            <summary>"Do it yourself"</summary>
            <p>"Once, so that your server knows the scripts and has the job:"</p>
            {copy(once)}
            <p>"Then the call that this page has just made:"</p>
            <fieldset part="languages">
                <legend class="sr">"Language"</legend>
                {choices}
            </fieldset>
            {copy(line)}
        </details>
    }
    .into_any()
}

/// Text with a button that copies it, or selects it where the page may not write to the clipboard.
pub fn copy(text: Signal<String>) -> AnyView {
    let label = RwSignal::new("Copy".to_owned());
    let click = move |event: MouseEvent| {
        let button = event.current_target().and_then(|target| target.dyn_into::<Element>().ok());
        let shown = button.and_then(|button| button.previous_element_sibling());
        spawn_local(async move {
            let copied = write(&text.get_untracked()).await.is_some();
            if !copied && let (Some(shown), Ok(Some(selection))) = (shown, window().get_selection()) {
                // Where even that is refused the reader selects by hand.
                let _ = selection.select_all_children(&shown);
            }
            // The view may have gone meanwhile.
            label.try_set(if copied { "Copied" } else { "Selected" }.to_owned());
        });
    };
    Effect::new(move || {
        text.track();
        label.set("Copy".to_owned());
    });
    view! {
        <div part="copyable">
            <pre part="snippet">{text}</pre>
            <button type="button" part="copy" on:click=click>{label}</button>
        </div>
    }
    .into_any()
}

/// Puts text on the clipboard; `None`: the browser has none for this page, or forbids it.
pub async fn write(text: &str) -> Option<()> {
    // Pages that are not served securely have no clipboard at all.
    let clipboard = Reflect::get(&window().navigator(), &JsValue::from_str("clipboard")).ok()?;
    let clipboard = clipboard.dyn_into::<Clipboard>().ok()?;
    JsFuture::from(clipboard.write_text(text)).await.ok().map(drop)
}
