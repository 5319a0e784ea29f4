//! Assembling an opening tag and its body into a block, or an error.

use std::borrow::Cow;

use crate::{
    Background, Block, BlockKind, Body, IfExists, ParseErrorKind, ReadRange,
    block::hunk,
    parse::tag::{Attribute, OpeningTag},
};

/// Returns the block of a tag that was closed, or that needs no closing tag.
///
/// `body` is the text between the tags; it is ignored for blocks without a body.
pub(crate) fn block<'a>(tag: OpeningTag<'a>, body: Body<'a>) -> Result<Block<'a>, ParseErrorKind> {
    Ok(match tag.kind {
        BlockKind::CreateFile => {
            Block::CreateFile { path: path(tag.path)?, body, if_exists: IfExists::Replace }
        }
        BlockKind::EditFile => {
            let missing = ParseErrorKind::MissingEditAttributes;
            // A repeated attribute is reported before a missing one: it explains the model's mistake better.
            let path = once(tag.path, "path")?.filter(|path| !path.is_empty());
            let start_line = once(tag.start_line, "start_line")?;
            let end_line = once(tag.end_line, "end_line")?;
            let was = once(tag.was, "was")?;
            let (Some(path), Some(start_line), Some(end_line)) = (path, start_line, end_line) else {
                return Err(missing);
            };
            let (start_line, end_line) = (integer(&start_line)?, integer(&end_line)?);
            Block::EditFile { path, start_line, end_line, was, body }
        }
        BlockKind::DeleteFile => Block::DeleteFile { path: path(tag.path)?, lines: None },
        BlockKind::ReadFile => {
            let range = read_range(&tag.start_line, &tag.end_line);
            Block::ReadFile { path: path(tag.path)?, range }
        }
        BlockKind::RunCommand => {
            let command = trimmed(body.into_text());
            if command.is_empty() {
                return Err(ParseErrorKind::EmptyCommand);
            }
            Block::RunCommand { command, background: None }
        }
        BlockKind::StopProcess => {
            let name = once(tag.name, "name")?.filter(|name| !name.is_empty());
            Block::StopProcess { name: name.ok_or(ParseErrorKind::MissingProcessName)? }
        }
        BlockKind::Message => Block::Message { text: trimmed(body.into_text()) },
        BlockKind::Done => Block::Done { summary: trimmed(body.into_text()) },
    })
}

/// Returns the block of EDIT_FILE with a body of hunks; `None` for any other body, and for attributes that only [`block`] can
/// judge.
pub(crate) fn text_edit<'a>(
    tag: &OpeningTag<'a>,
    body: &Body<'_>,
    first_line: u32,
) -> Option<Result<Block<'a>, ParseErrorKind>> {
    if tag.kind != BlockKind::EditFile {
        return None;
    }
    let path = tag.usable_path()?;
    let line = |attribute: &Attribute<'_>| match attribute {
        Attribute::Absent => Some(None),
        Attribute::Once(value) => integer(value).ok().map(Some),
        Attribute::Repeated => None,
    };
    let within = match (line(&tag.start_line)?, line(&tag.end_line)?) {
        (None, None) => None,
        (Some(start_line), Some(end_line)) => Some((start_line, end_line)),
        _ => return None,
    };
    // The body begins after the line of the tag.
    let hunks = hunk::hunks(body.lines(), first_line as usize + 1)?;
    Some(match hunks {
        Ok(hunks) => Ok(Block::EditText { path: Cow::Owned(path.to_owned()), within, hunks }),
        Err((fault, line_number)) => Err(ParseErrorKind::Hunk { path: path.to_owned(), line_number, fault }),
    })
}

/// Returns the error of EDIT_FILE with a path but not both line numbers, and with a body that is not hunks; `None` for any other
/// tag.
pub(crate) fn edit_without_lines<'a>(tag: &OpeningTag<'_>) -> Option<Result<Block<'a>, ParseErrorKind>> {
    let lines = [&tag.start_line, &tag.end_line];
    let is_incomplete = lines.iter().any(|line| matches!(line, Attribute::Absent))
        && !lines.iter().any(|line| matches!(line, Attribute::Repeated));
    let path = tag.usable_path().filter(|_| tag.kind == BlockKind::EditFile && is_incomplete)?;
    Some(Err(ParseErrorKind::MissingLines { path: path.to_owned() }))
}

