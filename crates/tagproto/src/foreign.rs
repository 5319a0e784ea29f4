//! Edit formats of other programs: SEARCH/REPLACE under a file name, unified diffs, and patches between `*** Begin Patch` and
//! `*** End Patch`.
//!
//! In a reply without blocks they become the same blocks that a model could have written, so the same plan, journal and undo
//! apply. In a reply with blocks, even malformed ones, each edit is an error. Edits inside closed thinking blocks and inside
//! blocks are not read.

mod alongside_blocks;
mod begin_patch;
mod diff_name;
mod edit_in_body;
mod extents;
mod file_name;
mod hunk_end;
mod indented_fence;
mod markup_name;
mod named_code;
mod near_form;
mod search_replace;
mod tool_call;
mod unified_diff;
mod unnamed_diff;

use std::borrow::Cow;

pub(crate) use self::alongside_blocks::alongside_blocks;
pub(crate) use self::edit_in_body::edit_in_body;
pub(crate) use self::extents::extents;
pub(crate) use self::named_code::named_code;
pub(crate) use self::near_form::near_form;
use crate::repair::{Fence, Thinking, lines_from, omitted};
use crate::{
    Block, BlockKind, Body, Dialect, HunkFault, Item, LineRange, Located, ParseError, ParseErrorKind, Span,
    TextHunk,
    parse::scan::{Line, after},
};

