//! The key names of a queue, built on the host side and nowhere else.
//!
//! Every key carries the queue's name in braces, the hash tag of Valkey Cluster, so that one queue is one slot
//! (<https://valkey.io/topics/cluster-spec/>).

use crc::{CRC_16_XMODEM, Crc};

use crate::id::JobId;

/// Slots of a cluster.
pub const SLOTS: u16 = 16_384;

/// The longest queue name in bytes; names are part of every key, and a page's address may carry one.
pub const MAX_QUEUE_BYTES: usize = 128;

/// The keys of one queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys {
    queue: String,
}

/// A queue name that cannot be the hash tag of its keys.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueueNameError {
    #[error("a queue name cannot be empty: without a hash tag its keys would scatter over the slots")]
    Empty,
    #[error("a queue name cannot hold {0:?}: it would end the hash tag or hide in a terminal")]
    Character(char),
    #[error("a queue name has at most {MAX_QUEUE_BYTES} bytes, this one has {0}")]
    TooLong(usize),
}

impl Keys {
    /// # Errors
    /// When the name is empty, over [`MAX_QUEUE_BYTES`], or holds a brace or a control character.
    pub fn new(queue: &str) -> Result<Keys, QueueNameError> {
        if queue.is_empty() {
            return Err(QueueNameError::Empty);
        }
        if queue.len() > MAX_QUEUE_BYTES {
            return Err(QueueNameError::TooLong(queue.len()));
        }
        if let Some(bad) = queue.chars().find(|c| matches!(c, '{' | '}') || c.is_control()) {
            return Err(QueueNameError::Character(bad));
        }
        Ok(Keys { queue: queue.to_owned() })
    }

    pub fn queue(&self) -> &str {
        &self.queue
    }

    /// Jobs that wait: a zset of ids, score 0.
    pub fn pending(&self) -> String {
        self.key("pending")
    }

    /// Jobs under a lease: a zset of ids, score = deadline in server ms since 1970.
    pub fn active(&self) -> String {
        self.key("active")
    }

    /// Jobs that wait for their time: a zset of ids, score = due time in server ms since 1970.
    pub fn schedule(&self) -> String {
        self.key("schedule")
    }

    /// Dead letters: a zset of ids, score 0.
    pub fn dead(&self) -> String {
        self.key("dead")
    }

    /// The hash of one job.
    pub fn row(&self, id: &JobId) -> String {
        let mut key = self.row_root();
        key.push_str(&id.text());
        key
    }

    /// What scripts build row keys from.
    pub fn row_root(&self) -> String {
        self.key("job:")
    }

    /// Counts jobs completed.
    pub fn completed(&self) -> String {
        self.key("metrics:completed")
    }

    /// Counts jobs that went to dead.
    pub fn failed(&self) -> String {
        self.key("metrics:failed")
    }

    /// The keys that do not belong to one job.
    pub fn shared(&self) -> [String; 6] {
        [self.pending(), self.active(), self.schedule(), self.dead(), self.completed(), self.failed()]
    }

    /// Every key that the queue can have while it knows these jobs and no others.
    pub fn all<'i>(&self, jobs: impl IntoIterator<Item = &'i JobId>) -> Vec<String> {
        self.shared().into_iter().chain(jobs.into_iter().map(|id| self.row(id))).collect()
    }

    /// The slot of every key of this queue.
    pub fn slot(&self) -> u16 {
        slot(self.row_root().as_bytes())
    }

    #[inline(never)]
    fn key(&self, tail: &str) -> String {
        ["emq:{", &self.queue, "}:", tail].concat()
    }
}

/// The slot that `CLUSTER KEYSLOT` names: CRC16 (XMODEM) of the key's hash tag, or of the whole key without one,
/// modulo [`SLOTS`].
pub fn slot(key: &[u8]) -> u16 {
    const CRC16: Crc<u16> = Crc::<u16>::new(&CRC_16_XMODEM);
    CRC16.checksum(hash_tag(key)) % SLOTS
}

/// What stands between the first `{` and the next `}`, if that is not empty; else the whole key.
fn hash_tag(key: &[u8]) -> &[u8] {
    let inner = key.iter().position(|&byte| byte == b'{').and_then(|open| key.get(open + 1..));
    let tag =
        inner.and_then(|rest| rest.iter().position(|&byte| byte == b'}').and_then(|end| rest.get(..end)));
    tag.filter(|tag| !tag.is_empty()).unwrap_or(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_a_queue_is_in_one_slot() {
        let keys = Keys::new("mail").unwrap();
        let id = "JOB00000000001".parse().unwrap();
        let all = keys.all([&id]).into_iter().chain([keys.row_root()]);
        assert_eq!(keys.row(&id), "emq:{mail}:job:JOB00000000001");
        for key in all {
            assert_eq!(slot(key.as_bytes()), slot(b"mail"), "{key}");
        }
    }

    #[test]
    fn slots_are_those_of_the_cluster_specification() {
        assert_eq!(slot(b"123456789"), 0x31c3);
        assert_eq!(slot(b"{user1000}.following"), slot(b"user1000"));
        assert_eq!(slot(b"foo{}{bar}"), 8363);
        assert_eq!(slot(b"foo{{bar}}zap"), slot(b"{bar"));
        assert_eq!(slot(b"foo{bar}{zap}"), slot(b"bar"));
    }

    #[test]
    fn names_that_break_the_tag_are_refused() {
        assert_eq!(Keys::new(""), Err(QueueNameError::Empty));
        assert_eq!(Keys::new("a}b"), Err(QueueNameError::Character('}')));
        assert_eq!(Keys::new("a\nb"), Err(QueueNameError::Character('\n')));
        assert_eq!(Keys::new(&"x".repeat(129)), Err(QueueNameError::TooLong(129)));
    }
}
