//! The server's time as a value. Nothing in the engine reads a clock: the owner sets it.

use std::time::Duration;

/// Microseconds since 1970-01-01T00:00:00Z, as `TIME` reports them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Clock {
    unix_us: u64,
}

impl Clock {
    pub const fn from_unix_ms(unix_ms: u64) -> Clock {
        Clock { unix_us: unix_ms.saturating_mul(1000) }
    }

    pub const fn from_unix_us(unix_us: u64) -> Clock {
        Clock { unix_us }
    }

    pub const fn unix_us(self) -> u64 {
        self.unix_us
    }

    /// Whole milliseconds, the unit of expiry, of leases and of due times.
    pub const fn unix_ms(self) -> u64 {
        self.unix_us / 1000
    }

    /// The clock `by` later; it stops at the end of its range and never goes back.
    #[must_use]
    pub fn after(self, by: Duration) -> Clock {
        let by_us = u64::try_from(by.as_micros()).unwrap_or(u64::MAX);
        Clock { unix_us: self.unix_us.saturating_add(by_us) }
    }
}
