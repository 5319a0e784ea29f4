//! Parsing an outbox: the inverse of rendering one.

use std::str::FromStr;

use wap_core::{EntryKind, unnumbered};

use super::answer::is_defused;
use super::listing::kind_name;
use super::outbox_error::OutboxErrorKind;
use super::structure::{
    ANSWER, AS_BEFORE, AS_IN, ASK_AGAIN, BUT_FOR_THESE, CONTEXT, CRLF_LINES, EFFECT, EMPTY_WORKSPACE, FAILED,
    FILES, FURTHER, GONE, HEADER, INDENT, LISTING, NO_FINAL_NEWLINE, NOT_SHOWN, NOTE, OUTPUT, PROMPT,
    PROTOCOL, REFUSED, RESULTS, REVIEW, SHORTEST_FENCE, SHOWN_LINES, SHOWN_PARTS, SUCCEEDED, SUGGESTED,
    SURROUNDINGS, UNREADABLE, WORK, reads_as_structure,
};
use super::{ListedEntry, ListedFolder, OutboxError, OutboxParts, ShownFile, ShownLines};
use crate::{CommandResult, CommandType, Dialect, ReplyTo, SessionId, protocol_text};

/// Parses an outbox of [`render_outbox`](crate::render_outbox).
///
/// For programs that act as a model, and for checks that no text in an outbox forges its structure.
///
/// # Errors
///
/// [`OutboxError`] with the first line that does not belong there.
pub fn read_outbox(text: &str) -> Result<OutboxParts, OutboxError> {
    // An outbox ends with LF, which would otherwise give an empty last line.
    let lines: Vec<&str> = text.strip_suffix('\n').unwrap_or(text).split('\n').collect();
    let mut reader = Reader { lines, next: 0, has_numbers: false };
    reader.expect(HEADER)?;
    let session: SessionId = reader.header_value("Session")?;
    let sequence: u32 = reader.header_value("Sequence")?;
    let task = reader.header_text("Task:")?.to_owned();
    let sandbox =
        reader.take_prefixed("Sandbox:").map(|rest| rest.trim_start().to_owned()).unwrap_or_default();
    let reply_to: ReplyTo = reader.header_value("Reply-To")?;
    if reply_to != (ReplyTo { session, sequence }) {
        return Err(reader.error_before(OutboxErrorKind::BadHeader { field: "Reply-To" }));
    }
    reader.expect("")?;

    reader.expect(PROTOCOL)?;
    let protocol = reader.until(CONTEXT)?;
    let (protocol, surroundings) = match protocol.split_once(&format!("\n{SURROUNDINGS}\n")) {
        None => (protocol, Vec::new()),
        Some((rules, sentences)) => {
            let sentences = sentences.lines().filter_map(|line| line.strip_prefix("- "));
            (rules.to_owned(), sentences.map(str::to_owned).collect())
        }
    };
    // Only the dialect of the first implementation shows files without numbers, and its text never changes.
    reader.has_numbers = protocol != protocol_text(Dialect::CodingAgent);
    reader.expect(LISTING)?;
    let is_of_changes = reader.take(AS_BEFORE) || reader.take(BUT_FOR_THESE);
    let (listing, folders, gone, listing_note) = reader.listing()?;
    let suggested = if reader.take(SUGGESTED) { reader.files()? } else { Vec::new() };
    let (results, notes) = if reader.take(RESULTS) { reader.results()? } else { Default::default() };
    let files = if reader.take(FILES) { reader.files()? } else { Vec::new() };
    let ends = [REVIEW, ANSWER, PROMPT];
    let work = if reader.take(WORK) { reader.text_of_the_user(&ends)? } else { String::new() };
    let review =
        if reader.take(REVIEW) { reader.text_of_the_user(&[ANSWER, PROMPT])? } else { String::new() };
    let answer = if reader.take(ANSWER) { reader.text_of_the_user(&[PROMPT])? } else { String::new() };
    reader.expect(PROMPT)?;
    let prompt: Vec<&str> = reader.rest().iter().map(|line| task_line(line)).collect();
    let prompt = prompt.join("\n");
    Ok(OutboxParts {
        reply_to,
        task,
        sandbox,
        protocol,
        surroundings,
        listing,
        folders,
        suggested,
        is_of_changes,
        gone,
        listing_note,
        notes,
        results,
        files,
        work,
        review,
        answer,
        prompt,
    })
}

