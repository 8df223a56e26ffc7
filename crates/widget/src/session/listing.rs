//! A script as a page shows it: its lines, which of them ran, which one answered, and what each `redis.call` got.

use echomq_core::snippet::shell_word;
use echomq_core::stage::Act;
use echomq_core::{Reply, Script};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    pub name: String,
    /// The comment that opens the file: the contract.
    pub header: Vec<Line>,
    pub body: Vec<Line>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// 1 for the first.
    pub number: u32,
    pub text: String,
    pub mark: Mark,
    pub calls: Vec<Answered>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Idle,
    Ran,
    /// It made the answer.
    Decided,
}

/// One `redis.call` and its reply, as valkey-cli shows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    pub command: String,
    pub reply: String,
    /// It changed a key.
    pub wrote: bool,
}

impl Listing {
    /// The script, and what a run of it did where the wire can tell.
    pub fn new(script: &Script, act: Option<&Act>) -> Listing {
        let trace = act.and_then(|act| act.trace.as_ref());
        let decided = act.and_then(|act| decided(script, act));
        let line = |(number, text): (u32, &str)| Line {
            number,
            text: text.to_owned(),
            mark: match trace {
                _ if decided == Some(number) => Mark::Decided,
                Some(trace) if trace.lines.contains(&number) => Mark::Ran,
                _ => Mark::Idle,
            },
            calls: answered(act, number),
        };
        let lines: Vec<Line> = (1..).zip(script.source().lines()).map(line).collect();
        let split = lines.iter().position(|line| !line.text.starts_with("--")).unwrap_or(0);
        // The empty line below the header belongs to neither.
        let (header, body) = lines.split_at_checked(split).unwrap_or_default();
        let body = body.iter().skip_while(|line| line.text.is_empty());
        Listing { name: script.name().to_owned(), header: header.to_vec(), body: body.cloned().collect() }
    }

    pub fn ran(&self) -> bool {
        self.body.iter().any(|line| line.mark != Mark::Idle)
    }
}

/// The line that made the answer: the last that ran and returns these very words, for a function may have made what the
/// script's last line hands on; for an answer that no line spells out, the last that ran.
fn decided(script: &Script, act: &Act) -> Option<u32> {
    let ran = &act.trace.as_ref()?.lines;
    let words = match &act.reply {
        Reply::Error(text) | Reply::Bulk(text) => Some(String::from_utf8_lossy(text)),
        _ => None,
    };
    let made = words.and_then(|words| {
        let spelled = format!("'{words}'");
        let source: Vec<&str> = script.source().lines().collect();
        let returns = |number: &&u32| {
            let line = source.get(number.saturating_sub(1) as usize).copied().unwrap_or_default();
            holds(line, "return ") && holds(line, &spelled)
        };
        ran.iter().rev().find(returns)
    });
    made.or(ran.last()).copied()
}

/// Whether a line has some text in it, which is not empty. `str::contains` would bring 2 KB of search into the page.
fn holds(line: &str, text: &str) -> bool {
    line.as_bytes().windows(text.len()).any(|part| part == text.as_bytes())
}

fn answered(act: Option<&Act>, number: u32) -> Vec<Answered> {
    let calls = act.and_then(|act| act.trace.as_ref()).map_or(&[][..], |trace| &trace.calls);
    let calls = calls.iter().filter(|call| call.line == number);
    let word = |word: &Vec<u8>| shell_word(&String::from_utf8_lossy(word));
    calls
        .map(|call| Answered {
            command: call.argv.iter().map(word).collect::<Vec<_>>().join(" "),
            reply: call.reply.to_string(),
            wrote: call.keys.iter().any(|key| key.changed()),
        })
        .collect()
}
