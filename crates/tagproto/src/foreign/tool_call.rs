//! Calls of the tools of other programs, as their models write them in tags. They are not carried out; the error says so.

use super::near_form::is_other_mark;
use super::{ForeignFault, Items, ReplyLine, begin_patch, unified_diff};
use crate::block::hunk;
use crate::repair::opening_kind;

/// Tags around calls. The tags that resemble those of blocks are read elsewhere.
const TAGS: [&str; 14] = [
    "apply_diff",
    "apply_patch",
    "function_call",
    "function_calls",
    "insert_content",
    "invoke",
    "multi_edit",
    "replace_in_file",
    "search_and_replace",
    "str_replace",
    "str_replace_editor",
    "tool_call",
    "tool_use",
    "write_to_file",
];

/// The maximum number of lines that are searched for the closing tag.
const MOST_LINES: usize = 1000;

/// Reads the call that begins with the first of the lines, and returns the number of its lines. In a code fence, it may just be
/// shown. Blocks and edits in such tags are read like others.
pub(super) fn read<'a>(lines: &[ReplyLine<'a>], items: &mut Items<'a>) -> Option<usize> {
    let first = lines.first()?;
    let tag = tag(first.text).filter(|_| items.fence.is_none())?;
    let closing = format!("</{tag}>");
    let begins_edit = |at: usize| {
        let line = lines[at].text;
        opening_kind(line).is_some()
            || hunk::opening(line).is_some()
            || is_other_mark(line)
            || begin_patch::begins(line)
            || unified_diff::begins(&lines[at..])
    };
    // A second call begins before an end that is missing, so each line is read once.
    let belongs = |at: &usize| *at == 0 || self::tag(lines[*at].text) != Some(tag) && !begins_edit(*at);
    let mut own = (0..lines.len().min(MOST_LINES)).take_while(belongs);
    let length = own.find(|at| lines[*at].text.trim_end().ends_with(&closing))? + 1;
    items.push_fault(&lines[..length], ForeignFault::ToolCall { line_number: first.number });
    Some(length)
}

/// Returns the name of the opening tag with which a line begins.
fn tag(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('<')?;
    let name = rest.split(['>', ' ']).next().filter(|name| name.len() < rest.len())?;
    TAGS.iter().copied().find(|tag| *tag == name)
}
