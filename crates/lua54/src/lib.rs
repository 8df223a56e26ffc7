//! Lua 5.4 for the engine: one build of Lua for native targets and wasm32-unknown-unknown, with the numbers of
//! Valkey's Lua.
//!
//! The engine speaks to Lua through its C API, [`ffi`], and a [`State`] that owns the Lua state. With the feature
//! `mlua`, which is on by default, there is mlua's safe API too, over the same Lua: `use lua54::mlua`. It is what
//! mlua's feature `vendored` does, with one more target. Without it Lua's libraries hold only what the engine takes of
//! them, and without the feature `libraries` only what the scripts of the pages take, for the size of the pages: `KEPT`,
//! `LEAST` and `TRIMS` in `build/source.rs`.
//!
//! # What differs from plain Lua 5.4
//!
//! The build edits copies of a few source files, and fails if the text to edit is not there; `EDITS` in
//! `build/source.rs` has each with its reason.
//! - Numbers are read and printed as by Lua 5.1: numerals and converted strings are doubles, `10/2` prints
//!   `5`, an integer of a library function prints as `%.14g` too.
//! - Nothing is random: hash seed, `table.sort` and `math.random` start from constants. So `pairs` goes
//!   through string, number and boolean keys in the same order natively and in wasm. Keys that are tables or
//!   functions are ordered by address.
//! - `io`, `os`, `utf8`, `debug` and `package` are not compiled. They open as empty tables (`csrc/absent.c`).
//! - Tables have no finalizers, and a message handler can be interrupted by a hook.
//!
//! # WebAssembly
//!
//! The target has no C library. Lua gets a very small one (`csrc/wasm`): string functions in C, math from
//! Rust's own runtime, number text from [`num`]. There are no files; `print` prints nothing. The module
//! imports nothing for Lua's sake.
//!
//! Lua throws by longjmp. LLVM compiles setjmp and longjmp to WebAssembly exceptions and leaves three
//! functions and a tag to the runtime, which are `csrc/wasm/sjlj.c`. A throw passes through frames of Rust as
//! a foreign exception: they have nothing to clean up, because Rust calls what may throw only from where nothing
//! is left to drop, as natively.
//!
//! # Pitfalls
//!
//! - rustc does not complain about a C function that is missing in wasm: it becomes an import from `env`. The
//!   tests fail to load then; of a finished module, check that it imports nothing from `env`.
//! - A throw costs some twenty times as much in wasm as natively. Keep errors off hot paths.
//! - A Rust panic or a trap ends the instance of the module for good.
//! - Memory of a wasm instance never shrinks. Set [`State::set_memory_limit`].
//! - A hook is per coroutine; a new one takes the hook of its maker. A hook that throws is caught by
//!   pcall; to stop a script for good it must then throw at every instruction (`tests/lua/limits.rs` shows
//!   it). No hook comes inside one long call of a C function: `('a'):rep(30):find(('a?'):rep(30) .. 'b')`,
//!   `string.rep('', 1e15)`.
//! - The sign of a NaN that arithmetic makes is the processor's: `0/0` prints `-nan` on x86, as in Valkey
//!   there, and `nan` on ARM.
//! - `math.exp` and its kin come from other libraries natively and in wasm, and may differ in the last digit.
//! - An error of a Rust function is userdata in Lua. Who wants Valkey's error tables has to make them before
//!   Lua's pcall sees the error.
//! - The module uses the older exception instructions, which every browser since 2022 and Node 20 have; a
//!   binaryen as old as Debian 12's (108) breaks them.

pub mod num;
mod state;

#[cfg(any(all(target_arch = "wasm32", feature = "libraries"), all(test, feature = "mlua")))]
mod printf;
#[cfg(any(target_arch = "wasm32", all(test, feature = "mlua")))]
mod text;
#[cfg(target_arch = "wasm32")]
mod wasm;

#[cfg(feature = "mlua")]
pub use mlua;
pub use mlua_sys as ffi;
pub use state::{Error, State};
