//! What looks at a run while it goes on: Lua calls it every few thousand steps, and at each line of a traced run.

use lua54::ffi;

use super::shared::Shared;
#[cfg(feature = "live")]
use super::shared::{Stop, Work};
use super::{COUNT, MAX_CALLS, SHARED, tracing, vm};

/// Counts steps, and lines when a run is traced.
pub(super) unsafe extern "C-unwind" fn hook(lua: *mut ffi::lua_State, info: *mut ffi::lua_Debug) {
    // SAFETY: `Host::set_up` put the address there.
    unsafe {
        ffi::lua_rawgetp(lua, ffi::LUA_REGISTRYINDEX, (&raw const SHARED).cast());
        let shared = &*ffi::lua_touserdata(lua, -1).cast_const().cast::<Shared>();
        ffi::lua_settop(lua, -2);
        if (*info).event == ffi::LUA_HOOKLINE {
            tracing::line(lua, shared, &mut *info);
            return;
        }
        let goes_on = shared.charge(u64::from(COUNT.unsigned_abs()));
        #[cfg(feature = "live")]
        let goes_on = goes_on && !is_killed(lua, shared, info);
        if !goes_on {
            vm::stop(lua);
        }
        // 5.4 lets Lua functions nest until its stack holds a million values.
        if ffi::lua_getstack(lua, MAX_CALLS, info) != 0 {
            ffi::luaL_error(lua, c"stack overflow".as_ptr());
        }
    }
}

/// Lets the owner of the engine look at the run, and notes where the run is when somebody ends it.
#[cfg(feature = "live")]
unsafe fn is_killed(lua: *mut ffi::lua_State, shared: &Shared, info: *mut ffi::lua_Debug) -> bool {
    let Ok(mut watchdog) = shared.watchdog.try_borrow_mut() else { return false };
    let Some(watchdog) = watchdog.as_mut() else { return false };
    let in_function = match shared.input.get().work {
        Work::Script(_) => false,
        #[cfg(feature = "functions")]
        Work::Library | Work::Function { .. } => true,
    };
    let mut busy = crate::live::Busy::new(&shared.state, shared.wrote.get(), in_function);
    watchdog(&mut busy);
    shared.spent_us.set(busy.spent_us());
    if !busy.is_killed() {
        return false;
    }
    shared.stopped.set(Some(if in_function { Stop::FunctionKilled } else { Stop::ScriptKilled }));
    // SAFETY: a hook is called with the running function in `info`.
    unsafe {
        ffi::lua_getinfo(lua, c"Sl".as_ptr(), info);
        shared.error_line.set((*info).currentline);
        let source = String::from_utf8_lossy(vm::c_bytes((*info).source)).into_owned();
        shared.error_source.replace(source);
    }
    shared.has_position.set(true);
    true
}
