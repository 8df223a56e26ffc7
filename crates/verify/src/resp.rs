//! A connection to a real server: RESP2, and RESP3 after `HELLO 3`, over TCP or a unix socket.
//!
//! The replies are read here and not by a client crate, because the comparison with the engine has to be exact and
//! the crates fold away what it compares: `redis` makes one nil of the null bulk and the null array and splits an
//! error line into parts; `redis-protocol` 6 does the first too, hands a RESP3 map over in reverse or hash order and
//! refuses sets of arrays and verbatim formats but two. `redis-protocol` is what the reader is tested against.

mod read;
mod target;

use std::io::{self, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use echomq_core::{Reply, Wire, WireError};

pub use read::read_reply;
pub use target::{Address, Target, TargetError};

/// How long a connection may take to open.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a reply may take unless [`RespWire::set_timeout`] says otherwise.
const REPLY_TIMEOUT: Duration = Duration::from_secs(30);

/// One connection. Blocking, and used by one caller at a time.
#[derive(Debug)]
pub struct RespWire {
    target: Target,
    reader: BufReader<Stream>,
    request: Vec<u8>,
    timeout: Duration,
    /// Why the connection can't be used any more. Once a reply was missed, the next one that arrives would be taken
    /// for the answer to another command.
    broken: Option<String>,
}

/// Why a connection could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("nothing answers at {target} ({source}); is a server running there?")]
    Unreachable { target: Box<Target>, source: io::Error },
    #[error("{target} wants a login or refuses it ({reply}); give it as redis://user:password@host:port")]
    Login { target: Box<Target>, reply: Reply },
    #[error("{target} has no such database ({reply})")]
    Database { target: Box<Target>, reply: Reply },
    #[error(transparent)]
    Wire(#[from] WireError),
}

impl RespWire {
    /// Opens the connection, logs in and selects the database, as the target says.
    ///
    /// # Errors
    /// When nothing listens there, or the server refuses the login or the database.
    pub fn connect(target: &Target) -> Result<RespWire, ConnectError> {
        let unreachable = |source| ConnectError::Unreachable { target: target.clone().into(), source };
        let stream = Stream::open(&target.address).map_err(unreachable)?;
        stream.set_timeout(REPLY_TIMEOUT).map_err(unreachable)?;
        let mut wire = RespWire {
            target: target.clone(),
            reader: BufReader::with_capacity(16 * 1024, stream),
            request: Vec::new(),
            timeout: REPLY_TIMEOUT,
            broken: None,
        };
        wire.log_in()?;
        Ok(wire)
    }

    /// Where this connection goes.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Sets how long a call waits for its reply, for commands that block (`BLPOP`) or scripts that run long.
    ///
    /// # Errors
    /// When the socket refuses it, as it does with a zero.
    pub fn set_timeout(&mut self, timeout: Duration) -> Result<(), WireError> {
        self.reader.get_ref().set_timeout(timeout).map_err(|error| WireError(error.to_string()))?;
        self.timeout = timeout;
        Ok(())
    }

    /// Sends many commands at once, then reads as many replies, in the order of the commands.
    ///
    /// # Errors
    /// When a reply is missing. Refused commands are replies.
    pub fn pipeline<'a>(
        &mut self,
        commands: impl IntoIterator<Item = &'a [&'a [u8]]>,
    ) -> Result<Vec<Reply>, WireError> {
        self.request.clear();
        let mut count = 0;
        for argv in commands {
            write_command(&mut self.request, argv);
            count += 1;
        }
        self.send()?;
        (0..count).map(|_| self.receive()).collect()
    }

    /// Waits for one more reply without sending anything: what is pushed to a subscriber or a monitor, or the reply
    /// to bytes that went out by [`send_raw`](Self::send_raw).
    ///
    /// # Errors
    /// When none comes within the timeout, or the connection ends.
    pub fn receive(&mut self) -> Result<Reply, WireError> {
        self.check_usable()?;
        read_reply(&mut self.reader).map_err(|error| self.broke(&error))
    }

    /// Sends one command without waiting for its reply, which [`receive`](Self::receive) reads: it may wait for others.
    ///
    /// # Errors
    /// When the connection is broken.
    pub fn send_command(&mut self, argv: &[&[u8]]) -> Result<(), WireError> {
        self.request.clear();
        write_command(&mut self.request, argv);
        self.send()
    }

    /// Sends bytes as they are: an inline command, or a protocol error on purpose.
    ///
    /// # Errors
    /// When the connection is broken.
    pub fn send_raw(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        self.request.clear();
        self.request.extend_from_slice(bytes);
        self.send()
    }

    fn send(&mut self) -> Result<(), WireError> {
        self.check_usable()?;
        let sent = self.reader.get_mut().write_all(&self.request);
        sent.map_err(|error| self.broke(&error))
    }

    fn check_usable(&self) -> Result<(), WireError> {
        match &self.broken {
            Some(reason) => Err(WireError(format!("connection unusable since: {reason}"))),
            None => Ok(()),
        }
    }

    fn broke(&mut self, error: &io::Error) -> WireError {
        let target = &self.target;
        let reason = match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                format!("{target} did not answer within {} ms", self.timeout.as_millis())
            }
            io::ErrorKind::UnexpectedEof => format!("{target} closed the connection"),
            _ => format!("{target}: {error}"),
        };
        self.broken = Some(reason.clone());
        WireError(reason)
    }

    fn log_in(&mut self) -> Result<(), ConnectError> {
        let target = self.target.clone();
        if let Some(password) = &target.password {
            let reply = match &target.user {
                Some(user) => self.call(&[b"AUTH", user.as_bytes(), password.as_bytes()])?,
                None => self.call(&[b"AUTH", password.as_bytes()])?,
            };
            if reply.is_error() {
                return Err(ConnectError::Login { target: target.into(), reply });
            }
        }
        if target.database != 0 {
            let reply = self.call(&[b"SELECT", target.database.to_string().as_bytes()])?;
            if reply.is_error() {
                return Err(ConnectError::Database { target: target.into(), reply });
            }
        }
        Ok(())
    }

    /// The server's clock, in microseconds since 1970.
    fn server_time_us(&mut self) -> Result<u64, WireError> {
        let reply = self.call(&[b"TIME"])?;
        time_us(&reply).ok_or_else(|| WireError(format!("{} answers TIME with: {reply}", self.target)))
    }
}

