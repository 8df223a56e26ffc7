//! The scripts are right in every state, not only on the happy path: random walks over the verbs, with the laws of a
//! job checked after every step.
//!
//! A job is in exactly one of pending, active, schedule, dead, or gone; its row's `state` says which; attempts never
//! go down; a job is retired at most once; nothing is lost; the counters count each end once.

use std::collections::BTreeMap;
use std::time::Duration;

use echomq_core::{CallError, EngineWire, JobId, Keys, Queue, Reply, Retried, Scripts, Set, Wire};
use proptest::prelude::*;

const JOBS: u64 = 4;

#[derive(Clone, Debug)]
enum Step {
    Enqueue(u64),
    Claim {
        lease_ms: u64,
    },
    Complete {
        job: u64,
        token: u64,
    },
    Retry {
        job: u64,
        token: u64,
        delay_ms: u64,
        max: u64,
    },
    Promote {
        limit: u64,
    },
    Reap {
        limit: u64,
    },
    Pass {
        ms: u64,
    },
    /// Somebody deletes a row behind the scripts' back.
    DeleteRow(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let job = || 1..=JOBS;
    prop_oneof![
        3 => job().prop_map(Step::Enqueue),
        6 => prop_oneof![Just(1), Just(5), Just(100)].prop_map(|lease_ms| Step::Claim { lease_ms }),
        5 => (job(), 0..4u64).prop_map(|(job, token)| Step::Complete { job, token }),
        5 => (job(), 0..4u64, 0..10u64, 1..4u64)
            .prop_map(|(job, token, delay_ms, max)| Step::Retry { job, token, delay_ms, max }),
        3 => (1..3u64).prop_map(|limit| Step::Promote { limit }),
        3 => (1..3u64).prop_map(|limit| Step::Reap { limit }),
        4 => (1..12u64).prop_map(|ms| Step::Pass { ms }),
    ]
}

/// A walk where rows may also vanish.
fn rough_step() -> impl Strategy<Value = Step> {
    prop_oneof![9 => step(), 1 => (1..=JOBS).prop_map(Step::DeleteRow)]
}

struct Walk {
    wire: EngineWire,
    queue: Queue<'static>,
    /// What became of each job that was ever enqueued.
    jobs: BTreeMap<JobId, Fate>,
    failed: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Fate {
    attempts: u64,
    retired: bool,
    row_deleted: bool,
}

impl Walk {
    fn new() -> Walk {
        Walk {
            wire: EngineWire::default(),
            queue: Queue::new(Keys::new("walk").unwrap(), Scripts::bundled()),
            jobs: BTreeMap::new(),
            failed: 0,
        }
    }

    fn take(&mut self, step: &Step) {
        let id = |job: u64| JobId::from_snowflake(job).unwrap();
        let wire = &mut self.wire;
        match *step {
            // An id is used once: what was retired does not come back.
            Step::Enqueue(job)
                if self.jobs.get(&id(job)).is_some_and(|fate| fate.retired || fate.row_deleted) => {}
            Step::Enqueue(job) => {
                let added = self.queue.enqueue(wire, &id(job), b"work").unwrap();
                assert_eq!(added, !self.jobs.contains_key(&id(job)));
                self.jobs.entry(id(job)).or_default();
            }
            Step::Claim { lease_ms } => {
                if let Some(claim) = self.queue.claim(wire, lease_ms).unwrap() {
                    let fate = self.jobs.get_mut(&claim.id).unwrap();
                    assert!(!fate.retired && !fate.row_deleted, "claimed what is gone: {claim:?}");
                    assert_eq!(claim.token, fate.attempts + 1);
                }
            }
            Step::Complete { job, token } => {
                let outcome = self.queue.complete(wire, &id(job), token);
                self.ended(&id(job), token, outcome);
            }
            Step::Retry { job, token, delay_ms, max } => {
                let was_dead = self.state(&id(job)).as_deref() == Some("dead");
                let outcome = self.queue.retry(&mut self.wire, &id(job), token, delay_ms, max, b"why");
                match &outcome {
                    Ok(Retried::Dead) => self.failed += u64::from(!was_dead),
                    Ok(Retried::Scheduled) => assert!(!was_dead, "the dead came back"),
                    Err(_) => {}
                }
                self.answered(&id(job), token, outcome.err());
            }
            Step::Promote { limit } => {
                assert!(self.queue.promote(wire, limit).unwrap() <= limit);
            }
            Step::Reap { limit } => {
                assert!(self.queue.reap(wire, limit).unwrap() <= limit);
            }
            Step::Pass { ms } => wire.pass(Duration::from_millis(ms)).unwrap(),
            Step::DeleteRow(job) => {
                let key = self.queue.keys().row(&id(job));
                let deleted = wire.call(&[b"DEL", key.as_bytes()]).unwrap() == Reply::Integer(1);
                if let Some(fate) = self.jobs.get_mut(&id(job)) {
                    fate.row_deleted |= deleted;
                }
            }
        }
    }

    fn ended(&mut self, id: &JobId, token: u64, outcome: Result<(), CallError>) {
        if outcome.is_ok() {
            let fate = self.jobs.get_mut(id).unwrap();
            assert!(!fate.retired, "{id} was retired twice");
            assert_eq!(token, fate.attempts);
            assert_ne!(token, 0, "{id} was retired without a claim");
            fate.retired = true;
        } else {
            self.answered(id, token, outcome.err());
        }
    }

