//! Old lines of a diff that models write from memory: not exactly as the file has them.

use std::borrow::Cow;

/// A line that a diff has from the file.
#[derive(Clone, Copy)]
pub(crate) enum OldLine<'l> {
    /// Without its minus.
    Removed(&'l str),
    /// A line that stays, with its space or without.
    Kept(&'l str),
}

/// The deviation that old lines may have from those of the file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Likeness {
    /// None, apart from whitespace at line ends, and the space of lines that stay.
    Same,
    /// As much as in [`BareLine::is_similar_to`], but with the same indentation.
    SimilarText,
    /// As much as in [`BareLine::is_similar_to`].
    Similar,
}

/// Checks whether lines of a file are those of a diff, in their order. Others may be between them, and blank lines do not count.
pub(crate) fn are_of_file(old: &[OldLine<'_>], lines: &[Cow<'_, str>], likeness: Likeness) -> bool {
    let mut rest = lines.iter();
    let mut wanted = old.iter().filter(|old| !old.text().trim().is_empty()).peekable();
    let is_next = |old: &OldLine<'_>| {
        // Once for each old line: it is compared with many lines, and may be long.
        let bare = BareLine::of(old.text());
        rest.any(|line| match likeness {
            Likeness::Same => old.is(line),
            Likeness::SimilarText => old.is(line) || old.is_indented_as(line) && bare.is_similar_to(line),
            Likeness::Similar => bare.is_similar_to(line),
        })
    };
    wanted.peek().is_some() && wanted.all(is_next)
}

impl<'l> OldLine<'l> {
    fn text(&self) -> &'l str {
        match self {
            Self::Removed(text) | Self::Kept(text) => text,
        }
    }

    /// Checks whether this is a line of a file, apart from whitespace at the end.
    fn is(&self, line: &str) -> bool {
        let is_same = |text: &str| text.trim_end() == line.trim_end();
        match self {
            Self::Removed(text) => is_same(text),
            Self::Kept(text) => is_same(text) || text.strip_prefix(' ').is_some_and(is_same),
        }
    }

    /// Checks whether this is indented like a line of a file. A line that stays may have one more space.
    fn is_indented_as(&self, line: &str) -> bool {
        let is_same = |text: &str| indentation(text) == indentation(line);
        match self {
            Self::Removed(text) => is_same(text),
            Self::Kept(text) => is_same(text) || text.strip_prefix(' ').is_some_and(is_same),
        }
    }
}

fn indentation(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// The fewest characters of a line that may differ from another.
const LEAST_TEXT: usize = 3;

/// A line without its whitespace and quotes.
struct BareLine {
    text: Vec<char>,
    /// The number of minuses that it begins with.
    minuses: usize,
}

impl BareLine {
    fn of(line: &str) -> BareLine {
        let is_kept = |character: &char| !character.is_whitespace() && !['"', '\'', '`'].contains(character);
        let text: Vec<char> = line.chars().filter(is_kept).collect();
        let minuses = text.iter().take_while(|character| **character == '-').count();
        BareLine { text, minuses }
    }

    /// Checks whether another line is the same, one of both begins with the other, or most of them is. A line that begins with a
    /// minus, such as a comment or an operand, is similar to none without it.
    fn is_similar_to(&self, line: &str) -> bool {
        let other = BareLine::of(line);
        if self.minuses != other.minuses {
            return false;
        }
        let (one, other) = (&self.text, &other.text);
        let (shorter, longer) = if one.len() <= other.len() { (one, other) } else { (other, one) };
        if shorter.len() < LEAST_TEXT {
            return one == other;
        }
        let above = shorter.iter().zip(longer).take_while(|(one, other)| one == other).count();
        let rest = shorter[above..].iter().rev().zip(longer[above..].iter().rev());
        let below = rest.take_while(|(one, other)| one == other).count();
        above == shorter.len() || 3 * (above + below) >= 2 * longer.len()
    }
}

/// Checks whether a line has enough text that its likeness to another is not chance.
pub(crate) fn has_text(line: &str) -> bool {
    let text = BareLine::of(line).text;
    text.len() >= LEAST_TEXT && text.iter().any(|character| character.is_alphabetic())
}