impl Wire for RespWire {
    fn call(&mut self, argv: &[&[u8]]) -> Result<Reply, WireError> {
        self.request.clear();
        write_command(&mut self.request, argv);
        self.send()?;
        self.receive()
    }

    fn pass(&mut self, by: Duration) -> Result<(), WireError> {
        let by_us = u64::try_from(by.as_micros()).unwrap_or(u64::MAX);
        let until_us = self.server_time_us()?.saturating_add(by_us);
        loop {
            let left_us = until_us.saturating_sub(self.server_time_us()?);
            if left_us == 0 {
                return Ok(());
            }
            thread::sleep(Duration::from_micros(left_us));
        }
    }
}

/// A command as the protocol carries it: an array of bulk strings.
fn write_command(request: &mut Vec<u8>, argv: &[&[u8]]) {
    request.extend_from_slice(format!("*{}\r\n", argv.len()).as_bytes());
    for argument in argv {
        request.extend_from_slice(format!("${}\r\n", argument.len()).as_bytes());
        request.extend_from_slice(argument);
        request.extend_from_slice(b"\r\n");
    }
}

fn time_us(reply: &Reply) -> Option<u64> {
    let Reply::Array(items) = reply else { return None };
    let [Reply::Bulk(seconds), Reply::Bulk(micros)] = items.as_slice() else { return None };
    let number = |digits: &[u8]| str::from_utf8(digits).ok()?.parse::<u64>().ok();
    Some(number(seconds)? * 1_000_000 + number(micros)?)
}

#[derive(Debug)]
enum Stream {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
}

impl Stream {
    fn open(address: &Address) -> io::Result<Stream> {
        match address {
            Address::Tcp { host, port } => open_tcp(host, *port).map(Stream::Tcp),
            #[cfg(unix)]
            Address::Unix(path) => UnixStream::connect(path).map(Stream::Unix),
            #[cfg(not(unix))]
            Address::Unix(_) => Err(io::Error::other("this platform has no unix sockets")),
        }
    }

    fn set_timeout(&self, timeout: Duration) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => {
                stream.set_read_timeout(Some(timeout))?;
                stream.set_write_timeout(Some(timeout))
            }
            #[cfg(unix)]
            Stream::Unix(stream) => {
                stream.set_read_timeout(Some(timeout))?;
                stream.set_write_timeout(Some(timeout))
            }
        }
    }
}

/// Tries every address of the host, as `localhost` may be ::1 first where the server listens on 127.0.0.1 alone.
fn open_tcp(host: &str, port: u16) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.read(buffer),
            #[cfg(unix)]
            Stream::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.write(bytes),
            #[cfg(unix)]
            Stream::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
