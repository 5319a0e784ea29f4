//! The end of a hunk of a unified diff: nothing that belongs to it may be taken for prose, and no prose for lines of it.

use super::file_name::behind_fence;
use super::unified_diff::{self, Sides, is_hunk_header};
use super::{ForeignFault, ReplyLine, begin_patch};
use crate::repair::Fence;

/// The line that mail programs put behind a patch.
const SIGNATURE: &str = "--";

/// The line that Markdown shows as a rule. It may also remove a line `--`.
const RULE: &str = "---";

/// Closing tags that may stand behind a diff.
const CLOSING_TAGS: [&str; 6] = ["</diff>", "</patch>", "</code>", "</pre>", "</source>", "</sourcecode>"];

/// The numbers of lines that the header of a hunk states; `None` if it states none.
#[derive(Clone, Copy)]
pub(super) struct Counts(Option<(usize, usize)>);

impl Counts {
    /// Reads `@@ -1,3 +1,4 @@`, where a count that is left out is 1.
    pub(super) fn of(header: &str) -> Counts {
        let mut words = header.split_whitespace().skip(1);
        let mut count = |sign: char| {
            let range = words.next()?.strip_prefix(sign)?;
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

    /// Checks whether a hunk that has all its lines ends before one that may be of the hunk, or behind it: a blank one without its
    /// sign, the signature of a mail, a rule, a list.
    pub(super) fn is_end(self, lines: &[ReplyLine<'_>], sides: &Sides<'_>, fence: Option<Fence>) -> bool {
        let is_end =
            |line: &str| line.is_empty() || line.trim_end() == SIGNATURE || is_rule_behind_diff(lines, fence);
        self.are_met(sides)
            && (lines.first().is_some_and(|line| is_end(line.text)) || sides.may_end_before(lines, fence))
    }
}

/// A hunk as far as it shows which of the lines behind it are its own.
pub(super) struct HunkEnd {
    /// The line of its header.
    pub(super) line_number: u32,
    pub(super) is_short: bool,
    /// True if it has just the lines that its header states.
    pub(super) is_met: bool,
    /// The code fence in which it stands.
    pub(super) fence: Option<Fence>,
}

impl HunkEnd {
    /// Returns the fault of the hunk by the lines behind it; `None` if it certainly ends there.
    pub(super) fn fault(&self, behind: &[ReplyLine<'_>]) -> Option<ForeignFault> {
        let blank = behind.iter().take_while(|line| line.text.trim().is_empty()).count();
        let next = behind.get(blank)?;
        let line_number = next.number;
        if is_hunk_header(next.text)
            || unified_diff::begins(&behind[blank..])
            || begin_patch::begins(next.text)
        {
            return None;
        }
        if behind_fence(next.text.trim())
            .is_some_and(|info| next.text.starts_with(['`', '~']) && info.is_empty())
        {
            let is_within = self.may_be_within(&behind[blank..]);
            return is_within.then_some(ForeignFault::Unsigned { line_number });
        }
        if CLOSING_TAGS.contains(&next.text.trim()) || next.text.trim_end() == SIGNATURE {
            return None;
        }
        if self.is_met && is_rule_behind_diff(&behind[blank..], self.fence) {
            return None;
        }
        // Lists are often written behind a diff. Of a hunk that lacks nothing, their lines are none, unless its fence is still open.
        let is_unsigned = match self.fence {
            Some(fence) => has_signed(&behind[blank..], fence),
            None => is_signed(next.text) && !(self.is_met && is_bullet(next.text)),
        };
        if blank == 0 || is_unsigned {
            return Some(ForeignFault::Unsigned { line_number });
        }
        self.is_short.then_some(ForeignFault::ShortHunk { line_number: self.line_number })
    }

    /// Checks whether a bare fence behind the hunk may be a line of the file that has lost its sign.
    fn may_be_within(&self, lines: &[ReplyLine<'_>]) -> bool {
        let Some((closing, behind)) = lines.split_first() else { return false };
        let is_own = |opening: Fence| Fence::read(closing.text).is_some_and(|fence| fence.closes(opening));
        // The fence of the diff, unless a later one closes that.
        let next = || behind.iter().find_map(|line| Fence::read(line.text));
        if self.fence.is_some_and(is_own) && !next().is_some_and(Fence::is_bare) {
            return false;
        }
        behind.first().is_some_and(|line| is_signed(line.text) && !is_bullet(line.text))
    }
}

/// Checks whether lines begin with a rule, behind which no line of a hunk stands. In the fence of the diff there are none, but between
/// two files perhaps.
fn is_rule_behind_diff(lines: &[ReplyLine<'_>], fence: Option<Fence>) -> bool {
    let Some((rule, behind)) = lines.split_first() else { return false };
    if rule.text.trim_end() != RULE {
        return false;
    }
    let blank = behind.iter().take_while(|line| line.text.trim().is_empty()).count();
    let behind = &behind[blank..];
    let is_outside = |next: &ReplyLine<'_>| !is_signed(next.text) || is_bullet(next.text);
    unified_diff::begins(behind) || fence.is_none() && behind.first().is_none_or(is_outside)
}

/// Checks whether a line of a hunk stands in the rest of a fence, before the next diff.
fn has_signed(lines: &[ReplyLine<'_>], opening: Fence) -> bool {
    let is_own = |at: &usize| {
        let closes = Fence::read(lines[*at].text).is_some_and(|fence| fence.closes(opening));
        !closes && !unified_diff::begins(&lines[*at..])
    };
    (0..lines.len()).take_while(is_own).any(|at| is_signed(lines[at].text))
}

fn is_signed(line: &str) -> bool {
    line.starts_with([' ', '-', '+']) || is_hunk_header(line)
}

/// Checks whether lines begin with a list, whose lines all have one sign: removed and added lines together are a change.
pub(super) fn begin_list(lines: &[ReplyLine<'_>]) -> bool {
    let sign = |line: &ReplyLine<'_>| line.text.chars().next();
    let mut items = lines.iter().take_while(|line| is_bullet(line.text));
    items.next().is_some_and(|first| items.all(|item| sign(item) == sign(first)))
}

/// Checks whether a line looks like one of a list: a sign, one blank, and a word.
pub(super) fn is_bullet(line: &str) -> bool {
    let rest = line.strip_prefix(['-', '+']).and_then(|rest| rest.strip_prefix(' '));
    rest.is_some_and(|rest| rest.starts_with(|sign: char| !sign.is_whitespace()))
}
