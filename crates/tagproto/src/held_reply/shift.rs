//! A different indentation of a whole continuation.

use super::held_lines::HeldLines;
use crate::{
    BlockKind,
    repair::{begins_with_no_break_space, lacks_indentation},
};

/// The indentation of a continuation relative to the held lines that it repeats.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shift<'a> {
    /// The same, or not different throughout.
    None,
    /// Every line has this additional indentation.
    In(&'a str),
    /// Different, but it is unclear for which lines.
    Unclear,
}

/// The indentation of one line relative to the same held line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Indent<'a> {
    /// Neither line is indented: nothing could be lost.
    None,
    Same,
    /// With this additional indentation.
    More(&'a str),
    Less,
    /// With other whitespace, such as no-break spaces.
    Other,
}

impl HeldLines<'_> {
    /// Compares the lines `start..end` of a continuation, the last of which are the requested lines, and the line at `next`, if
    /// it continues the line in which the held reply was cut off.
    pub(super) fn shift<'a>(&self, raw: &[&'a str], start: usize, end: usize, next: usize) -> Shift<'a> {
        let pairs = self.raw.iter().rev().zip(raw[start..end].iter().rev());
        let same = pairs.take_while(|(held, next)| held.trim() == next.trim());
        let with_text = same.filter(|(held, _)| !held.trim().is_empty());
        let mut indents: Vec<Indent<'a>> = with_text.map(|(held, next)| Indent::of(held, next)).collect();
        // Chats trim the start of a reply.
        let may_be_trimmed = raw[..start].iter().all(|line| line.trim().is_empty());
        let first = if may_be_trimmed { indents.pop() } else { None };
        let is_kept = indents.contains(&Indent::Same);
        let is_other = indents.contains(&Indent::Other) || first == Some(Indent::Other);
        let continues =
            |line: &&&str| !self.cut_line.is_empty() && line.trim_start().starts_with(self.cut_line);
        let cut = raw.get(next).filter(continues).map(|line| Indent::of(self.raw_cut_line, line));
        match cut {
            Some(Indent::Same) => Shift::None,
            Some(Indent::Other) => Shift::Unclear,
            Some(Indent::More(more)) if is_throughout(&indents, first, Indent::More(more)) => Shift::In(more),
            // The model may have changed the line, if another line shows that no indentation was lost.
            Some(Indent::Less) if is_other || !is_kept && first != Some(Indent::Same) => Shift::Unclear,
            Some(Indent::Less) => Shift::None,
            _ => {
                let is_changed = |indent: &Indent<'_>| matches!(indent, Indent::More(_) | Indent::Less);
                let is_changed = indents.iter().any(is_changed) && !is_kept;
                let is_more = matches!(first, Some(Indent::More(_)));
                if is_changed || is_more || is_other { Shift::Unclear } else { Shift::None }
            }
        }
    }
}

impl HeldLines<'_> {
    /// Checks whether the continued text of a file lost its indentation, even if the repeated lines have none to compare: it has
    /// no-break spaces at the start of lines unlike the held text, or is Python without any required indentation.
    pub(super) fn has_lost_indentation(&self, text: &[&str]) -> bool {
        if !matches!(self.open_kind, Some(BlockKind::CreateFile | BlockKind::EditFile)) {
            return false;
        }
        let held = self.raw.get(self.open_line + 1..).unwrap_or_default();
        let has_no_break = |lines: &[&str]| lines.iter().any(|line| begins_with_no_break_space(line));
        if has_no_break(text) && !has_no_break(held) && !begins_with_no_break_space(self.raw_cut_line) {
            return true;
        }
        let last = held.iter().rev().map(|line| line.trim()).find(|line| !line.is_empty());
        let lines: Vec<&str> = last.into_iter().chain(text.iter().copied()).collect();
        lacks_indentation(self.lines[self.open_line], &lines)
    }
}

/// Checks whether all lines are indented like the cut-off line; the first line may have been trimmed.
fn is_throughout<'a>(indents: &[Indent<'a>], first: Option<Indent<'a>>, cut: Indent<'a>) -> bool {
    let is_like_the_others = match first {
        None => !indents.is_empty(),
        Some(first) => first == cut || first == Indent::Less && !indents.is_empty(),
    };
    is_like_the_others && indents.iter().all(|other| *other == cut)
}

impl<'a> Indent<'a> {
    fn of(held: &str, next: &'a str) -> Indent<'a> {
        let width = |line: &str| line.len() - line.trim_start().len();
        let (held, next) = (&held[..width(held)], &next[..width(next)]);
        match next.strip_suffix(held) {
            Some("") if held.is_empty() => Indent::None,
            Some("") => Indent::Same,
            Some(more) => Indent::More(more),
            None if held.ends_with(next) => Indent::Less,
            None => Indent::Other,
        }
    }
}

/// Removes an indentation from all lines of the open block, up to its closing tag, and from the lines after it if all have it;
/// returns false if a line of the block lacks it.
pub(super) fn unindent(lines: &mut [&str], closer: usize, indent: &str) -> bool {
    let has_indent = |line: &&str| line.trim().is_empty() || line.starts_with(indent);
    let (block, others) = lines.split_at_mut(closer.min(lines.len()));
    if !block.iter().all(has_indent) {
        return false;
    }
    let others = if others.iter().all(has_indent) { others } else { &mut [] };
    for line in block.iter_mut().chain(others) {
        *line = line.strip_prefix(indent).unwrap_or_default();
    }
    true
}
