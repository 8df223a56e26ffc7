//! Waiting: for a key of a type, for replicas that there are none of, for the end of a pause.

use super::Live;
use crate::clock::Clock;
use crate::command;
use crate::error::CommandError;
use crate::reply::Reply;
use crate::session::Protocol;

/// What a command that found nothing waits for.
#[derive(Clone, Debug)]
pub(crate) struct Wait {
    pub reason: Reason,
    /// `None` waits for ever.
    pub until_ms: Option<u64>,
}

#[derive(Clone, Debug)]
pub(crate) enum Reason {
    /// Any of these keys, holding this type.
    Keys { keys: Vec<Vec<u8>>, type_name: &'static str },
    /// WAIT and WAITAOF: the time only, for there are no replicas.
    Replicas { in_vain: Reply },
    /// CLIENT PAUSE.
    Pause,
}

/// A connection that waits, and what it will send again when the waiting is over.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    pub id: u64,
    pub db: usize,
    pub argv: Vec<Vec<u8>>,
    pub wait: Wait,
}

/// CLIENT PAUSE.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pause {
    pub until_ms: u64,
    /// False when only writes are held up.
    pub all: bool,
}

impl Pause {
    pub fn holds(self, now: Clock) -> bool {
        now.unix_ms() < self.until_ms
    }
}

impl Wait {
    pub fn for_the_pause() -> Wait {
        Wait { reason: Reason::Pause, until_ms: None }
    }

    pub fn is_for(&self, key: &[u8], type_name: &str) -> bool {
        match &self.reason {
            Reason::Keys { keys, type_name: wanted } => {
                *wanted == type_name && keys.iter().any(|other| other == key)
            }
            Reason::Replicas { .. } | Reason::Pause => false,
        }
    }

    /// The reply when nothing came.
    fn in_vain(&self, protocol: Protocol) -> Reply {
        match &self.reason {
            Reason::Replicas { in_vain } => in_vain.clone(),
            Reason::Keys { .. } | Reason::Pause if protocol == Protocol::Resp3 => Reply::Nil,
            Reason::Keys { .. } | Reason::Pause => Reply::NilArray,
        }
    }
}

impl Live {
    /// Those who wait for a key, whatever it holds.
    pub fn waiting_for(&self, db: usize, key: &[u8]) -> Vec<u64> {
        let names = |waiting: &&Waiting| match &waiting.wait.reason {
            Reason::Keys { keys, .. } => waiting.db == db && keys.iter().any(|other| other == key),
            Reason::Replicas { .. } | Reason::Pause => false,
        };
        self.waiting.iter().filter(names).map(|waiting| waiting.id).collect()
    }

    pub fn next_timeout_ms(&self) -> Option<u64> {
        let waits = self.waiting.iter().filter_map(|waiting| waiting.wait.until_ms);
        waits.chain(self.pause.map(|pause| pause.until_ms)).min()
    }

    /// Answers those whose time is over, the earliest first.
    pub fn expire(&mut self, now_ms: u64) {
        self.pause = self.pause.filter(|pause| now_ms < pause.until_ms);
        let is_over = |waiting: &Waiting| waiting.wait.until_ms.is_some_and(|until_ms| until_ms <= now_ms);
        let mut over: Vec<Waiting> = self.waiting.extract_if(.., |waiting| is_over(waiting)).collect();
        over.sort_by_key(|waiting| waiting.wait.until_ms);
        for waiting in over {
            self.end_in_vain(&waiting);
        }
    }

    /// CLIENT UNBLOCK: true when the connection waited for something that has a time.
    pub fn unblock(&mut self, id: u64, with_error: bool) -> bool {
        let found = self.waiting.iter().position(|waiting| {
            waiting.id == id && matches!(waiting.wait.reason, Reason::Keys { .. } | Reason::Replicas { .. })
        });
        let Some(place) = found else { return false };
        let waiting = self.waiting.remove(place);
        if with_error {
            self.tell_waiting(&waiting, Reply::error(CommandError::UNBLOCKED));
        } else {
            self.end_in_vain(&waiting);
        }
        true
    }

    /// What the pause held up, once it is over.
    pub fn take_postponed(&mut self, now_ms: u64) -> Vec<Waiting> {
        if self.pause.is_some_and(|pause| now_ms < pause.until_ms) {
            return Vec::new();
        }
        self.waiting.extract_if(.., |waiting| matches!(waiting.wait.reason, Reason::Pause)).collect()
    }

    fn end_in_vain(&mut self, waiting: &Waiting) {
        let reply = waiting.wait.in_vain(self.protocol_of(waiting.id));
        self.tell_waiting(waiting, reply);
    }

    fn tell_waiting(&mut self, waiting: &Waiting, reply: Reply) {
        let protocol = self.protocol_of(waiting.id);
        let link = self.sessions.get_mut(&waiting.id).and_then(|session| session.link.as_deref_mut());
        self.stats.commands += 1;
        self.stats.replied(&reply);
        let argv: Vec<&[u8]> = waiting.argv.iter().map(Vec::as_slice).collect();
        if let Ok(row) = command::resolve(&argv) {
            self.stats.ran(row.name, reply.is_error());
        }
        if link.is_none_or(|link| link.replies.admit()) {
            self.tell(waiting.id, reply, protocol);
        }
    }
}
