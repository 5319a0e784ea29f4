//! Lost significant whitespace: Python's indentation, a Makefile's tabs, and spaces that became no-break spaces.

use std::collections::VecDeque;

use super::{
    Refusal, RefusalKind,
    file_kind::FileKind,
    tag_line::{self, NO_BREAK},
};
use crate::{Block, Item, block::hunk};

/// Checks whether the leading whitespace of a line includes a no-break space.
pub(crate) fn begins_with_no_break_space(line: &str) -> bool {
    line.trim_start_matches([' ', '\t']).starts_with(NO_BREAK)
}

/// Returns the index of the first line of code that begins with no-break spaces. In running text they may be intended.
pub(crate) fn no_break_spaces_at<'l>(
    mut lines: impl Iterator<Item = &'l str>,
    file: FileKind,
) -> Option<usize> {
    let is_code = match file {
        FileKind::Python | FileKind::Makefile | FileKind::Yaml | FileKind::Code => true,
        FileKind::Markdown | FileKind::PlainText | FileKind::Table | FileKind::Other => false,
    };
    if is_code { lines.position(begins_with_no_break_space) } else { None }
}

/// Returns the index of the first line of a command that has a no-break space instead of a plain one where a shell would take it
/// for part of a word: at the start of the line, in the name of a program, or before an option.
///
/// Names of files may have such spaces, and so may quoted words, here-documents and comments.
pub(crate) fn no_break_spaces_in_command(lines: &[&str]) -> Option<usize> {
    let mut command = Command::default();
    lines.iter().position(|line| command.pass(line) == CommandPart::WithNoBreakSpace)
}

/// Checks for each line of a command whether the shell hands it to a program as text: as a line of a here-document, or within
/// quotes. A here-document without an end is none, since `<<` is also an operator.
pub(crate) fn text_lines_of_command<'l>(lines: impl Iterator<Item = &'l str>) -> Vec<bool> {
    let mut command = Command::default();
    let mut document_start = 0;
    let mut are_text = Vec::new();
    for line in lines {
        let is_text = command.quote.is_some() || !command.documents.is_empty();
        if command.pass(line) != CommandPart::Document {
            document_start = are_text.len() + 1;
        }
        are_text.push(is_text);
    }
    if !command.documents.is_empty() {
        are_text[document_start..].fill(false);
    }
    are_text
}

/// The text of a command up to a line.
#[derive(Default)]
struct Command {
    /// The quote that stays open.
    quote: Option<char>,
    /// The end markers of the here-documents that follow.
    documents: VecDeque<String>,
}

/// The part that a line has in a command.
#[derive(PartialEq, Eq)]
enum CommandPart {
    /// A line of a here-document, or its end.
    Document,
    Plain,
    /// A line with a no-break space instead of a plain one.
    WithNoBreakSpace,
}

impl Command {
    fn pass(&mut self, line: &str) -> CommandPart {
        if let Some(end) = self.documents.front() {
            if line.trim_start_matches('\t') == end {
                self.documents.pop_front();
            }
            return CommandPart::Document;
        }
        let mut command = CommandLine { line, documents: &mut self.documents };
        match command.has_no_break_space(&mut self.quote) {
            true => CommandPart::WithNoBreakSpace,
            false => CommandPart::Plain,
        }
    }
}

/// A line of a shell command.
struct CommandLine<'l> {
    line: &'l str,
    /// The end markers of the here-documents that follow this line.
    documents: &'l mut VecDeque<String>,
}

