//! Which connections CLIENT LIST and CLIENT KILL mean.

use super::Args;
use crate::clock::Clock;
use crate::error::CommandError;
use crate::keyspace::DATABASES;
use crate::live::{Link, Live};
use crate::session::Session;
use crate::value::parse_integer;

/// All conditions must hold.
#[derive(Debug, Default)]
pub(super) struct Filter {
    conditions: Vec<(bool, Condition)>,
    skip_me: Option<bool>,
}

#[derive(Debug)]
enum Condition {
    Ids(Vec<u64>),
    /// `normal` or `pubsub`: there are no others here.
    Type {
        subscriber: bool,
    },
    /// Of a type or a user that nobody has here.
    Nobody,
    Everybody,
    Address(Vec<u8>),
    LocalAddress(Vec<u8>),
    Name(Vec<u8>),
    LibraryName(Vec<u8>),
    LibraryVersion(Vec<u8>),
    Flags(Vec<u8>),
    Database(usize),
    AgeSeconds(u64),
    IdleSeconds(u64),
}

impl Filter {
    /// CLIENT KILL in its old form.
    pub fn address(address: &[u8]) -> Filter {
        Filter { conditions: vec![(true, Condition::Address(address.to_vec()))], skip_me: None }
    }

    pub fn read(args: &Args<'_>, mut at: usize) -> Result<Filter, CommandError> {
        let mut filter = Filter::default();
        while at < args.len() {
            let word = args.bytes(at)?.to_ascii_lowercase();
            let (wanted, word) = match word.strip_prefix(b"not-") {
                Some(rest) => (false, rest.to_vec()),
                None => (true, word),
            };
            at += 1;
            if word == b"id" {
                let (ids, next) = read_ids(args, at)?;
                at = next;
                filter.conditions.push((wanted, Condition::Ids(ids)));
                continue;
            }
            let value = args.bytes(at)?;
            at += 1;
            if word == b"skipme" && wanted {
                filter.skip_me = Some(yes_or_no(value)?);
            } else {
                filter.conditions.push((wanted, Condition::read(&word, value)?));
            }
        }
        Ok(filter)
    }

    pub fn skipping_me_unless_said(mut self, skip: bool) -> Filter {
        self.skip_me.get_or_insert(skip);
        self
    }

    pub fn admits(&self, session: &Session, me: u64, live: &Live, now: Clock) -> bool {
        let skipped = self.skip_me == Some(true) && session.id == me;
        !skipped
            && self
                .conditions
                .iter()
                .all(|(wanted, condition)| condition.holds(session, live, now) == *wanted)
    }
}

impl Condition {
    fn read(word: &[u8], value: &[u8]) -> Result<Condition, CommandError> {
        Ok(match word {
            b"addr" => Condition::Address(value.to_vec()),
            b"laddr" => Condition::LocalAddress(value.to_vec()),
            b"name" => Condition::Name(value.to_vec()),
            b"lib-name" => Condition::LibraryName(value.to_vec()),
            b"lib-ver" => Condition::LibraryVersion(value.to_vec()),
            b"flags" => Condition::Flags(value.to_vec()),
            b"type" => match value.to_ascii_lowercase().as_slice() {
                b"normal" => Condition::Type { subscriber: false },
                b"pubsub" => Condition::Type { subscriber: true },
                b"master" | b"primary" | b"slave" | b"replica" => Condition::Nobody,
                _ => return Err(unknown("client type", value)),
            },
            b"user" if value == b"default" => Condition::Everybody,
            b"user" => {
                let user = String::from_utf8_lossy(value);
                return Err(CommandError::other(format!("ERR No such user '{user}'")));
            }
            b"db" => {
                let db = parse_integer(value).ok_or(CommandError::CLIENT_DB)?;
                let db = usize::try_from(db).ok().filter(|db| *db < DATABASES);
                Condition::Database(db.ok_or(CommandError::CLIENT_DB_RANGE)?)
            }
            b"maxage" => Condition::AgeSeconds(positive(value, "maxage")?),
            b"idle" => Condition::IdleSeconds(positive(value, "idle")?),
            _ => return Err(CommandError::Syntax),
        })
    }

    fn holds(&self, session: &Session, live: &Live, now: Clock) -> bool {
        let nobody = Link::default();
        let link = session.link.as_deref().unwrap_or(&nobody);
        let seconds_since = |then: Clock| now.unix_ms().saturating_sub(then.unix_ms()) / 1000;
        match self {
            Condition::Ids(ids) => ids.contains(&session.id),
            Condition::Type { subscriber } => live.is_subscriber(session.id) == *subscriber,
            Condition::Nobody => false,
            Condition::Everybody => true,
            Condition::Address(address) => link.peer.as_bytes() == address.as_slice(),
            Condition::LocalAddress(address) => link.local.as_bytes() == address.as_slice(),
            Condition::Name(name) => session.name == *name,
            Condition::LibraryName(name) => session.library.name == *name,
            Condition::LibraryVersion(version) => session.library.version == *version,
            Condition::Flags(letters) => {
                let flags = super::client::flags(session, live);
                letters.iter().all(|letter| flags.as_bytes().contains(letter))
            }
            Condition::Database(db) => session.db == *db,
            Condition::AgeSeconds(seconds) => seconds_since(link.opened) >= *seconds,
            Condition::IdleSeconds(seconds) => seconds_since(link.last) >= *seconds,
        }
    }
}

/// The numbers from `at` on, and where they end.
fn read_ids(args: &Args<'_>, mut at: usize) -> Result<(Vec<u64>, usize), CommandError> {
    let mut ids = Vec::new();
    while let Some(id) = args.bytes(at).ok().and_then(parse_integer) {
        ids.push(u64::try_from(id).ok().filter(|id| *id > 0).ok_or(CommandError::CLIENT_ID)?);
        at += 1;
    }
    Ok((ids, at))
}

fn yes_or_no(value: &[u8]) -> Result<bool, CommandError> {
    match value.to_ascii_lowercase().as_slice() {
        b"yes" => Ok(true),
        b"no" => Ok(false),
        _ => Err(CommandError::Syntax),
    }
}

fn positive(value: &[u8], what: &str) -> Result<u64, CommandError> {
    let number = parse_integer(value)
        .ok_or_else(|| CommandError::other(format!("ERR {what} is not an integer or out of range")))?;
    let positive = u64::try_from(number).ok().filter(|number| *number > 0);
    positive.ok_or_else(|| CommandError::other(format!("ERR {what} should be greater than 0")))
}

fn unknown(what: &str, value: &[u8]) -> CommandError {
    CommandError::other(format!("ERR Unknown {what} '{}'", String::from_utf8_lossy(value)))
}
