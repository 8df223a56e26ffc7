//! The RESP server of the engine.
//!
//! One thread owns the engine and answers requests in the order in which they arrive; another reads and writes for all
//! connections. A request crosses over a channel, so that while a script runs for too long the engine's thread can look
//! at what others ask meanwhile.

mod connection;
mod desk;
mod hub;
mod reply;
mod request;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use echomq_engine::Version;
use tokio::net::TcpListener;
use tokio::runtime;
use tokio::sync::oneshot;

use crate::resp::Target;
use connection::Event;

pub use reply::write_reply;
pub use request::{ProtocolError, Requests};

/// Where and what to serve.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub address: IpAddr,
    /// 0 takes a free one.
    pub port: u16,
    pub version: Version,
}

/// A running server. It stops when this is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    events: mpsc::Sender<Event>,
    threads: Vec<JoinHandle<()>>,
}

impl Server {
    /// Listens, and serves an empty engine whose clock is the machine's.
    ///
    /// # Errors
    /// When the address cannot be had.
    pub fn start(options: &Options) -> io::Result<Server> {
        let listener = std::net::TcpListener::bind((options.address, options.port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (events, received) = mpsc::channel();
        let (alive, ended) = oneshot::channel();
        let version = options.version;
        let engine = thread::Builder::new().name("engine".to_owned()).spawn(move || {
            hub::run(version, received);
            drop::<oneshot::Sender<()>>(alive);
        })?;
        let sender = events.clone();
        let sockets = runtime::Builder::new_current_thread().enable_io().build()?;
        let sockets = thread::Builder::new().name("sockets".to_owned()).spawn(move || {
            sockets.block_on(async move {
                let Ok(listener) = TcpListener::from_std(listener) else { return };
                tokio::select! {
                    () = connection::accept(listener, sender) => {}
                    _ = ended => {}
                }
            });
        })?;
        Ok(Server { address, events, threads: vec![engine, sockets] })
    }

    pub fn target(&self) -> Target {
        Target::tcp(self.address.ip().to_string(), self.address.port())
    }

    /// Returns when a client has sent SHUTDOWN.
    pub fn wait(mut self) {
        self.join();
    }

    fn join(&mut self) {
        for thread in self.threads.drain(..) {
            // A thread that panicked has said so, and is as much at its end.
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.events.send(Event::Stop);
        self.join();
    }
}
