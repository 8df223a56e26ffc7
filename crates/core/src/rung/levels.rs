//! The six levels: the lines of the transcript, each with the checks that earn it.

use super::rig::{Check, Checked, Rig};
use crate::queue::Set;

pub(super) struct Level {
    pub level: &'static str,
    pub name: &'static str,
    /// As the course quotes it.
    pub sentence: &'static str,
    pub check: Check,
}

pub(super) const LEVELS: [Level; 6] = [
    Level {
        level: "L1",
        name: "surface",
        sentence: "the machine's surface: claim, complete, retry, promote, reap join enqueue, browse, pending_size \
                   -- five new verbs, every transition one script",
        check: surface,
    },
    Level {
        level: "L2",
        name: "happy",
        sentence: "claim hands out the oldest job with a server-clock lease and fencing token 1; complete with the \
                   right token retires the row -- nothing remains",
        check: happy,
    },
    Level {
        level: "L3",
        name: "fence",
        sentence: "a stale token is refused on the wire: EMQSTALE; the lease holder's work survives the zombie's \
                   complete",
        check: fence,
    },
    Level {
        level: "L4",
        name: "schedule",
        sentence: "retry parks the job in the schedule, promote moves the due back to pending, and the next claim \
                   hands token 2 -- one job, two lives, one counter",
        check: schedule,
    },
    Level {
        level: "L5",
        name: "dead",
        sentence: "attempts 2 against max 2 is the morgue: state dead, last_error kept, and the dead set browses in \
                   mint order like everything else",
        check: dead,
    },
    Level {
        level: "L6",
        name: "reap",
        sentence: "a 40 ms lease expires unanswered; reap returns the orphan to pending and the next claim holds \
                   token 2 -- crash recovery is one zset scan on the server's clock",
        check: reap,
    },
];

/// Longer than any level takes, so that no lease runs out unasked.
const LONG_LEASE_MS: u64 = 60_000;
/// The lease of L6, as its line says.
const SHORT_LEASE_MS: u64 = 40;
const DELAY_MS: u64 = 20;
const EMPTY: &str = "(empty array)";

/// Every script loads under its own digest and answers its calm answer on an empty queue; malformed calls are
/// refused and change nothing.
fn surface(rig: &mut Rig<'_, '_>) -> Checked {
    for script in rig.scripts.all() {
        let sha = rig.load(script)?;
        rig.same(&format!("the digest of {}", script.name()), &sha, &format!("\"{}\"", script.sha()))?;
    }
    let queue = rig.queue.clone();
    let [ghost] = rig.ids()?;
    let calm = [
        (queue.claim_call(LONG_LEASE_MS), "(nil)"),
        (queue.complete_call(&ghost, 1), "(integer) 0"),
        (queue.retry_call(&ghost, 1, 0, 1, b"boom"), "(integer) 0"),
        (queue.promote_call(100), "(integer) 0"),
        (queue.reap_call(100), "(integer) 0"),
        (queue.browse_call(Set::Pending, 0, 100), EMPTY),
        (queue.pending_size_call(), "(integer) 0"),
        (queue.claim_call("soon"), "(error) EMQARG claim lease is not a whole number of ms from 1"),
        (
            queue.retry_call(&ghost, 1, "soon", 1, b""),
            "(error) EMQARG retry delay is not a whole number of ms from 0",
        ),
        (queue.retry_call(&ghost, 1, 0, 0, b""), "(error) EMQARG retry max is not a whole number from 1"),
        (queue.promote_call(0), "(error) EMQARG promote limit is not a whole number from 1"),
        (queue.reap_call(-1), "(error) EMQARG reap limit is not a whole number from 1"),
    ];
    for (call, expected) in &calm {
        rig.answers(&format!("{} on an empty queue", call.script.name()), call, expected)?;
    }
    let mut stranger = queue.enqueue_call(&ghost, b"hello");
    stranger.args[0] = b"USR00000000001".to_vec();
    rig.answers("enqueue of another kind of id", &stranger, "(error) EMQKIND enqueue id is not a job id")?;
    rig.nothing_remains("keys after calls that change nothing", &queue.keys().shared())?;

    rig.enqueues(&ghost, b"hello")?;
    rig.answers("the same enqueue again", &queue.enqueue_call(&ghost, b"other"), "(integer) 0")?;
    rig.field(&ghost, "payload", "\"hello\"")?;
    rig.field(&ghost, "attempts", "\"0\"")?;
    rig.answers(
        "complete with the token of no claim",
        &queue.complete_call(&ghost, 0),
        "(error) EMQSTALE complete token mismatch",
    )?;
    rig.counts(&queue.pending_size_call(), 1)
}