    /// Stale and gone are said exactly when they are true.
    fn answered(&self, id: &JobId, token: u64, error: Option<CallError>) {
        let fate = self.jobs.get(id).filter(|fate| !fate.retired && !fate.row_deleted);
        let expected = match fate {
            None => Some(CallError::Gone),
            Some(fate) if fate.attempts != token || token == 0 => Some(CallError::Stale),
            Some(_) => None,
        };
        assert_eq!(error, expected, "{id} with token {token}: {fate:?}");
    }

    fn check(&mut self) {
        for (id, fate) in self.jobs.clone() {
            let sets: Vec<Set> = Set::ALL.into_iter().filter(|set| self.holds(*set, &id)).collect();
            let state = self.state(&id);
            if fate.row_deleted {
                assert_eq!(state, None, "a row was made of {id}, which has none");
                assert!(sets.len() <= 1, "{id} is in {sets:?}");
                continue;
            }
            let expected: Vec<Set> =
                Set::ALL.into_iter().filter(|set| Some(set.state()) == state.as_deref()).collect();
            assert_eq!(sets, expected, "{id}: its row says {state:?}");
            assert_eq!(state.is_none(), fate.retired, "{id} is lost, or came back: {fate:?}");
            if state.is_some() {
                let attempts: u64 = self.field(&id, "attempts").unwrap().parse().unwrap();
                assert!(
                    (fate.attempts..=fate.attempts + 1).contains(&attempts),
                    "{id}: {fate:?} to {attempts}"
                );
                self.jobs.get_mut(&id).unwrap().attempts = attempts;
            }
        }
        let completed = self.jobs.values().filter(|fate| fate.retired).count() as u64;
        assert_eq!(self.counter(&self.queue.keys().completed()), completed);
        assert_eq!(self.counter(&self.queue.keys().failed()), self.failed);
    }

    fn holds(&mut self, set: Set, id: &JobId) -> bool {
        let key = set.key(self.queue.keys());
        self.wire.call(&[b"ZSCORE", key.as_bytes(), id.to_string().as_bytes()]).unwrap() != Reply::Nil
    }

    fn state(&mut self, id: &JobId) -> Option<String> {
        self.field(id, "state")
    }

    fn field(&mut self, id: &JobId, field: &str) -> Option<String> {
        let key = self.queue.keys().row(id);
        text(self.wire.call(&[b"HGET", key.as_bytes(), field.as_bytes()]).unwrap())
    }

    fn counter(&mut self, key: &str) -> u64 {
        text(self.wire.call(&[b"GET", key.as_bytes()]).unwrap()).map_or(0, |digits| digits.parse().unwrap())
    }
}

fn text(reply: Reply) -> Option<String> {
    match reply {
        Reply::Bulk(bytes) => Some(String::from_utf8(bytes).unwrap()),
        Reply::Nil => None,
        other => panic!("{other}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn the_laws_hold_in_every_state(steps in prop::collection::vec(step(), 1..60)) {
        let mut walk = Walk::new();
        for step in &steps {
            walk.take(step);
            walk.check();
        }
    }

    #[test]
    fn the_laws_hold_where_rows_vanish(steps in prop::collection::vec(rough_step(), 1..60)) {
        let mut walk = Walk::new();
        for step in &steps {
            walk.take(step);
            walk.check();
        }
    }
}

/// Ids without a row neither block a queue nor count against a limit.
#[test]
fn a_crowd_of_ids_without_rows_stops_nobody() {
    let mut walk = Walk::new();
    let queue = walk.queue.clone();
    let real = JobId::from_snowflake(1_000_000).unwrap();
    assert!(queue.enqueue(&mut walk.wire, &real, b"work").unwrap());
    let crowd = |walk: &mut Walk, key: String, score: &str| {
        for ghost in 1..=500 {
            let ghost = JobId::from_snowflake(ghost).unwrap().to_string();
            walk.wire.call(&[b"ZADD", key.as_bytes(), score.as_bytes(), ghost.as_bytes()]).unwrap();
        }
    };
    crowd(&mut walk, queue.keys().pending(), "0");
    let claim = queue.claim(&mut walk.wire, 5).unwrap().unwrap();
    assert_eq!((claim.id, claim.token), (real, 1));
    assert_eq!(queue.pending_size(&mut walk.wire).unwrap(), 0);

    crowd(&mut walk, queue.keys().active(), "1");
    walk.wire.pass(Duration::from_millis(5)).unwrap();
    assert_eq!(queue.reap(&mut walk.wire, 1).unwrap(), 1);
    let claim = queue.claim(&mut walk.wire, 5).unwrap().unwrap();
    assert_eq!((claim.id, claim.token), (real, 2));

    assert_eq!(queue.retry(&mut walk.wire, &real, 2, 0, 9, b"").unwrap(), Retried::Scheduled);
    crowd(&mut walk, queue.keys().schedule(), "1");
    assert_eq!(queue.promote(&mut walk.wire, 1).unwrap(), 1);
    assert_eq!(queue.browse(&mut walk.wire, Set::Pending, 0, 9).unwrap(), [real]);
    assert_eq!(queue.browse(&mut walk.wire, Set::Schedule, 0, 9).unwrap(), []);
}
