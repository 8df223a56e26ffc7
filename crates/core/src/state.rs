//! A queue as its keys show it: what a page draws, what the laws are checked on, what makes two states equal.

use echomq_engine::Reply;
use litemap::LiteMap;

use crate::id::JobId;
use crate::keys::Keys;
use crate::queue::Set;
use crate::wire::{Wire, WireError};

/// Everything that the keys of one queue hold, read command by command.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueState {
    /// The members of each set in its own order, each with its score as Valkey prints it.
    pub pending: Vec<Member>,
    pub active: Vec<Member>,
    pub schedule: Vec<Member>,
    pub dead: Vec<Member>,
    /// The rows that exist, fields in the order of `HGETALL`.
    pub rows: LiteMap<JobId, Vec<(String, String)>>,
    pub completed: u64,
    pub failed: u64,
}

/// One entry of a set. An id is text here, because a set may hold anything.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Member {
    pub id: String,
    pub score: String,
}

/// A law of jobs that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BrokenLaw {
    #[error("{id} is in {sets:?} at once")]
    InTwoSets { id: String, sets: Vec<&'static str> },
    #[error("{id} is in {set} and has no row")]
    NoRow { id: String, set: &'static str },
    #[error("the row of {id} says {state:?}, and the job is in {set}")]
    State { id: String, state: Option<String>, set: &'static str },
    #[error("the row of {id} is in no set")]
    InNoSet { id: String },
}

impl QueueState {
    /// Reads the queue's sets and counters, the rows of every id in a set, and those of `ids`.
    ///
    /// # Errors
    /// When the wire brings no reply.
    pub fn read(wire: &mut dyn Wire, keys: &Keys, ids: &[JobId]) -> Result<QueueState, WireError> {
        let mut state = QueueState {
            pending: members(wire, &keys.pending())?,
            active: members(wire, &keys.active())?,
            schedule: members(wire, &keys.schedule())?,
            dead: members(wire, &keys.dead())?,
            rows: LiteMap::new(),
            completed: counter(wire, &keys.completed())?,
            failed: counter(wire, &keys.failed())?,
        };
        let listed =
            Set::ALL.into_iter().flat_map(|set| state.set(set)).filter_map(|member| member.id.parse().ok());
        let ids: Vec<JobId> = ids.iter().copied().chain(listed).collect();
        for id in ids {
            if state.rows.contains_key(&id) {
                continue;
            }
            let row = fields(wire, &keys.row(&id))?;
            if !row.is_empty() {
                state.rows.insert(id, row);
            }
        }
        Ok(state)
    }

    pub fn set(&self, set: Set) -> &[Member] {
        match set {
            Set::Pending => &self.pending,
            Set::Active => &self.active,
            Set::Schedule => &self.schedule,
            Set::Dead => &self.dead,
        }
    }

    /// Where a job is; `None`: in no set.
    pub fn place(&self, id: &JobId) -> Option<Set> {
        let id = id.to_string();
        Set::ALL.into_iter().find(|set| self.set(*set).iter().any(|member| member.id == id))
    }

    pub fn field(&self, id: &JobId, field: &str) -> Option<&str> {
        self.rows.get(id)?.iter().find(|(name, _)| name == field).map(|(_, value)| value.as_str())
    }

    /// The laws that every state of a queue keeps: a job is in exactly one set, it has a row, and the row's `state`
    /// says where.
    pub fn broken_laws(&self) -> Vec<BrokenLaw> {
        let mut places: LiteMap<&str, Vec<Set>> = LiteMap::new();
        for set in Set::ALL {
            for member in self.set(set) {
                places.entry(&member.id).or_default().push(set);
            }
        }
        let listed = places.iter().filter_map(|(id, sets)| self.broken_law(id, sets));
        let rows = self.rows.keys().map(JobId::to_string);
        let stray = rows.filter(|id| !places.contains_key(id.as_str())).map(|id| BrokenLaw::InNoSet { id });
        listed.chain(stray).collect()
    }

    fn broken_law(&self, id: &str, sets: &[Set]) -> Option<BrokenLaw> {
        let &[set] = sets else {
            return Some(BrokenLaw::InTwoSets {
                id: id.to_owned(),
                sets: sets.iter().map(|set| set.name()).collect(),
            });
        };
        let row = id.parse().ok().filter(|id| self.rows.contains_key(id));
        let Some(job) = row else {
            return Some(BrokenLaw::NoRow { id: id.to_owned(), set: set.name() });
        };
        let state = self.field(&job, "state");
        (state != Some(set.state())).then(|| BrokenLaw::State {
            id: id.to_owned(),
            state: state.map(str::to_owned),
            set: set.name(),
        })
    }
}

fn members(wire: &mut dyn Wire, key: &str) -> Result<Vec<Member>, WireError> {
    let reply = wire.call(&[b"ZRANGE", key.as_bytes(), b"0", b"-1", b"WITHSCORES"])?;
    Ok(pairs(reply).into_iter().map(|(id, score)| Member { id, score }).collect())
}

fn fields(wire: &mut dyn Wire, key: &str) -> Result<Vec<(String, String)>, WireError> {
    Ok(pairs(wire.call(&[b"HGETALL", key.as_bytes()])?))
}

fn counter(wire: &mut dyn Wire, key: &str) -> Result<u64, WireError> {
    let reply = wire.call(&[b"GET", key.as_bytes()])?;
    Ok(text(&reply).parse().unwrap_or(0))
}

/// A flat array of RESP2 taken two by two; anything else (a key of another type) shows as nothing.
fn pairs(reply: Reply) -> Vec<(String, String)> {
    let Reply::Array(items) = reply else { return Vec::new() };
    items.chunks_exact(2).map(|pair| (text(&pair[0]), text(&pair[1]))).collect()
}

fn text(reply: &Reply) -> String {
    match reply {
        Reply::Bulk(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        _ => String::new(),
    }
}
