//! The three elements that present a token to the fence.

use echomq_core::Scripts;

use super::bench::Kind;
use super::present::Verb;
use super::scene::Scene;

/// The attributes that set their scenes.
pub static ATTRIBUTES: [&str; 6] = ["attempts", "token", "queue", "max", "delay", "error"];

pub static ALL: [&Kind; 3] = [&FENCE, &COMPLETE, &RETRY];

/// One job row at attempts 1, a lease holder and a zombie.
pub static FENCE: Kind = Kind {
    key: "fence",
    title: "the fence · presented token == attempts?",
    controls: include_str!("../widget/fence.html"),
    script: || &Scripts::bundled().complete,
    defaults: || Scene::new(1, "99"),
    verb: |_| Verb::Complete,
    initial: |_, attempts| {
        format!(
            "Run a complete. The fence reads attempts — the counter stands at {attempts} — and compares it with the \
             presented token before touching anything."
        )
    },
};

/// The row has moved on once, and a worker may hold either token.
pub static COMPLETE: Kind = Kind {
    key: "complete",
    title: "run @complete with a token",
    controls: include_str!("../widget/complete.html"),
    script: || &Scripts::bundled().complete,
    defaults: || Scene::new(2, "1"),
    verb: |_| Verb::Complete,
    initial: |_, attempts| {
        format!("The row's current attempts is {attempts}; select the token the worker holds.")
    },
};

/// Attempts against max decide: scheduled again, or dead.
pub static RETRY: Kind = Kind {
    key: "retry",
    title: "retry · attempts ≥ max?",
    controls: include_str!("../widget/retry.html"),
    script: || &Scripts::bundled().retry,
    defaults: || Scene::new(1, "99"),
    verb: |scene| Verb::Retry {
        delay_ms: scene.delay.clone(),
        max_attempts: scene.max.clone(),
        error: scene.error.clone(),
    },
    initial: |scene, attempts| {
        let max = &scene.max;
        format!(
            "Run a retry. The fence checks the token; then one branch decides: attempts stand at {attempts}, max is \
             {max} — below max the job is scheduled again, at max it is dead."
        )
    },
};
