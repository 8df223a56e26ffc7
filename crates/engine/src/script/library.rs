//! Libraries of functions as the server keeps them: sources, and what they registered. What Lua compiled of them is
//! the [`super::Host`]'s.

use std::rc::Rc;

use super::shebang::{ScriptFlags, Shebang};
use crate::engine::Version;
use crate::error::CommandError;

#[derive(Debug)]
pub(crate) struct Library {
    pub name: Vec<u8>,
    /// The whole source with its first line.
    pub code: Rc<[u8]>,
    /// In the order in which they were registered.
    pub functions: Vec<Function>,
}

#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub name: Vec<u8>,
    pub description: Option<Vec<u8>>,
    pub flags: ScriptFlags,
}

/// All libraries, part of every snapshot, in the order in which they came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Libraries(Rc<Vec<Rc<Library>>>);

impl Libraries {
    pub fn iter(&self) -> impl Iterator<Item = &Rc<Library>> {
        self.0.iter()
    }

    /// How many libraries there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// How many functions all libraries have.
    pub fn functions(&self) -> usize {
        self.0.iter().map(|library| library.functions.len()).sum()
    }

    pub fn get(&self, name: &[u8]) -> Option<&Rc<Library>> {
        self.0.iter().find(|library| library.name == name)
    }

    /// The library that has the function `name`, in whatever case, and its place there.
    pub fn function(&self, name: &[u8]) -> Option<(&Rc<Library>, usize)> {
        self.0.iter().find_map(|library| {
            let place =
                library.functions.iter().position(|function| function.name.eq_ignore_ascii_case(name));
            Some((library, place?))
        })
    }

    /// Adds `library`, in place of one with its name if there is one.
    ///
    /// # Errors
    /// When a function has the name of one in another library.
    pub fn insert(&mut self, library: Rc<Library>) -> Result<(), CommandError> {
        for function in &library.functions {
            if self.function(&function.name).is_some_and(|(other, _)| other.name != library.name) {
                return Err(CommandError::FunctionExists { name: text(&function.name) });
            }
        }
        let libraries = Rc::make_mut(&mut self.0);
        match libraries.iter_mut().find(|other| other.name == library.name) {
            Some(other) => *other = library,
            None => libraries.push(library),
        }
        Ok(())
    }

    /// False when there is no library of that name.
    pub fn remove(&mut self, name: &[u8]) -> bool {
        let Some(place) = self.0.iter().position(|library| library.name == name) else { return false };
        Rc::make_mut(&mut self.0).remove(place);
        true
    }

    pub fn clear(&mut self) {
        self.0 = Rc::default();
    }
}

const NAME: &[u8] = b"name=";

/// The name that a source gives its library in the first line.
pub(crate) fn library_name(code: &[u8], version: Version) -> Result<Vec<u8>, CommandError> {
    let shebang = match Shebang::read(code, version) {
        None => return Err(CommandError::LIBRARY_NO_METADATA),
        Some(Err(_)) => return Err(CommandError::LIBRARY_METADATA),
        Some(Ok(shebang)) => shebang,
    };
    let mut name = None;
    for option in &shebang.options {
        let value = match option.split_at_checked(NAME.len()) {
            Some((key, value)) if key.eq_ignore_ascii_case(NAME) => value,
            _ => return Err(CommandError::LibraryOption { option: text(option) }),
        };
        if name.replace(value.to_vec()).is_some() {
            return Err(CommandError::LIBRARY_NAME_TWICE);
        }
    }
    let name = name.ok_or(CommandError::LIBRARY_NO_NAME)?;
    if !is_name(&name) {
        return Err(CommandError::LIBRARY_NAME);
    }
    if shebang.is_lua() {
        Ok(name)
    } else {
        Err(CommandError::LibraryEngine { engine: text(&shebang.engine) })
    }
}

/// What libraries and functions may be called.
pub(super) fn is_name(name: &[u8]) -> bool {
    !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
