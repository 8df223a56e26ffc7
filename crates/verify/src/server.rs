//! A real Valkey for a test or a command: started on a free loopback port in a temporary directory, and gone
//! afterwards however the program ends.
//!
//! A drop stops the server, which covers returns and panics. Against a killed program a small shell waits on a pipe
//! whose other end only this program holds: when the pipe closes it kills the server and removes the directory. (Linux
//! has PR_SET_PDEATHSIG for this, but it needs unsafe code between fork and exec, and it fires when the *thread*
//! that started the server ends, as a test's thread does.)

mod discover;

use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use echomq_core::{Reply, Wire, WireError};
use tempfile::TempDir;

use crate::resp::{Address, ConnectError, RespWire, Target};

/// How long a server may take from its start to its first PONG.
const START_TIMEOUT: Duration = Duration::from_secs(15);

/// Another program can take the port between our finding it free and the server's bind.
const START_ATTEMPTS: usize = 5;

/// A running server: our own, or one that ran before and is left running.
#[derive(Debug)]
pub struct Server {
    target: Target,
    version: String,
    /// None for a server that we only talk to.
    process: Option<Process>,
}

/// How to start a server, beyond what every test wants.
#[derive(Clone, Debug, Default)]
pub struct Options {
    cluster: bool,
    settings: Vec<(String, String)>,
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error(
        "no valkey-server found on PATH or in {cache}: run `cargo xtask setup`, which brings one, or name one in \
         EMQ_VALKEY_SERVERS (or set VALKEY_URL to a server that runs, for what needs no server of its own)"
    )]
    NoneFound { cache: String },
    #[error("VALKEY_URL: {0}")]
    BadUrl(#[from] crate::resp::TargetError),
    #[error("{}: {source}", binary.display())]
    Io { binary: PathBuf, source: io::Error },
    #[error("{} stopped at its start ({status}){}", binary.display(), tail(log))]
    Exited { binary: PathBuf, status: ExitStatus, log: String },
    #[error("{} did not answer PING within {} s{}", binary.display(), START_TIMEOUT.as_secs(), tail(log))]
    Silent { binary: PathBuf, log: String },
    #[error(transparent)]
    Connect(#[from] ConnectError),
}

impl Options {
    /// Starts in cluster mode, as a node without slots. Valkey answers CLUSTER KEYSLOT in that mode only.
    #[must_use]
    pub fn cluster(mut self) -> Options {
        self.cluster = true;
        self
    }

    /// Adds a line of `valkey.conf`, such as `enable-debug-command yes`. Spaces part the words of the value.
    #[must_use]
    pub fn set(mut self, name: &str, value: &str) -> Options {
        self.settings.push((name.to_owned(), value.to_owned()));
        self
    }
}

impl Server {
    /// Starts `binary` and waits until it answers. The server keeps nothing on disk and listens on 127.0.0.1 and on
    /// a unix socket.
    ///
    /// # Errors
    /// When the binary can't be run, stops (the error carries its log) or stays silent for 15 s.
    pub fn start(binary: &Path) -> Result<Server, ServerError> {
        Server::start_with(binary, &Options::default())
    }

    /// [`start`](Self::start) with options.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn start_with(binary: &Path, options: &Options) -> Result<Server, ServerError> {
        let mut attempt = 1;
        loop {
            match Server::start_once(binary, options) {
                Err(ServerError::Exited { log, .. })
                    if attempt < START_ATTEMPTS && log.contains("Address already in use") =>
                {
                    attempt += 1;
                }
                done => return done,
            }
        }
    }

    /// Every server at hand, started: the binaries of `EMQ_VALKEY_SERVERS` (paths separated by colons), or the one
    /// that runs at `VALKEY_URL`, or those on PATH and in the cache that `cargo xtask setup` fills.
    ///
    /// # Errors
    /// When there is none, or one of them does not start. Having no server is never a reason to skip a test.
    pub fn all() -> Result<Vec<Server>, ServerError> {
        match discover::found()? {
            discover::Found::Binaries(paths) => paths.iter().map(|path| Server::start(path)).collect(),
            discover::Found::Running(target) => Ok(vec![Server::attach(&target)?]),
        }
    }

    /// The server binaries at hand, at least one, for tests that start servers with options of their own. They are
    /// wanted even where `VALKEY_URL` names the server to use.
    ///
    /// # Errors
    /// When there is none.
    pub fn binaries() -> Result<Vec<PathBuf>, ServerError> {
        discover::binaries()
    }

    /// Uses a server that runs already, and leaves it running.
    ///
    /// # Errors
    /// When it can't be reached, or does not tell its version.
    pub fn attach(target: &Target) -> Result<Server, ServerError> {
        let version = version_of(&mut RespWire::connect(target)?)?;
        Ok(Server { target: target.clone(), version, process: None })
    }

    /// A new connection, over TCP for a server that we started.
    ///
    /// # Errors
    /// When the server is gone.
    pub fn connect(&self) -> Result<RespWire, ConnectError> {
        RespWire::connect(&self.target)
    }

    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The unix socket, where the server has one that we know of.
    pub fn socket(&self) -> Option<Target> {
        match (&self.process, &self.target.address) {
            (Some(process), _) => Some(Target::unix(socket_path(process.directory.path()))),
            (None, Address::Unix(_)) => Some(self.target.clone()),
            (None, Address::Tcp { .. }) => None,
        }
    }

    /// The version that the server reports, such as `9.1.2`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The process of a server that we started.
    pub fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(|process| process.server.id())
    }

    fn start_once(binary: &Path, options: &Options) -> Result<Server, ServerError> {
        let failed = |source| ServerError::Io { binary: binary.to_owned(), source };
        let directory = TempDir::with_prefix("emq-valkey-").map_err(failed)?;
        let port = free_port().map_err(failed)?;
        let server = spawn_server(binary, directory.path(), port, options).map_err(failed)?;
        // From here on the value's drop stops the server, also when the guard can't be started.
        let mut process = Process { server, guard: None, directory };
        process.guard = Some(spawn_guard(process.server.id(), process.directory.path()).map_err(failed)?);

        let target = Target::tcp(Ipv4Addr::LOCALHOST.to_string(), port);
        let mut wire = process.wait_for_pong(&target, binary)?;
        let version = version_of(&mut wire)?;
        Ok(Server { target, version, process: Some(process) })
    }
}

