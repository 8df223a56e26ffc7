//! What Lua 5.1 reads differently in a source.

use std::borrow::Cow;

/// The source for 5.4 that means what `source` means in 5.1, or 5.1's message about what is wrong with it.
pub(super) fn translate<'a>(source: &'a [u8], _name: &[u8]) -> Result<Cow<'a, [u8]>, Vec<u8>> {
    Ok(Cow::Borrowed(source))
}
