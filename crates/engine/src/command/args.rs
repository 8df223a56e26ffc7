//! Typed reading of argv.

use crate::error::CommandError;

/// The arguments of one call; index 0 is the command's name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Args<'a> {
    argv: &'a [&'a [u8]],
}

impl<'a> Args<'a> {
    pub fn new(argv: &'a [&'a [u8]]) -> Args<'a> {
        Args { argv }
    }

    pub fn len(&self) -> usize {
        self.argv.len()
    }

    /// The argument at `at`; a missing one is a syntax error.
    pub fn bytes(&self, at: usize) -> Result<&'a [u8], CommandError> {
        self.argv.get(at).copied().ok_or(CommandError::Syntax)
    }
}
