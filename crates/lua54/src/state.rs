//! A Lua state on the C API alone: memory with a limit, protected calls, closed on drop.
//!
//! For those who speak to Lua through [`ffi`](crate::ffi) anyway. mlua's own state brings its userdata, references and
//! error types with it, which is some 15 KB of a page.

use std::alloc::{self, Layout};
use std::cell::Cell;
use std::ffi::{CStr, c_int, c_void};
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};

use crate::ffi;

/// An owned Lua state.
pub struct State {
    lua: NonNull<ffi::lua_State>,
    /// Lua's allocator holds the address too, so this is no box: it must not claim to be the only one.
    memory: NonNull<Memory>,
}

/// What ended a protected call.
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    /// One of `ffi::LUA_ERR…`.
    pub status: c_int,
    /// The error's text; empty when it was neither a string nor a number.
    pub message: Vec<u8>,
}

/// Bytes that Lua holds, and how many it may. Zero is no limit.
#[derive(Default)]
struct Memory {
    used: Cell<usize>,
    limit: Cell<usize>,
}

type Library = (&'static CStr, unsafe extern "C-unwind" fn(*mut ffi::lua_State) -> c_int);

/// What reaches nothing outside of Lua.
const LIBRARIES: &[Library] = &[
    (c"_G", ffi::luaopen_base),
    (c"string", ffi::luaopen_string),
    #[cfg(feature = "libraries")]
    (c"coroutine", ffi::luaopen_coroutine),
    #[cfg(feature = "libraries")]
    (c"table", ffi::luaopen_table),
    #[cfg(feature = "libraries")]
    (c"math", ffi::luaopen_math),
];

impl State {
    /// A state with the libraries base and string, and with the feature `libraries` coroutine, table and math. Without
    /// the feature `mlua` they hold only what the engine takes (`build/source.rs`).
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn new() -> Result<State, Error> {
        let memory = NonNull::from(Box::leak(Box::<Memory>::default()));
        // SAFETY: `allocate` is an allocator as Lua wants it; `memory` lives until after `lua_close`.
        let Some(lua) = NonNull::new(unsafe { ffi::lua_newstate(allocate, memory.as_ptr().cast()) }) else {
            // SAFETY: leaked above, and no Lua knows it.
            drop(unsafe { Box::from_raw(memory.as_ptr()) });
            return Err(Error { status: ffi::LUA_ERRMEM, message: Vec::new() });
        };
        let state = State { lua, memory };
        // SAFETY: nothing here needs dropping.
        unsafe {
            state.protected(0, |lua| {
                for (name, open) in LIBRARIES {
                    ffi::luaL_requiref(lua, name.as_ptr(), *open, 1);
                    ffi::lua_settop(lua, -2);
                }
            })?;
        }
        Ok(state)
    }

    /// The main coroutine. It is alive as long as `self`.
    pub fn as_ptr(&self) -> *mut ffi::lua_State {
        self.lua.as_ptr()
    }

    /// Bytes that Lua may hold from now on; 0 is no limit. An allocation above it is a Lua error.
    pub fn set_memory_limit(&self, bytes: usize) {
        // SAFETY: see the field.
        unsafe { self.memory.as_ref() }.limit.set(bytes);
    }

    /// Bytes that Lua holds.
    pub fn used_memory(&self) -> usize {
        // SAFETY: see the field.
        unsafe { self.memory.as_ref() }.used.get()
    }

    /// Runs `body` as a C function whose arguments are the `arguments` topmost values. They are taken off, and the
    /// results of `body` are dropped.
    ///
    /// # Errors
    /// What `body` raised.
    ///
    /// # Safety
    /// An error leaves `body` by a jump: at each call that can raise one, no frame of it may hold a value that needs
    /// dropping. The values that it expects must be on the stack, and two more must fit.
    pub unsafe fn protected<F>(&self, arguments: c_int, body: F) -> Result<(), Error>
    where
        F: FnOnce(*mut ffi::lua_State),
    {
        let lua = self.as_ptr();
        let mut body = ManuallyDrop::new(body);
        // SAFETY: a light function and a light pointer take no memory; `enter` takes `body` out once, before this ends.
        unsafe {
            ffi::lua_pushcclosure(lua, enter::<F>, 0);
            ffi::lua_rotate(lua, -1 - arguments, 1);
            ffi::lua_pushlightuserdata(lua, (&raw mut body).cast());
            match ffi::lua_pcall(lua, arguments + 1, 0, 0) {
                ffi::LUA_OK => Ok(()),
                status => Err(self.take_error(status)),
            }
        }
    }

    /// Takes off the error on top of the stack, which came with `status`.
    pub fn take_error(&self, status: c_int) -> Error {
        let lua = self.as_ptr();
        // SAFETY: a string is read where it is; a value of another type becomes none, for which memory could be lacking.
        unsafe {
            let mut message = Vec::new();
            if ffi::lua_type(lua, -1) == ffi::LUA_TSTRING {
                let mut len = 0;
                let text = ffi::lua_tolstring(lua, -1, &raw mut len);
                message.extend_from_slice(std::slice::from_raw_parts(text.cast(), len));
            }
            ffi::lua_settop(lua, -2);
            Error { status, message }
        }
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // SAFETY: both are ours; Lua calls the allocator until `lua_close` returns, and never after it. There are no
        // finalizers that could raise: this build has none for tables, and nothing here makes userdata with one.
        unsafe {
            ffi::lua_close(self.lua.as_ptr());
            drop(Box::from_raw(self.memory.as_ptr()));
        }
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("State").field("used_memory", &self.used_memory()).finish_non_exhaustive()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.message))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "Lua error {}: {self}", self.status)
    }
}

