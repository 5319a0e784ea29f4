//! Blocks and the items of a reply.

pub(crate) mod background;
pub(crate) mod body;
pub(crate) mod hunk;
pub(crate) mod kind;

use std::borrow::Cow;

use crate::{Background, BlockKind, Body, LineRange, Located, ParseError, Span, TextHunk};

/// A well-formed block. Paths are as written and may lead outside of the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block<'a> {
    /// CREATE_FILE.
    CreateFile {
        /// The path, never empty.
        path: Cow<'a, str>,
        /// The text of the file.
        body: Body<'a>,
        /// The effect on an existing file. Tags always mean [`IfExists::Replace`].
        if_exists: IfExists,
    },
    /// EDIT_FILE.
    EditFile {
        /// The path, never empty.
        path: Cow<'a, str>,
        /// First line to replace, 1-based; zero and negative numbers parse and fail when executed.
        start_line: i32,
        /// Last line to replace, inclusive; may be before `start_line` or after the end of the file.
        end_line: i32,
        /// The expected text of the first line, if given. It contains no double quote.
        was: Option<Cow<'a, str>>,
        /// The lines that replace them.
        body: Body<'a>,
    },
    /// EDIT_FILE with a body of hunks: an edit by text. Only read in the dialect `agentd`.
    EditText {
        /// The path, never empty.
        path: Cow<'a, str>,
        /// The lines in which the texts are searched, if the block has line numbers.
        within: Option<(i32, i32)>,
        /// The hunks, at least one; all are carried out or none.
        hunks: Vec<TextHunk>,
    },
    /// DELETE_FILE.
    DeleteFile {
        /// The path, never empty.
        path: Cow<'a, str>,
        /// The lines of the file according to a diff: a file with other lines stays. `None` for tags.
        lines: Option<Vec<String>>,
    },
    /// READ_FILE.
    ReadFile {
        /// The path, never empty.
        path: Cow<'a, str>,
        /// The requested lines. The dialect of the first implementation has no ranges and shows the whole file.
        range: ReadRange,
    },
    /// RUN_COMMAND.
    RunCommand {
        /// The shell command, trimmed and never empty.
        command: Cow<'a, str>,
        /// The background process that it starts; `None` for a command that is waited for. Only read in the dialect `agentd`.
        background: Option<Background<'a>>,
    },
    /// STOP_PROCESS. Only read in the dialect `agentd`.
    StopProcess {
        /// The name of the background process.
        name: Cow<'a, str>,
    },
    /// MESSAGE.
    Message {
        /// The text, trimmed.
        text: Cow<'a, str>,
    },
    /// DONE.
    Done {
        /// The summary, trimmed.
        summary: Cow<'a, str>,
    },
}

impl Block<'_> {
    /// Returns the kind of the block.
    #[must_use]
    pub const fn kind(&self) -> BlockKind {
        match self {
            Self::CreateFile { .. } => BlockKind::CreateFile,
            Self::EditFile { .. } | Self::EditText { .. } => BlockKind::EditFile,
            Self::DeleteFile { .. } => BlockKind::DeleteFile,
            Self::ReadFile { .. } => BlockKind::ReadFile,
            Self::RunCommand { .. } => BlockKind::RunCommand,
            Self::StopProcess { .. } => BlockKind::StopProcess,
            Self::Message { .. } => BlockKind::Message,
            Self::Done { .. } => BlockKind::Done,
        }
    }

    /// Returns the path of a block that has one.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::CreateFile { path, .. }
            | Self::EditFile { path, .. }
            | Self::EditText { path, .. }
            | Self::DeleteFile { path, .. }
            | Self::ReadFile { path, .. } => Some(path),
            Self::RunCommand { .. } | Self::StopProcess { .. } | Self::Message { .. } | Self::Done { .. } => {
                None
            }
        }
    }

    /// Returns the same block with owned texts.
    #[must_use]
    pub fn into_owned(self) -> Block<'static> {
        let own = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        match self {
            Self::CreateFile { path, body, if_exists } => {
                Block::CreateFile { path: own(path), body: body.into_owned(), if_exists }
            }
            Self::EditFile { path, start_line, end_line, was, body } => Block::EditFile {
                path: own(path),
                start_line,
                end_line,
                was: was.map(own),
                body: body.into_owned(),
            },
            Self::EditText { path, within, hunks } => Block::EditText { path: own(path), within, hunks },
            Self::DeleteFile { path, lines } => Block::DeleteFile { path: own(path), lines },
            Self::ReadFile { path, range } => Block::ReadFile { path: own(path), range },
            Self::RunCommand { command, background } => {
                let background = background.map(Background::into_owned);
                Block::RunCommand { command: own(command), background }
            }
            Self::StopProcess { name } => Block::StopProcess { name: own(name) },
            Self::Message { text } => Block::Message { text: own(text) },
            Self::Done { summary } => Block::Done { summary: own(summary) },
        }
    }
}

/// The effect of a CREATE_FILE on an existing file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IfExists {
    /// The file is replaced.
    #[default]
    Replace,
    /// The file is replaced with a note: the format calls the file new, but the programs for which it is written replace files
    /// with it.
    ReplaceWithNote,
    /// The block fails, unless the file is empty or already has this text: its format implies that the file does not exist.
    Refuse,
}

/// The lines of a file that READ_FILE requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadRange {
    /// All lines.
    #[default]
    Whole,
    /// A range of lines, 1-based and inclusive; an absent number means the start or the end of the file.
    Lines {
        /// The first line. Numbers below 1 mean line 1.
        start_line: Option<i32>,
        /// The last line, which may be after the end of the file.
        end_line: Option<i32>,
    },
    /// A line number that is not a 32-bit integer, or is given twice. Not a parse error, since the dialect without ranges ignores
    /// these attributes.
    Malformed,
}

/// An element of a reply: a block, or the error of a malformed block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item<'a> {
    /// A well-formed block.
    Block(Located<Block<'a>>),
    /// A malformed block; it is not executed, and the next outbox shows the error to the model.
    Error(ParseError),
}

impl Item<'_> {
    /// Returns the kind of the block, or the kind that was meant.
    #[must_use]
    pub const fn kind(&self) -> BlockKind {
        match self {
            Self::Block(block) => block.value.kind(),
            Self::Error(error) => error.command,
        }
    }

    /// Returns the byte span of the reply from which it was read.
    #[must_use]
    pub const fn span(&self) -> Span {
        match self {
            Self::Block(block) => block.span,
            Self::Error(error) => error.span,
        }
    }

    /// Returns the lines of the reply from which it was read.
    #[must_use]
    pub const fn lines(&self) -> LineRange {
        match self {
            Self::Block(block) => block.lines,
            Self::Error(error) => error.lines,
        }
    }

    /// Returns the same item with owned texts.
    #[must_use]
    pub fn into_owned(self) -> Item<'static> {
        match self {
            Self::Block(Located { value, span, lines }) => {
                Item::Block(Located { value: value.into_owned(), span, lines })
            }
            Self::Error(error) => Item::Error(error),
        }
    }
}
