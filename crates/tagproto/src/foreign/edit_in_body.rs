//! Edits with marks of their own in the body of a block, where the new text of the file belongs.

use super::file_name::{candidate, file_name};
use super::near_form::{indented_hunk_length, is_conflict, marked_length};
use super::{ReplyLine, begin_patch, unified_diff};
use crate::BlockKind;
use crate::block::hunk;
use crate::repair::{Fence, FileKind};

/// The last mark of a hunk, which may be left over from one.
const LAST_MARK: &str = ">>>>>>> REPLACE";

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

/// Returns the index of the line at which an edit with all its marks begins in a body, or of a last mark that was left over. `None`
/// for text: a new file with a merge conflict, and patches of other files. In Markdown, marks among other lines are text, too.
pub(crate) fn edit_in_body(lines: &[&str], path: &str, kind: BlockKind, file: FileKind) -> Option<usize> {
    let start = lines.iter().position(|line| !line.trim().is_empty())?;
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    if WITH_MARKS.iter().any(|other| extension.eq_ignore_ascii_case(other)) {
        return None;
    }
    let line = |(text, number)| ReplyLine { text, number, start: 0, end: 0 };
    let lines: Vec<ReplyLine<'_>> = lines.iter().copied().zip(1..).map(line).collect();
    let is_new = kind == BlockKind::CreateFile;
    if !is_new && hunk::opening(lines[start].text).is_some() {
        // An edit by text.
        return None;
    }
    if file == FileKind::Markdown {
        return first_of_only_hunks(&lines, path, is_new);
    }
    if begins_other_edit(&lines[start..], path, is_new) {
        return Some(start);
    }
    let begins_hunk = |at: &usize| lines[*at].text.starts_with('<') && hunk_length(&lines[*at..]).is_some();
    let first = (start..lines.len()).find(begins_hunk);
    let last = lines.iter().rposition(|line| !line.text.trim().is_empty())?;
    if lines[last].text.trim_end() == LAST_MARK {
        return first.or(Some(last));
    }
    // Prose and quoted text may show a hunk.
    let is_shown = |at: usize| file == FileKind::PlainText || may_be_quoted(&lines[start..at]);
    first.filter(|at| *at == start || !is_shown(*at))
}

/// Checks whether the text after these lines may be in quotes, which they open, or in a here-document.
fn may_be_quoted(lines: &[ReplyLine<'_>]) -> bool {
    let is_open =
        |quote: &str| lines.iter().map(|line| line.text.matches(quote).count()).sum::<usize>() % 2 == 1;
    let begins_document = |line: &ReplyLine<'_>| {
        let word = |rest: &str| {
            rest.trim_start_matches(['-', '~', '\'', '"']).starts_with(|c: char| c.is_ascii_uppercase())
        };
        line.text.split("<<").skip(1).any(word)
    };
    ["\"", "'''", "`"].into_iter().any(is_open) || lines.iter().any(begins_document)
}

/// Checks whether lines begin with an edit in another form than SEARCH/REPLACE.
fn begins_other_edit(lines: &[ReplyLine<'_>], path: &str, is_new: bool) -> bool {
    let names_file = |line: &ReplyLine<'_>| {
        line.text.contains(file_name(path))
            && ["+++ ", "--- ", "*** "].iter().any(|header| line.text.starts_with(header))
    };
    marked_length(lines).is_some_and(|length| !is_new || !is_conflict(&lines[..length]))
        || indented_hunk_length(lines).is_some()
        || begin_patch::length(lines).is_some_and(|length| lines[..length].iter().any(names_file))
        || unified_diff::begins(lines) && lines.iter().take(4).any(names_file)
        || has_elements(lines)
}

/// Returns the index of the first hunk if a body has nothing but hunks, names of the file before them and, in a new file, fences
/// around them: no text of a file is like that.
fn first_of_only_hunks(lines: &[ReplyLine<'_>], path: &str, is_new: bool) -> Option<usize> {
    let names_file =
        |line: &str| candidate(line).is_some_and(|name| [path, file_name(path)].contains(&name.path));
    let mut first = None;
    let mut index = 0;
    while let Some(line) = lines.get(index).map(|line| line.text) {
        let is_around = line.trim().is_empty() || is_new && Fence::read(line).is_some() || names_file(line);
        match hunk_length(&lines[index..]) {
            _ if is_around => index += 1,
            Some(length) => {
                first = first.or(Some(index));
                index += length + 1;
            }
            None => return None,
        }
    }
    first
}

/// Returns the number of lines of a hunk after its first one.
fn hunk_length(lines: &[ReplyLine<'_>]) -> Option<usize> {
    let (first, rest) = lines.split_first()?;
    hunk::length(rest.iter().map(|line| line.text), hunk::opening(first.text)?)
}

/// Checks for an element with the old text and one with the new text, and nothing else.
fn has_elements(lines: &[ReplyLine<'_>]) -> bool {
    if !lines.first().is_some_and(|line| line.text.trim_start().starts_with('<')) {
        return false;
    }
    let text = lines.iter().map(|line| line.text.trim()).collect::<String>();
    let closing = |tag: &str| tag.replacen('<', "</", 1);
    ELEMENTS.iter().any(|(old, new)| {
        text.starts_with(old)
            && text.contains(&format!("{}{new}", closing(old)))
            && text.ends_with(&closing(new))
    })
}
