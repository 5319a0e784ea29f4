//! Reads the kind of a git object, and the objects that it needs.

use std::collections::BTreeSet;

use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;

use crate::object_format::ObjectFormat;

/// The most bytes of an object that are read. A tree of half a million entries has as many.
const OBJECT_BYTES: usize = 32 << 20;

/// The most bytes of a commit or tag that are read: the names come first.
pub(crate) const HEADER_BYTES: usize = 1 << 20;

/// The first bytes of an object, which contain its kind.
const KIND_BYTES: usize = 32;

/// The mode of a commit of another repository in a tree.
const SUBMODULE: &[u8] = b"160000";

/// The kind of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ObjectKind {
    /// A commit.
    Commit,
    /// A folder.
    Tree,
    /// A file.
    Blob,
    /// A tag with a message.
    Tag,
}

/// The name of an object, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectName {
    /// A short name is padded with zeros.
    bytes: [u8; 32],
    length: u8,
}

impl ObjectName {
    /// Returns the name with these bytes, if it has a valid length.
    pub fn new(bytes: &[u8]) -> Option<ObjectName> {
        let length = u8::try_from(bytes.len()).ok().filter(|length| matches!(length, 20 | 32))?;
        let mut name = ObjectName { bytes: [0; 32], length };
        name.bytes[..bytes.len()].copy_from_slice(bytes);
        Some(name)
    }

    /// Parses a name in hexadecimal digits.
    pub fn of_digits(digits: &[u8]) -> Option<ObjectName> {
        if !matches!(digits.len(), 40 | 64) {
            return None;
        }
        bytes_of(digits).and_then(|bytes| ObjectName::new(&bytes))
    }

    /// Returns its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    /// Returns it in hexadecimal digits.
    pub fn digits(&self) -> Vec<u8> {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digits = |byte: &u8| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
        self.as_bytes().iter().flat_map(digits).collect()
    }
}

/// An object's kind and references to others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its kind.
    pub kind: ObjectKind,
    /// The names of the objects that it needs: tree and parents of a commit, entries of a tree without commits of other
    /// repositories, each once, the object of a tag.
    pub names: Vec<ObjectName>,
}

/// Reads the file of a loose object; `None` if git would not have written it so, or it has too many bytes.
///
/// Of a blob, only the beginning is read. Memory grows with the length of a tree. `left_bytes` is the budget for inflated
/// bytes, from which those of the object are deducted; an object that exceeds it is not read.
pub fn loose_object(file: &[u8], format: ObjectFormat, left_bytes: &mut usize) -> Option<Object> {
    let kind = loose_kind(file)?;
    let limit = match kind {
        ObjectKind::Blob => return Some(Object { kind, names: Vec::new() }),
        ObjectKind::Tree => OBJECT_BYTES,
        ObjectKind::Commit | ObjectKind::Tag => HEADER_BYTES,
    };
    let content = inflated(file, limit, left_bytes)?;
    let start = content.iter().position(|byte| *byte == 0)? + 1;
    let names = match kind {
        ObjectKind::Tree if content.len() == limit => return None,
        ObjectKind::Tree => names_in_tree(&content[start..], format)?,
        _ => names_in_lines(&content[start..], format)?,
    };
    Some(Object { kind, names })
}

/// Returns the kind of a loose object from the first bytes of its file; a hundred are enough.
pub fn loose_kind(beginning: &[u8]) -> Option<ObjectKind> {
    let content = match decompress_to_vec_zlib_with_limit(beginning, KIND_BYTES) {
        Ok(content) => content,
        Err(error) => error.output,
    };
    ObjectKind::all().into_iter().find(|kind| content.starts_with(kind.prefix()))
}

/// Inflates at most `limit` bytes of a zlib stream, and deducts them from the budget; `None` if it is exceeded.
pub(crate) fn inflated(file: &[u8], limit: usize, left_bytes: &mut usize) -> Option<Vec<u8>> {
    let most = limit.min(*left_bytes);
    let (bytes, is_all) = match decompress_to_vec_zlib_with_limit(file, most) {
        Ok(bytes) => (Some(bytes), true),
        Err(error) if error.status == miniz_oxide::inflate::TINFLStatus::HasMoreOutput => {
            (Some(error.output), false)
        }
        Err(_) => (None, true),
    };
    *left_bytes -= bytes.as_ref().map_or(0, Vec::len).min(most);
    if !is_all && most < limit {
        *left_bytes = 0;
        return None;
    }
    bytes
}

impl ObjectKind {
    fn all() -> [ObjectKind; 4] {
        [ObjectKind::Commit, ObjectKind::Tree, ObjectKind::Blob, ObjectKind::Tag]
    }

    fn prefix(self) -> &'static [u8] {
        match self {
            ObjectKind::Commit => b"commit ",
            ObjectKind::Tree => b"tree ",
            ObjectKind::Blob => b"blob ",
            ObjectKind::Tag => b"tag ",
        }
    }
}

/// The names in the first lines of a commit or tag.
pub(crate) fn names_in_lines(content: &[u8], format: ObjectFormat) -> Option<Vec<ObjectName>> {
    let name = |line: &[u8]| {
        let word =
            [&b"tree "[..], b"parent ", b"object "].into_iter().find_map(|word| line.strip_prefix(word))?;
        ObjectName::of_digits(word).filter(|name| name.as_bytes().len() == format.name_bytes())
    };
    // Git reads no commit that begins with a parent.
    if content.starts_with(b"parent ") {
        return None;
    }
    let names: Vec<_> = content.split(|byte| *byte == b'\n').map_while(name).collect();
    (!names.is_empty()).then_some(names)
}

fn names_in_tree(mut content: &[u8], format: ObjectFormat) -> Option<Vec<ObjectName>> {
    // A tree of a few kilobytes may name one object a million times.
    let mut names = BTreeSet::new();
    while !content.is_empty() {
        let end = content.iter().position(|byte| *byte == 0)?;
        let (entry, rest) = content.split_at(end + 1);
        let (name, rest) = rest.split_at_checked(format.name_bytes())?;
        if !entry.starts_with(SUBMODULE) {
            names.extend(ObjectName::new(name));
        }
        content = rest;
    }
    Some(names.into_iter().collect())
}

/// Returns the bytes of a name in hexadecimal digits.
pub(crate) fn bytes_of(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let bytes = digits.chunks(2).map(|two| match two {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    });
    bytes.collect()
}

/// Returns whether this names the empty tree, which git has in every repository.
pub fn is_built_in(name: &[u8]) -> bool {
    const EMPTY: [&[u8]; 2] = [
        b"4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        b"6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
    ];
    EMPTY.iter().any(|digits| bytes_of(digits).as_deref() == Some(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_begins_with_its_tree() {
        let line = |word: &str, digit: &str| format!("{word} {}\n", digit.repeat(40));
        let read = |lines: [String; 2]| names_in_lines(lines.concat().as_bytes(), ObjectFormat::Sha1);
        assert_eq!(read([line("parent", "1"), line("parent", "2")]), None);
        assert_eq!(read([line("tree", "1"), line("parent", "2")]).map(|names| names.len()), Some(2));
        assert_eq!(read([line("object", "1"), "type commit\n".to_owned()]).map(|names| names.len()), Some(1));
    }
}
