//! The course readouts as custom elements. Each is three things: a session (plain Rust, no browser, tested
//! natively) that runs the scripts on the engine and holds what came back; a view of it (Leptos); and the shell
//! in `element.js`, which defines the tags, loads this module when a tag nears the viewport, and keeps the static
//! text when anything fails.
//!
//! No verdict stands in this crate as text: what a reader sees is what the scripts answered.

pub mod part;
pub mod session;

#[cfg(target_family = "wasm")]
mod element;
#[cfg(target_family = "wasm")]
mod widget;