/// Removes the indentation that a line of the task has because it reads as structure.
fn task_line(line: &str) -> &str {
    match line.strip_prefix(INDENT) {
        Some(inner) if reads_as_structure(inner) => inner,
        _ => line,
    }
}

/// Removes the indentation that a line of the user's text has because it reads as structure.
fn user_line(line: &str) -> &str {
    match line.strip_prefix(INDENT) {
        Some(inner) if is_defused(inner) => inner,
        _ => line,
    }
}

/// Listed entries, folders with a count, the paths of entries that are gone, and the note.
type Listing = (Vec<ListedEntry>, Vec<ListedFolder>, Vec<String>, Option<String>);

struct Reader<'a> {
    lines: Vec<&'a str>,
    /// Index of the next line.
    next: usize,
    /// True if requested files have line numbers.
    has_numbers: bool,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.next).copied()
    }

    /// Returns an error at the next line.
    fn error(&self, kind: OutboxErrorKind) -> OutboxError {
        OutboxError { kind, line_number: self.next + 1 }
    }

    /// Returns an error at the previous line.
    fn error_before(&self, kind: OutboxErrorKind) -> OutboxError {
        OutboxError { kind, line_number: self.next }
    }

    /// Takes the next line if it equals `line`.
    fn take(&mut self, line: &str) -> bool {
        let matches = self.peek() == Some(line);
        self.next += usize::from(matches);
        matches
    }

    fn take_prefixed(&mut self, prefix: &str) -> Option<&'a str> {
        let rest = self.peek()?.strip_prefix(prefix)?;
        self.next += 1;
        Some(rest)
    }

    fn expect(&mut self, line: &'static str) -> Result<(), OutboxError> {
        if self.take(line) { Ok(()) } else { Err(self.error(OutboxErrorKind::Expected { expected: line })) }
    }

    fn header_text(&mut self, label: &'static str) -> Result<&'a str, OutboxError> {
        match self.take_prefixed(label) {
            Some(rest) => Ok(rest.trim()),
            None => Err(self.error(OutboxErrorKind::Expected { expected: label })),
        }
    }

    fn header_value<T: FromStr>(&mut self, field: &'static str) -> Result<T, OutboxError> {
        // Created before the line is consumed, so that the error names this line.
        let error = self.error(OutboxErrorKind::BadHeader { field });
        let value = self.take_prefixed(field).and_then(|rest| rest.strip_prefix(": ")?.parse().ok());
        value.ok_or(error)
    }

    /// Takes the lines up to a marker, without the blank line before it.
    fn until(&mut self, marker: &'static str) -> Result<String, OutboxError> {
        let start = self.next;
        let length = self.lines[start..].iter().position(|line| *line == marker);
        let length = length.ok_or(OutboxError {
            kind: OutboxErrorKind::Expected { expected: marker },
            line_number: self.lines.len() + 1,
        })?;
        self.next = start + length + 1;
        Ok(self.lines[start..start + length].join("\n"))
    }

    fn listing(&mut self) -> Result<Listing, OutboxError> {
        let (mut listing, mut folders, mut gone) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(line) = self.take_prefixed(INDENT) {
            if let Some(path) = line.strip_suffix(GONE).and_then(|path| path.strip_suffix(' ')) {
                gone.push(path.to_owned());
                continue;
            }
            match (listed_entry(line), listed_folder(line)) {
                (Some(entry), _) => listing.push(entry),
                (None, Some(folder)) => folders.push(folder),
                (None, None) => return Err(self.error_before(OutboxErrorKind::Unexpected)),
            }
        }
        // The line for an empty workspace has the form of a note.
        let note = self.take_prefixed("(").and_then(|rest| rest.strip_suffix(')'));
        let note = note.filter(|note| format!("({note})") != EMPTY_WORKSPACE).map(str::to_owned);
        self.expect("")?;
        Ok((listing, folders, gone, note))
    }

    /// Takes the results and the notes among them.
    fn results(&mut self) -> Result<(Vec<CommandResult>, Vec<String>), OutboxError> {
        let (mut results, mut notes) = (Vec::<CommandResult>::new(), Vec::new());
        loop {
            if let Some(note) = self.take_prefixed(NOTE) {
                let note = self.further_lines(note);
                // A refusal or an effect belongs to the result above it; every other note belongs to the session.
                match (note.strip_prefix(REFUSED), note.strip_prefix(EFFECT), results.last_mut()) {
                    (Some(refused), _, Some(result)) => result.denied.push(refused.to_owned()),
                    (_, Some(effect), Some(result)) => result.notes.push(effect.to_owned()),
                    _ => notes.push(note),
                }
                continue;
            }
            let (success, rest) = match self.take_prefixed(SUCCEEDED) {
                Some(rest) => (true, rest),
                None => match self.take_prefixed(FAILED) {
                    Some(rest) => (false, rest),
                    None => return Ok((results, notes)),
                },
            };
            let (command_type, summary) = rest
                .split_once(':')
                .and_then(|(name, summary)| Some((name.parse::<CommandType>().ok()?, summary)))
                .ok_or(self.error_before(OutboxErrorKind::Unexpected))?;
            let summary = self.further_lines(summary);
            let output = match self.take_prefixed(OUTPUT) {
                Some(first) => self.further_lines(first),
                None => String::new(),
            };
            results.push(CommandResult {
                command_type,
                summary,
                success,
                output,
                notes: Vec::new(),
                denied: Vec::new(),
            });
        }
    }

    /// Takes the further lines of a text whose first line follows a label. Blank lines at the end are dropped.
    fn further_lines(&mut self, first: &str) -> String {
        let mut lines = vec![first.strip_prefix(' ').unwrap_or(first)];
        while let Some(line) = self.peek() {
            match line.strip_prefix(FURTHER) {
                Some(further) => lines.push(further),
                // Blank lines of an output are written without indentation.
                None if line.is_empty() => lines.push(line),
                None => break,
            }
            self.next += 1;
        }
        while lines.last().is_some_and(|line| line.is_empty()) {
            lines.pop();
        }
        lines.join("\n")
    }

    fn files(&mut self) -> Result<Vec<ShownFile>, OutboxError> {
        let mut files = Vec::new();
        while let Some(line) = self.peek().filter(|line| !line.is_empty()) {
            self.next += 1;
            let file = match file_without_text(line) {
                Some((path, note)) => {
                    let note = note.map(str::to_owned);
                    ShownFile { path: path.to_owned(), text: None, lines: None, parts: None, note }
                }
                // The last line of a section of suggested files.
                None if line.starts_with(NOT_SHOWN) => break,
                None => self.fenced_file(line)?,
            };
            files.push(file);
        }
        self.expect("")?;
        Ok(files)
    }

    fn fenced_file(&mut self, opening: &str) -> Result<ShownFile, OutboxError> {
        let dashes = &opening[..opening.bytes().take_while(|byte| *byte == b'-').count()];
        let opened = opening[dashes.len()..].strip_prefix(' ').and_then(|rest| opened_file(rest, dashes));
        let opened = opened.filter(|_| dashes.len() >= SHORTEST_FENCE);
        let Opened { path, lines: shown_lines, has_parts } =
            opened.ok_or(self.error_before(OutboxErrorKind::Unexpected))?;
        let end = format!("{dashes} end {path} {dashes}");
        // No line of the file equals its closing fence, so the first match is the fence.
        let length = self.lines[self.next..].iter().position(|line| line.starts_with(&end));
        let length = length.ok_or(self.error_before(OutboxErrorKind::UnclosedFile))?;
        let lines = &self.lines[self.next..self.next + length];
        let closing = self.lines[self.next + length];
        self.next += length + 1;

        let note = closing[end.len()..].strip_prefix(" (").and_then(|note| note.strip_suffix(')'));
        let has_open_end = note.is_some_and(|note| note.starts_with(NO_FINAL_NEWLINE));
        let mut text = lines.join("\n");
        if !lines.is_empty() && !has_open_end {
            text.push('\n');
        }
        let mut parts = None;
        if has_parts {
            let numbered: Option<Vec<(u64, &str)>> =
                text.split_inclusive('\n').map(wap_core::numbered_line).collect();
            let numbered = numbered.ok_or(self.error_before(OutboxErrorKind::Unexpected))?;
            parts = Some(numbered.iter().map(|(number, _)| *number).collect());
            text = numbered.into_iter().map(|(_, line)| line).collect();
        } else if self.has_numbers && !text.is_empty() {
            let first = shown_lines.map_or(1, |lines: ShownLines| lines.first);
            let bare = unnumbered(&text).filter(|(number, _)| *number == first);
            text = bare.ok_or(self.error_before(OutboxErrorKind::Unexpected))?.1;
        }
        if self.has_numbers && !text.is_empty() {
            let ends = note.map(|note| note.strip_prefix(NO_FINAL_NEWLINE).unwrap_or(note));
            let ends = ends.map(|ends| ends.strip_prefix("; ").unwrap_or(ends));
            if ends.is_some_and(|ends| ends.starts_with(CRLF_LINES)) {
                text = text.replace('\n', "\r\n");
            }
        }
        Ok(ShownFile {
            path: path.to_owned(),
            text: Some(text),
            lines: shown_lines,
            parts,
            note: note.map(str::to_owned),
        })
    }

    /// Reads a text of the user up to one of these lines.
    fn text_of_the_user(&mut self, ends: &[&str]) -> Result<String, OutboxError> {
        let mut lines = Vec::new();
        while let Some(line) = self.peek() {
            if ends.contains(&line) {
                let text: Vec<&str> = lines.into_iter().map(user_line).collect();
                return Ok(text.join("\n").trim_end_matches('\n').to_owned());
            }
            lines.push(line);
            self.next += 1;
        }
        Err(self.error(OutboxErrorKind::Expected { expected: PROMPT }))
    }

    fn rest(&self) -> &[&'a str] {
        &self.lines[self.next..]
    }
}

