//! One job on a stage, brought to its place by the scripts themselves.
//!
//! A session is its moves: stepping back sets the stage anew and plays all but the last. So it needs nothing of a wire
//! but calls and the passing of time, and the same session runs on a real Valkey, where the tests compare them.

use std::time::Duration;

use echomq_core::keys::QueueNameError;
use echomq_core::meaning::meaning;
use echomq_core::stage::{Act, Stage};
use echomq_core::{Call, JobId, Keys, Mint, Queue, QueueState, Set, Wire, WireError};

/// Attempts that a scene can ask for: each is a claim that is really made.
pub const MAX_ATTEMPTS: u64 = 99;

const PAYLOAD: &[u8] = b"charge the card";
/// The lease that the reader finds running.
const LEASE_MS: u64 = 30_000;
/// The leases of the job's earlier lives.
const SHORT_LEASE_MS: u64 = 1;

/// Why a scene cannot be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SceneError {
    Queue(QueueNameError),
    Wire(WireError),
}

/// What a reader does: some time goes by, then one script is called.
#[derive(Clone, Debug)]
pub struct Move {
    pub pass_ms: u64,
    pub call: Call<'static>,
    /// It is a step of a walk, which counts its steps by this: between them other elements may act on the same stage.
    pub walked: bool,
}

/// A job in some life, and what has been done to it since.
#[derive(Debug)]
pub struct Staged {
    stage: Stage,
    job: JobId,
    /// 0: pending, never claimed. From 1 on: active, in that life.
    attempts: u64,
    scene: QueueState,
    moves: Vec<Move>,
    acts: Vec<Act>,
}

/// The two lines of a readout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readout {
    /// As valkey-cli prints it.
    pub answer: String,
    /// One sentence.
    pub meaning: String,
}

impl Staged {
    /// Sets the stage: a job that has been claimed `attempts` times ([`MAX_ATTEMPTS`] at most), each lease but the
    /// last having run out.
    ///
    /// # Errors
    /// When `queue` cannot name a queue, or the wire brings no reply.
    pub fn new(wire: Box<dyn Wire>, queue: &str, attempts: u64) -> Result<Staged, SceneError> {
        let keys = Keys::new(queue)?;
        let job = the_job();
        let stage = Stage::new(wire, keys, &[job])?;
        let attempts = attempts.min(MAX_ATTEMPTS);
        let scene = QueueState::default();
        let mut staged = Staged { stage, job, attempts, scene, moves: Vec::new(), acts: Vec::new() };
        staged.reset()?;
        Ok(staged)
    }

    /// Back to the scene as it was set.
    ///
    /// # Errors
    /// When the wire brings no reply.
    pub fn reset(&mut self) -> Result<(), WireError> {
        self.moves.clear();
        self.acts.clear();
        self.stage.clear()?;
        for Move { pass_ms, call, .. } in self.scene_moves() {
            if pass_ms > 0 {
                self.stage.pass(Duration::from_millis(pass_ms))?;
            }
            self.stage.call(&call)?;
        }
        self.scene = self.stage.state()?;
        Ok(())
    }

    /// Sets another scene: a job that has been claimed `attempts` times.
    ///
    /// # Errors
    /// When the wire brings no reply.
    pub fn set_attempts(&mut self, attempts: u64) -> Result<(), WireError> {
        self.attempts = attempts.min(MAX_ATTEMPTS);
        self.reset()
    }

    /// The claims that the scene was set with.
    pub fn attempts(&self) -> u64 {
        self.attempts
    }

    /// What sets the scene: the job is enqueued, and each life but the last is reaped after its lease.
    pub fn scene_moves(&self) -> Vec<Move> {
        let queue = self.queue();
        let mut moves = vec![Move::now(queue.enqueue_call(&self.job, PAYLOAD))];
        for life in 1..=self.attempts {
            let lease_ms = if life == self.attempts { LEASE_MS } else { SHORT_LEASE_MS };
            moves.push(Move::now(queue.claim_call(lease_ms)));
            if life < self.attempts {
                moves.push(Move { pass_ms: SHORT_LEASE_MS, ..Move::now(queue.reap_call(1)) });
            }
        }
        moves
    }

    /// Makes one move.
    ///
    /// # Errors
    /// When the wire brings no reply; the move is then not part of the session.
    pub fn play(&mut self, next: Move) -> Result<(), WireError> {
        if next.pass_ms > 0 {
            self.stage.pass(Duration::from_millis(next.pass_ms))?;
        }
        let act = self.stage.call(&next.call)?;
        self.moves.push(next);
        self.acts.push(act);
        Ok(())
    }

    /// Takes the last move back; `false`: there is none.
    ///
    /// # Errors
    /// When the wire brings no reply.
    pub fn back(&mut self) -> Result<bool, WireError> {
        let mut moves = std::mem::take(&mut self.moves);
        if moves.pop().is_none() {
            return Ok(false);
        }
        self.reset()?;
        for earlier in moves {
            self.play(earlier)?;
        }
        Ok(true)
    }

    /// Removes the queue's keys, for a wire that outlives the session.
    ///
    /// # Errors
    /// When the wire brings no reply.
    pub fn clear(&mut self) -> Result<(), WireError> {
        self.stage.clear()
    }

    pub fn queue(&self) -> &Queue<'static> {
        self.stage.queue()
    }

    pub fn job(&self) -> &JobId {
        &self.job
    }

    /// The queue as it is now.
    pub fn state(&self) -> &QueueState {
        self.acts.last().map_or(&self.scene, |act| &act.after)
    }

    /// The row is gone: there is nothing to complete or to retry any more.
    pub fn is_gone(&self) -> bool {
        !self.state().rows.contains_key(&self.job)
    }

    /// The job has a holder: it is not pending, scheduled, dead or gone.
    pub fn is_under_lease(&self) -> bool {
        self.state().place(&self.job) == Some(Set::Active)
    }

    /// What was done, oldest first; the acts are what came of it.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// What came of each move, oldest first.
    pub fn acts(&self) -> &[Act] {
        &self.acts
    }

    pub fn last(&self) -> Option<&Act> {
        self.acts.last()
    }

    /// The readout of the last act.
    pub fn readout(&self) -> Option<Readout> {
        let act = self.last()?;
        Some(Readout { answer: act.reply.to_string(), meaning: meaning(act, &self.job).unwrap_or_default() })
    }

    /// The server's clock, ms since 1970.
    ///
    /// # Errors
    /// When the wire brings no reply.
    pub fn clock_ms(&mut self) -> Result<u64, WireError> {
        self.stage.clock_ms()
    }
}

impl Move {
    /// A call, before any time goes by.
    pub fn now(call: Call<'static>) -> Move {
        Move { pass_ms: 0, call, walked: false }
    }
}

impl From<QueueNameError> for SceneError {
    fn from(error: QueueNameError) -> SceneError {
        SceneError::Queue(error)
    }
}

impl From<WireError> for SceneError {
    fn from(error: WireError) -> SceneError {
        SceneError::Wire(error)
    }
}

impl std::fmt::Display for SceneError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SceneError::Queue(error) => error.fmt(f),
            SceneError::Wire(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SceneError {}

/// The job of every scene: minted by node 0 when the engine's clock starts, the same id on every page.
fn the_job() -> JobId {
    let minted = Mint::new(0).and_then(|mut mint| mint.next(echomq_core::EngineWire::START.unix_ms()));
    minted.unwrap_or(JobId::FIRST)
}
