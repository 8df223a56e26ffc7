//! Every error text that a client can see, and the failures that are the engine's own.

/// An error that the server answers, in Valkey's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    #[error("WRONGTYPE Operation against a key holding the wrong kind of value")]
    WrongType,
    #[error("ERR syntax error")]
    Syntax,
    #[error("ERR value is not an integer or out of range")]
    NotInteger,
    #[error("ERR value is not a valid float")]
    NotFloat,
    #[error("ERR no such key")]
    NoSuchKey,
    #[error("ERR unknown command '{name}', with args beginning with: {args}")]
    UnknownCommand { name: String, args: String },
    #[error("ERR unknown subcommand '{name}'. Try {command} HELP.")]
    UnknownSubcommand { command: String, name: String },
    /// `name` is the full name: `get`, `config|set`.
    #[error("ERR wrong number of arguments for '{name}' command")]
    Arity { name: String },
    #[error("ERR This Redis command is not allowed from script")]
    NotFromScript,
    #[error("NOSCRIPT No matching script. Please use EVAL.")]
    NoScript,
    /// A text used in one place only, class included.
    #[error("{0}")]
    Other(String),
}

impl CommandError {
    pub(crate) fn other(text: impl Into<String>) -> CommandError {
        CommandError::Other(text.into())
    }
}

/// What ends a call without any answer of a server: a limit of the engine. The next call works.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    #[error(
        "the script was stopped after {instructions} instructions: Valkey would run on and answer BUSY to every \
         other client until {}",
        if *.wrote { "SHUTDOWN NOSAVE, for the script has written and SCRIPT KILL answers UNKILLABLE" }
        else { "SCRIPT KILL" }
    )]
    Endless { instructions: u64, wrote: bool },
    #[error("the script was stopped at the engine's limit of {limit_bytes} bytes of Lua memory")]
    Memory { limit_bytes: usize },
    #[error("the Lua host failed: {0}")]
    Host(String),
}

/// Why a handler that drives the engine itself (EVAL, EXEC) came back without a reply.
#[derive(Debug)]
pub(crate) enum Interrupt {
    Command(CommandError),
    Failure(Failure),
}

impl From<CommandError> for Interrupt {
    fn from(error: CommandError) -> Interrupt {
        Interrupt::Command(error)
    }
}

impl From<Failure> for Interrupt {
    fn from(failure: Failure) -> Interrupt {
        Interrupt::Failure(failure)
    }
}
