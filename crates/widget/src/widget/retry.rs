//! `<emq-retry>`: the retry branch. Attempts against max decide: scheduled again, or dead.

use echomq_core::Scripts;
use leptos::prelude::*;

use super::presented::{self, Bench, Kind, caller, field, holder, zombie};
use crate::element::Host;
use crate::part;
use crate::session::present::Verb;
use crate::session::scene::{ATTEMPTS, Scene};

pub const STYLE: &str = include_str!("retry.css");

static KIND: Kind = Kind {
    key: "retry",
    title: "retry · attempts ≥ max?",
    script: || &Scripts::bundled().retry,
    defaults: || Scene::new("retry", 1, "99"),
    verb: |scene| Verb::Retry {
        delay_ms: scene.delay.clone(),
        max_attempts: scene.max.clone(),
        error: scene.error.clone(),
    },
    initial,
    controls,
};

pub fn view(host: Host) -> AnyView {
    presented::view(host, &KIND)
}

fn initial(bench: Bench, attempts: &str) -> String {
    let max = bench.scene.with(|scene| scene.max.clone());
    format!(
        "Run a retry. The fence checks the token; then one branch decides: attempts stand at {attempts}, max is {max} \
         — below max the job is scheduled again, at max it is dead."
    )
}

fn controls(bench: Bench) -> Vec<AnyView> {
    let scene = bench.scene;
    let attempts = Callback::new(move |text: String| {
        // Half-typed numbers are no scene yet.
        if let Some(attempts) = text.parse().ok().filter(|number| ATTEMPTS.contains(number)) {
            scene.update(|scene| scene.attempts = attempts);
            bench.stage();
        }
    });
    let of = |read: fn(&Scene) -> String| part::live(move || scene.with(read));
    let into =
        |write: fn(&mut Scene, String)| Callback::new(move |text| scene.update(|scene| write(scene, text)));
    let fields = view! {
        <div part="fields">
            {field("attempts", "number", of(|scene| scene.attempts.to_string()), attempts)}
            {field("max", "number", of(|scene| scene.max.clone()), into(|scene, text| scene.max = text))}
            {field("delay, ms", "number", of(|scene| scene.delay.clone()), into(|scene, text| scene.delay = text))}
            {field("error", "text", of(|scene| scene.error.clone()), into(|scene, text| scene.error = text))}
        </div>
    };
    let callers =
        vec![caller(bench, "the lease holder", holder(bench)), caller(bench, "the zombie", zombie(bench))];
    vec![fields.into_any(), part::group("Run a retry", callers)]
}