/// A reason why an edit in the format of another program is not carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ForeignFault {
    /// A hunk cannot be read.
    #[error("the hunk at line {line_number} {fault}")]
    Hunk {
        /// The line of the reply, 1-based.
        line_number: u32,
        /// The fault.
        fault: HunkFault,
    },
    /// A hunk without a file name before it.
    #[error(
        "the hunk does not name its file (line {line_number} of the reply): write the path, and nothing else, on the line before \
         it (a path with a space in it only works in EDIT_FILE)"
    )]
    NoPath {
        /// The line of the reply, 1-based.
        line_number: u32,
    },
    /// A hunk under a heading that denies a change of its file.
    #[error(
        "the hunk at line {line_number} does not name its file, and the heading at line {heading} seems to say that '{path}' does \
         not change: write the path, and nothing else, on the line before the hunk"
    )]
    UnchangedFile {
        /// The line of the reply with the hunk, 1-based.
        line_number: u32,
        /// The line with the heading.
        heading: u32,
        /// The path in the heading.
        path: String,
    },
    /// A diff without the names of its file.
    #[error(
        "the diff does not name its file, or has no @@ line: begin it with the lines --- a/NAME, +++ b/NAME and @@ ... @@, where \
         NAME is the path of the file"
    )]
    UnnamedDiff,
    /// A hunk that adds lines without any line of the file around them.
    #[error(
        "the hunk at line {line_number} has no line of the file, so its position is unknown: add lines around it"
    )]
    NoContext {
        /// The line of the reply, 1-based.
        line_number: u32,
    },
    /// A patch without an end, which may have been cut off.
    #[error("the patch has no line *** End Patch, so nothing of it was carried out: send all of it again")]
    NoEnd,
    /// A diff that may have been cut off.
    #[error(
        "the diff of '{path}' may have been cut off, so it was not carried out: send it again as a whole, in a code block \
         that is closed after it"
    )]
    CutOff {
        /// The path.
        path: String,
    },
    /// A line after the end of a patch that seems to be part of the patch.
    #[error(
        "line {line_number} seems to be part of the patch that ends at line {end}, so nothing of it was carried out: if the file \
         has a line *** End Patch, write it with a space in front, like any line of the file"
    )]
    AfterEnd {
        /// The line of the reply, 1-based.
        line_number: u32,
        /// The number of the line `*** End Patch`.
        end: u32,
    },
    /// A line that has no meaning in a patch.
    #[error("line {line_number} has no meaning there, so nothing of the patch was carried out")]
    Line {
        /// The line of the reply, 1-based.
        line_number: u32,
    },
    /// A line after a hunk of a diff that may belong to the hunk.
    #[error(
        "line {line_number} may be a line of the hunk before it, so nothing of this file was done: begin each line of a hunk with \
         a space, '-' or '+', and leave a blank line after the diff"
    )]
    Unsigned {
        /// The line of the reply, 1-based.
        line_number: u32,
    },
    /// A hunk of a diff with fewer lines than its header states.
    #[error(
        "the hunk at line {line_number} has fewer lines than its @@ line counts, so nothing of this file was done: send all its \
         lines, or '@@ ... @@' without numbers"
    )]
    ShortHunk {
        /// The line of the reply, 1-based.
        line_number: u32,
    },
    /// A file that is renamed.
    #[error(
        "'{from}' is renamed to '{to}', which a patch does not do here: use RUN_COMMAND with mv, then edit '{to}'"
    )]
    Rename {
        /// The path before.
        from: String,
        /// The path after.
        to: String,
    },
    /// A diff that names two different files.
    #[error(
        "the diff names '{old}' and '{new}': write the path of the file in both lines, as --- a/NAME and +++ b/NAME; to give a file \
         another name, use RUN_COMMAND with mv"
    )]
    TwoNames {
        /// The name after `---`.
        old: String,
        /// The name after `+++`.
        new: String,
    },
    /// Changes of bytes that are not text.
    #[error("the patch of '{path}' is binary: use RUN_COMMAND to write the file")]
    Binary {
        /// The path.
        path: String,
    },
    /// New text with a comment instead of some lines, in a file that is not Markdown.
    #[error(
        "the new text of '{path}' leaves code out where it says {line:?}: write all lines, or a smaller hunk"
    )]
    OmittedCode {
        /// The path.
        path: String,
        /// The comment.
        line: String,
    },
    /// An edit in an unsupported form.
    #[error("line {line_number} may begin an edit, in a form that is not read: {advice}")]
    NearForm {
        /// The line of the reply, 1-based.
        line_number: u32,
        /// The form to write instead.
        advice: &'static str,
    },
    /// A code block under the name of a file, in a reply that changes no file.
    #[error(
        "the code block at line {line_number} of the reply does not write '{path}': send the whole file with CREATE_FILE, or some of \
         its lines with EDIT_FILE; code that is only for the user belongs in MESSAGE"
    )]
    NamedCode {
        /// The line of the reply with the opening fence, 1-based.
        line_number: u32,
        /// The path.
        path: String,
        /// The passages of the file that the code block shows, without a comment that names the file; of a diff, the new
        /// lines of each hunk.
        passages: Vec<String>,
    },
    /// A code block with shell text that writes a file, in a reply that changes no file and runs no command.
    #[error(
        "the code block at line {line_number} of the reply was not run, so '{path}' is not written: send the file with CREATE_FILE, \
         or the commands with RUN_COMMAND; code that is only for the user belongs in MESSAGE"
    )]
    ShellCode {
        /// The line of the reply with the opening fence, 1-based.
        line_number: u32,
        /// The path of the first file that it writes.
        path: String,
        /// The text of that file.
        passages: Vec<String>,
    },
    /// A patch of a file without a change.
    #[error(
        "the patch of '{path}' changes nothing: begin each line to remove with '-', and each new line with '+'"
    )]
    Empty {
        /// The path.
        path: String,
    },
    /// A diff that only changes the mode of a file, or the end of its last line.
    #[error(
        "the patch of '{path}' changes nothing but its mode or the line ending after its last line, which is done with RUN_COMMAND"
    )]
    NoLine {
        /// The path.
        path: String,
    },
    /// The call of a tool of another program.
    #[error(
        "line {line_number} begins the call of a tool, which is not carried out: write the block instead, such as CREATE_FILE, \
         EDIT_FILE or RUN_COMMAND, with each of its tags alone on a line"
    )]
    ToolCall {
        /// The line of the reply, 1-based.
        line_number: u32,
    },
}

impl ForeignFault {
    /// Returns the words between the name of the block and the fault.
    pub(crate) fn introduction(&self) -> &'static str {
        match self {
            Self::NamedCode { .. } | Self::ShellCode { .. } => "is missing",
            _ => "in the format of another program",
        }
    }

    /// Returns the file that a code block is about, and the passages that the file has if the reply only quotes it.
    pub(crate) fn quotation(&self) -> Option<(&str, &[String])> {
        match self {
            Self::NamedCode { path, passages, .. } | Self::ShellCode { path, passages, .. } => {
                Some((path, passages))
            }
            _ => None,
        }
    }

    /// Checks whether the faulty edit has an end.
    fn has_end(&self) -> bool {
        !matches!(self, Self::Hunk { .. } | Self::NoEnd | Self::AfterEnd { .. })
    }
}

