//! What `element.js` calls: the style of all elements and of each, and by tag an element's view.

use leptos::mount::{UnmountHandle, mount_to};
use leptos::prelude::*;
use leptos::tachys::view::any_view::AnyViewState;
use wasm_bindgen::prelude::*;
use web_sys::{CustomEvent, CustomEventInit, HtmlElement};

use crate::part;
use crate::session::model::{Detail, Told};
use crate::widget::{ELEMENTS, Element};

/// The element in the page that a view belongs to.
#[derive(Clone, Debug)]
pub struct Host {
    pub element: HtmlElement,
    /// The node of its shadow root that holds the view.
    pub root: HtmlElement,
    #[cfg(feature = "readouts")]
    changed: ArcTrigger,
}

/// A view in a page; gone when it is dropped or freed.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Mounted {
    _handle: Handle,
    changed: ArcTrigger,
}

struct Handle(#[expect(dead_code, reason = "held for its drop")] UnmountHandle<AnyViewState>);

/// The style sheet that the shadow roots of all elements share.
#[wasm_bindgen]
pub fn base_style() -> String {
    part::STYLE.to_owned()
}

/// The style sheet of one element, which follows the shared one.
#[wasm_bindgen]
pub fn style(tag: &str) -> Result<String, JsError> {
    Ok(find(tag)?.style.to_owned())
}

/// Renders the element's view into a node of its shadow root; events go out from `host`, the element.
#[wasm_bindgen]
pub fn mount(tag: &str, host: HtmlElement, into: HtmlElement) -> Result<Mounted, JsError> {
    let view = find(tag)?.view;
    let changed = ArcTrigger::new();
    let host = Host {
        element: host,
        root: into.clone(),
        #[cfg(feature = "readouts")]
        changed: changed.clone(),
    };
    Ok(Mounted { _handle: Handle(mount_to(into, move || view(host))), changed })
}

#[wasm_bindgen]
impl Mounted {
    /// The element's attributes are not what they were.
    pub fn changed(&self) {
        self.changed.notify();
    }
}

impl Host {
    /// An attribute of the element; where this is called reactively, it is called again when attributes change.
    #[cfg(feature = "readouts")]
    pub fn attribute(&self, name: &str) -> Option<String> {
        self.changed.track();
        self.element.get_attribute(name)
    }

    /// Tells the page: an event that crosses the shadow root, with a detail that JSON can hold.
    pub fn tell(&self, told: &Told) {
        let object = js_sys::Object::new();
        for (name, detail) in &told.detail {
            let value = match detail {
                Detail::Text(text) => text.as_str().into(),
                Detail::Number(number) => (*number).into(),
                Detail::Truth(truth) => (*truth).into(),
            };
            // Setting a property of a new plain object cannot fail.
            let _ = js_sys::Reflect::set(&object, &JsValue::from_str(name), &value);
        }
        let init = CustomEventInit::new();
        init.set_bubbles(true);
        init.set_composed(true);
        init.set_detail(&object);
        if let Ok(event) = CustomEvent::new_with_event_init_dict(told.event, &init) {
            let _ = self.element.dispatch_event(&event);
        }
    }
}

/// Runs now and whenever what it has read changes. All effects are of this one type: each type has code of its own.
pub fn follow(mut run: Box<dyn FnMut()>) {
    Effect::new(move |_: Option<()>| run());
}

impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Handle")
    }
}

fn find(tag: &str) -> Result<&'static Element, JsError> {
    ELEMENTS.iter().find(|element| element.tag == tag).ok_or_else(|| {
        JsError::new(&format!(
            "this module has no element <{tag}>; are element.js and the wasm of one version?"
        ))
    })
}
