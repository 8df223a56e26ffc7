//! The engine and a real server, asked the same.

use std::panic::{self, AssertUnwindSafe};

use echomq_core::wire::server_time_ms;
use echomq_core::{Reply, Wire, WireError};
use echomq_engine::{Clock, Config, Engine, Session, Version};

use super::dialogue::{Dialogue, Generator};
use super::rules::{Rule, may_hold_tables};
use crate::cases::release;
use crate::resp::RespWire;
use crate::server::{Server, ServerError};

/// A Lua state grows with what the scripts leave in its cache.
const CALLS_PER_ENGINE: usize = 100_000;

/// How often a difference must come back to count: what the real clock did once is none.
const CONFIRMATIONS: usize = 2;

#[derive(Debug)]
pub struct Pair {
    config: Config,
    engine: Engine,
    calls: usize,
    server: Server,
    wires: Vec<RespWire>,
}

/// The replies to one dialogue, step by step.
#[derive(Clone, Debug, PartialEq)]
pub struct Answers {
    pub ours: Vec<Reply>,
    pub theirs: Vec<Reply>,
    /// The first step whose replies differ by its rule.
    pub differs_at: Option<usize>,
}

type Argv = Vec<Vec<u8>>;

impl Pair {
    /// # Errors
    /// When the server can't be reached.
    pub fn new(server: Server) -> Result<Pair, ServerError> {
        let version = if release(server.version()) < (9, 0) { Version::V8_0 } else { Version::V9_1 };
        let config = Config { version, ..Config::default() };
        let place = server.socket().unwrap_or_else(|| server.target().clone());
        let wires = [RespWire::connect(&place)?, RespWire::connect(&place)?];
        Ok(Pair { config, engine: Engine::new(config), calls: 0, server, wires: wires.into() })
    }

    /// The server's release.
    pub fn version(&self) -> &str {
        self.server.version()
    }

