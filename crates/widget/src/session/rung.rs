//! The rung check, as `<emq-rung>` shows it.

use echomq_core::{EngineWire, rung};

/// The queue whose name begins each level's own.
const QUEUE: &str = "rung";

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