/// The server, the shell that watches over it, and where it lives.
#[derive(Debug)]
struct Process {
    server: Child,
    guard: Option<Child>,
    directory: TempDir,
}

impl Process {
    fn wait_for_pong(&mut self, target: &Target, binary: &Path) -> Result<RespWire, ServerError> {
        let started = Instant::now();
        loop {
            let status = self.server.try_wait();
            let status = status.map_err(|source| ServerError::Io { binary: binary.to_owned(), source })?;
            if let Some(status) = status {
                return Err(ServerError::Exited { binary: binary.to_owned(), status, log: self.log() });
            }
            if let Ok(mut wire) = RespWire::connect(target)
                && wire.call(&[b"PING"]).is_ok_and(|reply| reply == Reply::status("PONG"))
            {
                return Ok(wire);
            }
            if started.elapsed() > START_TIMEOUT {
                return Err(ServerError::Silent { binary: binary.to_owned(), log: self.log() });
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn log(&self) -> String {
        fs::read_to_string(self.directory.path().join("log")).unwrap_or_default()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The guard goes first: once the server is waited for, its process id may belong to somebody else.
        for child in self.guard.iter_mut().chain([&mut self.server]) {
            // A child that has ended already is what is wanted here.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn spawn_server(binary: &Path, directory: &Path, port: u16, options: &Options) -> io::Result<Child> {
    let mut command = Command::new(binary);
    command.args(["--bind", "127.0.0.1", "--port", &port.to_string()]);
    command.args(["--save", "", "--appendonly", "no", "--daemonize", "no"]);
    command.arg("--dir").arg(directory);
    command.arg("--unixsocket").arg(socket_path(directory)).args(["--unixsocketperm", "700"]);
    command.arg("--logfile").arg(directory.join("log"));
    if options.cluster {
        command.args(["--cluster-enabled", "yes", "--cluster-port", &free_port()?.to_string()]);
    }
    for (name, value) in &options.settings {
        command.arg(format!("--{name}")).args(value.split(' '));
    }
    command.stdin(Stdio::null()).stdout(log_file(directory)?).stderr(log_file(directory)?).spawn()
}

/// What the server says before it has read its settings goes to the same log as what it says later.
fn log_file(directory: &Path) -> io::Result<fs::File> {
    fs::File::options().create(true).append(true).open(directory.join("log"))
}

/// A Ctrl-C reaches the guard as well; it ignores it, because the end of this program tells it enough.
fn spawn_guard(server: u32, directory: &Path) -> io::Result<Child> {
    const SCRIPT: &str = r#"trap '' INT HUP TERM; read -r _; kill -9 "$1" 2>/dev/null; rm -rf -- "$2""#;
    let mut command = Command::new("sh");
    command.args(["-c", SCRIPT, "emq-valkey-guard", &server.to_string()]).arg(directory);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
}

fn socket_path(directory: &Path) -> PathBuf {
    directory.join("socket")
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// INFO names Valkey's version apart from the Redis version that it claims to be compatible with.
fn version_of(wire: &mut RespWire) -> Result<String, ConnectError> {
    let reply = wire.call(&[b"INFO", b"server"])?;
    if reply.error_class() == Some(b"NOAUTH") {
        return Err(ConnectError::Login { target: wire.target().clone().into(), reply });
    }
    let (Reply::Bulk(text) | Reply::Verbatim { text, .. }) = &reply else {
        return Err(WireError(format!("{} answers INFO with: {reply}", wire.target())).into());
    };
    let text = String::from_utf8_lossy(text);
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
    let version = field("valkey_version:").or_else(|| field("redis_version:"));
    version.ok_or_else(|| WireError(format!("{} tells no version in INFO", wire.target())).into())
}

/// The end of a log, as the end of a message.
fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    let last = lines[lines.len().saturating_sub(8)..].join("\n  ");
    if last.is_empty() { String::new() } else { format!(":\n  {last}") }
}
