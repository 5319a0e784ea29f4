//! Diffs without a file name, or with only a part of the lines that name it. They cannot be carried out; the error advises the
//! model what they lack.

use super::file_name::{is_file_name, is_usual_name};
use super::unified_diff::{Hunks, begins, is_hunk_header};
use super::{ForeignFault, Items, ReplyLine, begin_patch};
use crate::block::hunk;
use crate::repair::Fence;

/// The languages of fences that hold a diff.
const LANGUAGES: [&str; 3] = ["diff", "patch", "udiff"];

/// Reads the hunks that begin with the first of the lines, perhaps after one line with a name, or the fence of a diff without any
/// edit that can be read, and returns the number of its lines.
pub(super) fn read<'a>(lines: &[ReplyLine<'a>], items: &mut Items<'a>) -> Option<usize> {
    let first = lines.first()?.text;
    let name = usize::from(name_in(first).is_some());
    let (count, changes) = if lines.get(name).is_some_and(|line| is_hunk_header(line.text)) {
        let hunks = Hunks::read(&lines[name..], items);
        (name + hunks.lines, name > 0 || hunks.change())
    } else {
        (fence(lines)?, true)
    };
    if changes {
        items.push_fault(&lines[..count], ForeignFault::UnnamedDiff);
    }
    Some(count)
}

/// Returns the file that a diff names, although it has only one of the two lines, or no line `@@`. Lines that a diff removes or
/// adds may begin like these, so they count only at its start and directly before its first hunk.
pub(super) fn named_file(diff: &str) -> Option<&str> {
    let lines: Vec<&str> =
        diff.lines().filter(|line| Fence::read(line).is_none() && !line.trim().is_empty()).collect();
    let before_hunk = lines.iter().position(|line| is_hunk_header(line)).and_then(|at| at.checked_sub(1));
    let mut headers = [Some(0), before_hunk].into_iter().flatten().filter_map(|at| lines.get(at));
    headers.find_map(|line| name_in(line))
}

/// Returns the path in one of the lines that name the file of a diff.
fn name_in(line: &str) -> Option<&str> {
    let name = line.strip_prefix("+++ ").or_else(|| line.strip_prefix("--- "))?;
    let name = name.split('\t').next()?.trim();
    let name = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(name);
    let is_name = !name.contains(' ') && (is_file_name(name, "", false) || is_usual_name(name));
    is_name.then_some(name)
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
