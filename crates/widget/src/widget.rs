//! The views, one per element, and the table that `element.js` asks by tag.

mod complete;
mod fence;
mod link;
mod model;
mod race;
mod retry;
mod round_trip;
mod rung;

use leptos::prelude::*;

use crate::element::Host;

/// One element. Its tag stands in `TAGS` of `element.js` too, which defines the tags before this module is there.
#[derive(Debug)]
pub struct Element {
    pub tag: &'static str,
    /// What its shadow root has beyond the sheet that all elements share.
    pub style: &'static str,
    pub view: fn(Host) -> AnyView,
}

pub const ELEMENTS: &[Element] = &[
    Element { tag: "emq-fence", style: fence::STYLE, view: fence::view },
    Element { tag: "emq-complete", style: complete::STYLE, view: complete::view },
    Element { tag: "emq-retry", style: retry::STYLE, view: retry::view },
    Element { tag: "emq-round-trip", style: round_trip::STYLE, view: round_trip::view },
    Element { tag: "emq-race", style: race::STYLE, view: race::view },
    Element { tag: "emq-rung", style: rung::STYLE, view: |host| rung::view(host.element).into_any() },
];
