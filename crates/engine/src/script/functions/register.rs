//! `redis.register_function`, in both its forms: `(name, callback)`, and one table with named arguments.

use std::ffi::c_int;

use lua54::ffi;

use super::{check, world};
use crate::engine::Version;
use crate::script::call;
use crate::script::library::Function;
use crate::script::shared::Work;
use crate::script::shebang::ScriptFlags;
use crate::script::vm::{Call, Raise};

/// What the source that loads has registered so far.
pub(in crate::script) type Registered = Vec<Function>;

pub(super) fn register_function(call: &Call) -> Result<c_int, Raise> {
    // A function can keep hold of this one.
    if !matches!(call.shared().input.get().work, Work::Library) {
        let text = "ERR server.register_function can only be called on FUNCTION LOAD command";
        return Err(call::raise(call, text));
    }
    let function = match call.top() {
        1 => named(call)?,
        2 => positional(call)?,
        _ => return Err(call::raise(call, "ERR wrong number of arguments to server.register_function")),
    };
    let shared = call.shared();
    if shared.config.version == Version::V8_0 {
        let result = check(&function, &shared.registered.borrow(), Version::V8_0).map_err(|e| e.to_string());
        if let Err(text) = result {
            drop(function);
            return Err(raise(call, text));
        }
    }
    shared.registered.borrow_mut().push(function);
    let place = i64::try_from(shared.registered.borrow().len()).unwrap_or(i64::MAX);
    // The callback is on top.
    unsafe {
        world::push_callbacks(call.lua);
        ffi::lua_rotate(call.lua, -2, 1);
        ffi::lua_rawseti(call.lua, -2, place);
    }
    Ok(0)
}

/// Raises a text of ours, which Lua frees.
fn raise(call: &Call, text: String) -> Raise {
    call.push_vec(text.into_bytes());
    call.push_table(0, 1);
    unsafe { ffi::lua_insert(call.lua, -2) };
    call.set_field(-2, "err");
    Raise::Top
}

/// `register_function(name, callback)`; the callback stays on top.
fn positional(call: &Call) -> Result<Function, Raise> {
    let Some(name) = text(call, 1) else {
        return Err(call::raise(call, "ERR first argument to server.register_function must be a string"));
    };
    if call.kind(2) != ffi::LUA_TFUNCTION {
        drop(name);
        return Err(call::raise(call, "ERR second argument to server.register_function must be a function"));
    }
    Ok(Function { name, description: None, flags: ScriptFlags::default() })
}

/// `register_function{function_name = …, callback = …, description = …, flags = {…}}`; the callback ends on top.
fn named(call: &Call) -> Result<Function, Raise> {
    if call.kind(1) != ffi::LUA_TTABLE {
        return Err(call::raise(
            call,
            "ERR calling server.register_function with a single argument is only applicable to Lua table \
             (representing named arguments).",
        ));
    }
    let mut function = Function { name: Vec::new(), description: None, flags: ScriptFlags::default() };
    let (mut has_name, mut callback) = (false, false);
    // 2: the callback; above it the pairs.
    call.push_nil();
    call.push_nil();
    while unsafe { ffi::lua_next(call.lua, 1) } != 0 {
        match argument(call, &mut function) {
            Ok(Argument::Name) => has_name = true,
            Ok(Argument::Callback) => {
                callback = true;
                call.push(4);
                unsafe { ffi::lua_replace(call.lua, 2) };
            }
            Ok(Argument::Other) => {}
            Err(text) => {
                drop(function);
                return Err(call::raise(call, text));
            }
        }
        call.set_top(3);
    }
    call.set_top(2);
    let missing = match (has_name, callback) {
        (false, _) => "ERR server.register_function must get a function name argument",
        (_, false) => "ERR server.register_function must get a callback argument",
        _ => return Ok(function),
    };
    drop(function);
    Err(call::raise(call, missing))
}

/// Which argument was read.
enum Argument {
    Name,
    Callback,
    Other,
}

/// The named argument whose key is at 3 and whose value is at 4.
fn argument(call: &Call, function: &mut Function) -> Result<Argument, &'static str> {
    let key = match call.string(3) {
        Some(key) => key.to_ascii_lowercase(),
        None if call.is_number(3) => Vec::new(),
        None => return Err("ERR named argument key given to server.register_function is not a string"),
    };
    match key.as_slice() {
        b"function_name" => {
            function.name = text(call, 4)
                .ok_or("ERR function_name argument given to server.register_function must be a string")?;
            Ok(Argument::Name)
        }
        b"description" => {
            let description = text(call, 4)
                .ok_or("ERR description argument given to server.register_function must be a string")?;
            function.description = Some(description);
            Ok(Argument::Other)
        }
        b"callback" if call.kind(4) == ffi::LUA_TFUNCTION => Ok(Argument::Callback),
        b"callback" => Err("ERR callback argument given to server.register_function must be a function"),
        b"flags" if call.kind(4) == ffi::LUA_TTABLE => {
            function.flags = flags(call).ok_or("ERR unknown flag given")?;
            Ok(Argument::Other)
        }
        b"flags" => {
            Err("ERR flags argument to server.register_function must be a table representing function flags")
        }
        _ => Err("ERR unknown argument given to server.register_function"),
    }
}

/// The flags in the list at 4, up to its first nil.
fn flags(call: &Call) -> Option<ScriptFlags> {
    let mut flags = ScriptFlags::default();
    for at in 1.. {
        if unsafe { ffi::lua_rawgeti(call.lua, 4, at) } == ffi::LUA_TNIL {
            break;
        }
        flags |= ScriptFlags::named(call.string(-1)?)?;
        call.set_top(4);
    }
    call.set_top(4);
    Some(flags)
}

/// A copy of the string at `at`, or the text of a number. Nothing is made in Lua, for that may jump over what the
/// caller holds.
fn text(call: &Call, at: c_int) -> Option<Vec<u8>> {
    if call.is_number(at) {
        return call.number(at).map(|x| lua54::num::g14(x).into_bytes());
    }
    call.string(at).map(<[u8]>::to_vec)
}
