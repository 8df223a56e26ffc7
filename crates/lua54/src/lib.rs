//! Lua 5.4.
pub use mlua;
