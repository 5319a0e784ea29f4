//! The header of a git bundle: version 2, or version 3 where names of objects have 64 digits.
//!
//! ```text
//! # v2 git bundle
//! -1111111111111111111111111111111111111111 a comment that is ignored
//! 2222222222222222222222222222222222222222 refs/heads/main
//!
//! PACK…
//! ```

use std::io::{self, BufRead, Read};

/// The first lines of a bundle, with the number of digits of all names in it. Git reads version 2 only with 40.
const SIGNATURES: [(&str, usize); 2] =
    [("# v2 git bundle\n", 40), ("# v3 git bundle\n@object-format=sha256\n", 64)];

/// The most bytes of the name of a reference.
const MOST_REFERENCE_BYTES: usize = 1024;

/// The header of a bundle: the commits that its reader must have, and the commit that it carries.
///
/// ```
/// use cocode_runner::BundleHeader;
///
/// let (old, new) = ("1".repeat(40), "2".repeat(40));
/// let text = format!("# v2 git bundle\n-{old} a comment\n{new} refs/heads/main\n\nPACK");
/// let (header, length_bytes) = BundleHeader::read(&mut text.as_bytes())?;
/// assert_eq!((header.prerequisites, header.tip), (vec![old], new));
/// assert_eq!(&text[length_bytes as usize..], "PACK");
/// # Ok::<(), cocode_runner::BundleHeaderError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleHeader {
    /// The commits that the reader must have, each 40 or 64 hexadecimal digits in lower case, as many as in `tip`.
    pub prerequisites: Vec<String>,
    /// The commit that the bundle carries. The number of its digits determines the version.
    pub tip: String,
    /// The bundle's name for it, such as `refs/heads/main`. It is only a label: readers of this crate make no such reference.
    pub reference: String,
}

/// A malformed header of a bundle. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BundleHeaderError {
    /// The file cannot be read.
    #[error("the bundle cannot be read: {0}")]
    Read(io::ErrorKind),
    /// It does not begin like a bundle of a supported version.
    #[error(
        "the file does not begin with '# v2 git bundle', nor with '# v3 git bundle' and '@object-format=sha256'"
    )]
    Signature,
    /// It ends in its header.
    #[error("the bundle ends before the blank line after its header")]
    CutOff,
    /// The header is longer than the limit.
    #[error("the header of the bundle is longer than {limit_bytes} bytes")]
    TooLong {
        /// The limit.
        limit_bytes: u64,
    },
    /// A line is not the name of an object, with a reference or as a prerequisite.
    #[error("line {line_number} of the bundle does not name an object by {digits} hexadecimal digits")]
    Name {
        /// The line.
        line_number: u32,
        /// The number of digits in a bundle of its version.
        digits: usize,
    },
    /// The name of the reference is empty, too long, or contains whitespace or control characters.
    #[error("line {line_number} of the bundle does not name a reference")]
    Reference {
        /// The line.
        line_number: u32,
    },
    /// A prerequisite follows the reference.
    #[error("line {line_number} of the bundle is a prerequisite after a reference")]
    Order {
        /// The line.
        line_number: u32,
    },
    /// There are more prerequisites than the limit.
    #[error("the bundle has more than {limit} prerequisites")]
    TooManyPrerequisites {
        /// The limit.
        limit: usize,
    },
    /// There is no reference.
    #[error("the bundle has no reference")]
    NoReference,
    /// There is more than one reference.
    #[error("the bundle has more than one reference")]
    TwoReferences,
}

impl BundleHeader {
    /// The most prerequisites.
    pub const MOST_PREREQUISITES: usize = 64;

    /// The most bytes of a header, with its blank line.
    pub const LIMIT_BYTES: u64 = 16 << 10;

