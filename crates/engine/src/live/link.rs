//! What only a connection that the engine keeps has.

use super::Wait;
use crate::clock::Clock;
use crate::reply::Reply;

#[derive(Clone, Debug, Default)]
pub(crate) struct Link {
    pub peer: String,
    pub local: String,
    pub opened: Clock,
    /// When it last sent something.
    pub last: Clock,
    pub last_command: &'static str,
    /// How many requests it has sent.
    pub requests: u64,
    pub replies: Replies,
    pub no_evict: bool,
    pub no_touch: bool,
    /// A command that does not find what it wants may set `wait`: not in a transaction.
    pub may_wait: bool,
    pub wait: Option<Wait>,
    /// SUBSCRIBE and the like answer once for each name; these take the place of the reply.
    pub confirmations: Vec<Reply>,
    /// To be closed after the reply.
    pub closing: bool,
    pub shutdown: bool,
}

/// CLIENT REPLY.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Replies {
    #[default]
    On,
    Off,
    /// SKIP was sent: the reply after the one to SKIP itself, which has none, is left out.
    SkipNext,
    Skip,
}

impl Link {
    pub fn new(peer: &str, local: &str, now: Clock) -> Link {
        Link {
            peer: peer.to_owned(),
            local: local.to_owned(),
            opened: now,
            last: now,
            last_command: "NULL",
            ..Link::default()
        }
    }

    /// RESET.
    pub fn reset(&mut self) {
        self.replies = Replies::On;
        self.no_evict = false;
        self.no_touch = false;
    }

    pub fn begin(&mut self, now: Clock) {
        self.last = now;
        self.requests += 1;
        self.may_wait = true;
    }
}

impl Replies {
    /// Whether the reply that is due now goes out.
    pub fn admit(&mut self) -> bool {
        let (admitted, next) = match *self {
            Replies::On => (true, Replies::On),
            Replies::Off => (false, Replies::Off),
            Replies::SkipNext => (false, Replies::Skip),
            Replies::Skip => (false, Replies::On),
        };
        *self = next;
        admitted
    }
}
