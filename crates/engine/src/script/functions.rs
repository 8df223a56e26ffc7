//! Functions: how the host loads a library and calls what it registered.
//!
//! A library's source runs once, in a world of its own ([`world`]) where it can do nothing but register functions
//! ([`register`]). What they keep in the library's locals lives as long as the library; it is not part of a snapshot,
//! and going back to a library that was dropped runs its source again.

mod register;
mod world;

pub(super) use register::Registered;
pub(super) use world::push_source;

use std::ffi::CStr;
use std::rc::Rc;

use lua54::ffi;

use super::library::{Function, Library, is_name};
use super::shared::{Stop, Work};
use super::vm::Call;
use super::{Access, Host, broken, dialect, shebang};
use crate::engine::Version;
use crate::error::{CommandError, Failure, Interrupt};
use crate::reply::Reply;
use crate::session::Session;

pub(super) const CHUNK_NAME: &CStr = c"@user_function";

/// In the registry: for each library of [`Compiled`] the table of its callbacks.
static CALLBACKS: u8 = 0;

/// The libraries that Lua holds, and where in the table of [`CALLBACKS`].
#[derive(Default)]
pub(super) struct Compiled {
    libraries: Vec<(Rc<Library>, i64)>,
    /// Whether the world of functions is built, which the first library does.
    is_ready: bool,
    next: i64,
}

impl Host {
    /// The library of a source: compiles it and lets it register its functions.
    ///
    /// # Errors
    /// When the source is refused, or registers nothing.
    pub fn make_library(&mut self, name: &[u8], code: &[u8]) -> Result<Rc<Library>, Interrupt> {
        self.drop_libraries()?;
        let functions = self.register(code)?;
        let library = Rc::new(Library { name: name.to_vec(), code: Rc::from(code), functions });
        self.keep(&library)?;
        Ok(library)
    }

    /// FCALL: calls the function at `place` of `library`.
    pub fn call_function(
        &mut self,
        session: &Session,
        (library, place): (&Rc<Library>, usize),
        keys: &[&[u8]],
        args: &[&[u8]],
        access: Access,
    ) -> Result<Reply, Interrupt> {
        let at = self.callbacks(library)?;
        let name = library.functions.get(place).map(|function| function.name.as_slice()).unwrap_or_default();
        let name = String::from_utf8_lossy(name);
        let callback = i64::try_from(place).unwrap_or(i64::MAX - 1) + 1;
        world::enter(self.lua.as_ptr(), world::RUN);
        let work = Work::Function { library: at, callback };
        let reply = self.perform(session, &name, work, (keys, args), access);
        world::leave(self.lua.as_ptr());
        reply.map_err(Interrupt::from)
    }

    /// Where the callbacks of `library` are; runs its source again when they are gone.
    fn callbacks(&mut self, library: &Rc<Library>) -> Result<i64, Interrupt> {
        let known = self.compiled.libraries.iter().find(|(other, _)| Rc::ptr_eq(other, library));
        if let Some((_, at)) = known {
            return Ok(*at);
        }
        self.register(&library.code)?;
        self.keep(library)
    }

    /// Runs the source of a library; its callbacks are then in the world of functions.
    fn register(&mut self, code: &[u8]) -> Result<Vec<Function>, Interrupt> {
        self.prepare()?;
        let refuse = |message: &[u8]| {
            let message = String::from_utf8_lossy(message);
            CommandError::other(format!("ERR Error compiling function: {message}"))
        };
        let source = dialect::translate(shebang::code(code), CHUNK_NAME.to_bytes());
        let source = source.map_err(|message| refuse(&message))?;
        let lua = self.lua.as_ptr();
        world::enter(lua, world::LOAD);
        // SAFETY: `lua_load` protects itself, and copies what it keeps of the source.
        let status = unsafe {
            let start = source.as_ptr().cast();
            ffi::luaL_loadbufferx(lua, start, source.len(), CHUNK_NAME.as_ptr(), c"t".as_ptr())
        };
        if status != ffi::LUA_OK {
            world::leave(lua);
            let error = self.lua.take_error(status);
            return Err(match status {
                ffi::LUA_ERRMEM => self.shared.failure(Stop::Memory).into(),
                _ => refuse(&error.message).into(),
            });
        }
        // SAFETY: the function is on the stack, and `world::start` holds nothing to drop.
        let started = unsafe { self.lua.protected(1, world::start) }.map_err(broken);
        self.shared.registered.borrow_mut().clear();
        let result = started.and_then(|()| {
            self.perform(&Session::default(), "", Work::Library, (&[], &[]), Access::ReadOnly)
        });
        world::leave(lua);
        match result {
            Ok(Reply::Error(text)) => Err(CommandError::not_registered(&text).into()),
            Err(Failure::Endless { .. }) => {
                Err(CommandError::not_registered(b"ERR FUNCTION LOAD timeout").into())
            }
            Err(failure) => Err(failure.into()),
            Ok(_) => Ok(self.registered()?),
        }
    }

