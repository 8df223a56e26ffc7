//! The views, one per element, and the table that `element.js` asks by tag.

#[cfg(feature = "readouts")]
mod complete;
#[cfg(feature = "readouts")]
mod fence;
#[cfg(feature = "readouts")]
mod link;
#[cfg(feature = "readouts")]
mod model;
#[cfg(feature = "readouts")]
mod race;
#[cfg(feature = "readouts")]
mod retry;
#[cfg(feature = "readouts")]
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
    #[cfg(feature = "readouts")]
    Element { tag: "emq-fence", style: fence::STYLE, view: fence::view },
    #[cfg(feature = "readouts")]
    Element { tag: "emq-complete", style: complete::STYLE, view: complete::view },
    #[cfg(feature = "readouts")]
    Element { tag: "emq-retry", style: retry::STYLE, view: retry::view },
    #[cfg(feature = "readouts")]
    Element { tag: "emq-round-trip", style: round_trip::STYLE, view: round_trip::view },
    #[cfg(feature = "readouts")]
    Element { tag: "emq-race", style: race::STYLE, view: race::view },
    Element { tag: "emq-rung", style: rung::STYLE, view: rung::view },
];
