//! The work that `cargo xtask bench` measures in every place: one claim and one complete by EVALSHA for each job, by
//! one client that waits for each reply. `tests/bench/lanes.mjs` sends the same calls through the clients of JavaScript.

#[cfg(target_family = "wasm")]
mod wasm;

use anyhow::{Context as _, ensure};
use echomq_core::{Keys, Mint, Queue, Scripts, Wire};

/// Long enough that no lease runs out during a round.
const LEASE_MS: u64 = 600_000;

const QUEUE: &str = "bench";
const PAYLOAD: &[u8] = b"payload";

/// Fills the queue: what comes before the clock starts.
///
/// # Errors
/// When the wire brings no reply, or not what a queue answers.
pub fn enqueue(wire: &mut dyn Wire, jobs: usize, now_unix_ms: u64) -> anyhow::Result<()> {
    let queue = queue()?;
    clear(wire, queue.keys())?;
    let mut mint = Mint::new(0)?;
    for _ in 0..jobs {
        queue.enqueue(wire, &mint.next(now_unix_ms)?, PAYLOAD)?;
    }
    Ok(())
}

/// Claims and completes every job: what is measured.
///
/// # Errors
/// As [`enqueue`]; when there are not just as many jobs.
pub fn drain(wire: &mut dyn Wire, jobs: usize) -> anyhow::Result<()> {
    let queue = queue()?;
    for _ in 0..jobs {
        let claim = queue.claim(wire, LEASE_MS)?.context("a job is missing")?;
        queue.complete(wire, &claim.id, claim.token)?;
    }
    ensure!(queue.claim(wire, LEASE_MS)?.is_none(), "a job is left over");
    clear(wire, queue.keys())
}

fn queue() -> anyhow::Result<Queue<'static>> {
    Ok(Queue::new(Keys::new(QUEUE)?, Scripts::bundled()))
}

/// The rows need no clearing: complete retires them, and what a failed round left is enqueued in no later one.
fn clear(wire: &mut dyn Wire, keys: &Keys) -> anyhow::Result<()> {
    let shared = keys.shared();
    let argv: Vec<&[u8]> =
        [b"DEL".as_slice()].into_iter().chain(shared.iter().map(|key| key.as_bytes())).collect();
    let reply = wire.call(&argv)?;
    ensure!(!reply.is_error(), "DEL answers {reply}");
    Ok(())
}