impl CommandLine<'_> {
    /// Looks for a no-break space instead of a plain one; updates the quote that stays open after the line.
    fn has_no_break_space(&mut self, quote: &mut Option<char>) -> bool {
        let mut characters = self.line.char_indices().peekable();
        // The name of a program comes first, and after operators.
        let (mut is_in_name, mut is_at_start) = (quote.is_none(), quote.is_none());
        while let Some((at, character)) = characters.next() {
            if character == '\\' && *quote != Some('\'') {
                characters.next();
            } else if *quote == Some(character) {
                *quote = None;
            } else if quote.is_some() {
                continue;
            } else if matches!(character, '"' | '\'') {
                *quote = Some(character);
            } else if character == '#' && is_at_start {
                return false;
            } else if NO_BREAK.contains(&character) {
                let rest = self.line[at..].trim_start_matches([' ', '\t', NO_BREAK[0], NO_BREAK[1]]);
                let is_comment_or_end = rest.is_empty() || rest.starts_with('#');
                if !is_comment_or_end && (is_in_name || rest.starts_with('-')) {
                    return true;
                }
            } else if matches!(character, ';' | '|' | '&' | '(') {
                (is_in_name, is_at_start) = (true, true);
                continue;
            } else if matches!(character, ' ' | '\t') {
                // Whitespace in front of a name does not end it.
                is_in_name &= is_at_start;
                is_at_start = true;
                continue;
            } else if self.line[at..].starts_with("<<") {
                let rest = self.line[at..].trim_start_matches('<');
                let bracket_count = self.line[at..].len() - rest.len();
                self.begin_document(rest, bracket_count);
                characters.nth(bracket_count - 2);
            }
            is_at_start = false;
        }
        false
    }

    /// Records the here-document that a redirection begins; `rest` follows its `<` characters.
    fn begin_document(&mut self, rest: &str, bracket_count: usize) {
        let rest = rest.strip_prefix('-').unwrap_or(rest).trim_start_matches([' ', '\t']);
        let bare = rest.trim_start_matches(['"', '\'', '\\']);
        let end = bare.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(bare.len());
        if bracket_count == 2 && end > 0 {
            self.documents.push_back(bare[..end].to_owned());
        }
    }
}

