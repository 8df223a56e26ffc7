//! An element without its view: what stands in the slots of its markup, and what a reader may ask of it.

use super::stages::SharedStage;
use crate::part::Slot;

pub trait Model {
    fn slots(&self) -> Vec<Slot>;

    /// The reader presses what is named `what`, or changes the field of that name to `value`. Answers what the page is
    /// to be told.
    fn ask(&mut self, what: &str, value: &str) -> Vec<Told>;

    /// Shows what a link says.
    fn open(&mut self, values: &[(String, String)]);

    /// What a link to this must say.
    fn link(&self) -> Vec<(&'static str, String)>;

    /// The stage that it shows, if others may show it too.
    fn stage(&self) -> Option<&SharedStage> {
        None
    }

    /// Sets its own scene, whatever was done on the stage before.
    fn start(&mut self) {}

    /// Shows the stage as it is now: another element has acted on it.
    fn refresh(&mut self) {}

    /// How long until it wants to be asked for `beat`; `None` when it does not play by itself.
    fn beat_ms(&self) -> Option<u64> {
        None
    }
}

/// An event of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    pub event: &'static str,
    pub detail: Vec<(&'static str, Detail)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detail {
    Text(String),
    Number(u32),
    Truth(bool),
}

/// An attribute of the element by its name.
pub type Attributes<'a> = &'a dyn Fn(&'static str) -> Option<String>;

impl From<&str> for Detail {
    fn from(text: &str) -> Detail {
        Detail::Text(text.to_owned())
    }
}

impl From<bool> for Detail {
    fn from(truth: bool) -> Detail {
        Detail::Truth(truth)
    }
}
