//! `emq-verify sha`: the digests of the scripts inside this program.

use echomq_core::Scripts;

use super::{Console, Outcome};

/// Print the SHA-1 of each script, as sha1sum does
///
/// These are the digests that EVALSHA takes, from any client, of the scripts that are built into this program.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  emq-verify sha | diff - lua/SHA1SUMS
  emq-verify sha | (cd lua && sha1sum --check)")]
pub struct Sha {}

impl Sha {
    #[expect(clippy::unused_self, reason = "each command runs the same way")]
    pub fn run(&self, console: &mut Console) -> anyhow::Result<Outcome> {
        let mut scripts = Scripts::bundled().all();
        scripts.sort_by_key(|script| script.name());
        for script in scripts {
            console.line(format_args!("{}  {}.lua", script.sha(), script.name()))?;
        }
        Ok(Outcome::Passed)
    }
}
