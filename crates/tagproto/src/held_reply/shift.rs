//! Another indentation of a whole continuation.

use super::held_lines::HeldLines;

/// The indentation of a continuation, compared with that of the held lines that it repeats.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shift<'a> {
    /// The same, or not another one throughout.
    None,
    /// These blanks stand in front of every line.
    In(&'a str),
    /// Another one, and it is not clear which lines have it.
    Unclear,
}

/// The indentation of one line, compared with that of the same held line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Indent<'a> {
    Same,
    /// With these blanks in front.
    More(&'a str),
    Less,
    Other,
}

impl HeldLines<'_> {
    /// Compares the lines `start..end` of a continuation, the last of which are the requested ones, and the line at `behind`, if it
    /// continues the one in which the held reply was cut off.
    pub(super) fn shift<'a>(&self, raw: &[&'a str], start: usize, end: usize, behind: usize) -> Shift<'a> {
        let pairs = self.raw.iter().rev().zip(raw[start..end].iter().rev());
        let same = pairs.take_while(|(held, next)| held.trim() == next.trim());
        let with_text = same.filter(|(held, _)| !held.trim().is_empty());
        let mut indents: Vec<Indent<'a>> = with_text.map(|(held, next)| Indent::of(held, next)).collect();
        // Chats trim the start of a reply.
        let may_be_trimmed = raw[..start].iter().all(|line| line.trim().is_empty());
        let first = if may_be_trimmed { indents.pop() } else { None };
        let continues =
            |line: &&&str| !self.cut_line.is_empty() && line.trim_start().starts_with(self.cut_line);
        let Some(line) = raw.get(behind).filter(continues) else {
            let is_other = |indent: &Indent<'_>| matches!(indent, Indent::More(_) | Indent::Less);
            let is_throughout = !indents.is_empty() && indents.iter().all(is_other);
            let is_more = matches!(first, Some(Indent::More(_)));
            return if is_throughout || is_more { Shift::Unclear } else { Shift::None };
        };
        let indent = Indent::of(self.raw_cut_line, line);
        let is_like_the_others = match first {
            None => !indents.is_empty(),
            Some(first) => first == indent || first == Indent::Less && !indents.is_empty(),
        };
        let is_throughout = is_like_the_others && indents.iter().all(|other| *other == indent);
        match indent {
            Indent::More(blanks) if is_throughout => Shift::In(blanks),
            Indent::Less if is_throughout => Shift::Unclear,
            _ => Shift::None,
        }
    }
}

impl<'a> Indent<'a> {
    fn of(held: &str, next: &'a str) -> Indent<'a> {
        let blanks = |line: &str| line.len() - line.trim_start().len();
        let (held, next) = (&held[..blanks(held)], &next[..blanks(next)]);
        match next.strip_suffix(held) {
            Some("") => Indent::Same,
            Some(more) => Indent::More(more),
            None if held.ends_with(next) => Indent::Less,
            None => Indent::Other,
        }
    }
}

/// Removes blanks from the start of all lines of the open block, up to its closing tag, and of those behind it, if all have them;
/// returns false if a line of the block has not.
pub(super) fn unindent(lines: &mut [&str], closer: usize, blanks: &str) -> bool {
    let has_blanks = |line: &&str| line.trim().is_empty() || line.starts_with(blanks);
    let (block, others) = lines.split_at_mut(closer.min(lines.len()));
    if !block.iter().all(has_blanks) {
        return false;
    }
    let others = if others.iter().all(has_blanks) { others } else { &mut [] };
    for line in block.iter_mut().chain(others) {
        *line = line.strip_prefix(blanks).unwrap_or_default();
    }
    true
}
