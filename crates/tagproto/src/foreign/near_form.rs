//! Edits in unsupported forms: the error advises the model which form to use.

use super::file_name::FileName;
use super::{ForeignFault, Items, ReplyLine, begin_patch, unified_diff, visible_lines};
use crate::Item;
use crate::block::hunk;
use crate::repair::opening_kind;

const MARKS: &str = "write the marks <<<<<<< SEARCH, ======= and >>>>>>> REPLACE, each alone on its line, below the path of the file";
pub(super) const INDENTED: &str =
    "begin the lines of an edit in the first column, without whitespace or '>' before them";
const IN_JSON: &str = "send the lines of the patch as they are, from *** Begin Patch to *** End Patch";

/// Returns the error of the first edit in an unsupported form.
pub(crate) fn near_form(text: &str) -> Option<Item<'_>> {
    let lines = visible_lines(text);
    let (at, advice) = (0..lines.len()).find_map(|at| Some((at, advice(&lines[at..])?)))?;
    let mut items = Items::of_ending(Default::default());
    let line_number = lines[at].number;
    items.push_fault(&lines[at..=at], ForeignFault::NearForm { line_number, advice });
    items.items.pop()
}

fn advice(lines: &[ReplyLine<'_>]) -> Option<&'static str> {
    let line = lines.first()?.text;
    let bare = without_indentation(line);
    if bare.len() < line.len() {
        let is_opening = hunk::opening(bare).is_some() || begin_patch::begins(bare);
        return (is_opening || begins_indented_diff(lines)).then_some(INDENTED);
    }
    if line.contains("*** Begin Patch\\n") {
        return Some(IN_JSON);
    }
    marked_length(lines).map(|_| MARKS)
}

/// Reads the edit in an unsupported form that begins with the first of the lines, and returns the number of its lines. Tags within
/// it are its text. A quoted edit, and an indented hunk or a merge conflict without a file name before it, may just be shown, so it
/// is only read if it has tags.
pub(super) fn read<'a>(lines: &[ReplyLine<'a>], name: &FileName<'_>, items: &mut Items<'a>) -> Option<usize> {
    let first = lines.first()?;
    let (length, advice, is_meant) = if let Some(length) = marked_length(lines) {
        (length, MARKS, !is_conflict(&lines[..length]) || name.given().is_some())
    } else if let Some(length) = indented_diff_length(lines) {
        (length, INDENTED, !is_quoted(first.text))
    } else {
        let is_named = name.given_or_of_heading().is_some();
        (indented_hunk_length(lines)?, INDENTED, !is_quoted(first.text) && is_named)
    };
    let edit = &lines[..length];
    if !is_meant && !edit.iter().any(|line| opening_kind(line.text).is_some()) {
        return None;
    }
    items.push_fault(edit, ForeignFault::NearForm { line_number: first.number, advice });
    Some(length)
}

/// The number of lines by which a diff is recognised.
const LINES_OF_A_HEADER: usize = 4;

/// The maximum number of lines that are searched for the last mark of a hunk.
const LINES_OF_A_HUNK: usize = 1000;

/// Names that Git writes after the first mark of a conflict.
const OWN_SIDES: [&str; 3] = ["HEAD", "Updated upstream", "ours"];

/// Names that models write after the last mark of an edit.
const NEW_SIDES: [&str; 4] = ["replace", "updated", "new", "modified"];

/// The minimum length of a damaged mark.
const LEAST_DAMAGED: usize = 4;

pub(super) fn is_other_mark(line: &str) -> bool {
    line.starts_with("<<<<<<< ")
        || ["------- SEARCH", "<<<<<<<"].contains(&line.trim_end())
        || is_damaged_mark(line, '<', "SEARCH")
}

/// Checks for a mark of a hunk that is escaped, written with entities, emphasised, or has another length or no space.
fn is_damaged_mark(line: &str, mark: char, word: &str) -> bool {
    if !line.contains(word) || line.starts_with(char::is_whitespace) {
        return false;
    }
    let bare = line.replace("&lt;", "<").replace("&gt;", ">").replace(['\\', '*', '`'], "");
    let rest = bare.trim_start_matches(mark);
    bare.len() - rest.len() >= LEAST_DAMAGED && rest.trim() == word
}

