//! "Do it yourself": the call that the page made, for a shell and for five languages, from the same argv.

use echomq_core::snippet::{Language, snippet};
use js_sys::Reflect;
use js_sys::futures::JsFuture;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::{JsCast as _, JsValue};
use web_sys::{Clipboard, Element, MouseEvent};

/// `argv`: what the last act sent, nothing before the first. `once`: the lines that a server needs before.
pub fn calls_view(argv: Signal<Vec<Vec<u8>>>, once: Signal<Vec<String>>) -> AnyView {
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
    let line = Signal::derive(move || argv.with(|argv| snippet(language.get(), argv)));
    let first = Signal::derive(move || once.with(|once| once.join("\n")));
    view! {
        <details part="calls">
            <summary>"Do it yourself"</summary>
            <p>"Once, so that your server knows the scripts and has the job:"</p>
            {copy(first)}
            <div hidden=move || argv.with(Vec::is_empty)>
                <p>"Then the call that this page has just made:"</p>
                <fieldset part="languages"><legend class="sr">"Language"</legend>{choices}</fieldset>
                {copy(line)}
            </div>
            <p hidden=move || argv.with(|argv| !argv.is_empty())>"Then a call: run one above, and it is written here."</p>
        </details>
    }
    .into_any()
}

/// Text with a button that copies it, or selects it where the page may not write to the clipboard.
pub fn copy(text: Signal<String>) -> AnyView {
    let label = RwSignal::new("Copy");
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
            label.try_set(if copied { "Copied" } else { "Selected" });
        });
    };
    Effect::new(move || {
        text.track();
        label.set("Copy");
    });
    view! {
        <div part="copyable">
            <pre part="snippet">{move || text.get()}</pre>
            <button type="button" part="copy" on:click=click>{move || label.get()}</button>
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