/// The oldest id goes first whatever the order of arrival; the lease is the server's time plus its length.
fn happy(rig: &mut Rig<'_, '_>) -> Checked {
    let queue = rig.queue.clone();
    let keys = queue.keys().clone();
    let [first, second, third] = rig.ids()?;
    for (id, payload) in [(&third, "three"), (&first, "one"), (&second, "two")] {
        rig.enqueues(id, payload.as_bytes())?;
    }
    rig.counts(&queue.pending_size_call(), 3)?;
    rig.browses(Set::Pending, &[first, second, third])?;
    rig.answers(
        "browse of one page",
        &queue.browse_call(Set::Pending, 1, 1),
        &super::rig::listing(&[second]),
    )?;

    let before = rig.now_ms()?;
    rig.claims(LONG_LEASE_MS, &first, "one", 1)?;
    rig.score_is_set(keys.active(), &first, before, LONG_LEASE_MS)?;
    rig.score(keys.pending(), &first, "(nil)")?;
    rig.row(&first, "active", 1)?;

    let complete = queue.complete_call(&first, 1);
    rig.answers("complete with the right token", &complete, "(integer) 1")?;
    rig.answers("the same complete again", &complete, "(integer) 0")?;
    rig.nothing_remains("the row and active", &[keys.row(&first), keys.active()])?;
    rig.counts(&queue.pending_size_call(), 2)?;
    for (id, payload) in [(second, "two"), (third, "three")] {
        rig.claims(LONG_LEASE_MS, &id, payload, 1)?;
        rig.completes("complete", &id, 1)?;
    }
    rig.claims_nothing()?;
    rig.counter(keys.completed(), "\"3\"")?;
    let sets = Set::ALL.map(|set| set.key(&keys));
    let rows = [first, second, third].map(|id| keys.row(&id));
    rig.nothing_remains("sets and rows at the end", &[sets.as_slice(), rows.as_slice()].concat())
}

/// An impostor's token changes nothing, and the holder's works after it.
fn fence(rig: &mut Rig<'_, '_>) -> Checked {
    let queue = rig.queue.clone();
    let keys = queue.keys().clone();
    let [job] = rig.ids()?;
    rig.enqueues(&job, b"work")?;
    rig.claims(LONG_LEASE_MS, &job, "work", 1)?;
    let lease = rig.command("ZSCORE", &[keys.active(), job.to_string()])?.to_string();
    let row = rig.command("HGETALL", &[keys.row(&job)])?.to_string();
    for token in ["99", "0", "2", "01", ""] {
        let complete = queue.complete_call(&job, token);
        let what = format!("complete with token {token:?}");
        rig.answers(&what, &complete, "(error) EMQSTALE complete token mismatch")?;
        let retry = queue.retry_call(&job, token, 0, 9, b"impostor");
        rig.answers(&format!("retry with token {token:?}"), &retry, "(error) EMQSTALE retry token mismatch")?;
    }
    rig.score(keys.active(), &job, &lease)?;
    let after = rig.command("HGETALL", &[keys.row(&job)])?;
    rig.same("the row after the impostor", &after, &row)?;
    rig.completes("the holder's complete", &job, 1)?;
    rig.nothing_remains("the row and active", &[keys.row(&job), keys.active()])
}

/// claim, retry, promote, claim: the counter counts the lives and fences them.
fn schedule(rig: &mut Rig<'_, '_>) -> Checked {
    let queue = rig.queue.clone();
    let keys = queue.keys().clone();
    let [job] = rig.ids()?;
    rig.enqueues(&job, b"work")?;
    rig.claims(LONG_LEASE_MS, &job, "work", 1)?;
    let before = rig.now_ms()?;
    let retry = queue.retry_call(&job, 1, LONG_LEASE_MS, 3, b"later");
    rig.answers("retry", &retry, "\"scheduled\"")?;
    rig.score_is_set(keys.schedule(), &job, before, LONG_LEASE_MS)?;
    rig.field(&job, "state", "\"scheduled\"")?;
    rig.field(&job, "last_error", "\"later\"")?;
    rig.nothing_remains("pending and active", &[keys.pending(), keys.active()])?;
    rig.counts(&queue.promote_call(10), 0)?;

    rig.answers("retry again, sooner", &queue.retry_call(&job, 1, DELAY_MS, 3, b"soon"), "\"scheduled\"")?;
    rig.pass(DELAY_MS)?;
    rig.counts(&queue.promote_call(10), 1)?;
    rig.nothing_remains("the schedule", &[keys.schedule()])?;
    rig.score(keys.pending(), &job, "\"0\"")?;
    rig.row(&job, "pending", 1)?;
    rig.claims(LONG_LEASE_MS, &job, "work", 2)?;
    let stale = "(error) EMQSTALE complete token mismatch";
    rig.answers("complete of the first life", &queue.complete_call(&job, 1), stale)?;
    rig.completes("complete of the second life", &job, 2)?;

    let many = rig.ids::<3>()?;
    for id in &many {
        rig.enqueues(id, b"many")?;
        rig.claims(LONG_LEASE_MS, id, "many", 1)?;
        rig.answers("retry at once", &queue.retry_call(id, 1, 0, 3, b""), "\"scheduled\"")?;
    }
    rig.counts(&queue.promote_call(2), 2)?;
    rig.counts(&queue.promote_call(2), 1)?;
    rig.browses(Set::Pending, &many)
}

