//! The sockets' side: what arrives becomes events, what comes back is written.

use std::net::SocketAddr;
use std::sync::mpsc;

use tokio::io::AsyncWriteExt;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::codec::Decoder;

use super::request::{ProtocolError, Request, Requests};

/// What the engine's thread is told.
#[derive(Debug)]
pub enum Event {
    Opened {
        socket: u64,
        peer: SocketAddr,
        local: SocketAddr,
        sink: UnboundedSender<Written>,
    },
    Requests {
        socket: u64,
        requests: Vec<Request>,
    },
    /// The bytes are no request; nothing more is read from this one.
    Broke {
        socket: u64,
        error: ProtocolError,
    },
    Closed {
        socket: u64,
    },
    Stop,
}

/// What a socket is told.
#[derive(Debug)]
pub enum Written {
    Bytes(Vec<u8>),
    /// To be closed once all before this is written.
    Close,
}

/// How much is read at once.
const READ_BYTES: usize = 16 * 1024;

/// Accepts connections for ever.
pub async fn accept(listener: TcpListener, events: mpsc::Sender<Event>) {
    let mut socket = 0;
    loop {
        // What fails here is the connection that was about to open, or a want of descriptors that will pass.
        let Ok((stream, peer)) = listener.accept().await else {
            tokio::task::yield_now().await;
            continue;
        };
        let Ok(local) = stream.local_addr() else { continue };
        let _ = stream.set_nodelay(true);
        socket += 1;
        let (sink, written) = unbounded_channel();
        if events.send(Event::Opened { socket, peer, local, sink }).is_err() {
            return;
        }
        tokio::spawn(serve(socket, stream, written, events.clone()));
    }
}

async fn serve(
    socket: u64,
    stream: TcpStream,
    written: UnboundedReceiver<Written>,
    events: mpsc::Sender<Event>,
) {
    let (from, to) = stream.into_split();
    tokio::select! {
        () = write(to, written) => {}
        () = read(socket, from, &events) => {}
    }
    let _ = events.send(Event::Closed { socket });
}

/// Reads until the connection ends. After bytes that are no request it waits for the other side to close.
async fn read(socket: u64, from: OwnedReadHalf, events: &mpsc::Sender<Event>) {
    let mut requests = Requests::default();
    let mut bytes = bytes::BytesMut::with_capacity(READ_BYTES);
    loop {
        bytes.reserve(READ_BYTES);
        if from.readable().await.is_err() {
            return;
        }
        match from.try_read_buf(&mut bytes) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => continue,
            Err(_) => return,
        }
        let mut batch = Vec::new();
        let broke = loop {
            match requests.decode(&mut bytes) {
                Ok(Some(request)) => batch.push(request),
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
        };
        if !batch.is_empty() && events.send(Event::Requests { socket, requests: batch }).is_err() {
            return;
        }
        if let Some(error) = broke {
            let _ = events.send(Event::Broke { socket, error });
            return std::future::pending().await;
        }
    }
}

async fn write(mut to: OwnedWriteHalf, mut written: UnboundedReceiver<Written>) {
    while let Some(Written::Bytes(bytes)) = written.recv().await {
        if to.write_all(&bytes).await.is_err() {
            return;
        }
    }
    let _ = to.shutdown().await;
}
