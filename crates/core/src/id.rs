//! Job ids: a kind and a snowflake, written so that byte order is mint order.
//!
//! `JOB` and 11 base62 characters of a 63-bit number: 41 bits of milliseconds since [`EPOCH_UNIX_MS`], 10 bits of
//! node, 12 bits of sequence. The alphabet is in ASCII order and the width is fixed, so ids compare as their numbers
//! do, and a zset with equal scores keeps them in mint order.

use std::fmt;
use std::str::FromStr;

/// 2024-01-01T00:00:00Z, where the milliseconds of ids begin. They last until 2093.
pub const EPOCH_UNIX_MS: u64 = 1_704_067_200_000;

/// What every job id begins with.
pub const KIND: &str = "JOB";

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const DIGITS: usize = 11;
const NODE_BITS: u32 = 10;
const SEQUENCE_BITS: u32 = 12;
const TIME_BITS: u32 = 41;

/// A job's id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId {
    /// 63 bits: the top bit is never set.
    snowflake: u64,
}

/// Why a text is not a job id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    #[error("not a job id: {text:?} is not JOB followed by 11 characters of 0-9, A-Z, a-z")]
    Shape { text: String },
    #[error("not a job id: {text:?} is beyond 63 bits")]
    Range { text: String },
}

/// Makes ids in rising order. The clock is passed in with each call, the node once.
#[derive(Clone, Debug)]
pub struct Mint {
    node: u64,
    /// Milliseconds and sequence of the last id, as one number; the next id's is greater.
    last: Option<u64>,
}

/// Why no id can be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MintError {
    #[error("a node is a number below 1024, not {0}")]
    Node(u16),
    #[error("the time {0} ms is outside of what an id can hold (2024 to 2093)")]
    Time(u64),
}

impl JobId {
    /// The least id.
    pub const FIRST: JobId = JobId { snowflake: 0 };

    /// The id of a snowflake; `None` beyond 63 bits.
    pub fn from_snowflake(snowflake: u64) -> Option<JobId> {
        (snowflake >> 63 == 0).then_some(JobId { snowflake })
    }

    pub fn snowflake(self) -> u64 {
        self.snowflake
    }

    /// `JOB` and its digits.
    pub fn text(self) -> String {
        let mut text = [b'0'; KIND.len() + DIGITS];
        let (kind, digits) = text.split_at_mut(KIND.len());
        kind.copy_from_slice(KIND.as_bytes());
        let mut rest = self.snowflake;
        for digit in digits.iter_mut().rev() {
            *digit = ALPHABET[(rest % 62) as usize];
            rest /= 62;
        }
        text.iter().map(|&byte| char::from(byte)).collect()
    }

    /// When the id was minted, in ms since 1970.
    pub fn minted_unix_ms(self) -> u64 {
        EPOCH_UNIX_MS + (self.snowflake >> (NODE_BITS + SEQUENCE_BITS))
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl fmt::Debug for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for JobId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<JobId, IdError> {
        let shape = || IdError::Shape { text: text.to_owned() };
        let digits = text.strip_prefix(KIND).filter(|digits| digits.len() == DIGITS).ok_or_else(shape)?;
        let mut snowflake = 0u64;
        for byte in digits.bytes() {
            let value = ALPHABET.binary_search(&byte).map_err(|_| shape())?;
            let next = snowflake.checked_mul(62).and_then(|n| n.checked_add(value as u64));
            snowflake = next.ok_or_else(|| IdError::Range { text: text.to_owned() })?;
        }
        JobId::from_snowflake(snowflake).ok_or_else(|| IdError::Range { text: text.to_owned() })
    }
}

impl Mint {
    /// # Errors
    /// When `node` needs more than 10 bits.
    pub fn new(node: u16) -> Result<Mint, MintError> {
        if node >> NODE_BITS != 0 {
            return Err(MintError::Node(node));
        }
        Ok(Mint { node: node.into(), last: None })
    }