/// One line of a reply.
#[derive(Clone, Copy, Debug)]
struct ReplyLine<'a> {
    /// The line without its end.
    text: &'a str,
    number: u32,
    start: usize,
    end: usize,
}

/// The blocks read so far.
struct Items<'a> {
    items: Vec<Item<'a>>,
    ending: Ending,
    /// The code fence around the next edit.
    fence: Option<Fence>,
}

/// The end of a reply, which shows whether an edit was cut off.
#[derive(Clone, Copy, Default)]
struct Ending {
    /// The line of the last fence, if it is not closed.
    open_fence: Option<u32>,
    /// The number of the last line with text.
    last_line: u32,
    has_line_end: bool,
}

impl Ending {
    fn of(text: &str, lines: &[ReplyLine<'_>]) -> Ending {
        let is_fence = |line: &&ReplyLine<'_>| line.text.starts_with(['`', '~']);
        let mut open = None;
        for line in lines.iter().filter(is_fence) {
            let Some(fence) = Fence::read(line.text) else { continue };
            open = match open {
                Some((opening, _)) if fence.closes(opening) => None,
                Some(open) => Some(open),
                None => Some((fence, line.number)),
            };
        }
        let last = lines.iter().rfind(|line| !line.text.trim().is_empty());
        Ending {
            open_fence: open.map(|(_, number)| number),
            last_line: last.map_or(0, |line| line.number),
            has_line_end: text.ends_with('\n'),
        }
    }
}

/// Reads the edits in a reply, ignoring its blocks. Empty if no edit is in one of the formats.
pub(crate) fn items(text: &str) -> Vec<Item<'_>> {
    let lines = visible_lines(text);
    items_of(&lines, Ending::of(text, &lines))
}

fn items_of<'a>(lines: &[ReplyLine<'a>], ending: Ending) -> Vec<Item<'a>> {
    let mut items = Items::of_ending(ending);
    let mut name = file_name::FileName::default();
    let mut lines = Cow::Borrowed(lines);
    let mut index = 0;
    while index < lines.len() {
        items.fence = name.fence();
        // The lines of an edit, and of a fence around it, keep their indentation.
        if items.fence.is_none() {
            indented_fence::remove_indentation(&mut lines, index);
        }
        let rest = &lines[index..];
        let read = begin_patch::read(rest, &mut items)
            .or_else(|| unified_diff::read(rest, &mut items))
            .or_else(|| unnamed_diff::read(rest, &mut items));
        if read.is_some() {
            // A later hunk that names no file may be about the files of the patch.
            name.forget();
        }
        let read = read
            .or_else(|| search_replace::read(rest, &mut name, &mut items))
            .or_else(|| near_form::read(rest, &name, &mut items))
            .or_else(|| tool_call::read(rest, &mut items));
        match read {
            Some(read) => index += read.max(1),
            None => {
                name.pass(lines[index].text, lines[index].number);
                index += 1;
            }
        }
    }
    items.items.into_iter().map(without_omission).collect()
}

/// Removes the blocks whose tags are part of an edit in the format of another program: the edit changes a text about tags, and
/// quoted tags must not be carried out.
///
/// Edits inside a block are part of that block. A faulty edit quotes tags too, unless its end is unknown.
pub(crate) fn remove_quoted(text: &str, items: &mut Vec<Item<'_>>, foreign: &[Item<'_>]) {
    let blocks: Vec<Span> = items.iter().map(Item::span).collect();
    let has_end = |item: &&Item<'_>| match item {
        Item::Block(_) => true,
        Item::Error(error) => matches!(&error.kind, ParseErrorKind::Foreign(fault) if fault.has_end()),
    };
    let (nameless, edits): (Vec<_>, Vec<_>) =
        foreign.iter().filter(has_end).partition(|item| alongside_blocks::is_nameless(item));
    let outermost = |edits: Vec<&Item<'_>>| -> Vec<Span> {
        let spans = edits.into_iter().map(Item::span);
        spans.filter(|edit| !begins_within(&blocks, edit.start)).collect()
    };
    let (nameless, edits) = (outermost(nameless), outermost(edits));
    items.retain(|item| {
        let start = item.span().start;
        // The fence of a diff may contain blocks too, but without the prefix of a diff line.
        let is_prefixed = || text[..start].ends_with(' ') || text[start..].starts_with(' ');
        !(begins_within(&edits, start) || begins_within(&nameless, start) && is_prefixed())
    });
}

/// Checks whether a position is after the start of a span and before its end. The spans must be sorted and disjoint.
fn begins_within(spans: &[Span], position: usize) -> bool {
    let before = spans.partition_point(|span| span.start < position);
    before.checked_sub(1).is_some_and(|last| position < spans[last].end)
}

/// Turns an edit into an error if its new text leaves code out: the comment would replace the code.
fn without_omission(item: Item<'_>) -> Item<'_> {
    let Item::Block(block) = &item else { return item };
    let omission = match &block.value {
        Block::EditText { path, hunks, .. } => {
            hunks.iter().find_map(|hunk| Some((path, hunk.omitted(path)?)))
        }
        Block::CreateFile { path, body, .. } => {
            let lines: Vec<&str> = body.lines().collect();
            omitted(path, &[], &lines).map(|line| (path, line))
        }
        _ => None,
    };
    let Some((path, line)) = omission else { return item };
    let kind = ParseErrorKind::Foreign(ForeignFault::OmittedCode {
        path: path.to_string(),
        line: line.trim().chars().take(100).collect(),
    });
    Item::Error(ParseError { command: block.value.kind(), kind, span: block.span, lines: block.lines })
}

/// Returns the lines outside of thinking. Marks of thinking within an edit are text of that edit.
fn visible_lines(text: &str) -> Vec<ReplyLine<'_>> {
    let mut thinking = Thinking::of(Dialect::Agentd);
    let mut passed_until = 0;
    let mut lines = Vec::new();
    for (index, line) in lines_from(text, 0).enumerate() {
        if line.start < passed_until {
            continue;
        }
        if let Some(end) = thinking.end_of_block(text, &line) {
            passed_until = end.max(after(text, &line));
            continue;
        }
        lines.push(ReplyLine::of(text, index, &line));
    }
    lines
}

impl<'a> ReplyLine<'a> {
    /// Creates a line of a reply from its 0-based number and its position.
    fn of(text: &'a str, index: usize, line: &Line) -> ReplyLine<'a> {
        let content = &text[line.start..line.end];
        let content = content.strip_suffix('\r').unwrap_or(content);
        let content = if index == 0 { content.trim_start_matches('\u{feff}') } else { content };
        let number = crate::span::line_number(index + 1);
        ReplyLine { text: content, number, start: line.start, end: line.end }
    }
}

impl<'a> Items<'a> {
    fn of_ending(ending: Ending) -> Items<'a> {
        Items { items: Vec::new(), ending, fence: None }
    }

    fn push(&mut self, lines: &[ReplyLine<'a>], value: Block<'a>) {
        let (span, lines) = extent(lines);
        self.items.push(Item::Block(Located { value, span, lines }));
    }

    /// Adds a hunk to the previous edit if it is of the same file, or else as a new edit.
    fn push_hunk(&mut self, lines: &[ReplyLine<'a>], path: Cow<'a, str>, hunk: TextHunk) {
        let (span, range) = extent(lines);
        if let Some(Item::Block(last)) = self.items.last_mut()
            && let Block::EditText { path: last_path, hunks, .. } = &mut last.value
            && *last_path == path
        {
            hunks.push(hunk);
            last.span.end = span.end;
            last.lines.last = range.last;
            return;
        }
        self.push(lines, Block::EditText { path, within: None, hunks: vec![hunk] });
    }

    fn push_fault(&mut self, lines: &[ReplyLine<'a>], fault: ForeignFault) {
        let (span, lines) = extent(lines);
        let kind = ParseErrorKind::Foreign(fault);
        self.items.push(Item::Error(ParseError { command: BlockKind::EditFile, kind, span, lines }));
    }
}

fn extent(lines: &[ReplyLine<'_>]) -> (Span, LineRange) {
    let (first, last) = (lines.first(), lines.last());
    let span = Span { start: first.map_or(0, |line| line.start), end: last.map_or(0, |line| line.end) };
    let lines =
        LineRange { first: first.map_or(1, |line| line.number), last: last.map_or(1, |line| line.number) };
    (span, lines)
}

/// Returns the body of a new file.
fn body_of(lines: &[&str]) -> Body<'static> {
    if lines.is_empty() { Body::no_lines() } else { Body::of_lines(lines.join("\n")) }
}
