//! `<emq-fence>`: the fence, simulated. One job row, a lease holder and a zombie.

use echomq_core::Scripts;
use leptos::prelude::*;

use super::presented::{self, Bench, Kind, any_token, caller, holder, zombie};
use crate::element::Host;
use crate::part;
use crate::session::present::Verb;
use crate::session::scene::Scene;

pub const STYLE: &str = include_str!("fence.css");

static KIND: Kind = Kind {
    key: "fence",
    title: "the fence · presented token == attempts?",
    script: || &Scripts::bundled().complete,
    defaults: || Scene::new("fence", 1, "99"),
    verb: |_| Verb::Complete,
    initial,
    controls,
};

pub fn view(host: Host) -> AnyView {
    presented::view(host, &KIND)
}

fn initial(_: Bench, attempts: &str) -> String {
    format!(
        "Run a complete. The fence reads attempts — the counter stands at {attempts} — and compares it with the \
         presented token before touching anything."
    )
}

fn controls(bench: Bench) -> Vec<AnyView> {
    let callers =
        vec![caller(bench, "the lease holder", holder(bench)), caller(bench, "the zombie", zombie(bench))];
    vec![part::group("Run a complete", callers), any_token(bench)]
}
