//! What `element.js` calls: by tag, the style of an element and its view.

use leptos::mount::{UnmountHandle, mount_to};
use leptos::prelude::*;
use leptos::tachys::view::any_view::AnyViewState;
use wasm_bindgen::prelude::*;
use web_sys::{CustomEvent, CustomEventInit, HtmlElement};

use crate::widget;

/// A view in a page; gone when it is dropped or freed.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Mounted {
    _handle: Handle,
}

struct Handle(#[expect(dead_code, reason = "held for its drop")] UnmountHandle<AnyViewState>);

/// The style sheet of an element's shadow root.
#[wasm_bindgen]
pub fn style(tag: &str) -> Result<String, JsError> {
    match tag {
        "emq-rung" => Ok(widget::rung::STYLE.to_owned()),
        _ => Err(unknown(tag)),
    }
}

/// Renders the element's view into a node of its shadow root; events go out from `host`, the element.
#[wasm_bindgen]
pub fn mount(tag: &str, host: HtmlElement, into: HtmlElement) -> Result<Mounted, JsError> {
    let view = match tag {
        "emq-rung" => move || widget::rung::view(host).into_any(),
        _ => return Err(unknown(tag)),
    };
    Ok(Mounted { _handle: Handle(mount_to(into, view)) })
}

/// Tells the page: an event that crosses the shadow root, with a detail that JSON can hold.
pub fn tell(host: &HtmlElement, event: &str, detail: &[(&str, JsValue)]) {
    let object = js_sys::Object::new();
    for (name, value) in detail {
        // Setting a property of a new plain object cannot fail.
        let _ = js_sys::Reflect::set(&object, &JsValue::from_str(name), value);
    }
    let init = CustomEventInit::new();
    init.set_bubbles(true);
    init.set_composed(true);
    init.set_detail(&object);
    if let Ok(event) = CustomEvent::new_with_event_init_dict(event, &init) {
        let _ = host.dispatch_event(&event);
    }
}

impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Handle")
    }
}

fn unknown(tag: &str) -> JsError {
    JsError::new(&format!("this module has no element <{tag}>; are element.js and the wasm of one version?"))
}
