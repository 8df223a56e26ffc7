//! `<emq-rung>`: the rung check, run in this page, line by line.

use leptos::prelude::*;
use web_sys::HtmlElement;

use crate::element::tell;
use crate::session::rung::{Line, Run};

pub const STYLE: &str = include_str!("rung.css");

/// One run and how it was timed.
#[derive(Clone)]
struct Timed {
    run: Run,
    /// Starts at 1; a new number makes the live region speak again.
    number: u32,
    took_ms: f64,
}

pub fn view(host: HtmlElement) -> impl IntoView {
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
    format!("Run {} in this page: {:.1} ms", timed.number, timed.took_ms)
}

fn timed(number: u32) -> Timed {
    let now = || window().performance().map_or(0.0, |clock| clock.now());
    let start = now();
    let run = Run::new();
    Timed { run, number, took_ms: now() - start }
}

fn tell_verdict(host: &HtmlElement, timed: &Timed) {
    let run = &timed.run;
    tell(host, "emq:verdict", &[("verdict", (&*run.verdict).into()), ("passed", run.passed.into())]);
}
