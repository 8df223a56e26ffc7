//! `emq-verify bench`: how fast the queue's daily work goes, here and there, as ratios of one run.
//!
//! The work is one claim and one complete by EVALSHA, from one client that waits for each reply. Places take turns, so
//! that a slow moment of the machine hits all of them, and the median round counts.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, ensure};
use echomq_core::{Keys, Mint, Queue, Scripts, Wire};
use emq_verify::on::{On, Place};
use emq_verify::resp::RespWire;

use super::{Console, Outcome};

/// Long enough that no lease runs out during a round.
const LEASE_MS: u64 = 600_000;

const QUEUE: &str = "emq-verify-bench";

/// Measure claim and complete on the engine and on Valkey
///
/// Prints pairs (one claim, one complete) per second: the engine in this process, each Valkey at hand over loopback
/// and over its unix socket, and each as a multiple of the first Valkey over loopback.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples (a release build, or the numbers say little):
  cargo run --release -p emq-verify -- bench
  valgrind --tool=callgrind target/release/emq-verify bench --on engine --pairs 1000 --rounds 1")]
pub struct Bench {
    /// One place alone, for a profiler: engine, valkey, or where a server runs
    #[arg(long, value_name = "WHERE")]
    on: Option<On>,

    /// Jobs to claim and complete in each round
    #[arg(long, value_name = "N", default_value = "5000")]
    pairs: NonZeroUsize,

    /// Rounds on each place; the median is printed
    #[arg(long, value_name = "N", default_value = "5")]
    rounds: NonZeroUsize,
}

struct Lane {
    name: String,
    wire: Box<dyn Wire>,
    rounds: Vec<Duration>,
}

impl Bench {
    pub fn run(&self, console: &mut Console) -> anyhow::Result<Outcome> {
        if cfg!(debug_assertions) {
            console.note("a debug build: the engine is many times slower than it can be");
        }
        // The servers live until their lanes are done.
        let places = match &self.on {
            Some(on) => on.places()?,
            None => [On::Valkey.places()?, On::Engine.places()?].into_iter().flatten().collect(),
        };
        let mut lanes = lanes(&places)?;
        for round in 0..self.rounds.get() {
            console.note(format_args!("round {} of {}", round + 1, self.rounds));
            for lane in &mut lanes {
                let took = work(&mut *lane.wire, self.pairs.get());
                lane.rounds.push(took.with_context(|| lane.name.clone())?);
            }
        }
        report(&lanes, self.pairs.get(), console)?;
        Ok(Outcome::Passed)
    }
}

/// In the order of the places, each server over loopback first: the first lane is what the others are compared with.
fn lanes(places: &[Place]) -> anyhow::Result<Vec<Lane>> {
    let lane = |name: String, wire| Lane { name, wire, rounds: Vec::new() };
    let mut lanes = Vec::new();
    for place in places {
        lanes.push(lane(place.to_string(), place.wire()?));
        if let Place::Server(server) = place
            && let Some(socket) = server.socket().filter(|socket| socket != server.target())
        {
            let wire = RespWire::connect(&socket)?;
            lanes.push(lane(format!("valkey {} at its unix socket", server.version()), Box::new(wire)));
        }
    }
    Ok(lanes)
}

/// One round: the jobs are put in before the clock starts.
fn work(wire: &mut dyn Wire, pairs: usize) -> anyhow::Result<Duration> {
    let queue = Queue::new(Keys::new(QUEUE)?, Scripts::bundled());
    clear(wire, queue.keys())?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).context("the clock is before 1970")?;
    let now_unix_ms = u64::try_from(now.as_millis())?;
    let mut mint = Mint::new(0)?;
    for _ in 0..pairs {
        queue.enqueue(wire, &mint.next(now_unix_ms)?, b"payload")?;
    }
    let started = Instant::now();
    for _ in 0..pairs {
        let claim = queue.claim(wire, LEASE_MS)?.context("a job is missing")?;
        queue.complete(wire, &claim.id, claim.token)?;
    }
    let took = started.elapsed();
    ensure!(queue.claim(wire, LEASE_MS)?.is_none(), "a job is left over");
    clear(wire, queue.keys())?;
    Ok(took)
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

fn report(lanes: &[Lane], pairs: usize, console: &mut Console) -> anyhow::Result<()> {
    let rates: Vec<f64> =
        lanes.iter().map(|lane| pairs as f64 / median(&lane.rounds).as_secs_f64()).collect();
    let width = lanes.iter().map(|lane| lane.name.len()).max().unwrap_or(0);
    let base = rates.first().copied().unwrap_or(f64::NAN);
    console.line(format_args!("{:width$}  {:>10}  {:>10}  {:>7}", "", "pairs/s", "calls/s", "ratio"))?;
    for (lane, rate) in lanes.iter().zip(rates) {
        let (calls, ratio) = (rate * 2.0, rate / base);
        console.line(format_args!("{:width$}  {rate:>10.0}  {calls:>10.0}  {ratio:>7.2}", lane.name))?;
    }
    Ok(())
}

fn median(rounds: &[Duration]) -> Duration {
    let mut sorted = rounds.to_vec();
    sorted.sort();
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}
