//! `emq-verify call`: commands from the command line, replies as valkey-cli prints them.

use std::ffi::OsString;

use super::{Console, Outcome, Where};

/// Send commands and print the replies, as valkey-cli does
///
/// A lone ; parts commands, all of which go over one connection. An engine begins empty. An error reply makes the
/// exit status 1.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  emq-verify call -- EVAL \"return {1, 'two', {3.7}}\" 0
  emq-verify call --on valkey -- HELLO 3 \\; HSET h f v \\; HGETALL h")]
pub struct Call {
    #[command(flatten)]
    place: Where,

    /// The command's name and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "ARGV")]
    argv: Vec<OsString>,
}

impl Call {
    pub fn run(&self, console: &mut Console) -> anyhow::Result<Outcome> {
        let words: Vec<&[u8]> = self.argv.iter().map(|word| word.as_encoded_bytes()).collect();
        let mut refused = false;
        for place in self.place.on.places()? {
            console.note(format_args!("on {place}:"));
            let mut wire = place.wire()?;
            for argv in words.split(|word| *word == b";").filter(|argv| !argv.is_empty()) {
                let reply = wire.call(argv)?;
                refused |= reply.is_error();
                console.line(reply)?;
            }
        }
        Ok(Outcome::passed_if(!refused))
    }
}
