//! The parts that readouts are made of. A part draws a model of [`session`](crate::session) and decides nothing.
//!
//! Parts are HTML text made by plain functions, tested natively and light in wasm. What the reader works with (buttons,
//! inputs, folds) stands in markup that is written once, and slots in it follow the session, so that a redraw never
//! moves the focus or shuts a fold.

pub mod diagram;
pub mod keys;
pub mod lanes;
pub mod orders;
pub mod readout;
pub mod script;

#[cfg(target_family = "wasm")]
mod panel;

use echomq_core::snippet::{Language, snippet};

#[cfg(target_family = "wasm")]
pub use panel::{panel, problem};

use crate::session::shown::Shown;

/// What stands in a place of an element's markup, by the place's `data-slot`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Slot {
    Html(&'static str, String),
    /// An attribute of the place: its name and its value.
    Attribute(&'static str, &'static str, String),
    /// The text of an input; an element's markup may be without it.
    Value(&'static str, String),
}

const DIAGRAM: &str =
    r#"<div part="diagram"><div part="map" data-slot="map">{map}</div><div data-slot="counter"></div></div>"#;
const READOUT: &str =
    r#"<div part="readout" role="status" aria-live="polite" aria-atomic="true" data-slot="readout"></div>"#;

/// An element's markup around its own `bar` and `scene`. In the scene `{diagram}` and `{readout}` stand for these parts,
/// and the names of `own` for what the element has for them. [`drawn`] fills the slots of what all elements have.
pub fn frame(title: &str, bar: &str, scene: &str, own: &[(&str, &str)]) -> String {
    let diagram = filled(DIAGRAM, &[("map", diagram::SVG)]);
    let places = [&[("diagram", diagram.as_str()), ("readout", READOUT)], own].concat();
    let scene = filled(scene, &places);
    let languages = Language::ALL.map(|language| language_choice(language.name())).concat();
    let title = escape(title);
    let places = [("title", title.as_str()), ("bar", bar), ("scene", &scene), ("languages", &languages)];
    filled(include_str!("part/frame.html"), &places)
}

/// The slots of what is shown in every [`frame`]. `initial` is the readout before the first act; `acts` counts the acts.
pub fn drawn(shown: &Shown, initial: &str, language: Language, acts: u32) -> Vec<Slot> {
    let html = Slot::Html;
    let line = if shown.argv.is_empty() { String::new() } else { snippet(language, &shown.argv) };
    vec![
        Slot::Attribute("map", "data-at", shown.place.to_owned()),
        html("counter", diagram::counter(shown)),
        // The mark redraws an answer that has come again, so that a screen reader tells it again.
        html("readout", format!("{}<!--{acts}-->", readout::html(shown.said.as_ref(), initial))),
        html("name", script::name(&shown.listing)),
        html("contract", script::contract(&shown.listing)),
        html("header", script::header(&shown.listing)),
        html("body", script::body(&shown.listing)),
        html("keys", keys::html(&shown.keys)),
        html("once", escape(&shown.once.join("\n"))),
        html("line", escape(&line)),
    ]
}

/// A template with its places, such as `{title}`, filled; a place that has no name here stays as it is.
fn filled(template: &str, places: &[(&str, &str)]) -> String {
    let mut text = String::new();
    // Cut at the braces, every second piece is a name. Searching for each name as text would bring 1.5 KB of search.
    for (at, piece) in template.split(['{', '}']).enumerate() {
        match places.iter().find(|(name, _)| *name == piece) {
            Some((_, value)) if at % 2 == 1 => text.push_str(value),
            _ if at % 2 == 1 => text.extend(["{", piece, "}"]),
            _ => text.push_str(piece),
        }
    }
    text
}

/// The language of this name, which a page's radio buttons have as their value.
pub fn language_of(name: &str) -> Language {
    Language::ALL.into_iter().find(|language| language.name() == name).unwrap_or(Language::Shell)
}

fn language_choice(name: &str) -> String {
    let checked = if name == Language::Shell.name() { " checked" } else { "" };
    format!(
        r#"<label><input type="radio" name="language" data-field="language" value="{name}"{checked}><span>{name}</span></label>"#
    )
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
            let shown = Shown::new(&mut session.staged_mut(), &Scripts::bundled().retry).unwrap();
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
