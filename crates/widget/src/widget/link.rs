//! An element's part of the page's address: `#race=split:WRN`. It is read whether or not the element writes it.

use leptos::ev::hashchange;
use leptos::prelude::*;
use wasm_bindgen::JsValue;

use crate::element::Host;
use crate::session::address;

/// Names an element in the address: by its id, so that two of a kind differ, else by its kind.
#[derive(Clone, Copy)]
pub struct Link {
    host: StoredValue<Host, LocalStorage>,
    kind: &'static str,
}

impl Link {
    pub fn new(host: StoredValue<Host, LocalStorage>, kind: &'static str) -> Link {
        Link { host, kind }
    }

    /// Opens what the address says of this element, now and whenever the address changes.
    pub fn follow(self, open: impl Fn(Vec<(String, String)>) + 'static) {
        let read = move || {
            let hash = location().hash().unwrap_or_default();
            if let Some(values) = address::read(&hash, &self.key()) {
                open(values);
            }
        };
        read();
        let listener = window_event_listener(hashchange, move |_| read());
        on_cleanup(move || listener.remove());
    }

    /// Writes into the address what is to be opened, if the element has the attribute `link`.
    pub fn write(self, values: &[(&str, &str)]) {
        if !self.host.with_value(|host| host.element.has_attribute("link")) {
            return;
        }
        let hash = location().hash().unwrap_or_default();
        let hash = address::write(&hash, &self.key(), values);
        if let Ok(history) = window().history() {
            // A frame without an address of its own refuses; the readout needs none.
            let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(&hash));
        }
    }

    fn key(self) -> String {
        let id = self.host.with_value(|host| host.element.id());
        if id.is_empty() { self.kind.to_owned() } else { id }
    }
}
