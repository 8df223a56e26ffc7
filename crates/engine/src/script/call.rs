//! `redis.call` and `redis.pcall`: the way from a script to the commands.
//!
//! Arguments are borrowed from Lua's stack, where they stay for the time of the command. Nothing is allocated for a
//! call with up to [`INLINE_ARGS`] arguments but what the command itself makes.

use std::ffi::c_int;

use lua54::ffi;

use super::Access;
use super::convert;
use super::number::write_argument;
use super::vm::{Call, Raise};
use crate::command;
use crate::engine::Version;
use crate::error::CommandError;
use crate::reply::Reply;

const INLINE_ARGS: usize = 16;

/// `redis.call(…)`: an error is raised.
pub(super) fn call(call: &Call) -> Result<c_int, Raise> {
    perform(call);
    let failed = call.shared().reply.borrow().is_error();
    push_kept(call)?;
    if failed { Err(Raise::Top) } else { Ok(1) }
}

/// `redis.pcall(…)`: an error is returned.
pub(super) fn pcall(call: &Call) -> Result<c_int, Raise> {
    perform(call);
    push_kept(call)?;
    Ok(1)
}

/// Raises the error `text` as `redis.call` raises one, class and all.
pub(super) fn raise(call: &Call, text: &str) -> Raise {
    convert::push_error(call.lua, text.as_bytes());
    Raise::Top
}

fn push_kept(call: &Call) -> Result<(), Raise> {
    let shared = call.shared();
    let protocol = shared.session.borrow().protocol;
    // SAFETY: only `perform` writes it, and nothing that runs while it is pushed calls that. The borrow itself must
    // not be held, for the pushing may jump.
    let reply = unsafe { &*shared.reply.as_ptr() };
    if cfg!(feature = "libraries") {
        call.charge(steps(reply))?;
    }
    if let Reply::Error(text) = reply
        && Words::of(shared.config.version).refuse_arguments(text)
    {
        convert::push_refusal(call.lua, text);
        return Ok(());
    }
    convert::push_reply(call.lua, reply, protocol).map_err(|()| Raise::text("reached lua stack limit"))
}

/// What it takes to hand over a reply, in instructions. What is inside of what is inside counts when it is used.
fn steps(reply: &Reply) -> u64 {
    (match reply {
        Reply::Bulk(bytes) => bytes.len() / 64,
        Reply::Array(items) | Reply::Set(items) => items.len(),
        Reply::Map(pairs) => 2 * pairs.len(),
        _ => 0,
    }) as u64
}

/// Runs the command and keeps its reply in `Shared::reply`.
fn perform(call: &Call) {
    let shared = call.shared();
    let words = Words::of(shared.config.version);
    let count = usize::try_from(call.top()).unwrap_or(0);
    let reply = if count == 0 {
        Reply::error(words.no_arguments)
    } else if count <= INLINE_ARGS {
        with_arguments(call, &mut [0; INLINE_ARGS][..count], words)
    } else {
        with_arguments(call, &mut vec![0; count], words)
    };
    *shared.reply.borrow_mut() = reply;
}

/// Reads the arguments, one for each of `ends`, which is for the numbers among them: where the text of each ends.
fn with_arguments(call: &Call, ends: &mut [usize], words: &Words) -> Reply {
    let mut texts = call.shared().numbers.borrow_mut();
    texts.clear();
    for (at, end) in (1..).zip(ends.iter_mut()) {
        match call.kind(at) {
            ffi::LUA_TSTRING => {}
            ffi::LUA_TNUMBER => write_argument(&mut texts, call.number(at).unwrap_or(0.0)),
            _ => return Reply::error(words.bad_argument),
        }
        *end = texts.len();
    }
    let texts = &*texts;
    let mut inline: [&[u8]; INLINE_ARGS] = [&[]; INLINE_ARGS];
    let mut many = Vec::new();
    let argv = match inline.get_mut(..ends.len()) {
        Some(few) => few,
        None => {
            many.resize(ends.len(), &[][..]);
            &mut many[..]
        }
    };
    let mut start = 0;
    for ((at, arg), &end) in (1..).zip(argv.iter_mut()).zip(ends.iter()) {
        *arg = call.string(at).unwrap_or(&texts[start..end]);
        start = end;
    }
    execute(call, argv, words)
}

