//! `emq-verify bench`: how fast the queue's daily work goes, here and there, as ratios of one run.
//!
//! The work is one claim and one complete by EVALSHA, from one client that waits for each reply. Places take turns, so
//! that a slow moment of the machine hits all of them, and the median round counts.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use echomq_core::Wire;
use emq_verify::on::{On, Place};
use emq_verify::resp::RespWire;

use super::{Console, Outcome};

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

    /// Print `name<TAB>pairs per second` for each place and nothing else
    #[arg(long)]
    plain: bool,
}

struct Lane {
    name: String,
    wire: Box<dyn Wire>,
    rounds: Vec<Duration>,
}

impl Lane {
    /// Pairs per second in the median round.
    fn rate(&self, pairs: NonZeroUsize) -> f64 {
        let mut rounds = self.rounds.clone();
        rounds.sort();
        let median = rounds.get(rounds.len() / 2).copied().unwrap_or_default();
        pairs.get() as f64 / median.as_secs_f64()
    }
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
        let rates: Vec<f64> = lanes.iter().map(|lane| lane.rate(self.pairs)).collect();
        if self.plain {
            for (lane, rate) in lanes.iter().zip(rates) {
                console.line(format_args!("{}\t{rate:.0}", lane.name))?;
            }
        } else {
            report(&lanes, &rates, console)?;
        }
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
    let now = SystemTime::now().duration_since(UNIX_EPOCH).context("the clock is before 1970")?;
    echomq_bench::enqueue(wire, pairs, u64::try_from(now.as_millis())?)?;
    let started = Instant::now();
    echomq_bench::drain(wire, pairs)?;
    Ok(started.elapsed())
}

fn report(lanes: &[Lane], rates: &[f64], console: &mut Console) -> anyhow::Result<()> {
    let width = lanes.iter().map(|lane| lane.name.len()).max().unwrap_or(0);
    let base = rates.first().copied().unwrap_or(f64::NAN);
    console.line(format_args!("{:width$}  {:>10}  {:>10}  {:>7}", "", "pairs/s", "calls/s", "ratio"))?;
    for (lane, rate) in lanes.iter().zip(rates) {
        let (calls, ratio) = (rate * 2.0, rate / base);
        console.line(format_args!("{:width$}  {rate:>10.0}  {calls:>10.0}  {ratio:>7.2}", lane.name))?;
    }
    Ok(())
}
