//! Reads which objects an object of git needs, and of which kind it is.

use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;

use crate::object_format::ObjectFormat;

/// The most bytes of an object that are read. A tree of half a million entries has as many.
const OBJECT_BYTES: usize = 32 << 20;

/// The most bytes of a commit or tag that are read: what they name comes first.
const HEADER_BYTES: usize = 1 << 20;

/// The bytes of an object that say of which kind it is.
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

/// An object, as far as it is about others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its kind.
    pub kind: ObjectKind,
    /// The names of the objects that it needs, in bytes: tree and parents of a commit, entries of a tree without commits of
    /// other repositories, the object of a tag.
    pub names: Vec<Vec<u8>>,
}

/// Reads the file of a loose object; `None` if git would not have written it so, or it has too many bytes.
///
/// Of a file, only the beginning is read. Memory grows with the length of a tree.
pub fn loose_object(file: &[u8], format: ObjectFormat) -> Option<Object> {
    let kind = loose_kind(file)?;
    let limit = match kind {
        ObjectKind::Blob => return Some(Object { kind, names: Vec::new() }),
        ObjectKind::Tree => OBJECT_BYTES,
        ObjectKind::Commit | ObjectKind::Tag => HEADER_BYTES,
    };
    let content = inflated(file, limit)?;
    let start = content.iter().position(|byte| *byte == 0)? + 1;
    let names = match kind {
        ObjectKind::Tree if content.len() == limit => return None,
        ObjectKind::Tree => names_in_tree(&content[start..], format)?,
        _ => names_in_lines(&content[start..], format)?,
    };
    Some(Object { kind, names })
}

/// Returns the kind of a loose object by the first bytes of its file, of which a hundred are enough.
pub fn loose_kind(beginning: &[u8]) -> Option<ObjectKind> {
    let content = match decompress_to_vec_zlib_with_limit(beginning, KIND_BYTES) {
        Ok(content) => content,
        Err(error) => error.output,
    };
    ObjectKind::all().into_iter().find(|kind| content.starts_with(kind.prefix()))
}

/// Returns at most so many of the bytes that a text in the format of zlib stands for.
fn inflated(file: &[u8], limit: usize) -> Option<Vec<u8>> {
    match decompress_to_vec_zlib_with_limit(file, limit) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.status == miniz_oxide::inflate::TINFLStatus::HasMoreOutput => Some(error.output),
        Err(_) => None,
    }
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
fn names_in_lines(content: &[u8], format: ObjectFormat) -> Option<Vec<Vec<u8>>> {
    let name = |line: &[u8]| {
        let word =
            [&b"tree "[..], b"parent ", b"object "].into_iter().find_map(|word| line.strip_prefix(word))?;
        bytes_of(word).filter(|name| name.len() == format.name_bytes())
    };
    let names: Vec<_> = content.split(|byte| *byte == b'\n').map_while(name).collect();
    (!names.is_empty()).then_some(names)
}

fn names_in_tree(mut content: &[u8], format: ObjectFormat) -> Option<Vec<Vec<u8>>> {
    let mut names = Vec::new();
    while !content.is_empty() {
        let end = content.iter().position(|byte| *byte == 0)?;
        let (entry, rest) = content.split_at(end + 1);
        let (name, rest) = rest.split_at_checked(format.name_bytes())?;
        if !entry.starts_with(SUBMODULE) {
            names.push(name.to_vec());
        }
        content = rest;
    }
    Some(names)
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

/// Returns whether git has an object of this name in every repository: the tree without entries.
pub fn is_built_in(name: &[u8]) -> bool {
    const EMPTY: [&[u8]; 2] = [
        b"4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        b"6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
    ];
    EMPTY.iter().any(|digits| bytes_of(digits).as_deref() == Some(name))
}
