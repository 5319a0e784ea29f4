//! A requested file between its fences.

pub(super) mod whole_view;

use wap_core::{LineSpan, numbered_view};

use super::line_text::{escape_name, fold, seen_lines};
use super::structure::{
    CRLF_LINES, NO_FINAL_NEWLINE, SHORTEST_FENCE, SHOWN_LINES, SHOWN_PARTS, UNREADABLE, fence_dashes,
    reads_as_structure,
};
use super::{RequestedFile, RequestedText, SuggestedFile};
use crate::Dialect;

/// Writes a file with at most `limit_characters` of its text, and returns the lines that the model sees, if any.
///
/// In the dialect `agentd`, each line begins with its number. An ordinary file has fences of three dashes. If a line of it reads
/// as structure, the fences have one dash more than any such line begins with, and at least four: then no line of the file can
/// equal its fences, and a model sees that this file is different from the others.
pub(super) fn write_file(
    out: &mut String,
    file: &RequestedFile,
    limit_characters: usize,
    dialect: Dialect,
) -> Option<LineSpan> {
    let path = escape_name(&file.path);
    let Some(content) = &file.text else {
        let dashes = "-".repeat(SHORTEST_FENCE);
        out.push_str(&format!("{dashes} {path} {dashes} {UNREADABLE}\n"));
        return None;
    };
    let text = cut_between_lines(&content.text, limit_characters);
    // A model would lose or double carriage returns in its edits, so the note reports them instead. Only a numbered file with
    // mixed line ends keeps them, since a note cannot say which lines have them.
    let shown_text = match line_ends(text) {
        LineEnds::Mixed if dialect == Dialect::Agentd => text.to_owned(),
        _ => text.replace("\r\n", "\n"),
    };
    let count =
        shown_text.matches('\n').count() + usize::from(!shown_text.is_empty() && !shown_text.ends_with('\n'));
    let extent = Extent::of(content, text, count as u64);
    let note = note(content, text, &extent, &file.path, dialect);

    let shown_text = match (dialect, &extent.lines) {
        (Dialect::Agentd, Some(lines)) => numbered_view(&shown_text, lines.first),
        _ => shown_text,
    };
    // Only lines that end with LF have numbers, but some readers see further line breaks.
    let dashes = "-".repeat(dashes_around(&shown_text));
    let range = match extent.lines {
        Some(LineSpan { first, last }) if content.lines.is_some() && !extent.is_whole => {
            format!(" {SHOWN_LINES}{first}-{last} of {})", content.total_lines)
        }
        _ => String::new(),
    };
    out.push_str(&format!("{dashes} {path} {dashes}{range}\n{shown_text}"));
    if !shown_text.is_empty() && !shown_text.ends_with('\n') {
        out.push('\n');
    }
    out.push_str(&format!("{dashes} end {path} {dashes}"));
    if !note.is_empty() {
        out.push_str(&format!(" ({note})"));
    }
    out.push('\n');

    if extent.is_whole { Some(LineSpan::ALL) } else { extent.lines }
}

/// Writes some lines of a suggested file with their numbers; `lines` are ascending and disjoint.
///
/// A single range is written like a requested range. With several, the numbers show where lines are left out.
pub(super) fn write_lines_of(out: &mut String, file: &SuggestedFile, lines: &[LineSpan]) {
    let all: Vec<&str> = file.text.split_inclusive('\n').collect();
    let text_of = |span: &LineSpan| all[(span.first - 1) as usize..span.last as usize].concat();
    if let [span] = lines {
        let is_whole = span.first == 1 && span.last >= file.total_lines;
        let requested = RequestedFile {
            path: file.path.clone(),
            text: Some(RequestedText {
                text: text_of(span),
                version: file.version.clone(),
                total_lines: file.total_lines,
                lines: (!is_whole).then_some(*span),
                is_cut: false,
                warnings: file.warnings.clone(),
            }),
        };
        write_file(out, &requested, usize::MAX, Dialect::Agentd);
        return;
    }
    let path = escape_name(&file.path);
    let text: String = lines.iter().map(text_of).collect();
    let ends = line_ends(&text);
    let width = lines.last().map_or(1, |span| span.last.to_string().len());
    let mut view = String::new();
    for (number, line) in lines.iter().flat_map(|span| span.first..=span.last).zip(text.split_inclusive('\n'))
    {
        let line = match (ends, line.strip_suffix("\r\n")) {
            (LineEnds::CrLf, Some(line)) => format!("{line}\n"),
            _ => line.to_owned(),
        };
        view.push_str(&format!("{number:>width$}|{line}"));
    }
    let dashes = "-".repeat(dashes_around(&view));
    out.push_str(&format!("{dashes} {path} {dashes} {SHOWN_PARTS}{} lines)\n{view}", file.total_lines));
    let mut notes = Vec::new();
    if !view.ends_with('\n') {
        out.push('\n');
        notes.push(NO_FINAL_NEWLINE.to_owned());
    }
    match ends {
        LineEnds::Lf => {}
        LineEnds::CrLf => notes.push(CRLF_LINES.to_owned()),
        LineEnds::Mixed => notes.push(format!("some {CRLF_LINES}")),
    }
    notes.extend(warning_notes(&file.warnings));
    out.push_str(&format!("{dashes} end {path} {dashes}"));
    if !notes.is_empty() {
        out.push_str(&format!(" ({})", notes.join("; ")));
    }
    out.push('\n');
}

