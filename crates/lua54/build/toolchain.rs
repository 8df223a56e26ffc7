//! The C toolchain for wasm32-unknown-unknown, which needs an LLVM of its own choice.

use std::path::Path;

pub fn wasm(_csrc: &Path, _out: &Path) -> Result<cc::Build, String> {
    Err("not yet".into())
}
