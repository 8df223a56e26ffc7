//! Lua 5.4.
pub mod num;
mod text;

#[cfg(any(target_arch = "wasm32", test))]
mod printf;
#[cfg(target_arch = "wasm32")]
mod wasm;

pub use mlua;
