//! Code blocks under the name of a file, in a reply that changes no file.
//!
//! A model that has not used blocks before writes a file like this and takes it for written. As prose it would be lost without
//! a word, and DONE would end the session.

use std::collections::HashMap;

use super::file_name::plain_name::between_dashes;
use super::file_name::{FileName, fence_info, is_file_name, is_usual_name};
use super::markup_name::Markup;
use super::{ForeignFault, Items, ReplyLine, extent};
use crate::near_miss::lines_outside;
use crate::repair::{Fence, Thinking};
use crate::{Block, BlockKind, Dialect, Item, ParseError, ParseErrorKind};

/// Languages of code blocks that show a command or its output, unless the file is of that kind.
const NOT_OF_A_FILE: [&str; 12] = [
    "bash",
    "console",
    "log",
    "output",
    "plaintext",
    "sh",
    "shell",
    "terminal",
    "text",
    "txt",
    "zsh",
    "powershell",
];

/// Extensions of files in these languages.
const PLAIN_FILES: [&str; 8] = ["bash", "fish", "ksh", "log", "ps1", "sh", "txt", "zsh"];

/// Languages of code blocks with a change of a file, which other rules are about.
const DIFFS: [&str; 2] = ["diff", "patch"];

/// Returns an error for each code block that names a file, if no block of the reply changes a file or has an error. Takes time
/// linear in the text.
pub(crate) fn named_code<'a>(text: &'a str, blocks: &[Item<'_>]) -> Vec<Item<'a>> {
    if blocks.iter().any(changes_a_file) {
        return Vec::new();
    }
    let mut thinking = Thinking::of(Dialect::Agentd);
    let outside = lines_outside(text, blocks.iter().map(Item::span), &mut thinking);
    let lines: Vec<ReplyLine<'a>> = outside.map(|(index, line)| ReplyLine::of(text, index, &line)).collect();
    let mut items = Items::of_ending(Default::default());
    // A code block cannot extend across a block.
    for lines in lines.chunk_by(|line, next| next.number == line.number + 1) {
        read(lines, &mut items);
    }
    items.items
}

fn changes_a_file(item: &Item<'_>) -> bool {
    let Item::Block(block) = item else { return true };
    matches!(
        block.value,
        Block::CreateFile { .. } | Block::EditFile { .. } | Block::EditText { .. } | Block::DeleteFile { .. }
    )
}

fn read<'a>(lines: &[ReplyLine<'a>], items: &mut Items<'a>) {
    let view_ends = view_ends(lines);
    let mut name = FileName::default();
    let mut index = 0;
    while let Some(line) = lines.get(index) {
        if let Some((path, end)) = view_of(line.text, index, &view_ends) {
            push(lines, (index, end), path, &without_numbers(&lines[index + 1..end]), items);
            index = end + 1;
            continue;
        }
        name.pass(line.text, line.number);
        index += 1;
        let Some(opening) = name.fence() else { continue };
        let closes = |line: &ReplyLine<'_>| Fence::read(line.text).is_some_and(|fence| fence.closes(opening));
        // A block without an end may have been cut off: that is reported elsewhere, if at all.
        let Some(length) = lines[index..].iter().position(closes) else { return };
        let (first, end) = (index, index + length);
        let mut code = &lines[first..end];
        // The name may also be in a comment on the first line.
        if let Some(Markup::File(_)) = code.first().and_then(|line| comment_of(line.text)) {
            name.pass(code[0].text, code[0].number);
            code = &code[1..];
        }
        if let Some(path) = name.given().filter(|path| is_of_file(line.text, path)) {
            let code: Vec<&str> = code.iter().map(|line| line.text).collect();
            push(lines, (first - 1, end), path, &code, items);
        }
        name.pass(lines[end].text, lines[end].number);
        name.forget();
        index = end + 1;
    }
}

fn comment_of(line: &str) -> Option<Markup<'_>> {
    let line = line.trim();
    Markup::read(line).or_else(|| Markup::of_code_comment(line, true))
}

/// Adds the error of a code block from its first to its last line, both 0-based and inclusive, unless it is empty.
fn push<'a>(
    lines: &[ReplyLine<'a>],
    (first, last): (usize, usize),
    path: &str,
    code: &[&str],
    items: &mut Items<'a>,
) {
    let code = code.join("\n");
    if code.trim().is_empty() {
        return;
    }
    let line_number = lines[first].number;
    let kind = ParseErrorKind::Foreign(ForeignFault::NamedCode { line_number, path: path.to_owned(), code });
    let (span, lines) = extent(&lines[first..=last]);
    items.items.push(Item::Error(ParseError { command: BlockKind::CreateFile, kind, span, lines }));
}

/// Checks whether a code block may be text of a file, by the line that opens it.
fn is_of_file(opening: &str, path: &str) -> bool {
    let info = fence_info(opening.trim()).unwrap_or_default();
    let language = info.split([' ', ':', ',', '{']).next().unwrap_or_default().to_ascii_lowercase();
    let extension = path.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map(|(_, end)| end);
    let is_plain = extension.is_none_or(|extension| PLAIN_FILES.contains(&extension));
    is_name(path)
        && !DIFFS.contains(&language.as_str())
        && (is_plain || !NOT_OF_A_FILE.contains(&language.as_str()))
}

fn is_name(path: &str) -> bool {
    is_file_name(path, "", false) || is_usual_name(path)
}

/// Returns the 0-based lines that end a file in the form of a message to the model, by their paths, in ascending order.
fn view_ends<'a>(lines: &[ReplyLine<'a>]) -> HashMap<&'a str, Vec<usize>> {
    let mut ends: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, line) in lines.iter().enumerate() {
        if let Some(path) = between_dashes(line.text).and_then(|text| text.strip_prefix("end ")) {
            ends.entry(path.trim()).or_default().push(index);
        }
    }
    ends
}

/// Returns the path and the last line of a file that begins in the form of a message to the model: `--- src/a.rs ---`.
fn view_of<'a>(line: &'a str, index: usize, ends: &HashMap<&str, Vec<usize>>) -> Option<(&'a str, usize)> {
    let title = between_dashes(line)?;
    let path = title.split_once(" (").map_or(title, |(path, _)| path).trim();
    let ends = ends.get(path).filter(|_| is_name(path))?;
    let end = ends.get(ends.partition_point(|end| *end <= index))?;
    Some((path, *end))
}

/// Returns lines without the numbers of a view, if each of them has one: `12|text`.
fn without_numbers<'a>(lines: &[ReplyLine<'a>]) -> Vec<&'a str> {
    let unnumbered = |line: &ReplyLine<'a>| {
        let (number, text) = line.text.split_once('|')?;
        number.trim().bytes().all(|byte| byte.is_ascii_digit()).then_some(text)
    };
    let plain = || lines.iter().map(|line| line.text).collect();
    lines.iter().map(unnumbered).collect::<Option<Vec<&str>>>().unwrap_or_else(plain)
}
