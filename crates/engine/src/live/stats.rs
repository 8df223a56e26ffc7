//! What INFO tells of the calls: how many, how many failed, which errors.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::reply::Reply;

#[derive(Clone, Debug, Default)]
pub(crate) struct Stats {
    pub connections: u64,
    pub commands: u64,
    pub errors: u64,
    calls: BTreeMap<&'static str, Calls>,
    classes: BTreeMap<String, u64>,
    /// The last error that a call of the running script brought: when the script ends with it, it counts once.
    from_script: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Calls {
    calls: u64,
    rejected: u64,
    failed: u64,
}

impl Stats {
    /// A call of a row that was not run.
    pub fn rejected(&mut self, name: &'static str) {
        self.calls.entry(name).or_default().rejected += 1;
    }

    pub fn ran(&mut self, name: &'static str, failed: bool) {
        let calls = self.calls.entry(name).or_default();
        calls.calls += 1;
        calls.failed += u64::from(failed);
    }

    pub fn script_begins(&mut self) {
        self.from_script.clear();
    }

    /// A call of a script brought an error.
    pub fn error_in_script(&mut self, text: &[u8]) {
        text.clone_into(&mut self.from_script);
        self.count(text);
    }

    /// A reply to a client.
    pub fn replied(&mut self, reply: &Reply) {
        if let Reply::Error(text) = reply {
            let counted = !self.from_script.is_empty() && text.starts_with(&self.from_script);
            if !counted {
                self.count(text);
            }
        }
        self.from_script.clear();
    }

    pub fn command_section(&self) -> String {
        let mut text = "# Commandstats\r\n".to_owned();
        for (name, Calls { calls, rejected, failed }) in &self.calls {
            // Writing into a String cannot fail; nobody measures how long a call takes.
            let _ = write!(
                text,
                "cmdstat_{name}:calls={calls},usec=0,usec_per_call=0.00,rejected_calls={rejected},\
                 failed_calls={failed}\r\n"
            );
        }
        text
    }

    pub fn error_section(&self) -> String {
        let mut text = "# Errorstats\r\n".to_owned();
        for (class, count) in &self.classes {
            let _ = write!(text, "errorstat_{class}:count={count}\r\n");
        }
        text
    }

    fn count(&mut self, text: &[u8]) {
        self.errors += 1;
        let class = text.split(|byte| *byte == b' ').next().unwrap_or_default();
        *self.classes.entry(String::from_utf8_lossy(class).into_owned()).or_default() += 1;
    }
}
