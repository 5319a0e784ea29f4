//! A requested file between its fences.

use wap_core::LineSpan;

use super::line_text::{escape_name, fold, seen_lines};
use super::structure::{NO_FINAL_NEWLINE, SHORTEST_FENCE, UNREADABLE, fence_dashes, reads_as_structure};
use super::{RequestedFile, RequestedText};

/// Writes a file and returns which of its lines the model sees; at most `limit_characters` of its text.
///
/// An ordinary file has fences of three dashes. If a line of it reads as structure, the fences have one dash more than
/// any such line begins with, and at least four: no line of the file can then equal one of its fences, and a model sees
/// that this is another kind of file than the others.
pub(super) fn write_file(
    out: &mut String,
    file: &RequestedFile,
    limit_characters: usize,
) -> Option<LineSpan> {
    let path = escape_name(&file.path);
    let Some(content) = &file.text else {
        let dashes = "-".repeat(SHORTEST_FENCE);
        out.push_str(&format!("{dashes} {path} {dashes} {UNREADABLE}\n"));
        return None;
    };
    let text = cut_between_lines(&content.text, limit_characters);
    let shown_text = text.replace("\r\n", "\n");
    let is_whole = !content.is_cut && text.len() == content.text.len();
    let lines =
        shown_text.matches('\n').count() + usize::from(!shown_text.is_empty() && !shown_text.ends_with('\n'));
    let note = note(content, text, is_whole, lines, &file.path);

    let dashes = "-".repeat(dashes_around(&shown_text));
    out.push_str(&format!("{dashes} {path} {dashes}\n{shown_text}"));
    if !shown_text.is_empty() && !shown_text.ends_with('\n') {
        out.push('\n');
    }
    out.push_str(&format!("{dashes} end {path} {dashes}"));
    if !note.is_empty() {
        out.push_str(&format!(" ({note})"));
    }
    out.push('\n');

    match (is_whole, lines) {
        (true, _) => Some(LineSpan::ALL),
        (false, 0) => None,
        (false, lines) => Some(LineSpan { first: 1, last: lines as u64 }),
    }
}

/// Returns how many dashes the fences around a text have.
fn dashes_around(text: &str) -> usize {
    let structural = seen_lines(text).filter(|line| reads_as_structure(line));
    structural.map(fence_dashes).max().map_or(SHORTEST_FENCE, |longest| longest.max(SHORTEST_FENCE) + 1)
}

/// Returns the longest start of a text that ends with a line and has at most so many characters.
fn cut_between_lines(text: &str, limit_characters: usize) -> &str {
    let Some((limit, _)) = text.char_indices().nth(limit_characters) else { return text };
    &text[..text[..limit].rfind('\n').map_or(0, |end| end + 1)]
}

/// Says what the lines between the fences do not show.
fn note(content: &RequestedText, text: &str, is_whole: bool, lines: usize, path: &str) -> String {
    let mut notes = Vec::new();
    let has_open_end = !text.is_empty() && !text.ends_with('\n');
    if has_open_end && is_whole {
        notes.push(NO_FINAL_NEWLINE.to_owned());
    }
    if !is_whole {
        notes.push(rest_note(content, has_open_end, lines, path));
    }
    let (ends, carriage_returns) = (text.matches('\n').count(), text.matches("\r\n").count());
    if carriage_returns > 0 {
        notes.push(format!(
            "{} in CRLF",
            if ends == carriage_returns { "lines end" } else { "some lines end" }
        ));
    }
    if is_whole && text.is_empty() {
        notes.push("empty file".to_owned());
    }
    notes.extend(content.warnings.iter().map(|warning| format!("note: {}", fold(warning))));
    notes.join("; ")
}

/// Says how much of a file is shown and how to see the rest.
fn rest_note(content: &RequestedText, has_open_end: bool, lines: usize, path: &str) -> String {
    let total = content.total_lines;
    let shown = match lines {
        0 => format!("none of {total} lines shown"),
        1 if has_open_end => format!("the start of line 1 of {total}"),
        _ => format!("lines 1-{lines} of {total}"),
    };
    // Whole outputs exist under their reserved name only, where no command can see them.
    if path.starts_with("@output/") {
        return format!("{shown}; for the rest run the command again with less output");
    }
    let (path, next) = (quoted(path), lines + 1);
    if has_open_end {
        format!("{shown}; for more use RUN_COMMAND, for example: fold -w 200 {path} | head -n 100")
    } else {
        format!("{shown}; for more use RUN_COMMAND, for example: sed -n '{next},{}p' {path}", next + 199)
    }
}

/// Quotes a path for a shell.
fn quoted(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-');
    let path = escape_name(path);
    if path.bytes().all(is_plain) && !path.starts_with('-') {
        path
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}