    /// Reads a header with its blank line, and returns it with its length in bytes. The pack follows in `reader`.
    ///
    /// # Errors
    /// The first fault. The position of `reader` is then unspecified.
    pub fn read(reader: &mut impl BufRead) -> Result<(BundleHeader, u64), BundleHeaderError> {
        let mut lines = Lines { reader, read_bytes: 0, line_number: 0 };
        let digits = lines.signature()?;
        let (mut prerequisites, mut reference) = (Vec::new(), None);
        loop {
            let line = lines.next()?;
            let line_number = lines.line_number;
            let Some(line) = line.strip_suffix(b"\n").filter(|line| !line.is_empty()) else { break };
            let (name, rest) = match line.strip_prefix(b"-") {
                Some(_) if reference.is_some() => return Err(BundleHeaderError::Order { line_number }),
                Some(line) => (object_name(line, digits, line_number)?, None),
                None if reference.is_some() => return Err(BundleHeaderError::TwoReferences),
                None => {
                    let name = object_name(line, digits, line_number)?;
                    (name, Some(reference_name(&line[name.len()..], line_number)?))
                }
            };
            match rest {
                Some(rest) => reference = Some((name.to_owned(), rest.to_owned())),
                None if prerequisites.len() == BundleHeader::MOST_PREREQUISITES => {
                    return Err(BundleHeaderError::TooManyPrerequisites { limit: prerequisites.len() });
                }
                None => prerequisites.push(name.to_owned()),
            }
        }
        let (tip, reference) = reference.ok_or(BundleHeaderError::NoReference)?;
        Ok((BundleHeader { prerequisites, tip, reference }, lines.read_bytes))
    }

    /// Renders the header with its blank line.
    ///
    /// # Errors
    /// The fault for which [`BundleHeader::read`] would refuse it.
    pub fn render(&self) -> Result<String, BundleHeaderError> {
        let signature =
            SIGNATURES.iter().find(|(_, digits)| *digits == self.tip.len()).unwrap_or(&SIGNATURES[0]);
        let mut text = signature.0.to_owned();
        for prerequisite in &self.prerequisites {
            text.push_str(&format!("-{prerequisite}\n"));
        }
        text.push_str(&format!("{} {}\n\n", self.tip, self.reference));
        // A field with a line break would be read as several lines.
        match BundleHeader::read(&mut text.as_bytes())? {
            (header, length_bytes) if header == *self && length_bytes == text.len() as u64 => Ok(text),
            _ => Err(BundleHeaderError::Reference { line_number: 2 + self.prerequisites.len() as u32 }),
        }
    }
}

/// The lines of a header, within its limit.
struct Lines<'a, R> {
    reader: &'a mut R,
    read_bytes: u64,
    line_number: u32,
}

impl<R: BufRead> Lines<'_, R> {
    /// Reads the first line, or the first two, and returns the number of digits of all names.
    fn signature(&mut self) -> Result<usize, BundleHeaderError> {
        let mut start = String::new();
        loop {
            match self.next() {
                Ok(line) => start.push_str(&String::from_utf8_lossy(&line)),
                Err(error @ BundleHeaderError::Read(_)) => return Err(error),
                _ => return Err(BundleHeaderError::Signature),
            }
            match SIGNATURES.iter().find(|(signature, _)| signature.starts_with(&start)) {
                Some((signature, digits)) if *signature == start => return Ok(*digits),
                Some(_) => {}
                None => return Err(BundleHeaderError::Signature),
            }
        }
    }

    /// Returns the next line with its line end.
    fn next(&mut self) -> Result<Vec<u8>, BundleHeaderError> {
        let room = BundleHeader::LIMIT_BYTES - self.read_bytes;
        let mut line = Vec::new();
        let length = Read::take(&mut *self.reader, room).read_until(b'\n', &mut line);
        let length = length.map_err(|error| BundleHeaderError::Read(error.kind()))? as u64;
        self.read_bytes += length;
        self.line_number += 1;
        match line.last() {
            Some(b'\n') => Ok(line),
            _ if length == room => Err(BundleHeaderError::TooLong { limit_bytes: BundleHeader::LIMIT_BYTES }),
            _ => Err(BundleHeaderError::CutOff),
        }
    }
}

/// Returns whether a text is a full object name: 40 or 64 hexadecimal digits in lower case.
pub(crate) fn is_object_name(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Returns the object's name at the start of a line, up to a space or the end.
fn object_name(line: &[u8], digits: usize, line_number: u32) -> Result<&str, BundleHeaderError> {
    let end = line.iter().position(|byte| *byte == b' ').unwrap_or(line.len());
    let name =
        std::str::from_utf8(&line[..end]).ok().filter(|name| is_object_name(name) && name.len() == digits);
    name.ok_or(BundleHeaderError::Name { line_number, digits })
}

/// Returns the name of a reference, after its space.
fn reference_name(rest: &[u8], line_number: u32) -> Result<&str, BundleHeaderError> {
    let name = std::str::from_utf8(rest).ok().and_then(|rest| rest.strip_prefix(' '));
    let is_name = |name: &&str| {
        (1..=MOST_REFERENCE_BYTES).contains(&name.len())
            && !name.contains(|one: char| one.is_whitespace() || one.is_control())
    };
    name.filter(is_name).ok_or(BundleHeaderError::Reference { line_number })
}
