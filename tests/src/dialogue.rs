//! Dialogues between several connections: some wait, some are told what others do.
//!
//! The files in `dialogues/` are run on the engine's own server and on every real one, over the same sockets.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use echomq_core::{Reply, Wire};
use emq_verify::resp::{RespWire, Target};
use serde::Deserialize;

use emq_verify::cases::{release, split};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DialogueFile {
    #[serde(rename = "dialogue")]
    pub dialogues: Vec<Dialogue>,
}

/// It begins with no keys, default settings and new connections.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dialogue {
    pub name: String,
    /// 2 or 3: what every connection speaks.
    #[serde(default = "resp2")]
    pub protocol: u8,
    /// The first release that answers so, such as `9.0`; older servers are left out.
    pub since: Option<String>,
    pub steps: Vec<Step>,
}

/// Something that a connection sends, receives, or both; in this order.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Lets time go by first.
    #[serde(default)]
    pub pause_ms: u64,
    /// Which connection; 0 unless said.
    #[serde(default)]
    pub client: usize,
    /// A line as it is typed into valkey-cli. `$2` is the number of connection 2.
    pub send: Option<String>,
    /// The command finds nothing, and the server must be seen to hold the connection before the next step.
    #[serde(default)]
    pub waits: bool,
    /// The command keeps the server busy, and others must be seen to be told so before the next step.
    #[serde(default)]
    pub busy: bool,
    /// The next thing that arrives, as valkey-cli prints it.
    pub expect: Option<String>,
    /// As `expect`, for a text of which only a part is the same in every run.
    pub contains: Option<String>,
    /// What is expected does not arrive before so much time has gone by.
    #[serde(default)]
    pub takes_ms: u64,
    /// The server closes the connection.
    #[serde(default)]
    pub ends: bool,
}

fn resp2() -> u8 {
    2
}

/// How long a connection that was told to wait may take to be seen waiting.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs one dialogue on a server; an error says at which step it went otherwise.
///
/// # Errors
/// When something else arrives than expected, or nothing.
pub fn run(dialogue: &Dialogue, target: &Target, version: &str) -> Result<()> {
    if dialogue.since.as_ref().is_some_and(|since| release(version) < release(since)) {
        return Ok(());
    }
    let mut control = RespWire::connect(target)?;
    control.call(&[b"FLUSHALL"])?;
    let mut room = Room { target, protocol: dialogue.protocol, control, clients: Vec::new() };
    let clients = dialogue.steps.iter().map(|step| step.client + 1).max().unwrap_or(0);
    for _ in 0..clients {
        room.enter()?;
    }
    for (at, step) in dialogue.steps.iter().enumerate() {
        room.step(step).with_context(|| format!("{}, step {}: {step:?}", dialogue.name, at + 1))?;
    }
    Ok(())
}

struct Room<'a> {
    target: &'a Target,
    protocol: u8,
    control: RespWire,
    clients: Vec<(RespWire, i64)>,
}

impl Room<'_> {
    fn step(&mut self, step: &Step) -> Result<()> {
        thread::sleep(Duration::from_millis(step.pause_ms));
        let started = Instant::now();
        if let Some(line) = &step.send {
            let line =
                self.clients.iter().enumerate().fold(line.clone(), |line, (at, (_, id))| {
                    line.replace(&format!("${at}"), &id.to_string())
                });
            let argv = split(&line).context("unbalanced quotes")?;
            let argv: Vec<&[u8]> = argv.iter().map(Vec::as_slice).collect();
            self.clients[step.client].0.send_command(&argv)?;
        }
        if step.waits {
            self.see_waiting(self.clients[step.client].1)?;
        }
        if step.busy {
            self.see_busy()?;
        }
        let wire = &mut self.clients[step.client].0;
        if let Some(expected) = &step.expect {
            let got = wire.receive()?.to_string();
            if got != *expected {
                bail!("got {got}");
            }
        }
        if let Some(part) = &step.contains {
            let got = wire.receive()?.to_string();
            if !got.contains(part.as_str()) {
                bail!("got {got}");
            }
        }
        if started.elapsed() < Duration::from_millis(step.takes_ms) {
            bail!("it came after {} ms", started.elapsed().as_millis());
        }
        if step.ends
            && let Ok(more) = wire.receive()
        {
            bail!("it is still open, and got {more}");
        }
        Ok(())
    }

    /// One more connection.
    fn enter(&mut self) -> Result<()> {
        let mut wire = RespWire::connect(self.target)?;
        wire.set_timeout(PATIENCE)?;
        wire.call(&[b"HELLO", self.protocol.to_string().as_bytes()])?;
        let Reply::Integer(id) = wire.call(&[b"CLIENT", b"ID"])? else { bail!("CLIENT ID is no number") };
        self.clients.push((wire, id));
        Ok(())
    }

    fn see_busy(&mut self) -> Result<()> {
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            if self.control.call(&[b"PING"])?.error_class() == Some(b"BUSY") {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(2));
        }
        bail!("the server is not busy")
    }

    fn see_waiting(&mut self, id: i64) -> Result<()> {
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            let list = self.control.call(&[b"CLIENT", b"LIST", b"ID", id.to_string().as_bytes()])?;
            let list = list.to_string();
            if list.split(" flags=").nth(1).is_some_and(|flags| flags.starts_with('b')) {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(2));
        }
        bail!("the server does not hold connection {id}")
    }
}
