//! `emq-verify serve`: the engine behind a port, for real clients.

use std::net::{IpAddr, Ipv4Addr};

use echomq_engine::Version;
use emq_verify::serve::{Options, Server};

use super::{Console, Outcome};

/// Serve the in-memory engine over RESP, for real clients and foreign test suites
///
/// Listens on 127.0.0.1 only: there are no users and no passwords, and nothing is kept when it ends. Ctrl-C or SHUTDOWN
/// ends it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  emq-verify serve --port 6390
  valkey-cli -p 6390 PING")]
pub struct Serve {
    /// The port to listen on; 0 takes a free one
    #[arg(long)]
    port: u16,

    /// The release whose words are spoken
    #[arg(long, value_name = "RELEASE", default_value = "9.1", value_parser = release)]
    version: Version,

    /// The address to listen on
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,

    /// Allow an address that others than this machine can reach
    #[arg(long)]
    expose: bool,
}

impl Serve {
    pub fn run(&self, console: &mut Console) -> anyhow::Result<Outcome> {
        if !self.bind.is_loopback() && !self.expose {
            anyhow::bail!("{} can be reached from elsewhere; say --expose if that is meant", self.bind);
        }
        let options = Options { address: self.bind, port: self.port, version: self.version };
        let server = Server::start(&options)?;
        console.line(format_args!("{}", server.target()))?;
        server.wait();
        Ok(Outcome::Passed)
    }
}

fn release(text: &str) -> Result<Version, String> {
    match text {
        "9.1" => Ok(Version::V9_1),
        "8.0" => Ok(Version::V8_0),
        _ => Err("9.1 and 8.0 are there".to_owned()),
    }
}
