//! The text of a placeholder, `⟦secret:KIND:NUMBER⟧`.

use std::fmt;
use std::ops::Range;

use memchr::memmem;

const OPENING: &str = "⟦secret:";
const CLOSING: char = '⟧';

/// The longest kind, in bytes.
const MOST_KIND_BYTES: usize = 40;

/// The maximum number of digits of a number.
const MOST_DIGITS: usize = 9;

/// A placeholder: the kind of a secret and its number among those of the kind.
///
/// The number 0 stands for a secret whose value is not kept and cannot be restored.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Marker {
    /// Lower-case letters, digits and hyphens.
    pub kind: String,
    /// Counted from 1; 0 if the value is not kept.
    pub number: u32,
}

impl Marker {
    /// Parses the text of a placeholder; `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Marker> {
        let (range, marker) = marker_at(text, 0)?;
        (range == (0..text.len())).then_some(marker)
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{OPENING}{}:{}{CLOSING}", self.kind, self.number)
    }
}

/// Returns the texts in the form of a placeholder, issued or not, with their byte ranges, in order.
pub fn markers(text: &str) -> impl Iterator<Item = (Range<usize>, Marker)> + '_ {
    memmem::find_iter(text.as_bytes(), OPENING).filter_map(|start| marker_at(text, start))
}

/// Parses the placeholder that begins at a byte.
fn marker_at(text: &str, start: usize) -> Option<(Range<usize>, Marker)> {
    let rest = text.get(start..)?.strip_prefix(OPENING)?;
    let kind_end = rest.bytes().take(MOST_KIND_BYTES + 1).position(|byte| byte == b':')?;
    let (kind, rest) = (&rest[..kind_end], &rest[kind_end + 1..]);
    let is_kind = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if kind.is_empty() || !kind.bytes().all(is_kind) {
        return None;
    }
    let digits = rest.bytes().take(MOST_DIGITS + 1).take_while(u8::is_ascii_digit).count();
    let number = &rest[..digits];
    // One spelling per number: a leading zero would allow a second.
    let is_number = (1..=MOST_DIGITS).contains(&digits) && (digits == 1 || !number.starts_with('0'));
    if !is_number || !rest[digits..].starts_with(CLOSING) {
        return None;
    }
    let length = OPENING.len() + kind_end + 1 + digits + CLOSING.len_utf8();
    Some((start..start + length, Marker { kind: kind.to_owned(), number: number.parse().ok()? }))
}