/// Returns the block of RUN_COMMAND with attributes of a background process; `None` for any other tag.
pub(crate) fn background<'a>(
    tag: &OpeningTag<'a>,
    body: &Body<'a>,
) -> Option<Result<Block<'a>, ParseErrorKind>> {
    let is_absent = |attribute: &Attribute<'_>| matches!(attribute, Attribute::Absent);
    if tag.kind != BlockKind::RunCommand || is_absent(&tag.background) && is_absent(&tag.ready) {
        return None;
    }
    let read = || {
        let name = once(tag.background.clone(), "background")?.filter(|name| !name.is_empty());
        let name = name.ok_or(ParseErrorKind::MissingBackgroundName)?;
        let ready = once(tag.ready.clone(), "ready")?.filter(|ready| !ready.is_empty());
        match block(tag.clone(), body.clone())? {
            Block::RunCommand { command, .. } => {
                Ok(Block::RunCommand { command, background: Some(Background { name, ready }) })
            }
            other => Ok(other),
        }
    };
    Some(read())
}

/// Returns the body of the text between two tags, which ends with the LF before the closing tag unless there are no lines.
pub(crate) fn body(raw: &str) -> Body<'_> {
    // Without LF there are no lines: the closing tag is directly below the opening tag.
    let Some(text) = raw.strip_suffix('\n') else {
        debug_assert!(raw.is_empty(), "a body's last line ends with LF");
        return Body::no_lines();
    };
    let line_count = memchr::memchr_iter(b'\n', raw.as_bytes()).count();
    Body::counted(without_line_end_cr(text), line_count)
}

/// Drops one carriage return from the end of each line that has one.
fn without_line_end_cr(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let ends_a_line = |at: &usize| matches!(bytes.get(at + 1), None | Some(b'\n'));
    let mut carriage_returns = memchr::memchr_iter(b'\r', bytes).filter(ends_a_line).peekable();
    if carriage_returns.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for at in carriage_returns {
        kept.push_str(&text[from..at]);
        from = at + 1;
    }
    kept.push_str(&text[from..]);
    Cow::Owned(kept)
}

/// Trims whitespace without copying a borrowed text.
fn trimmed(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(text) => {
            let trimmed = text.trim();
            if trimmed.len() == text.len() { Cow::Owned(text) } else { Cow::Owned(trimmed.to_owned()) }
        }
    }
}

fn path(attribute: Attribute<'_>) -> Result<Cow<'_, str>, ParseErrorKind> {
    once(attribute, "path")?.filter(|path| !path.is_empty()).ok_or(ParseErrorKind::MissingPath)
}

fn once<'a>(attribute: Attribute<'a>, name: &'static str) -> Result<Option<Cow<'a, str>>, ParseErrorKind> {
    match attribute {
        Attribute::Absent => Ok(None),
        Attribute::Once(value) => Ok(Some(value)),
        Attribute::Repeated => Err(ParseErrorKind::DuplicateAttribute { name }),
    }
}

fn read_range(start_line: &Attribute<'_>, end_line: &Attribute<'_>) -> ReadRange {
    let line = |attribute: &Attribute<'_>| match attribute {
        Attribute::Absent => Ok(None),
        Attribute::Once(value) => integer(value).map(Some).map_err(|_| ()),
        Attribute::Repeated => Err(()),
    };
    match (line(start_line), line(end_line)) {
        (Ok(None), Ok(None)) => ReadRange::Whole,
        (Ok(start_line), Ok(end_line)) => ReadRange::Lines { start_line, end_line },
        _ => ReadRange::Malformed,
    }
}

/// Parses a 32-bit integer with an optional sign and surrounding whitespace.
fn integer(value: &str) -> Result<i32, ParseErrorKind> {
    value.trim().parse().map_err(|_| ParseErrorKind::LineNumberNotInteger)
}