fn execute(call: &Call, argv: &[&[u8]], words: &Words) -> Reply {
    let shared = call.shared();
    let mut session = shared.session.borrow_mut();
    let mut trace = shared.trace.borrow_mut();
    let Some(trace) = trace.as_mut() else {
        let mut state = shared.state.borrow_mut();
        return run(call, &mut state, &mut session, argv, words);
    };
    let mut state = shared.state.borrow_mut();
    let entries = super::tracing::before(&state, &session, argv);
    let reply = run(call, &mut state, &mut session, argv, words);
    super::tracing::after(trace, &state, &session, argv, entries, &reply, call.caller_line());
    reply
}

fn run(
    call: &Call,
    state: &mut crate::engine::State,
    session: &mut crate::session::Session,
    argv: &[&[u8]],
    words: &Words,
) -> Reply {
    let shared = call.shared();
    session.read_only = shared.access.get() == Access::ReadOnly;
    let row = command::resolve(argv);
    if row.as_ref().is_ok_and(|row| row.flags.contains(command::Flags::WRITE)) {
        shared.wrote.set(true);
    }
    let result = command::run_from_script(state, session, row, argv);
    #[cfg(feature = "commands")]
    shared.charge(session.steps.take());
    let reply = match result {
        Ok(reply) => reply,
        Err(error) => match &error {
            CommandError::UnknownFromScript => Reply::error(words.unknown),
            CommandError::ArityFromScript => Reply::error(words.arity),
            CommandError::NotFromScript => Reply::error(words.not_allowed),
            _ => Reply::error(error),
        },
    };
    #[cfg(feature = "live")]
    if let Reply::Error(text) = &reply {
        state.live.stats.error_in_script(text);
    }
    reply
}

/// The errors of `redis.call` itself.
struct Words {
    no_arguments: &'static str,
    bad_argument: &'static str,
    unknown: &'static str,
    arity: &'static str,
    /// The only one that differs between releases.
    not_allowed: &'static str,
}

impl Words {
    fn of(version: Version) -> &'static Words {
        match version {
            Version::V8_0 => &V8_0,
            Version::V9_1 => &V9_1,
        }
    }

    /// Whether this is said before there is a command that could fail.
    fn refuse_arguments(&self, text: &[u8]) -> bool {
        text == self.no_arguments.as_bytes() || text == self.bad_argument.as_bytes()
    }
}

const V9_1: Words = Words {
    no_arguments: "ERR Please specify at least one argument for this call",
    bad_argument: "ERR Command arguments must be strings or integers",
    unknown: "ERR Unknown command called from script",
    arity: "ERR Wrong number of args calling command from script",
    not_allowed: "ERR This Valkey command is not allowed from script",
};

const V8_0: Words = Words { not_allowed: "ERR This Redis command is not allowed from script", ..V9_1 };

/// `redis.acl_check_cmd(name, …)`: true for every command there is, for there is one user, who may do everything.
pub(super) fn acl_check_cmd(call: &Call) -> Result<c_int, Raise> {
    let words = Words::of(call.shared().config.version);
    if call.top() == 0 {
        return Err(raise(call, words.no_arguments));
    }
    for at in 1..=call.top() {
        if call.string(at).is_none() && !call.is_number(at) {
            return Err(raise(call, words.bad_argument));
        }
    }
    let argv: Vec<&[u8]> = (1..=call.top()).map(|at| call.string(at).unwrap_or_default()).collect();
    let unknown = matches!(
        command::resolve(&argv),
        Err(CommandError::UnknownCommand { .. } | CommandError::UnknownSubcommand { .. })
    );
    drop(argv);
    if unknown {
        return Err(raise(call, "ERR Invalid command passed to server.acl_check_cmd()"));
    }
    unsafe { ffi::lua_pushboolean(call.lua, 1) };
    Ok(1)
}
