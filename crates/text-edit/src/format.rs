//! The form of a text on disk: encoding, mark, line endings, final newline.

use std::fmt;

/// The encoding of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// UTF-8, or a text that begins with a UTF-8 mark (which may still hold undecodable bytes).
    Utf8,
    /// UTF-16 with the low byte first; recognised by its mark only.
    Utf16Le,
    /// UTF-16 with the high byte first; recognised by its mark only.
    Utf16Be,
    /// Bytes that are not UTF-8 and carry no mark. Only ASCII can be inserted, because the meaning of other byte values is
    /// unknown.
    UnknownEightBit,
}

impl Encoding {
    /// The number of bytes in one code unit, 1 or 2.
    pub fn unit_bytes(self) -> usize {
        match self {
            Self::Utf8 | Self::UnknownEightBit => 1,
            Self::Utf16Le | Self::Utf16Be => 2,
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Utf8 => "UTF-8",
            Self::Utf16Le => "UTF-16LE",
            Self::Utf16Be => "UTF-16BE",
            Self::UnknownEightBit => "an unknown 8-bit encoding",
        })
    }
}

/// The ending of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LineEnding {
    /// A line feed.
    Lf,
    /// A carriage return and a line feed.
    CrLf,
}

impl LineEnding {
    /// The characters of the ending.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }
}

/// The format of a text, as found in its bytes. Edits keep it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextFormat {
    /// The encoding of the characters.
    pub encoding: Encoding,
    /// True if the text begins with a byte-order mark. The mark does not belong to line 1.
    pub byte_order_mark: bool,
    /// The ending that most lines have; on a tie the one that occurs first; a line feed if there is none.
    /// Inserted lines get it.
    pub line_ending: LineEnding,
    /// True if both endings occur.
    pub mixed_line_endings: bool,
    /// True if the last line has an ending, and for a text without lines.
    pub final_newline: bool,
}