/// Refuses new files of code in the format of another program with lines that begin with no-break spaces.
pub(crate) fn refused_for_no_break_spaces(items: &[Item<'_>]) -> Option<Refusal> {
    items.iter().find_map(|item| {
        let Item::Block(block) = item else { return None };
        let Block::CreateFile { path, body, .. } = &block.value else { return None };
        no_break_spaces_at(body.lines(), FileKind::of(path))?;
        Some(Refusal { kind: RefusalKind::NbspInBody, line_number: block.lines.first })
    })
}

/// Checks whether lines of the block with this opening tag are Python that lost its indentation. The parts of hunks are checked
/// one by one: the marks between them are not Python.
pub(crate) fn lacks_indentation(opening_tag: &str, lines: &[&str]) -> bool {
    let is_python = tag_line::opening(opening_tag)
        .is_some_and(|opening| opening.tag.usable_path().map(FileKind::of) == Some(FileKind::Python));
    let is_indented = |line: &&str| line.starts_with([' ', '\t']) && !line.trim().is_empty();
    is_python
        && !lines.iter().any(is_indented)
        && lines.split(|line| hunk::is_any_mark(line)).any(|part| python_lost_at(part).is_some())
}

/// Words that open a block in Python when a colon ends their line.
const OPENERS: [&str; 14] = [
    "def", "class", "if", "elif", "else", "for", "while", "try", "except", "finally", "with", "async",
    "match", "case",
];

/// Returns the index of the line that should be indented, in Python text without any leading whitespace.
pub(crate) fn python_lost_at(lines: &[&str]) -> Option<usize> {
    // One indented line proves that indentation has survived.
    if lines.iter().any(|line| line.starts_with([' ', '\t', '\u{a0}']) && !line.trim().is_empty()) {
        return None;
    }
    let mut text = OpenText::default();
    let (mut is_opened, mut is_opener_continued) = (false, false);
    for (index, line) in lines.iter().enumerate() {
        let began_in_string = text.string.is_some();
        let code_end = text.code_end(line);
        let code = line[..code_end].trim();
        if code.is_empty() || began_in_string && text.string.is_some() {
            continue;
        }
        if is_opened && !began_in_string {
            return Some(index);
        }
        let word = code.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(code);
        let is_opener = OPENERS.contains(&word) && !began_in_string;
        // A statement does not end within brackets.
        let is_end = text.brackets == 0 && !code.ends_with('\\');
        // A colon inside an open string does not open a block.
        is_opened =
            text.string.is_none() && code.ends_with(':') && (is_opener || is_opener_continued && is_end);
        is_opener_continued = (is_opener || is_opener_continued) && !is_end && !is_opened;
    }
    None
}

/// The parts of a Python text that stay open at the end of a line.
#[derive(Debug, Default)]
struct OpenText {
    /// The triple quotes of a string.
    string: Option<&'static str>,
    /// The number of brackets.
    brackets: usize,
}

impl OpenText {
    /// Reads a line; returns the offset at which its code ends and its comment begins.
    fn code_end(&mut self, line: &str) -> usize {
        let mut at = 0;
        while at < line.len() {
            let rest = &line[at..];
            if let Some(quotes) = self.string {
                let Some(end) = rest.find(quotes) else { return line.len() };
                self.string = None;
                at += end + quotes.len();
            } else if let Some(quotes) = ["\"\"\"", "'''"].into_iter().find(|quotes| rest.starts_with(quotes))
            {
                self.string = Some(quotes);
                at += quotes.len();
            } else if rest.starts_with('#') {
                return at;
            } else if rest.starts_with(['"', '\'']) {
                at += plain_string_length(rest);
            } else {
                let character = rest.chars().next().unwrap_or(' ');
                match character {
                    '(' | '[' | '{' => self.brackets += 1,
                    ')' | ']' | '}' => self.brackets = self.brackets.saturating_sub(1),
                    _ => {}
                }
                at += character.len_utf8();
            }
        }
        line.len()
    }
}

/// Returns the length of a string in single or double quotes at the start of a text; escapes are skipped.
fn plain_string_length(text: &str) -> usize {
    let quote = text.as_bytes()[0];
    let mut escaped = true;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            byte if byte == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Directives of make, whose lines may be indented with spaces.
const DIRECTIVES: [&str; 15] = [
    "ifeq", "ifneq", "ifdef", "ifndef", "else", "endif", "include", "-include", "sinclude", "define",
    "endef", "export", "unexport", "override", "vpath",
];

/// Returns the index of a recipe line that starts with spaces, directly after its rule.
pub(crate) fn makefile_tabs_lost_at(lines: &[&str]) -> Option<usize> {
    // With another prefix, recipes need no tabs.
    if lines.iter().any(|line| line.trim_start().starts_with(".RECIPEPREFIX")) {
        return None;
    }
    let mut is_rule = false;
    let mut is_continued = false;
    for (index, line) in lines.iter().enumerate() {
        let trimmed = line.trim();
        let was_continued = std::mem::replace(&mut is_continued, trimmed.ends_with('\\'));
        if was_continued || trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        // make accepts spaces before assignments and directives, but not before recipes.
        let is_recipe =
            line.starts_with([' ', '\u{a0}']) && !is_assignment(trimmed) && !is_directive(trimmed);
        if is_rule && is_recipe {
            return Some(index);
        }
        is_rule = !line.starts_with([' ', '\t']) && is_rule_line(trimmed);
    }
    None
}

fn is_directive(trimmed: &str) -> bool {
    trimmed.split([' ', '\t', '(']).next().is_some_and(|word| DIRECTIVES.contains(&word))
}

fn is_assignment(trimmed: &str) -> bool {
    let Some((name, _)) = trimmed.split_once('=') else { return false };
    let name = name.trim_end_matches([':', '?', '+', '!']).trim_end();
    !name.is_empty() && !name.contains(char::is_whitespace)
}

/// Checks for a target and a colon without an assignment.
fn is_rule_line(trimmed: &str) -> bool {
    let Some((targets, rest)) = trimmed.split_once(':') else { return false };
    !targets.trim().is_empty()
        && !targets.contains('=')
        && !rest.trim_start_matches(':').starts_with('=')
        && !rest.contains('=')
}