/// Parses a line of the list of files, without its indentation; `None` for any other line.
#[must_use]
pub fn listed_entry(line: &str) -> Option<ListedEntry> {
    // From the right, since a path may hold ` (` too.
    let (path, size) = line.strip_suffix(')')?.rsplit_once(" (")?;
    let path = path.to_owned();
    let kinds = [EntryKind::Symlink, EntryKind::Fifo, EntryKind::Socket, EntryKind::Device];
    if let Some(kind) = kinds.into_iter().find(|kind| kind_name(*kind) == size) {
        return Some(ListedEntry { path, size_bytes: 0, kind: Some(kind) });
    }
    let size_bytes = size.strip_suffix(" bytes")?.parse().ok()?;
    Some(ListedEntry { path, size_bytes, kind: None })
}

/// Parses the line of a folder that is shown with a count.
fn listed_folder(line: &str) -> Option<ListedFolder> {
    let (path, about) = line.strip_suffix(')')?.rsplit_once("/ (")?;
    Some(ListedFolder { path: path.to_owned(), about: about.to_owned() })
}

/// Parses the text after the dashes of an opening fence: the path, and the range of lines.
///
/// The fence of a whole file ends with dashes and the fence of some lines does not, so no path can pass for a range.
fn opened_file<'a>(rest: &'a str, dashes: &str) -> Option<Opened<'a>> {
    if let Some(path) = rest.strip_suffix(dashes) {
        return Some(Opened { path: path.strip_suffix(' ')?, lines: None, has_parts: false });
    }
    let parts =
        rest.strip_suffix(" lines)").and_then(|rest| rest.rsplit_once(&format!(" {dashes} {SHOWN_PARTS}")));
    if let Some((path, total)) = parts
        && total.bytes().all(|byte| byte.is_ascii_digit())
    {
        return Some(Opened { path, lines: None, has_parts: true });
    }
    let (path, range) = rest.strip_suffix(')')?.rsplit_once(&format!(" {dashes} {SHOWN_LINES}"))?;
    let (lines, total) = range.split_once(" of ")?;
    let (first, last) = lines.split_once('-')?;
    let lines =
        ShownLines { first: first.parse().ok()?, last: last.parse().ok()?, total: total.parse().ok()? };
    Some(Opened { path, lines: Some(lines), has_parts: false })
}

/// An opening fence.
struct Opened<'a> {
    path: &'a str,
    lines: Option<ShownLines>,
    /// True if the lines are not one range.
    has_parts: bool,
}

/// Returns the path in a line for a file without its text: an unreadable file, or an unchanged file with its note. `None` for any
/// other line.
fn file_without_text(line: &str) -> Option<(&str, Option<&str>)> {
    let dashes = "-".repeat(SHORTEST_FENCE);
    let rest = line.strip_prefix(&dashes)?.strip_prefix(' ')?;
    if let Some(rest) = rest.strip_suffix(UNREADABLE) {
        return Some((rest.strip_suffix(' ')?.strip_suffix(&dashes)?.strip_suffix(' ')?, None));
    }
    let (path, _) = rest.strip_suffix(ASK_AGAIN)?.rsplit_once(&format!(" {dashes} {AS_IN}"))?;
    let note = rest[path.len()..].strip_prefix(' ')?.strip_prefix(&dashes)?.strip_prefix(" (")?;
    Some((path, note.strip_suffix(')')))
}
