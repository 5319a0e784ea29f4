//! Diffs without a file name. They cannot be carried out; the error advises the model what they lack.

use super::unified_diff::{Hunks, begins, is_hunk_header};
use super::{ForeignFault, Items, ReplyLine, begin_patch};
use crate::block::hunk;
use crate::repair::Fence;

/// The languages of fences that hold a diff.
const LANGUAGES: [&str; 3] = ["diff", "patch", "udiff"];

/// Reads the hunks that begin with the first of the lines, or the fence of a diff without any edit that can be read, and returns the
/// number of its lines.
pub(super) fn read<'a>(lines: &[ReplyLine<'a>], items: &mut Items<'a>) -> Option<usize> {
    let (count, changes) = if is_hunk_header(lines.first()?.text) {
        let hunks = Hunks::read(lines, items);
        (hunks.lines, hunks.change())
    } else {
        (fence(lines)?, true)
    };
    if changes {
        items.push_fault(&lines[..count], ForeignFault::UnnamedDiff);
    }
    Some(count)
}

/// Returns the number of lines of a fence of a diff.
fn fence(lines: &[ReplyLine<'_>]) -> Option<usize> {
    let first = lines.first()?.text;
    let language = first.trim_start_matches([' ', '`', '~']).split_whitespace().next()?;
    if Fence::read(first).is_none() || !LANGUAGES.iter().any(|diff| language.eq_ignore_ascii_case(diff)) {
        return None;
    }
    let inner = lines[1..].iter().take_while(|line| Fence::read(line.text).is_none()).count();
    let inner = &lines[1..=inner];
    let is_read = (0..inner.len()).any(|at| {
        let line = inner[at].text;
        hunk::opening(line).is_some() || begin_patch::begins(line) || begins(&inner[at..])
    });
    let has_change = inner.iter().any(|line| line.text.starts_with(['+', '-']));
    let closing =
        lines[inner.len() + 1..].first().filter(|line| Fence::read(line.text).is_some_and(Fence::is_bare));
    (has_change && !is_read).then_some(1 + inner.len() + usize::from(closing.is_some()))
}
