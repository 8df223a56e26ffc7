//! Every error text that a client can see, and the failures that are the engine's own.

use std::borrow::Cow;

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
    /// `args` is the beginning of the arguments, each quoted and followed by a space.
    #[error("ERR unknown command '{name}', with args beginning with: {args}")]
    UnknownCommand { name: String, args: String },
    #[error("ERR unknown subcommand '{name}'. Try {command} HELP.")]
    UnknownSubcommand { command: String, name: String },
    /// `name` is the full name: `get`, `config|set`.
    #[error("ERR wrong number of arguments for '{name}' command")]
    Arity { name: String },
    #[error("ERR This Valkey command is not allowed from script")]
    NotFromScript,
    #[error("ERR Unknown command called from script")]
    UnknownFromScript,
    #[error("ERR Wrong number of args calling command from script")]
    ArityFromScript,
    #[error("ERR Write commands are not allowed from read-only scripts.")]
    WriteFromReadOnlyScript,
    #[error("NOSCRIPT No matching script.")]
    NoScript,
    /// `name` is the command's, as in `invalid expire time in 'set' command`.
    #[error("ERR invalid expire time in '{name}' command")]
    ExpireTime { name: &'static str },
    /// EXEC itself was called wrongly, which ends the transaction.
    #[error("EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' command")]
    ExecArity,
    #[error("EXECABORT Transaction discarded because of: {error}")]
    ExecRefused { error: Box<CommandError> },
    #[error("ERR Command '{name}' not allowed inside a transaction")]
    NotInTransaction { name: &'static str },
    #[error("ERR Unexpected engine in script shebang: #!{engine}")]
    ShebangEngine8 { engine: String },
    #[error("ERR Could not find scripting engine '{engine}'")]
    ScriptEngine { engine: String },
    #[error("ERR Unknown lua shebang option: {option}")]
    ShebangOption { option: String },
    #[error("ERR Invalid metadata value given: {option}")]
    LibraryOption { option: String },
    #[error("ERR Engine '{engine}' not found")]
    LibraryEngine { engine: String },
    #[error("ERR Library '{name}' already exists")]
    LibraryExists { name: String },
    #[error("ERR unknown subcommand or wrong number of arguments for '{name}'. Try FUNCTION HELP.")]
    SubcommandArity { name: String },
    /// By a library that is restored.
    #[error("ERR Library {name} already exists")]
    LibraryTaken { name: String },
    #[error("ERR Function {name} already exists")]
    FunctionExists { name: String },
    #[error("ERR Unexpected flag in script shebang: {flag}")]
    ShebangFlag { flag: String },
    #[error(
        "ERR Can't execute '{name}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this \
         context"
    )]
    InSubscriber { name: &'static str },
    /// One of the constants below, or a text that holds what the client sent.
    #[error("{0}")]
    Other(Cow<'static, str>),
}

/// Names the texts that have no parts.
macro_rules! texts {
    ($($name:ident = $text:literal;)*) => {
        impl CommandError {
            $(pub(crate) const $name: CommandError = CommandError::Other(Cow::Borrowed($text));)*
        }
    };
}

texts! {
    NOT_IN_TRANSACTION_8_0 = "ERR Command not allowed inside a transaction";
    TOO_LONG = "ERR string exceeds maximum allowed size (proto-max-bulk-len)";
    OFFSET = "ERR offset is out of range";
    OVERFLOW = "ERR increment or decrement would overflow";
    DECREMENT_OVERFLOW = "ERR decrement would overflow";
    NAN_OR_INFINITY = "ERR increment would produce NaN or Infinity";
    HASH_NOT_INTEGER = "ERR hash value is not an integer";
    HASH_NOT_FLOAT = "ERR hash value is not a float";
    VALUE_NOT_FINITE = "ERR value is NaN or Infinity";
    SCORE_NAN = "ERR resulting score is not a number (NaN)";
    WEIGHT_NOT_FLOAT = "ERR weight value is not a float";
    NOT_POSITIVE = "ERR value is out of range, must be positive";
    OUT_OF_RANGE = "ERR value is out of range";
    INDEX = "ERR index out of range";
    MIN_MAX_FLOAT = "ERR min or max is not a float";
    MIN_MAX_LEX = "ERR min or max not valid string range item";
    COUNT_NEGATIVE = "ERR COUNT can't be negative";
    COUNT_POSITIVE = "ERR count should be greater than 0";
    LIMIT_NEGATIVE = "ERR LIMIT can't be negative";
    NUMKEYS_POSITIVE = "ERR numkeys should be greater than 0";
    NUMKEYS_TOO_MANY = "ERR Number of keys can't be greater than number of args";
    NUMKEYS_NEGATIVE = "ERR Number of keys can't be negative";
    LPOS_RANK_ZERO = "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use \
        negative to start from the end of the list";
    SIGNED_RANGE = "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807";
    LPOS_MAXLEN = "ERR MAXLEN can't be negative";
    ZADD_NX_XX = "ERR XX and NX options at the same time are not compatible";
    ZADD_GT_LT_NX = "ERR GT, LT, and/or NX options at the same time are not compatible";
    ZADD_INCR_PAIR = "ERR INCR option supports a single increment-element pair";
    ZRANGE_LIMIT = "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX";
    ZRANGE_SCORES_LEX = "ERR syntax error, WITHSCORES not supported in combination with BYLEX";
    EXPIRE_NX = "ERR NX and XX, GT or LT options at the same time are not compatible";
    EXPIRE_GT_LT = "ERR GT and LT options at the same time are not compatible";
    TIMEOUT_FLOAT = "ERR timeout is not a float or out of range";
    TIMEOUT_RANGE = "ERR timeout is out of range";
    TIMEOUT_INTEGER = "ERR timeout is not an integer or out of range";
    NO_CONFIG_FILE = "ERR The server is running without a config file";
    TIMEOUT_NEGATIVE = "ERR timeout is negative";
    SAME_OBJECT = "ERR source and destination objects are the same";
    DB_INDEX = "ERR DB index is out of range";
    DB_FIRST = "ERR invalid first DB index";
    DB_SECOND = "ERR invalid second DB index";
    CURSOR = "ERR invalid cursor";
    SCAN_NOVALUES = "ERR NOVALUES option can only be used in HSCAN";
    SCAN_NOSCORES = "ERR NOSCORES option can only be used in ZSCAN";
    NO_LFU = "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when \
        switching between policies at runtime LRU and LFU data will take some time to adjust.";
    PROTOVER_INTEGER = "ERR Protocol version is not an integer or out of range";
    PROTOVER = "NOPROTO unsupported protocol version";
    EXEC_WITHOUT = "ERR EXEC without MULTI";
    DISCARD_WITHOUT = "ERR DISCARD without MULTI";
    LCS_BOTH = "ERR If you want both the length and indexes, please just use IDX.";
    LCS_TYPE = "ERR The specified keys must contain string values";
    LCS_MEMORY = "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len";
    EXEC_ABORT = "EXECABORT Transaction discarded because of previous errors.";
    NOT_BUSY = "NOTBUSY No scripts in execution right now.";
    FLUSH_MODE = "ERR SCRIPT FLUSH only support SYNC|ASYNC option";
    NO_CLUSTER = "ERR This instance has cluster support disabled";
    CLIENT_NAME = "ERR Client names cannot contain spaces, newlines or special characters.";
    GETKEYS_COMMAND = "ERR Invalid command specified";
    GETKEYS_ARITY = "ERR Invalid number of arguments specified for command";
    GETKEYS_NONE = "ERR The command has no key arguments";
    GETKEYS_ARGS = "ERR Invalid arguments specified for command";
    SHEBANG = "ERR Invalid script shebang";
    SHEBANG_ENGINE = "ERR Invalid engine in script shebang";
    LIBRARY_NO_METADATA = "ERR Missing library metadata";
    LIBRARY_METADATA = "ERR Invalid library metadata";
    LIBRARY_NO_NAME = "ERR Library name was not given";
    LIBRARY_NAME_TWICE = "ERR Invalid metadata value, name argument was given multiple times";
    LIBRARY_NAME = "ERR Library names can only contain letters, numbers, or underscores(_) and must be at least one \
        character long";
    LIBRARY_NOT_FOUND = "ERR Library not found";
    LIBRARY_NAME_MISSING = "ERR library name argument was not given";
    FUNCTION_NAME = "ERR Function names can only contain letters, numbers, or underscores(_) and must be at least one \
        character long";
    FUNCTION_TWICE = "ERR Function already exists in the library";
    FUNCTION_NOT_FOUND = "ERR Function not found";
    FUNCTION_KEYS = "ERR Bad number of keys provided";
    FUNCTION_FLUSH_MODE = "ERR FUNCTION FLUSH only supports SYNC|ASYNC option";
    FUNCTION_RESTORE_POLICY =
        "ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE.";
    FUNCTION_RESTORE_FORMAT = "ERR Failed loading functions";
    FUNCTION_RESTORE_TYPE = "ERR given type is not a function";
    NO_FUNCTIONS = "ERR No functions registered";
    BUSY_KEY = "BUSYKEY Target key name already exists.";
    RESTORE_TTL = "ERR Invalid TTL value, must be >= 0";
    RESTORE_IDLETIME = "ERR Invalid IDLETIME value, must be >= 0";
    RESTORE_FREQ = "ERR Invalid FREQ value, must be >= 0 and <= 255";
    RESTORE_CHECKSUM = "ERR DUMP payload version or checksum are wrong";
    RESTORE_FORMAT = "ERR Bad data format";
    NUMFIELDS = "ERR numfields should be greater than 0 and match the provided number of fields";
    READ_ONLY_CALL = "ERR Can not execute a script with write flag using *_ro command.";
    SORT_NUMBER = "ERR One or more scores can't be converted into double";
    LOCAL_RANGE = "ERR value is out of range, value must between 0 and 1";
    NO_APPENDONLY = "ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.";
    NO_PASSWORD = "ERR AUTH <password> called without any password configured for the default user. Are you sure your \
        configuration is correct?";
    WRONG_PASSWORD = "WRONGPASS invalid username-password pair or user is disabled.";
    NOT_SAVED = "ERR";
    FULL = "OOM command not allowed when used memory > 'maxmemory'.";
    NO_REPLICAS = "NOREPLICAS Not enough good replicas to write.";
    UNBLOCKED = "UNBLOCKED client unblocked via CLIENT UNBLOCK";
    UNBLOCK_REASON = "ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR";
    PAUSE_MODE = "ERR CLIENT PAUSE mode must be WRITE or ALL";
    NO_CLIENT = "ERR No such client";
    CLIENT_ID = "ERR client-id should be greater than 0";
    CLIENT_DB = "ERR DB is not an integer or out of range";
    CLIENT_DB_RANGE = "ERR DB number should be between 0 and 15";
    NO_SHUTDOWN = "ERR No shutdown in progress.";
    BUSY_FUNCTION = "BUSY Valkey is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE.";
    BUSY = "BUSY Valkey is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";
    UNKILLABLE = "UNKILLABLE Sorry the script already executed write commands against the dataset. You can either \
        wait the script termination or kill the server in a hard way using the SHUTDOWN NOSAVE command.";
    KILLED_SCRIPT = "ERR Script killed by user with SCRIPT KILL.";
    KILLED_FUNCTION = "ERR Script killed by user with FUNCTION KILL.";
    MSETEX_COUNT = "ERR invalid numkeys value or out of range";
}

impl CommandError {
    /// The source of a library ended with the error `text`.
    #[cfg(feature = "functions")]
    pub(crate) fn not_registered(text: &[u8]) -> CommandError {
        let text = String::from_utf8_lossy(text);
        CommandError::other(format!("ERR Error registering functions: {text}"))
    }

    #[cfg(feature = "functions")]
    pub(crate) fn library_exists(name: &[u8]) -> CommandError {
        CommandError::LibraryExists { name: String::from_utf8_lossy(name).into_owned() }
    }

    pub(crate) fn other(text: impl Into<Cow<'static, str>>) -> CommandError {
        CommandError::Other(text.into())
    }
}

/// What ends a call without any answer of a server: a limit of the engine. The next call works.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    #[error(
        "the script was stopped after {steps} steps: Valkey would run on and answer BUSY to every \
         other client until {}",
        if *.wrote { "SHUTDOWN NOSAVE, for the script has written and SCRIPT KILL answers UNKILLABLE" }
        else { "SCRIPT KILL" }
    )]
    Endless { steps: u64, wrote: bool },
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
