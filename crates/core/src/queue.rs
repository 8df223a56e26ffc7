//! The verbs: each is one call of one script, with a typed answer.

use std::fmt::Display;

use echomq_engine::Reply;

use crate::id::JobId;
use crate::keys::Keys;
use crate::script::{Call, Script, Scripts};
use crate::wire::{Wire, WireError};

/// One queue as a client sees it. The `*_call` methods say what would be sent, the verbs send it.
#[derive(Clone, Debug)]
pub struct Queue<'s> {
    keys: Keys,
    scripts: &'s Scripts,
}

/// A job under lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub id: JobId,
    pub payload: Vec<u8>,
    /// The fencing token: attempts after this claim. Present it to complete and to retry.
    pub token: u64,
}

/// Where retry put a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retried {
    Scheduled,
    Dead,
}

/// One of the sets that hold ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    Pending,
    Active,
    Schedule,
    Dead,
}

/// Why a verb did not do it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CallError {
    /// `EMQSTALE`: another claim has moved the token on, so the job is no longer the caller's.
    #[error("stale: the token is not the job's current one")]
    Stale,
    /// The row was retired before, usually by a racing twin. Calm: the work is done.
    #[error("gone: the job was retired before")]
    Gone,
    /// `EMQKIND`: the id is not a job id.
    #[error("{0}")]
    Kind(String),
    /// `EMQARG`: the call is malformed.
    #[error("{0}")]
    Argument(String),
    #[error(transparent)]
    Wire(#[from] WireError),
    /// What the contract does not hold, such as an error of the server itself.
    #[error("{verb} got an answer outside of its contract: {reply}")]
    Unexpected { verb: &'static str, reply: Reply },
}

impl<'s> Queue<'s> {
    pub fn new(keys: Keys, scripts: &'s Scripts) -> Queue<'s> {
        Queue { keys, scripts }
    }

    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// Puts a job into pending. `false`: a row of this id exists already.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn enqueue(&self, wire: &mut dyn Wire, id: &JobId, payload: &[u8]) -> Result<bool, CallError> {
        match self.send(wire, &self.enqueue_call(id, payload))? {
            Reply::Integer(added @ (0 | 1)) => Ok(added == 1),
            reply => Err(refusal("enqueue", reply)),
        }
    }

    /// Leases the oldest pending job for `lease_ms` of server time. `None`: nothing is pending.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn claim(&self, wire: &mut dyn Wire, lease_ms: u64) -> Result<Option<Claim>, CallError> {
        match self.send(wire, &self.claim_call(lease_ms))? {
            Reply::Nil => Ok(None),
            reply => match claim_of(&reply) {
                Some(claim) => Ok(Some(claim)),
                None => Err(refusal("claim", reply)),
            },
        }
    }

    /// Retires a job for the holder of its token.
    ///
    /// # Errors
    /// [`CallError::Stale`], [`CallError::Gone`], and the others.
    pub fn complete(&self, wire: &mut dyn Wire, id: &JobId, token: u64) -> Result<(), CallError> {
        match self.send(wire, &self.complete_call(id, token))? {
            Reply::Integer(1) => Ok(()),
            Reply::Integer(0) => Err(CallError::Gone),
            reply => Err(refusal("complete", reply)),
        }
    }

    /// Gives a job back after a failed attempt: due again after `delay_ms`, or dead at `max_attempts`. How delays
    /// grow is the caller's judgement.
    ///
    /// # Errors
    /// [`CallError::Stale`], [`CallError::Gone`], and the others.
    pub fn retry(
        &self,
        wire: &mut dyn Wire,
        id: &JobId,
        token: u64,
        delay_ms: u64,
        max_attempts: u64,
        error: &[u8],
    ) -> Result<Retried, CallError> {
        match self.send(wire, &self.retry_call(id, token, delay_ms, max_attempts, error))? {
            Reply::Bulk(state) if state == b"scheduled" => Ok(Retried::Scheduled),
            Reply::Bulk(state) if state == b"dead" => Ok(Retried::Dead),
            Reply::Integer(0) => Err(CallError::Gone),
            reply => Err(refusal("retry", reply)),
        }
    }

    /// Moves at most `limit` due jobs to pending and says how many.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn promote(&self, wire: &mut dyn Wire, limit: u64) -> Result<u64, CallError> {
        count("promote", self.send(wire, &self.promote_call(limit))?)
    }

    /// Returns at most `limit` jobs whose lease ran out to pending and says how many.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn reap(&self, wire: &mut dyn Wire, limit: u64) -> Result<u64, CallError> {
        count("reap", self.send(wire, &self.reap_call(limit))?)
    }

    /// The jobs of a set in mint order.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn browse(
        &self,
        wire: &mut dyn Wire,
        set: Set,
        offset: u64,
        limit: u64,
    ) -> Result<Vec<JobId>, CallError> {
        let reply = self.send(wire, &self.browse_call(set, offset, limit))?;
        let Reply::Array(items) = &reply else {
            return Err(refusal("browse", reply));
        };
        match items.iter().map(id_of).collect() {
            Some(ids) => Ok(ids),
            None => Err(refusal("browse", reply)),
        }
    }

    /// How many jobs are pending.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn pending_size(&self, wire: &mut dyn Wire) -> Result<u64, CallError> {
        count("pending_size", self.send(wire, &self.pending_size_call())?)
    }

    fn send(&self, wire: &mut dyn Wire, call: &Call<'_>) -> Result<Reply, WireError> {
        call.send(wire)
    }
}

