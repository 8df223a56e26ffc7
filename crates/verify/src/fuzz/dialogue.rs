//! A generated dialogue: how it comes about, what is sent, and how it reads as a case.

use echomq_core::Reply;
use fastrand::Rng;

use super::grammar::{Grammar, GrammarError, Tree};
use super::pair::Pair;
use super::rules::LEFT_OUT;
use crate::cases::{join, literal, split};

const COMMANDS: &str = include_str!("commands.grammar");
const SCRIPTS: &str = include_str!("scripts.grammar");

/// Deep enough for every rule, not for a list that goes on by chance.
const COMMAND_DEPTH: usize = 12;
const SCRIPT_DEPTH: usize = 16;

/// What every script is handed.
const SCRIPT_WORDS: [&[u8]; 10] = [b"5", b"s1", b"n1", b"h1", b"l1", b"z1", b"10", b"abc", b"-3.5", b""];

/// Read at the end of some dialogues, so that what a command wrote is seen.
const PROBES: [&str; 16] = [
    "GET s1",
    "GET s2",
    "GET n1",
    "HGETALL h1",
    "HGETALL h2",
    "LRANGE l1 0 -1",
    "LRANGE l2 0 -1",
    "SMEMBERS t1",
    "SMEMBERS t2",
    "ZRANGE z1 0 -1 WITHSCORES",
    "ZRANGE z2 0 -1 WITHSCORES",
    "OBJECT ENCODING t1",
    "OBJECT ENCODING z1",
    "OBJECT ENCODING l1",
    "PTTL s1",
    "KEYS *",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum What {
    Commands,
    Scripts,
}

/// Dialogues by number.
#[derive(Debug)]
pub struct Generator {
    commands: Grammar,
    scripts: Grammar,
    what: What,
}

#[derive(Clone, Debug)]
pub struct Dialogue {
    /// 2 or 3.
    pub protocol: u8,
    pub steps: Vec<Step>,
}

#[derive(Clone, Debug)]
pub struct Step {
    pub client: usize,
    pub line: Line,
}

#[derive(Clone, Debug)]
pub enum Line {
    Command(Tree),
    /// The source of an EVAL.
    Script(Tree),
    Words(Vec<Vec<u8>>),
}

impl Step {
    pub fn is_script(&self) -> bool {
        matches!(self.line, Line::Script(_))
    }
}

impl Generator {
    /// Generates what the server of the pair has and the rules leave in.
    ///
    /// # Errors
    /// When the server does not answer, or a grammar is malformed.
    pub fn of(what: What, pair: &mut Pair) -> anyhow::Result<Generator> {
        let left_out = |name: &str| LEFT_OUT.iter().any(|(left_out, _)| *left_out == name);
        let names: Vec<String> = Generator::new(what, |_| false)?.names().map(str::to_owned).collect();
        let mut known = Vec::new();
        for name in names {
            if !left_out(&name) && pair.knows(&name)? {
                known.push(name);
            }
        }
        Ok(Generator::new(what, |name| known.iter().any(|known| known == name))?)
    }

    /// Generates such commands as `known` has.
    ///
    /// # Errors
    /// When a grammar is malformed.
    pub fn new(what: What, known: impl Fn(&str) -> bool) -> Result<Generator, GrammarError> {
        let names = COMMANDS.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name);
        let references: Vec<String> =
            names.filter(|name| known(name)).map(|name| format!("<{name}>")).collect();
        let commands = Grammar::parse(&format!("{COMMANDS}\nanycommand: {}\n", references.join(" | ")))?;
        Ok(Generator { commands, scripts: Grammar::parse(SCRIPTS)?, what })
    }

    /// The names of the rules, those of commands among them.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.commands.names()
    }

    /// The dialogue of this number. The same for the same seed, whatever was generated before.
    ///
    /// # Errors
    /// When a rule is missing that every dialogue needs.
    pub fn dialogue(&self, seed: u64, number: u64) -> Result<Dialogue, GrammarError> {
        let mut rng = Rng::with_seed(
            Rng::with_seed(seed).u64(..).wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
        );
        let protocol = if rng.u8(0..3) == 0 { 3 } else { 2 };
        let mut steps = Vec::new();
        for _ in 0..rng.usize(1..6) {
            steps.push(self.command("opening", &mut rng)?);
        }
        match self.what {
            What::Commands => self.converse(&mut steps, &mut rng)?,
            What::Scripts => {
                for _ in 0..rng.usize(1..4) {
                    let script = self.scripts.grow("script", SCRIPT_DEPTH, &mut rng)?;
                    steps.push(Step { client: 0, line: Line::Script(script) });
                }
            }
        }
        Ok(Dialogue { protocol, steps })
    }

    pub fn argv(&self, line: &Line) -> Vec<Vec<u8>> {
        match line {
            // A line that the grammar leaves open is sent as one word.
            Line::Command(tree) => {
                let line = self.commands.render(tree);
                split(&line).unwrap_or_else(|| vec![line.into_bytes()])
            }
            Line::Script(tree) => {
                let source = self.scripts.render(tree).into_bytes();
                let words = SCRIPT_WORDS.iter().map(|word| word.to_vec());
                [b"EVAL".to_vec(), source].into_iter().chain(words).collect()
            }
            Line::Words(words) => words.clone(),
        }
    }

    /// The lines to try in the place of this one, the most telling first.
    pub fn smaller(&self, line: &Line, tried: &mut dyn FnMut(Line) -> bool) -> Option<Line> {
        let (tree, grammar): (&Tree, &Grammar) = match line {
            Line::Command(tree) => (tree, &self.commands),
            Line::Script(tree) => (tree, &self.scripts),
            Line::Words(_) => return None,
        };
        let as_line = |tree: Tree| match line {
            Line::Script(_) => Line::Script(tree),
            Line::Command(_) | Line::Words(_) => Line::Command(tree),
        };
        for place in 0..tree.size() {
            let Some(node) = tree.at(place) else { break };
            for new in grammar.smaller(node) {
                let smaller = as_line(tree.with(place, &new));
                if tried(smaller.clone()) {
                    return Some(smaller);
                }
            }
        }
        None
    }

    /// The dialogue as a case of a case file, with what the server answers and, beside it, what the engine does.
    pub fn as_case(&self, name: &str, dialogue: &Dialogue, ours: &[Reply], theirs: &[Reply]) -> String {
        let mut text = format!("[[case]]\nname = '{name}'\n");
        if dialogue.protocol != 2 {
            text += &format!("protocol = {}\n", dialogue.protocol);
        }
        text += "steps = [\n";
        for (at, step) in dialogue.steps.iter().enumerate() {
            let (ours, theirs) = (ours.get(at), theirs.get(at));
            if let Some(ours) = ours.filter(|ours| Some(*ours) != theirs) {
                text += &format!("    # The engine: {}\n", ours.to_string().replace('\n', "\n    #   "));
            }
            let argv = self.argv(&step.line);
            let send = literal(&join(argv.iter().map(Vec::as_slice)));
            let client = if step.client == 0 { String::new() } else { format!("client = {}, ", step.client) };
            let expect = theirs.map(|theirs| format!(", expect = {}", literal(&theirs.to_string())));
            text += &format!("    {{ {client}send = {send}{} }},\n", expect.unwrap_or_default());
        }
        text + "]\n"
    }

    fn command(&self, rule: &str, rng: &mut Rng) -> Result<Step, GrammarError> {
        let tree = self.commands.grow(rule, COMMAND_DEPTH, rng)?;
        Ok(Step { client: 0, line: Line::Command(tree) })
    }

    fn converse(&self, steps: &mut Vec<Step>, rng: &mut Rng) -> Result<(), GrammarError> {
        let clients = if rng.u8(0..12) == 0 { 2 } else { 1 };
        let mut in_transaction = vec![false; clients];
        for _ in 0..rng.usize(4..28) {
            let client = rng.usize(0..clients);
            let rule = if in_transaction[client] && rng.u8(0..4) == 0 { "exec" } else { "anycommand" };
            let mut step = Step { client, ..self.command(rule, rng)? };
            let argv = self.argv(&step.line);
            in_transaction[client] = match argv.first().map(Vec::as_slice) {
                Some(b"MULTI") => true,
                Some(b"EXEC" | b"DISCARD") => false,
                _ => in_transaction[client],
            };
            if rng.u8(0..16) == 0 {
                step.line = Line::Words(garbled(argv, rng));
            }
            steps.push(step);
        }
        if rng.u8(0..3) == 0 {
            for client in (0..clients).filter(|&client| in_transaction[client]) {
                steps.push(Step { client, ..self.command("exec", rng)? });
            }
            let words = PROBES.iter().filter_map(|probe| split(probe));
            steps.extend(words.map(|words| Step { client: 0, line: Line::Words(words) }));
        }
        Ok(())
    }
}

/// Commands that a word more or less would make choose at random, or stop in the middle.
pub(super) const KEPT_WHOLE: [&[u8]; 7] =
    [b"SCAN", b"HSCAN", b"SSCAN", b"ZSCAN", b"SPOP", b"EVAL", b"EVAL_RO"];

/// A command with something wrong about it: a word too many, too few, in another place, in other letters.
fn garbled(mut argv: Vec<Vec<u8>>, rng: &mut Rng) -> Vec<Vec<u8>> {
    let at = rng.usize(1..argv.len().max(2));
    let is_kept = argv.first().is_none_or(|name| KEPT_WHOLE.contains(&name.as_slice()));
    match rng.u8(0..5) {
        0 if !is_kept => argv.truncate(at),
        1 if !is_kept && at < argv.len() => drop(argv.remove(at)),
        2 if !is_kept && at < argv.len() => argv.insert(at, argv[at].clone()),
        3 if !is_kept && at + 1 < argv.len() => argv.swap(at, at + 1),
        _ => argv.iter_mut().take(1).for_each(|name| name.make_ascii_lowercase()),
    }
    argv
}
