//! The parts that readouts are made of. A part draws a model of [`session`](crate::session) and decides nothing.
//!
//! What is only to be read is made as HTML text by a plain function, tested natively and light in wasm; what the
//! reader works with (buttons, inputs, folds) is a Leptos view around it, so that a redraw never moves the focus or
//! shuts a fold.

pub mod diagram;
pub mod keys;
pub mod readout;
pub mod script;

#[cfg(target_family = "wasm")]
mod buttons;
#[cfg(target_family = "wasm")]
mod calls;
#[cfg(target_family = "wasm")]
pub mod lanes;
#[cfg(target_family = "wasm")]
mod panel;
#[cfg(target_family = "wasm")]
mod view;

#[cfg(target_family = "wasm")]
pub use buttons::{group, press};
#[cfg(target_family = "wasm")]
pub use calls::{calls_view, copy};
#[cfg(target_family = "wasm")]
pub use panel::panel;
#[cfg(target_family = "wasm")]
pub use view::{diagram_view, keys_view, live, problem, readout_view, script_view, word};

/// What stands in a place of an element's markup, by the place's `data-slot`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Slot {
    Html(&'static str, String),
    /// An attribute of the place: its name and its value.
    Attribute(&'static str, &'static str, String),
    /// The text of an input; an element's markup may be without it.
    Value(&'static str, String),
}

/// The sheet that every shadow root adopts.
pub const STYLE: &str = concat!(
    include_str!("part/base.css"),
    include_str!("part/buttons.css"),
    include_str!("part/readout.css"),
    include_str!("part/diagram.css"),
    include_str!("part/script.css"),
    include_str!("part/keys.css"),
    include_str!("part/calls.css"),
);

/// Text as HTML, in an element or in a quoted attribute.
pub fn escape(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            c => html.push(c),
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use echomq_core::{EngineWire, Scripts};

    use crate::session::present::{Present, Verb};
    use crate::session::shown::Shown;

    /// A token, an error and a payload are anybody's text.
    #[test]
    fn no_text_becomes_markup() {
        let hostile = "</code><img src=x onerror=alert(1)>\"'&";
        let verb = Verb::Retry { delay_ms: "1".into(), max_attempts: "1".into(), error: hostile.into() };
        let wire = Box::new(EngineWire::default().traced());
        let mut session = Present::new(wire, "a<b>&\"c", 1, verb).unwrap();
        for token in [hostile, "1"] {
            session.press(token).unwrap();
            let shown = Shown::new(session.staged_mut(), &Scripts::bundled().retry).unwrap();
            let drawn = [
                super::readout::html(shown.said.as_ref(), hostile),
                super::readout::html(None, hostile),
                super::script::header(&shown.listing),
                super::script::body(&shown.listing),
                super::keys::html(&shown.keys),
            ]
            .concat();
            assert!(!drawn.contains("<img") && !drawn.contains("a<b>"), "{drawn}");
            assert!(drawn.contains("&lt;/code&gt;&lt;img"), "{drawn}");
        }
    }
}
