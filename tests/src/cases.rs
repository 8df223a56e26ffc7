//! Case files: dialogues with a server, each reply as valkey-cli prints it.
//!
//! The files in `cases/` were recorded from a real server. They are run on the engine and on every real server at
//! hand, and a reply must be the same text on all, so that a wrong expectation cannot stand.

use std::fmt;
use std::time::Duration;

use echomq_core::{Wire, WireError};
use echomq_engine::{Config, Engine, Reply, Session, Version};
use emq_verify::resp::RespWire;
use emq_verify::server::Server;
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseFile {
    #[serde(rename = "case")]
    pub cases: Vec<Case>,
}

/// One dialogue. It begins with no keys and new connections.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub name: String,
    /// 2 or 3: what every connection of the case speaks.
    #[serde(default = "resp2")]
    pub protocol: u8,
    /// The first release that answers so, such as `9.0`; older servers are left out.
    pub since: Option<String>,
    pub steps: Vec<Step>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Lets time go by before the call.
    #[serde(default)]
    pub advance_ms: u64,
    /// Which connection sends; 0 unless said.
    #[serde(default)]
    pub client: usize,
    /// A line as it is typed into valkey-cli.
    pub send: String,
    pub expect: String,
    /// What releases before 9.0 answer, where that is another text.
    pub before_9: Option<String>,
}

fn resp2() -> u8 {
    2
}

/// Something with connections, numbered from 0 and made when they are first used.
pub trait Clients {
    /// # Errors
    /// When there is no reply.
    fn call(&mut self, client: usize, argv: &[&[u8]]) -> Result<Reply, WireError>;

    /// Lets `by` go by on the server's clock.
    ///
    /// # Errors
    /// When the server's clock cannot be read.
    fn pass(&mut self, by: Duration) -> Result<(), WireError>;

    /// Closes all connections.
    fn disconnect(&mut self);

    /// The release, such as `9.1.2`.
    fn version(&self) -> &str;
}

#[derive(Debug)]
pub struct EngineClients {
    engine: Engine,
    version: Version,
    sessions: Vec<Session>,
}

impl EngineClients {
    pub fn new(config: Config) -> EngineClients {
        EngineClients { engine: Engine::new(config), version: config.version, sessions: Vec::new() }
    }
}

impl Clients for EngineClients {
    fn call(&mut self, client: usize, argv: &[&[u8]]) -> Result<Reply, WireError> {
        while self.sessions.len() <= client {
            self.sessions.push(self.engine.session());
        }
        let reply = self.engine.call(&mut self.sessions[client], argv);
        reply.map_err(|failure| WireError(failure.to_string()))
    }

    fn pass(&mut self, by: Duration) -> Result<(), WireError> {
        self.engine.advance(by);
        Ok(())
    }

    fn disconnect(&mut self) {
        self.sessions.clear();
    }

    fn version(&self) -> &str {
        match self.version {
            Version::V8_0 => "8.0.1",
            Version::V9_1 => "9.1.2",
        }
    }
}

#[derive(Debug)]
pub struct ServerClients {
    server: Server,
    wires: Vec<RespWire>,
}

impl ServerClients {
    pub fn new(server: Server) -> ServerClients {
        ServerClients { server, wires: Vec::new() }
    }
}

impl Clients for ServerClients {
    fn call(&mut self, client: usize, argv: &[&[u8]]) -> Result<Reply, WireError> {
        while self.wires.len() <= client {
            let wire = self.server.connect().map_err(|error| WireError(error.to_string()))?;
            self.wires.push(wire);
        }
        self.wires[client].call(argv)
    }

    fn pass(&mut self, by: Duration) -> Result<(), WireError> {
        std::thread::sleep(by);
        Ok(())
    }

    fn disconnect(&mut self) {
        self.wires.clear();
    }

    fn version(&self) -> &str {
        self.server.version()
    }
}

/// A reply that is not the expected one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub case: String,
    /// 1 for the first.
    pub step: usize,
    pub send: String,
    pub expect: String,
    pub got: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { case, step, send, expect, got } = self;
        write!(f, "{case}, step {step}: {send}\n  expected {expect}\n  got      {got}")
    }
}

/// Runs one case and returns how many steps were compared and what differed. A case for newer releases compares
/// nothing.
///
/// # Errors When a reply does not come.
pub fn run(case: &Case, clients: &mut dyn Clients) -> Result<(usize, Vec<Difference>), WireError> {
    if case.since.as_ref().is_some_and(|since| release(clients.version()) < release(since)) {
        return Ok((0, Vec::new()));
    }
    clients.disconnect();
    clients.call(0, &[b"FLUSHALL"])?;
    let mut greeted = Vec::new();
    let mut differences = Vec::new();
    for (at, step) in case.steps.iter().enumerate() {
        if !greeted.contains(&step.client) {
            greeted.push(step.client);
            clients.call(step.client, &[b"HELLO", case.protocol.to_string().as_bytes()])?;
        }
        if step.advance_ms > 0 {
            clients.pass(Duration::from_millis(step.advance_ms))?;
        }
        let argv = split(&step.send).ok_or_else(|| WireError(format!("unbalanced quotes: {}", step.send)))?;
        let argv: Vec<&[u8]> = argv.iter().map(Vec::as_slice).collect();
        let got = clients.call(step.client, &argv)?.to_string();
        let expect = match &step.before_9 {
            Some(text) if release(clients.version()) < (9, 0) => text,
            _ => &step.expect,
        };
        if got != *expect {
            differences.push(Difference {
                case: case.name.clone(),
                step: at + 1,
                send: step.send.clone(),
                expect: expect.clone(),
                got,
            });
        }
    }
    Ok((case.steps.len(), differences))
}

/// The major and the minor number of a release.
pub fn release(version: &str) -> (u32, u32) {
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

/// A line as valkey-cli reads it: words parted by spaces, `"…"` with escapes, `'…'` without. `None` for unbalanced
/// quotes.
pub fn split(line: &str) -> Option<Vec<Vec<u8>>> {
    let mut rest = line.as_bytes();
    let mut words = Vec::new();
    loop {
        rest = rest.trim_ascii_start();
        if rest.is_empty() {
            return Some(words);
        }
        let mut word = Vec::new();
        while let [first, tail @ ..] = rest {
            match first {
                b'"' => rest = double_quoted(tail, &mut word)?,
                b'\'' => rest = single_quoted(tail, &mut word)?,
                byte if byte.is_ascii_whitespace() => break,
                byte => {
                    word.push(*byte);
                    rest = tail;
                }
            }
        }
        words.push(word);
    }
}

fn double_quoted<'a>(mut rest: &'a [u8], word: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        rest = match rest {
            [b'"', tail @ ..] => return Some(tail),
            [b'\\', b'x', high, low, tail @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                let digits = [*high, *low];
                word.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
                tail
            }
            [b'\\', escaped, tail @ ..] => {
                word.push(match escaped {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'b' => 8,
                    b'a' => 7,
                    other => *other,
                });
                tail
            }
            [byte, tail @ ..] => {
                word.push(*byte);
                tail
            }
            [] => return None,
        }
    }
}

fn single_quoted<'a>(mut rest: &'a [u8], word: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        rest = match rest {
            [b'\'', tail @ ..] => return Some(tail),
            [b'\\', b'\'', tail @ ..] => {
                word.push(b'\'');
                tail
            }
            [byte, tail @ ..] => {
                word.push(*byte);
                tail
            }
            [] => return None,
        }
    }
}