    /// What the source that ran registered.
    fn registered(&self) -> Result<Vec<Function>, CommandError> {
        let functions = self.shared.registered.take();
        if functions.is_empty() {
            return Err(CommandError::NO_FUNCTIONS);
        }
        for (place, function) in functions.iter().enumerate() {
            check(function, functions.get(..place).unwrap_or_default(), Version::V9_1)?;
        }
        Ok(functions)
    }

    /// Files the callbacks that were just registered under `library`.
    fn keep(&mut self, library: &Rc<Library>) -> Result<i64, Interrupt> {
        self.compiled.next += 1;
        let at = self.compiled.next;
        let file = |lua: *mut ffi::lua_State| unsafe {
            ffi::lua_rawgetp(lua, ffi::LUA_REGISTRYINDEX, (&raw const CALLBACKS).cast());
            world::push_callbacks(lua);
            ffi::lua_rawseti(lua, -2, at);
        };
        // SAFETY: `file` holds nothing to drop.
        unsafe { self.lua.protected(0, file) }.map_err(broken)?;
        self.compiled.libraries.push((Rc::clone(library), at));
        Ok(at)
    }

    /// Forgets the callbacks of libraries that neither the server nor a snapshot has any more.
    fn drop_libraries(&mut self) -> Result<(), Failure> {
        let is_used = |(library, _): &(Rc<Library>, i64)| Rc::strong_count(library) > 1;
        let (used, unused) = std::mem::take(&mut self.compiled.libraries).into_iter().partition(is_used);
        self.compiled.libraries = used;
        for (_, at) in unused {
            let forget = |lua: *mut ffi::lua_State| unsafe {
                ffi::lua_rawgetp(lua, ffi::LUA_REGISTRYINDEX, (&raw const CALLBACKS).cast());
                ffi::lua_pushnil(lua);
                ffi::lua_rawseti(lua, -2, at);
            };
            // SAFETY: `forget` holds nothing to drop.
            unsafe { self.lua.protected(0, forget) }.map_err(broken)?;
        }
        Ok(())
    }

    fn prepare(&mut self) -> Result<(), Failure> {
        if self.compiled.is_ready {
            return Ok(());
        }
        let shared = &raw const *self.shared;
        let build = move |lua: *mut ffi::lua_State| unsafe {
            super::vm::push_function(lua, shared, world::build, 0);
            ffi::lua_call(lua, 0, 0);
            ffi::lua_createtable(lua, 0, 0);
            ffi::lua_rawsetp(lua, ffi::LUA_REGISTRYINDEX, (&raw const CALLBACKS).cast());
        };
        // SAFETY: `build` holds nothing to drop; `shared` is in a box that lives as long as the state.
        unsafe { self.lua.protected(0, build) }.map_err(broken)?;
        self.compiled.is_ready = true;
        Ok(())
    }
}

/// Whether `function` may be registered after `others`. 9.1 asks when the whole source has run, 8.0 at once.
fn check(function: &Function, others: &[Function], version: Version) -> Result<(), CommandError> {
    if !is_name(&function.name) {
        return Err(match version {
            Version::V8_0 => CommandError::LIBRARY_NAME,
            Version::V9_1 => CommandError::FUNCTION_NAME,
        });
    }
    if others.iter().any(|other| other.name == function.name) {
        return Err(CommandError::FUNCTION_TWICE);
    }
    Ok(())
}

/// Pushes the callback at these places and what it is called with.
pub(super) fn push_call(call: &Call, library: i64, callback: i64) {
    unsafe {
        ffi::lua_rawgetp(call.lua, ffi::LUA_REGISTRYINDEX, (&raw const CALLBACKS).cast());
        ffi::lua_rawgeti(call.lua, -1, library);
        ffi::lua_rawgeti(call.lua, -1, callback);
        let input = call.shared().input.get();
        // SAFETY: `Host::perform` keeps the lists alive while the function runs.
        super::push_list(call, &*input.keys);
        super::push_list(call, &*input.args);
    }
}
