//! The parts of DEBUG that test suites need.

use super::keys::NONE;
use super::{Answer, Args, Ctx, Flags, Row, data};
use crate::error::CommandError;
use crate::reply::Reply;

pub(super) const ROWS: &[Row] = &[data("debug", -2, DEBUG, NONE, debug)];

const DEBUG: Flags = Flags::ADMIN.union(Flags::NOSCRIPT).union(Flags::ANYTIME);

fn debug(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    if args.is(1, "SET-ACTIVE-EXPIRE") && args.len() == 3 {
        ctx.live.expiry_is_lazy = args.integer(2)? == 0;
        return Ok(Reply::OK);
    }
    // The suite's way to mark its place in a server's log, and there is no log.
    if args.is(1, "LOG") && args.len() == 3 {
        return Ok(Reply::OK);
    }
    let name = String::from_utf8_lossy(args.bytes(1)?).to_ascii_lowercase();
    Err(CommandError::other(format!(
        "ERR unknown subcommand or wrong number of arguments for '{name}'. Try DEBUG HELP."
    )))
}
