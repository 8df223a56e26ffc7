//! FUNCTION, FCALL and FCALL_RO. Loading and running are the script host's.

use std::rc::Rc;

use super::keys::{NONE, READ_COUNTED_2, WRITE_COUNTED_2};
use super::scan::matches;
use super::scripting::RUN;
use super::{Args, Flags, Row, container, control};
use crate::engine::{Engine, State};
use crate::error::{CommandError, Interrupt};
use crate::rdb;
use crate::reply::Reply;
use crate::script::{Access, Libraries, Library, library_name};
use crate::session::{Protocol, Session};

pub(super) const ROWS: &[Row] = &[
    control("fcall", -3, RUN, WRITE_COUNTED_2, |engine, session, args| {
        fcall(engine, session, args, Access::Full)
    }),
    control("fcall_ro", -3, RUN.union(Flags::READONLY), READ_COUNTED_2, |engine, session, args| {
        fcall(engine, session, args, Access::ReadOnly)
    }),
    container("function", FUNCTION),
];

const CHANGE: Flags = Flags::WRITE.union(Flags::NOSCRIPT);

const FUNCTION: &[Row] = &[
    control("function|load", -3, CHANGE.union(Flags::DENYOOM), NONE, load),
    control("function|delete", 3, CHANGE, NONE, delete),
    control("function|flush", -2, CHANGE, NONE, flush),
    control("function|list", -2, Flags::NOSCRIPT, NONE, list),
    control("function|dump", 2, Flags::NOSCRIPT, NONE, dump),
    control("function|restore", -3, CHANGE.union(Flags::DENYOOM), NONE, restore),
    control("function|stats", 2, Flags::NOSCRIPT.union(Flags::ALLOW_BUSY), NONE, stats),
    // A function that runs holds the engine, so nobody ever meets one.
    control("function|kill", 2, Flags::NOSCRIPT.union(Flags::ALLOW_BUSY), NONE, |_, _, _| {
        Err(CommandError::NOT_BUSY.into())
    }),
    control("function|help", 2, Flags::ANYTIME, NONE, |_, _, _| Ok(super::help("FUNCTION", FUNCTION))),
];

fn fcall(
    engine: &mut Engine,
    session: &mut Session,
    args: &Args<'_>,
    asked: Access,
) -> Result<Reply, Interrupt> {
    let (library, place) = {
        let state = engine.state.borrow();
        let found = state.libraries.function(args.bytes(1)?);
        found.map(|(library, place)| (Rc::clone(library), place)).ok_or(CommandError::FUNCTION_NOT_FOUND)?
    };
    let count = args.integer(2).map_err(|_| CommandError::FUNCTION_KEYS)?;
    let count = usize::try_from(count).map_err(|_| CommandError::NUMKEYS_NEGATIVE)?;
    let (keys, values) = args.rest(3).split_at_checked(count).ok_or(CommandError::NUMKEYS_TOO_MANY)?;
    let flags = library.functions.get(place).map(|function| function.flags).unwrap_or_default();
    let access = flags.access(asked)?;
    #[cfg(feature = "live")]
    engine.state.borrow_mut().live.guard.admit(flags)?;
    engine.host()?.call_function(session, (&library, place), keys, values, access)
}

fn load(engine: &mut Engine, _session: &mut Session, args: &Args<'_>) -> Result<Reply, Interrupt> {
    let last = args.len() - 1;
    for at in 2..last {
        if !args.is(at, "REPLACE") {
            let option = super::quoted(args.bytes(at)?);
            return Err(CommandError::other(format!("ERR Unknown option given: {option}")).into());
        }
    }
    let code = args.bytes(last)?;
    let name = library_name(code, engine.version())?;
    if last == 2 && engine.state.borrow().libraries.get(&name).is_some() {
        return Err(CommandError::library_exists(&name).into());
    }
    let library = engine.host()?.make_library(&name, code)?;
    engine.state.borrow_mut().libraries.insert(library)?;
    Ok(Reply::bulk(name))
}

fn delete(engine: &mut Engine, _session: &mut Session, args: &Args<'_>) -> Result<Reply, Interrupt> {
    let known = engine.state.borrow_mut().libraries.remove(args.bytes(2)?);
    if known { Ok(Reply::OK) } else { Err(CommandError::LIBRARY_NOT_FOUND.into()) }
}

fn flush(engine: &mut Engine, _session: &mut Session, args: &Args<'_>) -> Result<Reply, Interrupt> {
    if args.len() > 3 {
        return Err(bad_subcommand(args).into());
    }
    if args.len() == 3 && !args.is(2, "SYNC") && !args.is(2, "ASYNC") {
        return Err(CommandError::FUNCTION_FLUSH_MODE.into());
    }
    engine.state.borrow_mut().libraries.clear();
    Ok(Reply::OK)
}

/// The table lets a subcommand with options have any number of arguments.
fn bad_subcommand(args: &Args<'_>) -> CommandError {
    let name = args.bytes(1).unwrap_or_default();
    CommandError::SubcommandArity { name: String::from_utf8_lossy(name).into_owned() }
}

fn list(engine: &mut Engine, session: &mut Session, args: &Args<'_>) -> Result<Reply, Interrupt> {
    let (mut pattern, mut with_code) = (None, false);
    let mut at = 2;
    while at < args.len() {
        if args.is(at, "WITHCODE") && !with_code {
            with_code = true;
        } else if args.is(at, "LIBRARYNAME") && pattern.is_none() {
            at += 1;
            let name = args.bytes(at).map_err(|_| CommandError::LIBRARY_NAME_MISSING)?;
            pattern = Some(name.to_ascii_lowercase());
        } else {
            let argument = super::quoted(args.bytes(at)?);
            return Err(CommandError::other(format!("ERR Unknown argument {argument}")).into());
        }
        at += 1;
    }
    let state = engine.state.borrow();
    let fits = |library: &&Rc<Library>| {
        pattern.as_ref().is_none_or(|pattern| matches(pattern, &library.name.to_ascii_lowercase()))
    };
    let shown = state.libraries.iter().filter(fits).map(|library| show(session, library, with_code));
    Ok(Reply::Array(shown.collect()))
}

