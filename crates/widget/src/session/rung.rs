//! The rung check, as `<emq-rung>` shows it.

use echomq_core::{EngineWire, rung};

use super::model::{Model, Told};
use crate::part::{Slot, escape};

pub const TITLE: &str = "The rung check";

/// What the slots of [`Check`] are in.
pub const MARKUP: &str = r#"<div part="bar">
<p part="status" role="status" data-slot="status"></p>
<button part="button" type="button" data-ask="again">Run again</button>
</div>
<pre part="transcript" data-slot="transcript"></pre>"#;

/// The queue whose name begins each level's own.
const QUEUE: &str = "rung";

/// Runs, the last of which is shown; there is none before the first ask.
#[derive(Debug)]
pub struct Check {
    /// Tells the milliseconds since some moment.
    now_ms: fn() -> f64,
    run: Option<Run>,
    /// A new number makes the live region speak again.
    number: u32,
    /// Tenths of a millisecond: a whole number, for text of doubles costs kilobytes.
    took_tenths: u32,
}

/// One finished run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub lines: Vec<Line>,
    /// `PASS 6/6`.
    pub verdict: String,
    pub passed: bool,
}

/// One line of the transcript in the parts that a view sets apart; their text is the line's, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// `L3`
    pub level: String,
    /// ` fence`
    pub name: String,
    /// ` ok`
    pub outcome: String,
    /// ` -- a stale token is refused on the wire: …`
    pub rest: String,
    pub passed: bool,
}

impl Check {
    pub fn new(now_ms: fn() -> f64) -> Check {
        Check { now_ms, run: None, number: 0, took_tenths: 0 }
    }
}

impl Model for Check {
    fn slots(&self) -> Vec<Slot> {
        let Check { number, took_tenths, .. } = self;
        let status = format!("Run {number} in this page: {}.{} ms", took_tenths / 10, took_tenths % 10);
        let transcript = self.run.as_ref().map(Run::html).unwrap_or_default();
        vec![Slot::Html("status", status), Slot::Html("transcript", transcript)]
    }

    /// Whatever is asked, it is another run.
    fn ask(&mut self, _: &str, _: &str) -> Vec<Told> {
        let start = (self.now_ms)();
        let run = self.run.insert(Run::new());
        self.number += 1;
        self.took_tenths = (((self.now_ms)() - start) * 10.0) as u32;
        let detail = vec![("verdict", run.verdict.as_str().into()), ("passed", run.passed.into())];
        vec![Told { event: "emq:verdict", detail }]
    }

    fn open(&mut self, _: &[(String, String)]) {}

    fn link(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

impl Run {
    /// Runs L1..L6 on a new engine.
    pub fn new() -> Run {
        let mut wire = EngineWire::default();
        let mut lines = Vec::new();
        let run = rung::run(&mut wire, QUEUE, &mut |line| lines.push(Line::new(line)));
        match run {
            Ok(transcript) => Run { lines, verdict: transcript.verdict(), passed: transcript.passed() },
            Err(error) => Run { lines, verdict: error.to_string(), passed: false },
        }
    }

    /// The transcript as the verifier prints it.
    pub fn text(&self) -> String {
        let lines = self.lines.iter().map(|line| line.text() + "\n");
        lines.chain([format!("{}\n", self.verdict)]).collect()
    }

    fn html(&self) -> String {
        let lines: String = self.lines.iter().map(Line::html).collect();
        format!("{lines}<span class=\"verdict{}\">{}\n</span>", failed(self.passed), escape(&self.verdict))
    }
}

impl Default for Run {
    fn default() -> Self {
        Run::new()
    }
}

impl Line {
    fn new(line: &rung::Line) -> Line {
        let text = line.to_string();
        let cut = |text: &str, from: usize| {
            let end = text.get(from + 1..).and_then(|rest| rest.find(' '));
            end.map_or(text.len(), |end| from + 1 + end)
        };
        let level_end = cut(&text, 0);
        let name_end = cut(&text, level_end);
        let outcome_end = cut(&text, name_end);
        let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default().to_owned();
        Line {
            level: part(0, level_end),
            name: part(level_end, name_end),
            outcome: part(name_end, outcome_end),
            rest: part(outcome_end, text.len()),
            passed: line.passed(),
        }
    }

    fn text(&self) -> String {
        [&*self.level, &self.name, &self.outcome, &self.rest].concat()
    }

    fn html(&self) -> String {
        let Line { level, name, outcome, rest, passed } = self;
        let [level, name, outcome, rest] = [level, name, outcome, rest].map(|part| escape(part));
        let class = failed(*passed);
        format!(
            "<span class=\"line{class}\"><b class=\"level\">{level}</b><b class=\"name\">{name}</b>\
             <span class=\"outcome\">{outcome}</span>{rest}\n</span>"
        )
    }
}

/// The class of what did not pass, after another.
fn failed(passed: bool) -> &'static str {
    if passed { "" } else { " failed" }
}

#[cfg(test)]
mod tests {
    use super::Run;

    #[test]
    fn shows_the_golden_transcript() {
        let run = Run::new();
        assert_eq!(run.text(), include_str!("../../../../tests/golden/rung.txt"));
        assert!(run.passed);
    }

    #[test]
    fn sets_the_parts_of_a_line_apart() {
        let run = Run::new();
        let parts: Vec<[&str; 3]> =
            run.lines.iter().map(|line| [&*line.level, &*line.name, &*line.outcome]).collect();
        let names = ["surface", "happy", "fence", "schedule", "dead", "reap"];
        for (index, (parts, name)) in parts.iter().zip(names).enumerate() {
            assert_eq!(*parts, [&*format!("L{}", index + 1), &*format!(" {name}"), " ok"]);
        }
        assert_eq!(parts.len(), names.len());
    }
}
