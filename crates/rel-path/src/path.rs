//! The path itself.

use core::fmt;
use core::str::FromStr;

use crate::components::Components;
use crate::error::PathError;
use crate::escape;
use crate::limits::{MAX_COMPONENT_BYTES, MAX_COMPONENTS, MAX_PATH_BYTES};
use crate::new_name::{NameError, check_new_name};

/// A path below a root.
///
/// Invariants: components are joined by single slashes; none is empty, `.` or contains NUL; `..` steps never climb above the root
/// lexically; the limits hold. The root itself has no components.
///
/// `..` steps that stay inside are kept, because their meaning depends on the folders and links before them; the owner of the
/// folder resolves them and returns a path without them.
///
/// Order is by bytes. Two spellings of one file (`a/../b` and `b`, `d` and `d/`) are different values.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct RelPath {
    bytes: Vec<u8>,
    names_folder: bool,
}

impl RelPath {
    /// Returns the root itself, displayed as `.`.
    pub const fn root() -> RelPath {
        RelPath { bytes: Vec::new(), names_folder: false }
    }

    /// Parses a relative, `/`-separated path. `.` components and doubled slashes are dropped, and `\xNN`
    /// stands for an unprintable byte.
    ///
    /// # Errors
    ///
    /// Every kind of [`PathError`] but [`PathError::NotAName`].
    pub fn parse(text: &str) -> Result<RelPath, PathError> {
        RelPath::parse_beneath(text, &[])
    }

    /// Parses like [`RelPath::parse`], and takes an empty text as the root. For listings and start folders.
    ///
    /// # Errors
    ///
    /// As [`RelPath::parse`], except [`PathError::Empty`].
    pub fn parse_folder(text: &str) -> Result<RelPath, PathError> {
        if text.is_empty() { Ok(RelPath::root()) } else { RelPath::parse(text) }
    }

    /// Parses like [`RelPath::parse`], and accepts an absolute path that begins with one of `root_spellings` by
    /// removing that prefix.
    ///
    /// Spellings are absolute paths as bytes, such as the root as given by the user and its canonical form. The prefix is
    /// compared component by component, so `/srv/a` does not match `/srv/a-evil/x`.
    ///
    /// # Errors
    ///
    /// As [`RelPath::parse`]; [`PathError::Absolute`] if no spelling matches.
    pub fn parse_beneath(text: &str, root_spellings: &[&[u8]]) -> Result<RelPath, PathError> {
        if text.is_empty() {
            return Err(PathError::Empty);
        }
        RelPath::from_bytes_beneath(&escape::unescape(text), root_spellings)
    }

    /// Parses a path as the system spells it: bytes, no escapes. For link targets and names read from a
    /// folder.
    ///
    /// # Errors
    ///
    /// As [`RelPath::parse`].
    pub fn from_bytes(bytes: &[u8]) -> Result<RelPath, PathError> {
        RelPath::from_bytes_beneath(bytes, &[])
    }

    fn from_bytes_beneath(bytes: &[u8], root_spellings: &[&[u8]]) -> Result<RelPath, PathError> {
        if bytes.is_empty() {
            return Err(PathError::Empty);
        }
        if bytes.contains(&0) {
            return Err(PathError::Nul);
        }
        if bytes[0] == b'/' {
            // The prefix is removed before any `..` is counted, so a path cannot climb out of the root and
            // back in.
            let rest = root_spellings.iter().find_map(|root| rest_below(bytes, root));
            return RelPath::from_components(rest.ok_or(PathError::Absolute)?);
        }
        RelPath::from_components(bytes)
    }

    fn from_components(bytes: &[u8]) -> Result<RelPath, PathError> {
        let mut path = RelPath::root();
        for part in meaningful(bytes) {
            path.push(part)?;
        }
        path.check_whole()?;
        let last = bytes.rsplit(|byte| *byte == b'/').next();
        path.names_folder = !path.is_root() && matches!(last, Some(b"" | b"." | b".."));
        Ok(path)
    }

    /// Adds a component without checking the limits on the whole path.
    fn push(&mut self, part: &[u8]) -> Result<(), PathError> {
        if part.len() > MAX_COMPONENT_BYTES {
            let component = self.components().count() + 1;
            return Err(PathError::ComponentTooLong { component, bytes: part.len() });
        }
        if !self.bytes.is_empty() {
            self.bytes.push(b'/');
        }
        self.bytes.extend_from_slice(part);
        Ok(())
    }

    fn check_whole(&self) -> Result<(), PathError> {
        let (mut depth, mut count) = (0_usize, 0_usize);
        for part in self.components() {
            count += 1;
            // Check for climbing at every component, not at the end: `../top/x` is an escape as well.
            depth = if part == b".." { depth.checked_sub(1).ok_or(PathError::Escape)? } else { depth + 1 };
        }
        if count > MAX_COMPONENTS {
            return Err(PathError::TooManyComponents);
        }
        if self.bytes.len() > MAX_PATH_BYTES {
            return Err(PathError::TooLong { bytes: self.bytes.len() });
        }
        Ok(())
    }

