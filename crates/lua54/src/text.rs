//! Text of bounded length, on the stack: Lua formats numbers too often to allocate for each.

use std::fmt;

/// ASCII text of up to `N` bytes. Writing more is an error, and writes nothing.
pub(crate) struct Text<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Text<N> {
    pub(crate) fn new() -> Self {
        Text { bytes: [0; N], len: 0 }
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    #[cfg(feature = "libraries")]
    pub(crate) fn make_ascii_uppercase(&mut self) {
        self.bytes[..self.len].make_ascii_uppercase();
    }
}

impl<const N: usize> fmt::Write for Text<N> {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        let free = self.bytes.get_mut(self.len..self.len + s.len()).ok_or(fmt::Error)?;
        free.copy_from_slice(s.as_bytes());
        self.len += s.len();
        Ok(())
    }
}
