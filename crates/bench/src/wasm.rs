//! The work on an engine in wasm; JavaScript holds the watch.

use echomq_core::EngineWire;
use wasm_bindgen::prelude::*;

/// An engine of its own.
#[wasm_bindgen]
#[derive(Default)]
pub struct Bench {
    wire: EngineWire,
}

#[wasm_bindgen]
impl Bench {
    #[wasm_bindgen(constructor)]
    pub fn new() -> Bench {
        Bench::default()
    }

    /// See [`crate::enqueue`].
    pub fn enqueue(&mut self, jobs: usize) -> Result<(), JsError> {
        crate::enqueue(&mut self.wire, jobs, EngineWire::START.unix_ms()).map_err(told)
    }

    /// See [`crate::drain`].
    pub fn drain(&mut self, jobs: usize) -> Result<(), JsError> {
        crate::drain(&mut self.wire, jobs).map_err(told)
    }
}

impl std::fmt::Debug for Bench {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Bench")
    }
}

fn told(error: anyhow::Error) -> JsError {
    JsError::new(&format!("{error:#}"))
}
