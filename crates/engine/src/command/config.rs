//! CONFIG. The parameters are in [`crate::live::Parameters`].

use super::keys::NONE;
use super::scan::matches;
use super::{Answer, Args, Ctx, Flags, Row, container, data};
use crate::error::CommandError;
use crate::live::{Invalid, Parameters};
use crate::reply::Reply;

pub(super) const ROWS: &[Row] = &[container("config", CONFIG)];

const CONFIGURE: Flags = Flags::ADMIN.union(Flags::NOSCRIPT).union(Flags::ANYTIME);

const CONFIG: &[Row] = &[
    data("config|get", -3, CONFIGURE, NONE, get),
    data("config|set", -4, CONFIGURE, NONE, set),
    data("config|resetstat", 2, CONFIGURE, NONE, |ctx, _| {
        ctx.live.stats = Default::default();
        ctx.keyspace.expired = 0;
        Ok(Reply::OK)
    }),
    data("config|rewrite", 2, CONFIGURE, NONE, |_, _| Err(CommandError::NO_CONFIG_FILE)),
    data("config|help", 2, Flags::ANYTIME, NONE, |_, _| Ok(super::help("CONFIG", CONFIG))),
];

fn get(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let mut found = Vec::new();
    for parameter in Parameters::all() {
        for name in std::iter::once(parameter.name).chain(parameter.alias) {
            let name = name.as_bytes();
            let asked = |pattern: &&&[u8]| matches(&pattern.to_ascii_lowercase(), name);
            let Some(&pattern) = args.rest(2).iter().find(asked) else { continue };
            // A plain name comes back as it was sent.
            let shown = if pattern.eq_ignore_ascii_case(name) { pattern } else { name };
            found.push((Reply::bulk(shown), Reply::bulk(ctx.live.parameters.get(parameter))));
        }
    }
    Ok(ctx.map(found))
}

/// All of the values are taken or none.
fn set(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let pairs = args.rest(2);
    if !pairs.len().is_multiple_of(2) {
        return Err(CommandError::Syntax);
    }
    let mut changes: Vec<(&crate::live::Parameter, &[u8], &[u8])> = Vec::new();
    for pair in pairs.chunks_exact(2) {
        let (name, value) = (pair[0], pair[1]);
        let parameter = Parameters::find(name).ok_or_else(|| unknown(name))?;
        if changes.iter().any(|(other, ..)| other.name == parameter.name) {
            return Err(refused(name, "duplicate parameter"));
        }
        changes.push((parameter, name, value));
    }
    let mut values = Vec::new();
    for (parameter, name, value) in &changes {
        let shown = parameter.read(value).map_err(|invalid: Invalid| refused(name, &invalid.to_string()))?;
        values.push(shown);
    }
    for ((parameter, ..), shown) in changes.into_iter().zip(values) {
        ctx.live.parameters.set(parameter, shown);
    }
    Ok(Reply::OK)
}

fn unknown(name: &[u8]) -> CommandError {
    let name = super::quoted(name);
    CommandError::other(format!("ERR Unknown option or number of arguments for CONFIG SET - '{name}'"))
}

fn refused(name: &[u8], reason: &str) -> CommandError {
    let name = super::quoted(name);
    CommandError::other(format!("ERR CONFIG SET failed (possibly related to argument '{name}') - {reason}"))
}