    /// The next id at `now_unix_ms`. Where the clock stands still or goes back, the sequence counts on from the last
    /// id and, past 4096 in one millisecond, borrows from the next, so ids keep rising.
    ///
    /// # Errors
    /// When the time is before the epoch or beyond 41 bits of milliseconds.
    pub fn next(&mut self, now_unix_ms: u64) -> Result<JobId, MintError> {
        let out_of_range = MintError::Time(now_unix_ms);
        let elapsed_ms = now_unix_ms.checked_sub(EPOCH_UNIX_MS).filter(|ms| ms >> TIME_BITS == 0);
        let first = elapsed_ms.ok_or(out_of_range.clone())? << SEQUENCE_BITS;
        let tick = self.last.map_or(first, |last| first.max(last + 1));
        let (ms, sequence) = (tick >> SEQUENCE_BITS, tick & ((1 << SEQUENCE_BITS) - 1));
        if ms >> TIME_BITS != 0 {
            return Err(out_of_range);
        }
        self.last = Some(tick);
        let snowflake = ms << (NODE_BITS + SEQUENCE_BITS) | self.node << SEQUENCE_BITS | sequence;
        Ok(JobId { snowflake })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOW: u64 = EPOCH_UNIX_MS + 86_400_000;

    #[test]
    fn the_first_and_the_last_id() {
        let first = JobId::from_snowflake(0).unwrap();
        let last = JobId::from_snowflake(u64::MAX >> 1).unwrap();
        assert_eq!(first.to_string(), "JOB00000000000");
        assert_eq!(last.to_string(), "JOBAzL8n0Y58m7");
        assert_eq!(
            "JOBAzL8n0Y58m8".parse::<JobId>().unwrap_err().to_string(),
            r#"not a job id: "JOBAzL8n0Y58m8" is beyond 63 bits"#
        );
    }

    #[test]
    fn what_is_not_an_id_says_why() {
        for text in [
            "",
            "JOB",
            "JOB0000000000",
            "JOB000000000000",
            "job00000000000",
            "JOB0000000000-",
            "JOB000000000ä",
        ] {
            assert!(matches!(text.parse::<JobId>(), Err(IdError::Shape { .. })), "{text}");
        }
        assert!(matches!("JOBzzzzzzzzzzz".parse::<JobId>(), Err(IdError::Range { .. })));
    }

    #[test]
    fn ids_rise_when_the_clock_stands_or_goes_back() {
        let mut mint = Mint::new(7).unwrap();
        let mut ids = Vec::new();
        for step in 0..10_000 {
            ids.push(mint.next(NOW - u64::from(step % 3 == 0)).unwrap());
        }
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(ids.windows(2).all(|pair| pair[0].to_string() < pair[1].to_string()));
    }

    #[test]
    fn an_id_tells_when_it_was_minted() {
        assert_eq!(Mint::new(0).unwrap().next(NOW).unwrap().minted_unix_ms(), NOW);
    }

    #[test]
    fn times_and_nodes_out_of_range_are_refused() {
        assert_eq!(Mint::new(1024).unwrap_err(), MintError::Node(1024));
        let mut mint = Mint::new(0).unwrap();
        assert_eq!(mint.next(EPOCH_UNIX_MS - 1), Err(MintError::Time(EPOCH_UNIX_MS - 1)));
        assert!(mint.next(EPOCH_UNIX_MS + (1 << 41)).is_err());
        assert!(mint.next(EPOCH_UNIX_MS).is_ok());
    }

    proptest! {
        #[test]
        fn text_and_number_say_the_same(a in 0..u64::MAX >> 1, b in 0..u64::MAX >> 1) {
            let (a, b) = (JobId::from_snowflake(a).unwrap(), JobId::from_snowflake(b).unwrap());
            prop_assert_eq!(a.to_string().parse::<JobId>().unwrap(), a);
            prop_assert_eq!(a.cmp(&b), a.to_string().cmp(&b.to_string()));
        }
    }
}