fn show(session: &Session, library: &Library, with_code: bool) -> Reply {
    let functions = library.functions.iter().map(|function| {
        let flags = function.flags.names().map(Reply::status).collect();
        let description =
            function.description.as_ref().map_or(Reply::Nil, |text| Reply::bulk(text.as_slice()));
        map(
            session,
            vec![
                ("name", Reply::bulk(function.name.as_slice())),
                ("description", description),
                ("flags", if is_resp3(session) { Reply::Set(flags) } else { Reply::Array(flags) }),
            ],
        )
    });
    let mut fields = vec![
        ("library_name", Reply::bulk(library.name.as_slice())),
        ("engine", Reply::bulk("LUA")),
        ("functions", Reply::Array(functions.collect())),
    ];
    if with_code {
        fields.push(("library_code", Reply::bulk(&*library.code)));
    }
    map(session, fields)
}

fn dump(engine: &mut Engine, _session: &mut Session, _args: &Args<'_>) -> Result<Reply, Interrupt> {
    let mut writer = rdb::Writer::default();
    let state = engine.state.borrow();
    state.libraries.iter().for_each(|library| writer.function(&library.code));
    Ok(Reply::Bulk(rdb::seal(writer, state.config.version)))
}

/// What becomes of the libraries that are there when others are restored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Policy {
    Append,
    Flush,
    Replace,
}

/// All libraries of the payload, or none.
fn restore(engine: &mut Engine, _session: &mut Session, args: &Args<'_>) -> Result<Reply, Interrupt> {
    if args.len() > 4 {
        return Err(bad_subcommand(args).into());
    }
    let policies = [("APPEND", Policy::Append), ("REPLACE", Policy::Replace), ("FLUSH", Policy::Flush)];
    let policy = match args.len() {
        3 => Policy::Append,
        _ => {
            let known = policies.into_iter().find(|(word, _)| args.is(3, word));
            known.ok_or(CommandError::FUNCTION_RESTORE_POLICY)?.1
        }
    };
    let restored = read_libraries(engine, args.bytes(2)?)?;
    let mut libraries = engine.state.borrow().libraries.clone();
    if policy == Policy::Flush {
        libraries.clear();
    }
    if policy == Policy::Replace {
        restored.iter().for_each(|library| {
            libraries.remove(&library.name);
        });
    }
    for library in restored.iter() {
        if libraries.get(&library.name).is_some() {
            let name = String::from_utf8_lossy(&library.name).into_owned();
            return Err(CommandError::LibraryTaken { name }.into());
        }
        libraries.insert(Rc::clone(library))?;
    }
    engine.state.borrow_mut().libraries = libraries;
    Ok(Reply::OK)
}

fn read_libraries(engine: &mut Engine, payload: &[u8]) -> Result<Libraries, Interrupt> {
    let (version, limit_bytes) = (engine.version(), engine.state.borrow().config.limits.bulk_bytes);
    let mut reader = rdb::Reader::new(rdb::open(payload, version)?, limit_bytes);
    let mut libraries = Libraries::default();
    while !reader.is_at_end() {
        let code = reader.function().ok_or(CommandError::FUNCTION_RESTORE_FORMAT)?;
        let code = code.ok_or(CommandError::FUNCTION_RESTORE_TYPE)?;
        let name = library_name(&code, version)?;
        if libraries.get(&name).is_some() {
            return Err(CommandError::library_exists(&name).into());
        }
        libraries.insert(engine.host()?.make_library(&name, &code)?)?;
    }
    Ok(libraries)
}

fn stats(engine: &mut Engine, session: &mut Session, _args: &Args<'_>) -> Result<Reply, Interrupt> {
    Ok(stats_of(&engine.state.borrow(), session, Reply::Nil))
}

/// FUNCTION STATS while a function runs: what called it, and for how long it has run.
#[cfg(feature = "live")]
pub(crate) fn stats_while_running(
    state: &State,
    session: &Session,
    call: &[Vec<u8>],
    duration_ms: u64,
) -> Reply {
    let name = call.get(1).cloned().unwrap_or_default();
    let command = call.iter().map(|word| Reply::bulk(word.as_slice())).collect();
    let running = vec![
        ("name", Reply::Bulk(name)),
        ("command", Reply::Array(command)),
        ("duration_ms", Reply::Integer(i64::try_from(duration_ms).unwrap_or(i64::MAX))),
    ];
    stats_of(state, session, map(session, running))
}

fn stats_of(state: &State, session: &Session, running: Reply) -> Reply {
    let counts = vec![
        ("libraries_count", Reply::integer(state.libraries.len())),
        ("functions_count", Reply::integer(state.libraries.functions())),
    ];
    let engines = map(session, vec![("LUA", map(session, counts))]);
    map(session, vec![("running_script", running), ("engines", engines)])
}

fn is_resp3(session: &Session) -> bool {
    session.protocol == Protocol::Resp3
}

fn map(session: &Session, fields: Vec<(&str, Reply)>) -> Reply {
    let pairs = fields.into_iter().map(|(name, value)| (Reply::bulk(name), value));
    if is_resp3(session) {
        Reply::Map(pairs.collect())
    } else {
        Reply::Array(pairs.flat_map(<[Reply; 2]>::from).collect())
    }
}
