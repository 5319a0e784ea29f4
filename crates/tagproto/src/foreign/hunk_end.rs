//! The end of a hunk of a unified diff: its lines must not be taken for prose, nor prose for its lines.

use super::file_name::fence_info;
use super::unified_diff::{self, Sides, is_hunk_header};
use super::{ForeignFault, ReplyLine, begin_patch};
use crate::repair::Fence;

/// The line that mail programs put after a patch.
const SIGNATURE: &str = "--";

/// A Markdown rule. In a hunk, it may also remove a line `--`.
const RULE: &str = "---";

/// Closing tags that may follow a diff.
const CLOSING_TAGS: [&str; 6] = ["</diff>", "</patch>", "</code>", "</pre>", "</source>", "</sourcecode>"];

/// The numbers of old and new lines in the header of a hunk; `None` without numbers.
#[derive(Clone, Copy)]
pub(super) struct Counts(Option<(usize, usize)>);

impl Counts {
    /// Reads `@@ -1,3 +1,4 @@`, where an omitted count is 1.
    pub(super) fn of(header: &str) -> Counts {
        let mut words = header.split_whitespace().skip(1);
        let mut count = |prefix: char| {
            let range = words.next()?.strip_prefix(prefix)?;
            let (start, count) = range.split_once(',').unwrap_or((range, "1"));
            start.parse::<usize>().ok()?;
            count.parse::<usize>().ok()
        };
        let old = count('-');
        Counts(old.zip(count('+')))
    }

    /// Checks whether a hunk has the lines that its header states.
    pub(super) fn are_met(self, sides: &Sides<'_>) -> bool {
        self.0 == Some((sides.old.len(), sides.new.len()))
    }

    /// Checks whether a hunk has fewer lines than its header states.
    pub(super) fn is_short(self, sides: &Sides<'_>) -> bool {
        self.0.is_some_and(|(old, new)| sides.old.len() < old || sides.new.len() < new)
    }

    /// Checks whether a hunk has more lines than its header states.
    pub(super) fn are_exceeded(self, sides: &Sides<'_>) -> bool {
        self.0.is_some_and(|(old, new)| sides.old.len() > old || sides.new.len() > new)
    }

    /// Checks whether a hunk with all its lines ends before these lines, although they might belong to it: a blank line without a
    /// prefix, the signature of a mail, a rule, a list or the end of the code fence, which may be indented.
    pub(super) fn is_end(self, lines: &[ReplyLine<'_>], sides: &Sides<'_>, fence: Option<Fence>) -> bool {
        let is_end = |line: &str| {
            line.is_empty()
                || line.trim_end() == SIGNATURE
                || is_rule_after_diff(lines, fence)
                || fence.is_some_and(|opening| closes(line, opening))
        };
        self.are_met(sides)
            && (lines.first().is_some_and(|line| is_end(line.text)) || sides.may_end_before(lines, fence))
    }
}

/// The facts about a hunk by which lines after it may belong to it.
pub(super) struct HunkEnd {
    /// The line of its header.
    pub(super) line_number: u32,
    pub(super) is_short: bool,
    /// True if it has exactly the lines that its header states.
    pub(super) is_met: bool,
    /// The code fence around it.
    pub(super) fence: Option<Fence>,
}

impl HunkEnd {
    /// Returns the fault of the hunk according to the lines after it; `None` if it certainly ends before them.
    pub(super) fn fault(&self, following: &[ReplyLine<'_>]) -> Option<ForeignFault> {
        let blank = following.iter().take_while(|line| line.text.trim().is_empty()).count();
        let next = following.get(blank)?;
        let line_number = next.number;
        if is_hunk_header(next.text)
            || unified_diff::begins(&following[blank..])
            || begin_patch::begins(next.text)
        {
            return None;
        }
        let ends_fence = || self.is_met && self.fence.is_some_and(|opening| closes(next.text, opening));
        if fence_info(next.text.trim())
            .is_some_and(|info| info.is_empty() && (next.text.starts_with(['`', '~']) || ends_fence()))
        {
            let is_within = self.may_be_within(&following[blank..]);
            return is_within.then_some(ForeignFault::Unsigned { line_number });
        }
        if CLOSING_TAGS.contains(&next.text.trim()) || next.text.trim_end() == SIGNATURE {
            return None;
        }
        if self.is_met && is_rule_after_diff(&following[blank..], self.fence) {
            return None;
        }
        // Lists often follow a diff. Their lines do not belong to a complete hunk unless its fence is still open.
        let is_unprefixed = match self.fence {
            Some(fence) => has_prefixed(&following[blank..], fence),
            None => is_prefixed(next.text) && !(self.is_met && is_bullet(next.text)),
        };
        if blank == 0 || is_unprefixed {
            return Some(ForeignFault::Unsigned { line_number });
        }
        self.is_short.then_some(ForeignFault::ShortHunk { line_number: self.line_number })
    }

    /// Checks whether a bare fence after the hunk may be a line of the file that lost its prefix.
    fn may_be_within(&self, lines: &[ReplyLine<'_>]) -> bool {
        let Some((closing, rest)) = lines.split_first() else { return false };
        let is_own = |opening: Fence| closes(closing.text, opening);
        // The fence of the diff, unless a later one closes that.
        let next = || rest.iter().find_map(|line| Fence::read(line.text));
        if self.fence.is_some_and(is_own) && !next().is_some_and(Fence::is_bare) {
            return false;
        }
        rest.first().is_some_and(|line| is_prefixed(line.text) && !is_bullet(line.text))
    }
}

fn closes(line: &str, opening: Fence) -> bool {
    Fence::read(line).is_some_and(|fence| fence.closes(opening))
}

/// Checks whether lines begin with a Markdown rule that no line of a hunk follows. The fence of a diff only has rules between two
/// files.
fn is_rule_after_diff(lines: &[ReplyLine<'_>], fence: Option<Fence>) -> bool {
    let Some((rule, rest)) = lines.split_first() else { return false };
    if rule.text.trim_end() != RULE {
        return false;
    }
    let blank = rest.iter().take_while(|line| line.text.trim().is_empty()).count();
    let rest = &rest[blank..];
    let is_outside = |next: &ReplyLine<'_>| !is_prefixed(next.text) || is_bullet(next.text);
    unified_diff::begins(rest) || fence.is_none() && rest.first().is_none_or(is_outside)
}

/// Checks whether the rest of a fence contains a line of a hunk, before the next diff.
fn has_prefixed(lines: &[ReplyLine<'_>], opening: Fence) -> bool {
    let is_own = |at: &usize| !closes(lines[*at].text, opening) && !unified_diff::begins(&lines[*at..]);
    (0..lines.len()).take_while(is_own).any(|at| is_prefixed(lines[at].text))
}

fn is_prefixed(line: &str) -> bool {
    line.starts_with([' ', '-', '+']) || is_hunk_header(line)
}

/// Checks whether lines begin with a list, whose lines all have the same mark: removed and added lines together are a change.
pub(super) fn begin_list(lines: &[ReplyLine<'_>]) -> bool {
    let mark = |line: &ReplyLine<'_>| line.text.chars().next();
    let mut items = lines.iter().take_while(|line| is_bullet(line.text));
    items.next().is_some_and(|first| items.all(|item| mark(item) == mark(first)))
}

/// Checks whether a line looks like a list item: a mark, one space, and a word.
pub(super) fn is_bullet(line: &str) -> bool {
    let rest = line.strip_prefix(['-', '+']).and_then(|rest| rest.strip_prefix(' '));
    rest.is_some_and(|rest| rest.starts_with(|c: char| !c.is_whitespace()))
}
