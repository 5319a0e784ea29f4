//! Edits with marks of their own in the body of a block, where the new text of the file belongs.

use super::near_form::{indented_hunk_length, is_conflict, marked_length};
use super::{ReplyLine, begin_patch, unified_diff};
use crate::BlockKind;
use crate::block::hunk;

/// Extensions of files whose text has marks or elements as its own.
const WITH_MARKS: [&str; 11] =
    ["diff", "patch", "rej", "xml", "html", "htm", "xhtml", "svg", "vue", "svelte", "astro"];

/// Elements around the old and the new text.
const ELEMENTS: [(&str, &str); 5] = [
    ("<old>", "<new>"),
    ("<old_str>", "<new_str>"),
    ("<old_string>", "<new_string>"),
    ("<search>", "<replace>"),
    ("<original>", "<updated>"),
];

/// Returns the index of the line with which a body begins an edit that has all its marks. `None` for text: a new file with a merge
/// conflict, and patches of other files.
pub(crate) fn edit_in_body(lines: &[&str], path: &str, kind: BlockKind) -> Option<usize> {
    let start = lines.iter().position(|line| !line.trim().is_empty())?;
    let is_possible = lines[start].trim_start().starts_with(['<', '-', '*', '>']);
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    if !is_possible || WITH_MARKS.iter().any(|other| extension.eq_ignore_ascii_case(other)) {
        return None;
    }
    let line = |(text, number)| ReplyLine { text, number, start: 0, end: 0 };
    let lines: Vec<ReplyLine<'_>> = lines[start..].iter().copied().zip(1..).map(line).collect();
    let is_new = kind == BlockKind::CreateFile;
    let names_file = |line: &ReplyLine<'_>| {
        line.text.contains(path.rsplit('/').next().unwrap_or(path))
            && ["+++ ", "--- ", "*** "].iter().any(|header| line.text.starts_with(header))
    };
    let is_edit = is_new && hunk_length(&lines).is_some()
        || marked_length(&lines).is_some_and(|length| !is_new || !is_conflict(&lines[..length]))
        || indented_hunk_length(&lines).is_some()
        || begin_patch::length(&lines).is_some_and(|length| lines[..length].iter().any(names_file))
        || unified_diff::begins(&lines) && lines.iter().take(4).any(names_file)
        || has_elements(&lines);
    is_edit.then_some(start)
}

fn hunk_length(lines: &[ReplyLine<'_>]) -> Option<usize> {
    let (first, rest) = lines.split_first()?;
    hunk::length(rest.iter().map(|line| line.text), hunk::opening(first.text)?)
}

/// Checks for an element with the old text and one with the new text, and nothing else. Each tag is alone on its line.
fn has_elements(lines: &[ReplyLine<'_>]) -> bool {
    let mut lines = lines.iter().map(|line| line.text.trim()).filter(|line| !line.is_empty());
    let Some(first) = lines.next() else { return false };
    let Some((old, new)) = ELEMENTS.iter().find(|(old, _)| *old == first) else { return false };
    let closes = |line: &str, tag: &str| line.strip_prefix("</") == tag.strip_prefix('<');
    lines.any(|line| closes(line, old))
        && lines.next() == Some(new)
        && lines.next_back().is_some_and(|last| closes(last, new))
}
