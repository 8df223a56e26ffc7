//! `<emq-rung>`: the rung check, run in this page, line by line.

use leptos::prelude::*;

use crate::element::Host;
use crate::session::rung::{Line, Run};

pub const STYLE: &str = include_str!("rung.css");

/// One run and how it was timed.
#[derive(Clone)]
struct Timed {
    run: Run,
    /// Starts at 1; a new number makes the live region speak again.
    number: u32,
    /// Tenths of a millisecond: a whole number, for text of doubles costs kilobytes.
    took_tenths: u32,
}

pub fn view(host: Host) -> impl IntoView {
    let current = RwSignal::new(timed(1));
    current.with_untracked(|timed| tell_verdict(&host, timed));
    let again = move |_| {
        current.update(|timed| *timed = self::timed(timed.number + 1));
        current.with_untracked(|timed| tell_verdict(&host, timed));
    };
    view! {
        <div part="bar">
            <p part="status" role="status">{move || current.with(status)}</p>
            <button part="button" type="button" on:click=again>"Run again"</button>
        </div>
        <pre part="transcript">
            {move || current.with(|timed| timed.run.lines.iter().cloned().map(line).collect_view())}
            <span class="verdict" class:failed=move || current.with(|timed| !timed.run.passed)>
                {move || current.with(|timed| timed.run.verdict.clone() + "\n")}
            </span>
        </pre>
    }
}

fn line(line: Line) -> impl IntoView {
    view! {
        <span class="line" class:failed=!line.passed>
            <b class="level">{line.level}</b>
            <b class="name">{line.name}</b>
            <span class="outcome">{line.outcome}</span>
            {line.rest + "\n"}
        </span>
    }
}

fn status(timed: &Timed) -> String {
    let Timed { number, took_tenths, .. } = timed;
    format!("Run {number} in this page: {}.{} ms", took_tenths / 10, took_tenths % 10)
}

fn timed(number: u32) -> Timed {
    let now = || window().performance().map_or(0.0, |clock| clock.now());
    let start = now();
    let run = Run::new();
    Timed { run, number, took_tenths: ((now() - start) * 10.0) as u32 }
}

fn tell_verdict(host: &Host, timed: &Timed) {
    let run = &timed.run;
    host.tell("emq:verdict", &[("verdict", (&*run.verdict).into()), ("passed", run.passed.into())]);
}
