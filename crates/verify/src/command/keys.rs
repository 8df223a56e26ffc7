//! `emq-verify keys`: where the data of a queue lies.

use echomq_core::keys::{self, QueueNameError};
use echomq_core::{JobId, Keys as QueueKeys};

use super::{Console, Outcome};

/// Print the keys of a queue, each after its cluster slot
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  emq-verify keys mail
  emq-verify keys mail JOB0NQbYzAbCd1")]
pub struct Keys {
    /// The queue's name: what stands between the braces of its keys
    #[arg(value_name = "QUEUE", value_parser = queue_keys)]
    keys: QueueKeys,

    /// A job whose row is wanted too: JOB and 11 characters
    #[arg(value_name = "JOB-ID")]
    job: Option<JobId>,
}

impl Keys {
    pub fn run(&self, console: &mut Console) -> anyhow::Result<Outcome> {
        let row = self.job.map(|id| self.keys.row(&id));
        for key in self.keys.shared().into_iter().chain(row) {
            console.line(format_args!("{:>5} {key}", keys::slot(key.as_bytes())))?;
        }
        Ok(Outcome::Passed)
    }
}

fn queue_keys(name: &str) -> Result<QueueKeys, QueueNameError> {
    QueueKeys::new(name)
}