/// Two jobs die in the order opposite to their minting; the dead set still lists them by mint.
fn dead(rig: &mut Rig<'_, '_>) -> Checked {
    let queue = rig.queue.clone();
    let keys = queue.keys().clone();
    let [older, younger] = rig.ids()?;
    for id in [younger, older] {
        rig.enqueues(&id, b"work")?;
        rig.claims(LONG_LEASE_MS, &id, "work", 1)?;
        let retry = queue.retry_call(&id, 1, 0, 2, b"first");
        rig.answers("retry at attempts 1 of 2", &retry, "\"scheduled\"")?;
        rig.counts(&queue.promote_call(10), 1)?;
        rig.claims(LONG_LEASE_MS, &id, "work", 2)?;
        let retry = queue.retry_call(&id, 2, 0, 2, b"boom");
        rig.answers("retry at attempts 2 of 2", &retry, "\"dead\"")?;
        rig.answers("the same retry again", &retry, "\"dead\"")?;
        rig.field(&id, "state", "\"dead\"")?;
        rig.field(&id, "last_error", "\"boom\"")?;
        rig.score(keys.dead(), &id, "\"0\"")?;
        rig.nothing_remains("the other sets", &[keys.pending(), keys.active(), keys.schedule()])?;
    }
    rig.counter(keys.failed(), "\"2\"")?;
    rig.browses(Set::Dead, &[older, younger])?;
    rig.claims_nothing()
}

/// A lease runs out on the server's clock. What a holder sends between the reap and the next claim still passes the
/// fence, and leaves the job in one place.
fn reap(rig: &mut Rig<'_, '_>) -> Checked {
    let queue = rig.queue.clone();
    let keys = queue.keys().clone();
    let [safe, orphan, finished, returned] = rig.ids()?;
    rig.enqueues(&safe, b"safe")?;
    rig.claims(LONG_LEASE_MS, &safe, "safe", 1)?;
    for id in [orphan, finished, returned] {
        rig.enqueues(&id, b"work")?;
        let before = rig.now_ms()?;
        rig.claims(SHORT_LEASE_MS, &id, "work", 1)?;
        rig.score_is_set(keys.active(), &id, before, SHORT_LEASE_MS)?;
    }
    // By mint, not by deadline.
    rig.browses(Set::Active, &[safe, orphan, finished, returned])?;
    rig.pass(SHORT_LEASE_MS)?;
    rig.counts(&queue.reap_call(2), 2)?;
    rig.counts(&queue.reap_call(2), 1)?;
    rig.browses(Set::Active, &[safe])?;
    rig.browses(Set::Pending, &[orphan, finished, returned])?;
    rig.row(&orphan, "pending", 1)?;

    rig.completes("a late complete", &finished, 1)?;
    rig.nothing_remains("the row after a late complete", &[keys.row(&finished)])?;
    rig.score(keys.pending(), &finished, "(nil)")?;
    let retry = queue.retry_call(&returned, 1, LONG_LEASE_MS, 9, b"late");
    rig.answers("a late retry", &retry, "\"scheduled\"")?;
    rig.score(keys.pending(), &returned, "(nil)")?;

    rig.claims(LONG_LEASE_MS, &orphan, "work", 2)?;
    let stale = "(error) EMQSTALE complete token mismatch";
    rig.answers("complete with the token that ran out", &queue.complete_call(&orphan, 1), stale)?;
    rig.completes("complete with token 2", &orphan, 2)?;
    rig.claims_nothing()?;
    rig.completes("the lease that held", &safe, 1)
}