/// Returns the number of lines of an edit with other marks, up to its last mark; `None` if another edit begins before that. So
/// each line is read once.
pub(super) fn marked_length(lines: &[ReplyLine<'_>]) -> Option<usize> {
    let (first, rest) = lines.split_first()?;
    if !is_other_mark(first.text) || hunk::opening(first.text).is_some() {
        return None;
    }
    let inner = rest.iter().take(LINES_OF_A_HUNK).take_while(|line| !is_other_mark(line.text));
    let mut inner = inner.enumerate();
    if is_damaged_mark(first.text, '<', "SEARCH") {
        let last = inner.find(|(_, line)| is_damaged_mark(line.text, '>', "REPLACE"));
        return last.map(|(last, _)| last + 2);
    }
    inner.find(|(_, line)| line.text.trim_end() == "=======")?;
    let ends = |line: &str| line.starts_with(">>>>>>>") || line.starts_with("+++++++ REPLACE");
    inner.find(|(_, line)| ends(line.text)).map(|(last, _)| last + 2)
}

pub(super) fn indented_hunk_length<'l>(lines: &[ReplyLine<'l>]) -> Option<usize> {
    let (first, rest) = lines.split_first()?;
    let indentation = indentation(first.text).filter(|indentation| !indentation.is_empty())?;
    let bare_line = |line: &ReplyLine<'l>| line.text.strip_prefix(indentation).unwrap_or(line.text);
    let mark_length = hunk::opening(&first.text[indentation.len()..])?;
    let rest = rest.iter().take(LINES_OF_A_HUNK).map(bare_line);
    hunk::length(rest, mark_length).map(|length| length + 1)
}

/// Returns the number of lines of a diff that begins with the first of the lines, up to a line that is indented less or has another
/// prefix.
fn indented_diff_length(lines: &[ReplyLine<'_>]) -> Option<usize> {
    if !begins_indented_diff(lines) {
        return None;
    }
    let indentation = indentation(lines.first()?.text)?;
    let has_text = |line: &ReplyLine<'_>| !line.text.trim().is_empty();
    let is_prefixed = |bare: &str| bare.starts_with([' ', '+', '-', '@', '\\']);
    let belongs = |line: &&ReplyLine<'_>| {
        line.text.strip_prefix(indentation).is_some_and(is_prefixed) || !has_text(line)
    };
    let length = lines.iter().take(LINES_OF_A_HUNK).take_while(belongs).count();
    lines[..length].iter().rposition(has_text).map(|last| last + 1)
}

fn begins_indented_diff<'l>(lines: &[ReplyLine<'l>]) -> bool {
    let is_header = |line: &ReplyLine<'_>| {
        let bare = without_indentation(line.text);
        bare.len() < line.text.len() && bare.starts_with("--- ")
    };
    lines.first().is_some_and(is_header) && {
        let first = lines.iter().take(LINES_OF_A_HEADER);
        let bare_line = |line: &ReplyLine<'l>| ReplyLine { text: without_indentation(line.text), ..*line };
        unified_diff::begins(&first.map(bare_line).collect::<Vec<_>>())
    }
}

fn is_quoted(line: &str) -> bool {
    indentation(line).is_some_and(|indentation| indentation.contains('>'))
}

/// Returns the spaces and quote marks before a line.
fn indentation(line: &str) -> Option<&str> {
    line.strip_suffix(without_indentation(line))
}

fn without_indentation(line: &str) -> &str {
    line.trim_start_matches([' ', '\t', '>'])
}

/// Checks for a merge conflict as Git writes it.
pub(super) fn is_conflict(lines: &[ReplyLine<'_>]) -> bool {
    let name = |line: &ReplyLine<'_>, mark| line.text.trim_matches(['\t', ' ', mark]).to_owned();
    let [first, .., last] = lines else { return false };
    let last = name(last, '>').to_ascii_lowercase();
    OWN_SIDES.contains(&&*name(first, '<')) && !NEW_SIDES.contains(&&*last)
}