    /// Returns the path of the entry `name` in the folder at this path.
    ///
    /// # Errors
    ///
    /// [`PathError::NotAName`] unless `name` is one component; or an exceeded limit.
    pub fn child(&self, name: &[u8]) -> Result<RelPath, PathError> {
        if name.contains(&0) {
            return Err(PathError::Nul);
        }
        if matches!(name, b"" | b"." | b"..") || name.contains(&b'/') {
            return Err(PathError::NotAName);
        }
        let mut path = self.clone();
        path.names_folder = false;
        path.push(name)?;
        path.check_whole()?;
        Ok(path)
    }

    /// Returns the path `other`, resolved relative to the folder at this path.
    ///
    /// # Errors
    ///
    /// The limits.
    pub fn join(&self, other: &RelPath) -> Result<RelPath, PathError> {
        if other.is_root() {
            return Ok(self.clone());
        }
        let mut path = self.clone();
        for part in other.components() {
            path.push(part)?;
        }
        path.check_whole()?;
        path.names_folder = other.names_folder;
        Ok(path)
    }

    /// Returns the path without its last component; `None` for the root. Lexical only: the parent of `a/..` is `a`.
    pub fn parent(&self) -> Option<RelPath> {
        if self.is_root() {
            return None;
        }
        let end = self.bytes.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
        Some(RelPath { bytes: self.bytes[..end].to_vec(), names_folder: false })
    }

    /// Returns the last component, unless the path is the root or ends in `..`.
    pub fn file_name(&self) -> Option<&[u8]> {
        self.components().next_back().filter(|name| *name != b"..")
    }

    /// Iterates over the components from the root downwards, `..` steps included.
    pub fn components(&self) -> Components<'_> {
        Components::new(&self.bytes)
    }

    /// Returns the path as bytes, without a trailing slash; empty for the root.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the path as text if it is UTF-8; empty for the root. `Display` writes the form for readers.
    pub fn to_str(&self) -> Option<&str> {
        core::str::from_utf8(&self.bytes).ok()
    }

    /// Checks whether this is the root itself.
    pub fn is_root(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Checks whether the text ended in a way that only a folder can: `d/`, `d/.` or `d/..`.
    pub fn names_folder(&self) -> bool {
        self.names_folder
    }

    /// Checks whether any component is a `..` step.
    pub fn has_parent_steps(&self) -> bool {
        self.components().any(|part| part == b"..")
    }

    /// Checks whether this path is `folder` or below it, lexically.
    pub fn starts_with(&self, folder: &RelPath) -> bool {
        match self.bytes.strip_prefix(folder.bytes.as_slice()) {
            Some(rest) => folder.is_root() || rest.is_empty() || rest[0] == b'/',
            None => false,
        }
    }

    /// Checks that every component may be given to a new file or folder.
    ///
    /// # Errors
    ///
    /// The reason for the first refused component; see [`check_new_name`], which checks one component.
    pub fn check_new_name(&self) -> Result<(), NameError> {
        self.components().try_for_each(check_new_name)
    }
}

impl FromStr for RelPath {
    type Err = PathError;

    fn from_str(text: &str) -> Result<RelPath, PathError> {
        RelPath::parse(text)
    }
}

/// Renders the path on one line: bytes that are not UTF-8 and invisible characters as `\xNN`, the root as `.`, and a trailing
/// slash if the text had one. [`RelPath::parse`] reads it back as the same value.
impl fmt::Display for RelPath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_root() {
            return out.write_str(".");
        }
        escape::render(&self.bytes, out)?;
        // After `..` a slash adds no meaning, and parsing the text gives the same value without it.
        let needs_slash = self.names_folder && self.file_name().is_some();
        out.write_str(if needs_slash { "/" } else { "" })
    }
}

impl fmt::Debug for RelPath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "RelPath({self})")
    }
}

/// Splits a path into its components, without empty ones and `.`.
fn meaningful(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'/').filter(|part| !matches!(*part, b"" | b"."))
}

/// Strips the components of `root` from `path`.
fn rest_below<'a>(path: &'a [u8], root: &[u8]) -> Option<&'a [u8]> {
    let mut rest = path;
    for expected in meaningful(root) {
        loop {
            let end = rest.iter().position(|byte| *byte == b'/');
            let (part, after) =
                end.map_or((rest, &rest[rest.len()..]), |end| (&rest[..end], &rest[end + 1..]));
            let skipped = matches!(part, b"" | b".");
            // A prefix must end at a component: `/srv/a` does not begin `/srv/a-evil`.
            if !skipped && part != expected || end.is_none() && skipped {
                return None;
            }
            rest = after;
            if !skipped {
                break;
            }
        }
    }
    Some(rest)
}