/// What each verb sends: the one place where a script meets its keys. Arguments are taken as text, because a learner
/// may present any.
impl<'s> Queue<'s> {
    pub fn enqueue_call(&self, id: &JobId, payload: &[u8]) -> Call<'s> {
        let keys = vec![self.keys.pending(), self.keys.row(id)];
        call(&self.scripts.enqueue, keys, vec![id.text().into_bytes(), payload.to_vec()])
    }

    pub fn claim_call(&self, lease_ms: impl Display) -> Call<'s> {
        let keys = vec![self.keys.pending(), self.keys.active(), self.keys.row_root()];
        call(&self.scripts.claim, keys, vec![text(lease_ms)])
    }

    pub fn complete_call(&self, id: &JobId, token: impl Display) -> Call<'s> {
        let keys = &self.keys;
        let keys =
            vec![keys.active(), keys.row(id), keys.pending(), keys.schedule(), keys.dead(), keys.completed()];
        call(&self.scripts.complete, keys, vec![id.text().into_bytes(), text(token)])
    }

    pub fn retry_call(
        &self,
        id: &JobId,
        token: impl Display,
        delay_ms: impl Display,
        max_attempts: impl Display,
        error: &[u8],
    ) -> Call<'s> {
        let keys = &self.keys;
        let keys =
            vec![keys.active(), keys.schedule(), keys.dead(), keys.row(id), keys.pending(), keys.failed()];
        let id = id.text().into_bytes();
        let args = vec![id, text(token), text(delay_ms), text(max_attempts), error.to_vec()];
        call(&self.scripts.retry, keys, args)
    }

    pub fn promote_call(&self, limit: impl Display) -> Call<'s> {
        let keys = vec![self.keys.schedule(), self.keys.pending(), self.keys.row_root()];
        call(&self.scripts.promote, keys, vec![text(limit)])
    }

    pub fn reap_call(&self, limit: impl Display) -> Call<'s> {
        let keys = vec![self.keys.active(), self.keys.pending(), self.keys.row_root()];
        call(&self.scripts.reap, keys, vec![text(limit)])
    }

    pub fn browse_call(&self, set: Set, offset: impl Display, limit: impl Display) -> Call<'s> {
        let keys = vec![set.key(&self.keys), self.keys.row_root()];
        call(&self.scripts.browse, keys, vec![text(offset), text(limit)])
    }

    pub fn pending_size_call(&self) -> Call<'s> {
        call(&self.scripts.pending_size, vec![self.keys.pending()], Vec::new())
    }
}

impl Set {
    pub const ALL: [Set; 4] = [Set::Pending, Set::Active, Set::Schedule, Set::Dead];

    pub fn key(self, keys: &Keys) -> String {
        match self {
            Set::Pending => keys.pending(),
            Set::Active => keys.active(),
            Set::Schedule => keys.schedule(),
            Set::Dead => keys.dead(),
        }
    }

    /// The last part of the set's key.
    pub fn name(self) -> &'static str {
        match self {
            Set::Pending => "pending",
            Set::Active => "active",
            Set::Schedule => "schedule",
            Set::Dead => "dead",
        }
    }

    /// What the row's `state` says of a job in this set.
    pub fn state(self) -> &'static str {
        match self {
            Set::Pending => "pending",
            Set::Active => "active",
            Set::Schedule => "scheduled",
            Set::Dead => "dead",
        }
    }
}

// Not generic and not inlined: a verb has one body, whatever its arguments are.
#[inline(never)]
fn call(script: &Script, keys: Vec<String>, args: Vec<Vec<u8>>) -> Call<'_> {
    Call { script, keys, args }
}

fn text(value: impl Display) -> Vec<u8> {
    value.to_string().into_bytes()
}

fn count(verb: &'static str, reply: Reply) -> Result<u64, CallError> {
    match reply {
        Reply::Integer(n) if n >= 0 => Ok(n.unsigned_abs()),
        reply => Err(refusal(verb, reply)),
    }
}

fn claim_of(reply: &Reply) -> Option<Claim> {
    let Reply::Array(items) = reply else { return None };
    let [id, Reply::Bulk(payload), Reply::Integer(token)] = items.as_slice() else { return None };
    Some(Claim { id: id_of(id)?, payload: payload.clone(), token: u64::try_from(*token).ok()? })
}

fn id_of(reply: &Reply) -> Option<JobId> {
    let Reply::Bulk(bytes) = reply else { return None };
    std::str::from_utf8(bytes).ok()?.parse().ok()
}

/// Reads the class of a refusal.
fn refusal(verb: &'static str, reply: Reply) -> CallError {
    let words = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
    match (reply.error_class(), &reply) {
        (Some(b"EMQSTALE"), _) => CallError::Stale,
        (Some(b"EMQKIND"), Reply::Error(text)) => CallError::Kind(words(text)),
        (Some(b"EMQARG"), Reply::Error(text)) => CallError::Argument(words(text)),
        _ => CallError::Unexpected { verb, reply },
    }
}