impl std::error::Error for Error {}

unsafe extern "C-unwind" fn enter<F: FnOnce(*mut ffi::lua_State)>(lua: *mut ffi::lua_State) -> c_int {
    // SAFETY: `State::protected` pushed the address of its `F`, which nobody took yet.
    let body = unsafe {
        let body = ffi::lua_touserdata(lua, -1).cast::<ManuallyDrop<F>>();
        ffi::lua_settop(lua, -2);
        ManuallyDrop::take(&mut *body)
    };
    body(lua);
    0
}

/// The strictest alignment that Lua's values have: that of a double, an integer, a pointer.
const ALIGNMENT: usize = 8;

/// `lua_Alloc` with a limit. A block is of `old_size` bytes, unless it is null: then that number says something else.
unsafe extern "C" fn allocate(
    memory: *mut c_void,
    block: *mut c_void,
    old_size: usize,
    new_size: usize,
) -> *mut c_void {
    // SAFETY: Lua passes what `State::new` gave it, and blocks that this function made, with their sizes.
    unsafe {
        let memory = &*memory.cast::<Memory>();
        let old_size = if block.is_null() { 0 } else { old_size };
        let used = memory.used.get() - old_size;
        if new_size == 0 {
            if !block.is_null() {
                alloc::dealloc(block.cast(), Layout::from_size_align_unchecked(old_size, ALIGNMENT));
                memory.used.set(used);
            }
            return ptr::null_mut();
        }
        let limit = memory.limit.get();
        let is_above = limit != 0 && used.saturating_add(new_size) > limit;
        if is_above && new_size > old_size {
            return ptr::null_mut();
        }
        let Ok(layout) = Layout::from_size_align(new_size, ALIGNMENT) else { return ptr::null_mut() };
        let new_block = if block.is_null() {
            alloc::alloc(layout)
        } else {
            alloc::realloc(block.cast(), Layout::from_size_align_unchecked(old_size, ALIGNMENT), new_size)
        };
        if !new_block.is_null() {
            memory.used.set(used + new_size);
        }
        new_block.cast()
    }
}

#[cfg(all(test, feature = "mlua"))]
mod tests {
    use super::*;

    fn run(state: &State, source: &str) -> Result<(), Error> {
        let lua = state.as_ptr();
        let (start, len) = (source.as_ptr().cast(), source.len());
        // SAFETY: lua_load protects itself; the call is protected.
        unsafe {
            match ffi::luaL_loadbufferx(lua, start, len, c"=test".as_ptr(), c"t".as_ptr()) {
                ffi::LUA_OK => state.protected(1, |lua| ffi::lua_call(lua, 0, 0)),
                status => Err(state.take_error(status)),
            }
        }
    }

    #[test]
    fn errors_come_with_their_status_and_leave_the_stack_as_it_was() {
        let state = State::new().unwrap();
        assert_eq!(run(&state, "x = ('a'):rep(3)"), Ok(()));
        for (source, status, message) in [
            ("error('late', 0)", ffi::LUA_ERRRUN, "late"),
            ("error({})", ffi::LUA_ERRRUN, ""),
            ("x =", ffi::LUA_ERRSYNTAX, "test:1: unexpected symbol near <eof>"),
        ] {
            assert_eq!(run(&state, source), Err(Error { status, message: message.into() }), "{source}");
        }
        assert_eq!(unsafe { ffi::lua_gettop(state.as_ptr()) }, 0);
    }

    #[test]
    fn memory_is_limited_and_counted() {
        let state = State::new().unwrap();
        state.set_memory_limit(1 << 20);
        let endless = "local t = {} for i = 1, math.huge do t[i] = i end";
        assert_eq!(run(&state, endless).unwrap_err().status, ffi::LUA_ERRMEM);
        assert!(state.used_memory() <= 1 << 20);
        assert_eq!(run(&state, "x = ('a'):rep(1e5)"), Ok(()));
        state.set_memory_limit(0);
        assert_eq!(run(&state, "x = ('a'):rep(4e6)"), Ok(()));
        assert!(state.used_memory() > 4_000_000);
    }
}
