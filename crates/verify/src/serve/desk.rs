//! Who is connected, what they have asked that is not answered yet, and where their replies go.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;

use echomq_engine::{Busy, Delivery, Engine, Outgoing, Reply};

use super::connection::{Event, Written};
use super::reply::write_reply;
use super::request::Request;
use tokio::sync::mpsc::UnboundedSender;

/// The engine, or what there is of it while a script runs.
pub trait Server {
    fn connect(&mut self, peer: &str, local: &str) -> u64;
    fn is_ready(&self, id: u64) -> bool;
    fn disconnect(&mut self, id: u64);
    fn take_deliveries(&mut self) -> Vec<Delivery>;
}

macro_rules! server {
    ($type:ty) => {
        impl Server for $type {
            fn connect(&mut self, peer: &str, local: &str) -> u64 {
                <$type>::connect(self, peer, local)
            }

            fn is_ready(&self, id: u64) -> bool {
                <$type>::is_ready(self, id)
            }

            fn disconnect(&mut self, id: u64) {
                <$type>::disconnect(self, id);
            }

            fn take_deliveries(&mut self) -> Vec<Delivery> {
                <$type>::take_deliveries(self)
            }
        }
    };
}

server!(Engine);
server!(Busy<'_>);

#[derive(Debug)]
pub struct Desk {
    events: Receiver<Event>,
    connections: HashMap<u64, Connection>,
    /// The socket of each connection of the engine.
    sockets: HashMap<u64, u64>,
    /// The sockets with requests that were not answered yet.
    asking: BTreeSet<u64>,
    /// Somebody wants the server to end.
    pub stopped: bool,
}

#[derive(Debug)]
struct Connection {
    id: u64,
    sink: UnboundedSender<Written>,
    requests: VecDeque<Request>,
    /// What it is told after its last request, before it is closed.
    last_words: Option<String>,
}

impl Desk {
    pub fn new(events: Receiver<Event>) -> Desk {
        Desk {
            events,
            connections: HashMap::new(),
            sockets: HashMap::new(),
            asking: BTreeSet::new(),
            stopped: false,
        }
    }

    /// Waits for an event, and takes all that have come.
    pub fn wait(&mut self, timeout: Duration, server: &mut impl Server) {
        if let Ok(event) = self.events.recv_timeout(timeout) {
            self.take(event, server);
            self.take_all(server);
        }
    }

    /// Takes the events that have come.
    pub fn take_all(&mut self, server: &mut impl Server) {
        loop {
            match self.events.try_recv() {
                Ok(event) => self.take(event, server),
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => {
                    self.stopped = true;
                    return;
                }
            }
        }
    }

    /// The next request of a connection that is ready for one, in the order of the sockets.
    pub fn next(&mut self, server: &impl Server) -> Option<(u64, Request)> {
        let asking = self.asking.iter().copied().find(|socket| {
            self.connections.get(socket).is_some_and(|connection| server.is_ready(connection.id))
        })?;
        let connection = self.connections.get_mut(&asking)?;
        let request = connection.requests.pop_front();
        if connection.requests.is_empty() && connection.last_words.is_none() {
            self.asking.remove(&asking);
        }
        match request {
            Some(request) => Some((connection.id, request)),
            None => {
                self.end_with_last_words(asking);
                self.next(server)
            }
        }
    }

    /// Hands the deliveries over to the sockets.
    pub fn deliver(&mut self, server: &mut impl Server) {
        let mut buffers: Vec<(u64, Vec<u8>)> = Vec::new();
        for Delivery { to, outgoing } in server.take_deliveries() {
            match outgoing {
                Outgoing::Reply(reply, protocol) => {
                    let at = buffers.iter().position(|(id, _)| *id == to).unwrap_or_else(|| {
                        buffers.push((to, Vec::new()));
                        buffers.len() - 1
                    });
                    write_reply(&mut buffers[at].1, &reply, protocol);
                }
                Outgoing::Close => {
                    self.flush(&mut buffers);
                    self.close(to);
                }
                Outgoing::Shutdown => self.stopped = true,
            }
        }
        self.flush(&mut buffers);
    }

    fn take(&mut self, event: Event, server: &mut impl Server) {
        match event {
            Event::Opened { socket, peer, local, sink } => {
                let id = server.connect(&peer.to_string(), &local.to_string());
                self.sockets.insert(id, socket);
                let connection = Connection { id, sink, requests: VecDeque::new(), last_words: None };
                self.connections.insert(socket, connection);
            }
            Event::Requests { socket, requests } => {
                if let Some(connection) = self.connections.get_mut(&socket) {
                    connection.requests.extend(requests);
                    self.asking.insert(socket);
                }
            }
            Event::Broke { socket, error } => {
                if let Some(connection) = self.connections.get_mut(&socket) {
                    connection.last_words = Some(format!("ERR {error}"));
                    self.asking.insert(socket);
                }
            }
            Event::Closed { socket } => {
                if let Some(connection) = self.connections.remove(&socket) {
                    self.sockets.remove(&connection.id);
                    self.asking.remove(&socket);
                    server.disconnect(connection.id);
                }
            }
            Event::Stop => self.stopped = true,
        }
    }

    fn end_with_last_words(&mut self, socket: u64) {
        self.asking.remove(&socket);
        let Some(connection) = self.connections.get_mut(&socket) else { return };
        if let Some(words) = connection.last_words.take() {
            let mut bytes = Vec::new();
            write_reply(&mut bytes, &Reply::error(words), echomq_engine::Protocol::Resp2);
            let _ = connection.sink.send(Written::Bytes(bytes));
            let _ = connection.sink.send(Written::Close);
        }
    }

    fn flush(&mut self, buffers: &mut Vec<(u64, Vec<u8>)>) {
        for (id, bytes) in buffers.drain(..) {
            let socket = self.sockets.get(&id);
            if let Some(connection) = socket.and_then(|socket| self.connections.get(socket)) {
                // Who does not listen any more will be reported as closed.
                let _ = connection.sink.send(Written::Bytes(bytes));
            }
        }
    }

    fn close(&mut self, id: u64) {
        if let Some(socket) = self.sockets.remove(&id)
            && let Some(connection) = self.connections.remove(&socket)
        {
            self.asking.remove(&socket);
            let _ = connection.sink.send(Written::Close);
        }
    }
}
