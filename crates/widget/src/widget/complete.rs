//! `<emq-complete>`: run @complete with a token. The row has moved on once, and a worker may hold either token.

use echomq_core::Scripts;
use leptos::prelude::*;

use super::presented::{self, Bench, Kind, any_token, caller, holder, zombie};
use crate::element::Host;
use crate::part;
use crate::session::present::Verb;
use crate::session::scene::Scene;

pub const STYLE: &str = include_str!("complete.css");

static KIND: Kind = Kind {
    key: "complete",
    title: "run @complete with a token",
    script: || &Scripts::bundled().complete,
    defaults: || Scene::new("complete", 2, "1"),
    verb: |_| Verb::Complete,
    initial,
    controls,
};

pub fn view(host: Host) -> AnyView {
    presented::view(host, &KIND)
}

fn initial(_: Bench, attempts: &str) -> String {
    format!("The row's current attempts is {attempts}; select the token the worker holds.")
}

fn controls(bench: Bench) -> Vec<AnyView> {
    let callers = vec![
        caller(bench, "the worker of this life", holder(bench)),
        caller(bench, "a worker whose lease was reaped", zombie(bench)),
    ];
    vec![part::group("The token the worker holds", callers), any_token(bench)]
}
