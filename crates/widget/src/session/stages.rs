//! Which elements of a page show one queue: those that name it by the attribute `queue`.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use echomq_core::EngineWire;

use super::staged::{SceneError, Staged};

/// A stage that several elements may show.
pub type SharedStage = Rc<RefCell<Staged>>;

/// The stages of one page. A stage is gone with the last element that shows it.
#[derive(Debug, Default)]
pub struct Stages(RefCell<Vec<(String, Weak<RefCell<Staged>>)>>);

impl Stages {
    /// The stage of the queue that `named` names, as the elements before have left it, or else a new one; without a
    /// name, one of the element's own on the queue `default`.
    ///
    /// # Errors
    /// See [`Staged::new`].
    pub fn open(
        &self,
        named: Option<String>,
        default: &str,
        attempts: u64,
    ) -> Result<SharedStage, SceneError> {
        let new = |queue: &str| {
            let staged = Staged::new(Box::new(EngineWire::default().traced()), queue, attempts)?;
            Ok(Rc::new(RefCell::new(staged)))
        };
        let Some(queue) = named else { return new(default) };
        let mut stages = self.0.borrow_mut();
        stages.retain(|(_, stage)| stage.strong_count() > 0);
        let found = stages.iter().find(|(name, _)| *name == queue).and_then(|(_, stage)| stage.upgrade());
        if let Some(stage) = found {
            return Ok(stage);
        }
        let stage = new(&queue)?;
        stages.push((queue, Rc::downgrade(&stage)));
        Ok(stage)
    }
}