    /// Whether the server has a command: `get`, `object|encoding`.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn knows(&mut self, name: &str) -> Result<bool, WireError> {
        let reply = self.wires[0].call(&[b"COMMAND", b"INFO", name.as_bytes()])?;
        Ok(matches!(reply, Reply::Array(items) if matches!(items.as_slice(), [Reply::Array(_)])))
    }

    /// Runs the dialogues, each with no keys and as if newly connected.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn run(&mut self, generator: &Generator, dialogues: &[Dialogue]) -> Result<Vec<Answers>, WireError> {
        let argvs: Vec<Vec<(usize, Argv)>> = dialogues.iter().map(|one| argvs(generator, one)).collect();
        // A transaction that the last dialogue left open would queue TIME.
        self.wires[0].call(&[b"RESET"])?;
        self.engine.set_clock(Clock::from_unix_ms(server_time_ms(&mut self.wires[0])?));
        let theirs = self.ask_server(dialogues, &argvs)?;
        let mut answers = Vec::new();
        for ((dialogue, argvs), theirs) in dialogues.iter().zip(&argvs).zip(theirs) {
            let ours = self.ask_engine(dialogue, argvs);
            let differs_at = first_difference(argvs, &ours, &theirs, self.server.version());
            answers.push(Answers { ours, theirs, differs_at });
        }
        Ok(answers)
    }

    /// Whether one dialogue differs, each time that it is run.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn differs(&mut self, generator: &Generator, dialogue: &Dialogue) -> Result<bool, WireError> {
        for _ in 0..CONFIRMATIONS {
            let answers = self.run(generator, std::slice::from_ref(dialogue))?;
            if answers.iter().all(|answers| answers.differs_at.is_none()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The dialogues of one client in one pipeline; the others step by step, for the order matters there.
    fn ask_server(
        &mut self,
        dialogues: &[Dialogue],
        argvs: &[Vec<(usize, Argv)>],
    ) -> Result<Vec<Vec<Reply>>, WireError> {
        let mut all = vec![Vec::new(); dialogues.len()];
        let mut pipelined: Vec<Argv> = Vec::new();
        let mut counts = Vec::new();
        for (at, (dialogue, argvs)) in dialogues.iter().zip(argvs).enumerate() {
            if argvs.iter().all(|(client, _)| *client == 0) {
                let before = greeting(dialogue.protocol);
                counts.push((at, before.len(), argvs.len()));
                pipelined.extend(before);
                pipelined.extend(argvs.iter().map(|(_, argv)| argv.clone()));
            } else {
                all[at] = self.ask_server_in_turn(dialogue, argvs)?;
            }
        }
        let words: Vec<Vec<&[u8]>> =
            pipelined.iter().map(|argv| argv.iter().map(Vec::as_slice).collect()).collect();
        let mut replies = self.wires[0].pipeline(words.iter().map(Vec::as_slice))?.into_iter();
        for (at, before, count) in counts {
            all[at] = replies.by_ref().skip(before).take(count).collect();
        }
        Ok(all)
    }

    fn ask_server_in_turn(
        &mut self,
        dialogue: &Dialogue,
        argvs: &[(usize, Argv)],
    ) -> Result<Vec<Reply>, WireError> {
        for wire in &mut self.wires {
            for argv in greeting(dialogue.protocol) {
                call(wire, &argv)?;
            }
        }
        argvs.iter().map(|(client, argv)| call(&mut self.wires[*client], argv)).collect()
    }

    fn ask_engine(&mut self, dialogue: &Dialogue, argvs: &[(usize, Argv)]) -> Vec<Reply> {
        self.calls += argvs.len();
        if self.calls > CALLS_PER_ENGINE {
            self.renew();
        }
        let clients = self.wires.len();
        let mut sessions: Vec<Session> = (0..clients).map(|_| self.engine.session()).collect();
        for session in &mut sessions {
            for argv in greeting(dialogue.protocol) {
                self.call_engine(session, &argv);
            }
        }
        argvs.iter().map(|(client, argv)| self.call_engine(&mut sessions[*client], argv)).collect()
    }

    /// A panic or a failure of the engine is an answer that no server gives.
    fn call_engine(&mut self, session: &mut Session, argv: &[Vec<u8>]) -> Reply {
        let argv: Vec<&[u8]> = argv.iter().map(Vec::as_slice).collect();
        match panic::catch_unwind(AssertUnwindSafe(|| self.engine.call(session, &argv))) {
            Ok(Ok(reply)) => reply,
            Ok(Err(failure)) => Reply::error(format_args!("the engine failed: {failure}")),
            Err(_) => {
                self.renew();
                Reply::error("the engine panicked")
            }
        }
    }

    fn renew(&mut self) {
        let clock = self.engine.clock();
        self.engine = Engine::new(self.config);
        self.engine.set_clock(clock);
        self.calls = 0;
    }
}

fn argvs(generator: &Generator, dialogue: &Dialogue) -> Vec<(usize, Argv)> {
    dialogue.steps.iter().map(|step| (step.client, generator.argv(&step.line))).collect()
}

/// What makes a connection new and the databases empty.
fn greeting(protocol: u8) -> Vec<Argv> {
    let words = |words: &[&str]| words.iter().map(|word| word.as_bytes().to_vec()).collect();
    let mut all = vec![words(&["RESET"])];
    all.extend((protocol != 2).then(|| words(&["HELLO", &protocol.to_string()])));
    all.push(words(&["FLUSHALL"]));
    all
}

fn call(wire: &mut RespWire, argv: &[Vec<u8>]) -> Result<Reply, WireError> {
    let argv: Vec<&[u8]> = argv.iter().map(Vec::as_slice).collect();
    wire.call(&argv)
}

fn first_difference(
    argvs: &[(usize, Argv)],
    ours: &[Reply],
    theirs: &[Reply],
    version: &str,
) -> Option<usize> {
    let tables = may_hold_tables(argvs.iter().map(|(_, argv)| argv), theirs);
    let mut queued: Vec<(usize, Rule)> = Vec::new();
    for (at, ((client, argv), (ours, theirs))) in argvs.iter().zip(ours.iter().zip(theirs)).enumerate() {
        let rule = Rule::of(argv, tables, version);
        let is_same = match (ours, theirs) {
            (Reply::Array(ours), Reply::Array(theirs)) if is_exec(argv) => {
                let rules = queued.iter().filter(|(queuer, _)| queuer == client).map(|(_, rule)| rule);
                let mut items = rules.zip(ours.iter().zip(theirs));
                ours.len() == theirs.len() && items.all(|(rule, (ours, theirs))| rule.allows(ours, theirs))
            }
            _ => rule.allows(ours, theirs),
        };
        if !is_same {
            return Some(at);
        }
        if *theirs == Reply::status("QUEUED") {
            queued.push((*client, rule));
        } else {
            queued.retain(|(queuer, _)| queuer != client || !ends_transaction(argv));
        }
    }
    None
}

fn is_exec(argv: &[Vec<u8>]) -> bool {
    argv.first().is_some_and(|name| name.eq_ignore_ascii_case(b"EXEC"))
}

fn ends_transaction(argv: &[Vec<u8>]) -> bool {
    is_exec(argv) || argv.first().is_some_and(|name| name.eq_ignore_ascii_case(b"DISCARD"))
}
