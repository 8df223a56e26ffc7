//! What a server will not do for the time being: grow beyond `maxmemory`, or write without `min-replicas-to-write`.
//!
//! Memory is what MEMORY USAGE tells of all keys, and a fixed sum; nothing is evicted, whatever the policy. There are no
//! replicas, so wanting one is wanting too many.

use crate::command::{Flags, Row};
use crate::error::CommandError;
use crate::script::ScriptFlags;

/// How things stand when a call begins.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Guard {
    pub is_full: bool,
    pub lacks_replicas: bool,
}

impl Guard {
    /// What stands against calls with these flags; for EXEC those of all that is queued.
    pub fn refuse(self, flags: Flags) -> Option<CommandError> {
        if self.is_full && flags.contains(Flags::DENYOOM) {
            return Some(CommandError::FULL);
        }
        (self.lacks_replicas && flags.contains(Flags::WRITE)).then_some(CommandError::NO_REPLICAS)
    }

    /// A script has called this: what it began it may end, however full it gets.
    pub fn called_by_script(&mut self, row: &Row) {
        self.is_full &= !row.flags.contains(Flags::WRITE);
    }

    /// What stands against code that says this about itself.
    ///
    /// # Errors
    /// When it might write, or grow, and must not.
    pub fn admit(&mut self, flags: ScriptFlags) -> Result<(), CommandError> {
        if self.lacks_replicas && !flags.contains(ScriptFlags::NO_WRITES) {
            return Err(CommandError::NO_REPLICAS);
        }
        if self.is_full && !flags.intersects(ScriptFlags::ALLOW_OOM | ScriptFlags::NO_WRITES) {
            return Err(CommandError::FULL);
        }
        self.is_full &= !flags.contains(ScriptFlags::ALLOW_OOM);
        Ok(())
    }
}
