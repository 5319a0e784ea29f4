//! Renders blocks as text, for authors of replies and for tests. Never writes text that strict parsing would read differently.

use std::fmt::Write as _;

use crate::{Background, Block, BlockKind, ReadRange, TextHunk};

/// The reason why a block has no text that parses back to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// The path is empty.
    #[error("{0} without a path")]
    EmptyPath(BlockKind),
    /// The path contains a double quote or a line feed; the protocol has no escapes.
    #[error("{0} with a double quote or a line end in its path")]
    UnquotablePath(BlockKind),
    /// The range of lines is malformed.
    #[error("READ_FILE with line numbers that are not integers")]
    MalformedRange,
    /// The expected line of an edit contains a double quote or a line feed.
    #[error("{0} with a double quote or a line end in the line that it is to find")]
    UnquotableLine(BlockKind),
    /// The lines of a hunk include marks of every length.
    #[error("EDIT_FILE with a hunk that has marks of every length in its text")]
    MarkInHunk,
    /// The shell command is empty.
    #[error("RUN_COMMAND without a command")]
    EmptyCommand,
    /// A line of the body would be read as the closing tag.
    #[error("{0} with its own closing tag in its body")]
    ClosingTagInBody(BlockKind),
    /// A line of the body ends with a carriage return, which parsing would drop.
    #[error("{0} with a carriage return at the end of a line")]
    CarriageReturn(BlockKind),
    /// A command, message or summary has whitespace around it, which parsing would trim.
    #[error("{0} with whitespace around its text")]
    Untrimmed(BlockKind),
}

/// Renders a block as it is written in a reply, ending with LF.
///
/// Strict parsing of the result yields the same block; an edit by text is only parsed in the dialect `agentd`.
///
/// # Errors
///
/// [`RenderError`] if no text yields the block.
///
/// # Example
///
/// ```
/// use tagproto::{Block, Body, IfExists, render_block};
///
/// let block = Block::CreateFile { path: "a.txt".into(), body: Body::of_lines("one\ntwo"), if_exists: IfExists::Replace };
/// assert_eq!(render_block(&block)?, "[CREATE_FILE path=\"a.txt\"]\none\ntwo\n[/CREATE_FILE]\n");
/// # Ok::<(), tagproto::RenderError>(())
/// ```
pub fn render_block(block: &Block<'_>) -> Result<String, RenderError> {
    let mut text = String::new();
    write_block(block, &mut text)?;
    Ok(text)
}

/// Renders blocks in sequence, without prose between them.
///
/// # Errors
///
/// Like [`render_block`], for the first block that cannot be written.
pub fn render_reply<'b, 't: 'b>(
    blocks: impl IntoIterator<Item = &'b Block<'t>>,
) -> Result<String, RenderError> {
    let mut text = String::new();
    for block in blocks {
        write_block(block, &mut text)?;
    }
    Ok(text)
}

fn write_block(block: &Block<'_>, out: &mut String) -> Result<(), RenderError> {
    let kind = block.kind();
    let path = block.path().map(|path| quotable(kind, path)).transpose()?;
    let written = match (block, path) {
        (Block::EditFile { start_line, end_line, was, .. }, Some(path)) => {
            let was = match was.as_deref() {
                Some(was) if was.contains(['"', '\n']) => return Err(RenderError::UnquotableLine(kind)),
                Some(was) => format!(" was=\"{was}\""),
                None => String::new(),
            };
            writeln!(out, "[{kind} path=\"{path}\" start_line=\"{start_line}\" end_line=\"{end_line}\"{was}]")
        }
        (Block::EditText { within: Some((start_line, end_line)), .. }, Some(path)) => {
            writeln!(out, "[{kind} path=\"{path}\" start_line=\"{start_line}\" end_line=\"{end_line}\"]")
        }
        (Block::ReadFile { range: ReadRange::Lines { start_line, end_line }, .. }, Some(path)) => {
            let line = |name: &str, line: &Option<i32>| {
                line.map(|line| format!(" {name}=\"{line}\"")).unwrap_or_default()
            };
            let (start, end) = (line("start_line", start_line), line("end_line", end_line));
            writeln!(out, "[{kind} path=\"{path}\"{start}{end}]")
        }
        (Block::ReadFile { range: ReadRange::Malformed, .. }, _) => {
            return Err(RenderError::MalformedRange);
        }
        (Block::RunCommand { background: Some(background), .. }, _) => {
            let Background { name, ready } = background;
            let ready = match ready.as_deref() {
                Some(ready) => format!(" ready=\"{}\"", quotable(kind, ready)?),
                None => String::new(),
            };
            writeln!(out, "[{kind} background=\"{}\"{ready}]", quotable(kind, name)?)
        }
        (Block::StopProcess { name }, _) => writeln!(out, "[{kind} name=\"{}\"]", quotable(kind, name)?),
        (_, Some(path)) => writeln!(out, "[{kind} path=\"{path}\"]"),
        (_, None) => writeln!(out, "[{kind}]"),
    };
    written.expect("a String takes any text");
    match block {
        Block::CreateFile { body, .. } | Block::EditFile { body, .. } => {
            write_lines(kind, body.lines(), out)?
        }
        Block::EditText { hunks, .. } => {
            for hunk in hunks {
                write_hunk(kind, hunk, out)?;
            }
        }
        Block::RunCommand { command, .. } if command.is_empty() => return Err(RenderError::EmptyCommand),
        Block::RunCommand { command: text, .. } | Block::Message { text } | Block::Done { summary: text } => {
            // Parsing trims these texts, so the whitespace could not be restored.
            if text.trim().len() != text.len() {
                return Err(RenderError::Untrimmed(kind));
            }
            if !text.is_empty() {
                write_lines(kind, text.split('\n'), out)?;
            }
        }
        Block::DeleteFile { .. } | Block::ReadFile { .. } | Block::StopProcess { .. } => return Ok(()),
    }
    out.push_str(kind.closing_tag());
    out.push('\n');
    Ok(())
}

/// Writes a hunk between marks of a length that no line of it has.
fn write_hunk(kind: BlockKind, hunk: &TextHunk, out: &mut String) -> Result<(), RenderError> {
    let mark_length = hunk.mark_length().ok_or(RenderError::MarkInHunk)?;
    let mark = |mark: &str, word: &str| format!("{}{word}", mark.repeat(mark_length));
    let lines = |text: &'_ str| text.split_terminator('\n').map(str::to_owned).collect::<Vec<_>>();
    let mut all = vec![mark("<", " SEARCH")];
    all.extend(lines(&hunk.search));
    all.push(mark("=", ""));
    all.extend(lines(&hunk.replacement));
    all.push(mark(">", " REPLACE"));
    write_lines(kind, all.iter().map(String::as_str), out)
}

fn write_lines<'l>(
    kind: BlockKind,
    lines: impl Iterator<Item = &'l str>,
    out: &mut String,
) -> Result<(), RenderError> {
    for line in lines {
        if line.ends_with('\r') {
            return Err(RenderError::CarriageReturn(kind));
        }
        // The parser ignores whitespace around a closing tag.
        if line.trim() == kind.closing_tag() {
            return Err(RenderError::ClosingTagInBody(kind));
        }
        out.push_str(line);
        out.push('\n');
    }
    Ok(())
}

fn quotable(kind: BlockKind, path: &str) -> Result<&str, RenderError> {
    match path {
        "" => Err(RenderError::EmptyPath(kind)),
        path if path.contains(['"', '\n']) => Err(RenderError::UnquotablePath(kind)),
        path => Ok(path),
    }
}
