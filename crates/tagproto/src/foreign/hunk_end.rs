//! The end of a hunk of a unified diff: nothing that belongs to it may be taken for prose, and no prose for lines of it.

use super::file_name::behind_fence;
use super::unified_diff::{self, Sides, is_hunk_header};
use super::{ForeignFault, ReplyLine, begin_patch};

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
    /// sign, the signature of a mail, a rule.
    pub(super) fn is_end(self, lines: &[ReplyLine<'_>], sides: &Sides<'_>) -> bool {
        let is_end =
            |line: &str| line.is_empty() || line.trim_end() == SIGNATURE || is_rule_behind_diff(lines);
        self.are_met(sides) && lines.first().is_some_and(|line| is_end(line.text))
    }
}

/// Returns the fault of a hunk by the lines behind it; `None` if it certainly ends there.
pub(super) fn fault(
    behind: &[ReplyLine<'_>],
    hunk: u32,
    is_short: bool,
    is_met: bool,
) -> Option<ForeignFault> {
    let blank = behind.iter().take_while(|line| line.text.trim().is_empty()).count();
    let next = behind.get(blank)?;
    let line_number = next.number;
    if is_hunk_header(next.text) || unified_diff::begins(&behind[blank..]) || begin_patch::begins(next.text) {
        return None;
    }
    if behind_fence(next.text.trim()).is_some_and(|info| next.text.starts_with(['`', '~']) && info.is_empty())
    {
        // Such a line may be one of the file's, which has lost its sign.
        let is_within =
            behind.get(blank + 1).is_some_and(|line| is_signed(line.text) && !is_bullet(line.text));
        return is_within.then_some(ForeignFault::Unsigned { line_number });
    }
    if CLOSING_TAGS.contains(&next.text.trim()) || next.text.trim_end() == SIGNATURE {
        return None;
    }
    if is_met && is_rule_behind_diff(&behind[blank..]) {
        return None;
    }
    // Lists are often written behind a diff. Of a hunk that lacks nothing, their lines are none.
    if blank == 0 || is_signed(next.text) && !(is_met && is_bullet(next.text)) {
        return Some(ForeignFault::Unsigned { line_number });
    }
    is_short.then_some(ForeignFault::ShortHunk { line_number: hunk })
}

/// Checks whether lines begin with a rule, behind which no line of a hunk stands.
fn is_rule_behind_diff(lines: &[ReplyLine<'_>]) -> bool {
    let Some((rule, behind)) = lines.split_first() else { return false };
    if rule.text.trim_end() != RULE {
        return false;
    }
    let blank = behind.iter().take_while(|line| line.text.trim().is_empty()).count();
    let behind = &behind[blank..];
    behind
        .first()
        .is_none_or(|next| !is_signed(next.text) || is_bullet(next.text) || unified_diff::begins(behind))
}

fn is_signed(line: &str) -> bool {
    line.starts_with([' ', '-', '+']) || is_hunk_header(line)
}

/// Checks whether a line looks like one of a list: a sign, one blank, and a word.
pub(super) fn is_bullet(line: &str) -> bool {
    let rest = line.strip_prefix(['-', '+']).and_then(|rest| rest.strip_prefix(' '));
    rest.is_some_and(|rest| rest.starts_with(|sign: char| !sign.is_whitespace()))
}