/// The extent of the text between the fences.
struct Extent {
    /// The lines; `None` without any.
    lines: Option<LineSpan>,
    /// True if it is the whole file.
    is_whole: bool,
    /// True if it ends before the file or the requested lines do.
    is_cut: bool,
    /// True if it extends to the end of the file.
    ends_the_file: bool,
}

impl Extent {
    fn of(content: &RequestedText, text: &str, count: u64) -> Extent {
        let is_cut = content.is_cut || text.len() < content.text.len();
        let first = content.lines.map_or(1, |lines| lines.first);
        let lines = (count > 0).then(|| LineSpan { first, last: first.saturating_add(count - 1) });
        let ends_the_file = !is_cut
            && content.lines.is_none_or(|_| lines.is_some_and(|lines| lines.last >= content.total_lines));
        Extent { lines, is_whole: ends_the_file && first == 1, is_cut, ends_the_file }
    }
}

/// The line ends of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineEnds {
    Lf,
    CrLf,
    Mixed,
}

fn line_ends(text: &str) -> LineEnds {
    match (text.matches('\n').count(), text.matches("\r\n").count()) {
        (_, 0) => LineEnds::Lf,
        (all, carriage_returns) if all == carriage_returns => LineEnds::CrLf,
        _ => LineEnds::Mixed,
    }
}

/// Returns the number of dashes for the fences around a text.
fn dashes_around(text: &str) -> usize {
    let structural = seen_lines(text).filter(|line| reads_as_structure(line));
    structural.map(fence_dashes).max().map_or(SHORTEST_FENCE, |longest| longest.max(SHORTEST_FENCE) + 1)
}

/// Returns the longest prefix of whole lines within the limit.
fn cut_between_lines(text: &str, limit_characters: usize) -> &str {
    let Some((limit, _)) = text.char_indices().nth(limit_characters) else { return text };
    &text[..text[..limit].rfind('\n').map_or(0, |end| end + 1)]
}

/// Returns the note about everything that is not visible between the fences.
fn note(content: &RequestedText, text: &str, extent: &Extent, path: &str, dialect: Dialect) -> String {
    let mut notes = Vec::new();
    let has_open_end = !text.is_empty() && !text.ends_with('\n');
    if has_open_end && extent.ends_the_file {
        notes.push(NO_FINAL_NEWLINE.to_owned());
    }
    let ends = match line_ends(text) {
        LineEnds::Lf => None,
        LineEnds::CrLf => Some(CRLF_LINES.to_owned()),
        LineEnds::Mixed => Some(format!("some {CRLF_LINES}")),
    };
    let rest = (extent.is_cut || (extent.lines.is_none() && !extent.is_whole))
        .then(|| rest_note(content, has_open_end, extent.lines, path, dialect));
    // The note about the rest contains the path, so a reader cannot rely on anything after it.
    notes.extend(
        match dialect {
            Dialect::Agentd => [ends, rest],
            Dialect::CodingAgent => [rest, ends],
        }
        .into_iter()
        .flatten(),
    );
    if extent.is_whole && text.is_empty() {
        notes.push("empty file".to_owned());
    }
    notes.extend(warning_notes(&content.warnings));
    notes.join("; ")
}

/// Returns the notes for the warnings of a read.
fn warning_notes(warnings: &[String]) -> impl Iterator<Item = String> {
    warnings.iter().map(|warning| format!("note: {}", fold(warning)))
}

/// Returns the note about the shown part of a file and the way to see the rest.
fn rest_note(
    content: &RequestedText,
    has_open_end: bool,
    lines: Option<LineSpan>,
    path: &str,
    dialect: Dialect,
) -> String {
    let total = content.total_lines;
    let part = match lines {
        None => format!("none of {total} lines shown"),
        Some(LineSpan { first, last }) if has_open_end && first == last => {
            format!("the start of line {first} of {total}")
        }
        Some(LineSpan { first, last }) => format!("lines {first}-{last} of {total}"),
    };
    let next = lines.map_or_else(|| content.lines.map_or(1, |lines| lines.first), |lines| lines.last + 1);
    if next > total && !has_open_end {
        return part;
    }
    if dialect == Dialect::Agentd && !has_open_end {
        // An excerpt of 200 lines fits into any message.
        let last = total.min(next + 199);
        return format!("{part}; for more use READ_FILE with start_line=\"{next}\" end_line=\"{last}\"");
    }
    // Whole outputs only exist under reserved names, which commands cannot read.
    if path.starts_with("@output/") || path.starts_with("@process/") {
        return format!("{part}; for the rest run the command again with less output");
    }
    let path = quoted(path);
    if has_open_end {
        format!("{part}; for more use RUN_COMMAND, for example: fold -w 200 {path} | head -n 100")
    } else {
        format!("{part}; for more use RUN_COMMAND, for example: sed -n '{next},{}p' {path}", next + 199)
    }
}

/// Quotes a path for a shell.
fn quoted(path: &str) -> String {
    // A path that begins with a dash is quoted to stand out, although the program still reads it as an option.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-');
    let path = escape_name(path);
    if path.bytes().all(is_plain) && !path.starts_with('-') {
        path
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}
