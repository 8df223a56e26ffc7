//! The programs that drive a browser. Each is started on a free port and ends with the value that holds it, and its
//! browser with it.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};

use crate::tools::{MISSING, program};

/// ChromeDriver chooses a port that is free for IPv4, and ends when another program has it for IPv6.
const ATTEMPTS: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Browser {
    Chromium,
    Firefox,
}

/// A running driver.
#[derive(Debug)]
pub struct Driver {
    child: Child,
    port: u16,
    browser: Browser,
    /// The session to end with it.
    pub session: Option<String>,
}

impl Browser {
    pub fn name(self) -> &'static str {
        match self {
            Browser::Chromium => "chromium",
            Browser::Firefox => "firefox",
        }
    }
}

impl Driver {
    /// # Errors
    /// When there is no such driver, or it does not listen.
    pub fn start(browser: Browser) -> Result<Driver> {
        let (variable, name, arguments) = match browser {
            Browser::Chromium => ("CHROMEDRIVER", "chromedriver", &["--port=0"][..]),
            Browser::Firefox => ("GECKODRIVER", "geckodriver", &["--port=0", "--websocket-port=0"][..]),
        };
        let path = program(variable, &[name])?;
        for _ in 0..ATTEMPTS {
            let mut command = Command::new(&path);
            command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
            let child = command.spawn().with_context(|| format!("cannot start {}", path.display()))?;
            let mut driver = Driver { child, port: 0, browser, session: None };
            let output = driver.child.stdout.take().context("the driver has no output")?;
            let mut lines = BufReader::new(output).lines().map_while(Result::ok);
            if let Some(port) = lines.by_ref().find_map(|line| port_in(&line)) {
                driver.port = port;
                // A driver that cannot print ends.
                thread::spawn(move || lines.for_each(drop));
                return Ok(driver);
            }
        }
        bail!("{} ended before it listened; does it fit the browser? {MISSING}", path.display())
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Ends its browser; killing the driver would leave it.
    fn shut_down(&self) -> std::io::Result<()> {
        let request = match (self.browser, &self.session) {
            (Browser::Chromium, _) => "GET /shutdown".to_owned(),
            (Browser::Firefox, Some(session)) => format!("DELETE /session/{session}"),
            (Browser::Firefox, None) => return Ok(()),
        };
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        let host = format!("127.0.0.1:{}", self.port);
        write!(stream, "{request} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")?;
        stream.read_to_end(&mut Vec::new())?;
        Ok(())
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // Each may fail because it has ended already.
        let _ = self.shut_down();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `ChromeDriver was started successfully on port 41235.`, `… INFO Listening on 127.0.0.1:41235`
fn port_in(line: &str) -> Option<u16> {
    let after = |text| line.split_once(text).map(|(_, rest)| rest.trim_end_matches('.').trim());
    let chrome = after("on port ").filter(|_| line.contains("successfully"));
    chrome.or_else(|| after("Listening on 127.0.0.1:"))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::port_in;

    #[test]
    fn finds_the_port_that_a_driver_took() {
        assert_eq!(port_in("ChromeDriver was started successfully on port 41235."), Some(41235));
        assert_eq!(port_in("1700\tgeckodriver\tINFO\tListening on 127.0.0.1:41236"), Some(41236));
        assert_eq!(port_in("Only local connections are allowed on port 1."), None);
    }
}
