//! The errors of single blocks.

use crate::{BlockKind, ForeignFault, HunkFault, LineRange, Span};

/// A malformed block.
///
/// Its text begins with the name of the block and the wording of the first implementation, if there is one, and continues with
/// advice for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{command} {kind}{}", .kind.advice(*.command))]
#[non_exhaustive]
pub struct ParseError {
    /// The kind of block that was meant.
    pub command: BlockKind,
    /// The kind of error.
    pub kind: ParseErrorKind,
    /// From the `[` of the opening tag to the `]` of the closing tag; to the end of the text for an unclosed block.
    pub span: Span,
    /// The lines of the block.
    pub lines: LineRange,
}

/// The kinds of error in a block.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// The closing tag is missing. Parsing ends here, since the rest might be text of the block.
    #[error("{}missing closing tag{}", for_path(.path.as_deref()), later(*.later_tags))]
    Unclosed {
        /// The path, for a file block that has one.
        path: Option<String>,
        /// The number of later lines that read as opening tags and did not run.
        later_tags: usize,
    },
    /// CREATE_FILE, DELETE_FILE or READ_FILE without a path, or with an empty one.
    #[error("missing path attribute")]
    MissingPath,
    /// EDIT_FILE without one of its three attributes, or with an empty path.
    #[error("missing required attributes (path, start_line, end_line)")]
    MissingEditAttributes,
    /// EDIT_FILE with a path, without one or both line numbers, and with a body that is not hunks. Found by
    /// [`read_in`](crate::read_in) only.
    #[error("missing required attributes (start_line, end_line) for '{path}'")]
    MissingLines {
        /// The path.
        path: String,
    },
    /// A line number of EDIT_FILE that is not a 32-bit integer.
    #[error("start_line/end_line must be integers")]
    LineNumberNotInteger,
    /// An attribute of this block given twice.
    #[error("duplicate attribute '{name}'")]
    DuplicateAttribute {
        /// The attribute, in lower case.
        name: &'static str,
    },
    /// STOP_PROCESS without a name, or with an empty one.
    #[error("missing name attribute")]
    MissingProcessName,
    /// RUN_COMMAND with the attribute `ready` and no `background`, or with an empty one. Found by [`read_in`](crate::read_in)
    /// only.
    #[error("missing background attribute, the name of the process")]
    MissingBackgroundName,
    /// RUN_COMMAND with nothing but whitespace in it.
    #[error("has an empty body")]
    EmptyCommand,
    /// A citation mark of a chat window in a command, or in a file that is not Markdown. Found by paste repair only.
    #[error("{}holds a citation mark in line {line_number}", for_path(.path.as_deref()))]
    CitationInBody {
        /// The path, for a file block.
        path: Option<String>,
        /// The line of the body, 1-based.
        line_number: u32,
    },
    /// A comment that stands for code left out of a file that is not Markdown. Found by paste repair only.
    #[error("for '{path}' leaves code out in line {line_number}")]
    OmittedCode {
        /// The path.
        path: String,
        /// The line of the body, 1-based.
        line_number: u32,
    },
    /// The line numbers of a view in front of the lines, which do not fit the body. Found by [`read_in`](crate::read_in) with
    /// paste repair only.
    #[error("for '{path}' has line numbers in front of its lines")]
    NumbersInBody {
        /// The path.
        path: String,
    },
    /// An edit with marks of its own as the text of a file. Found by [`read_in`](crate::read_in) with paste repair only.
    #[error(
        "for '{path}' has an edit with marks of its own in place of the text, from line {line_number} of the body"
    )]
    EditInBody {
        /// The path.
        path: String,
        /// The line of the body, 1-based.
        line_number: u32,
    },
    /// One half of a code fence as the first or last line of code or a command. Found by [`read_in`](crate::read_in) with paste
    /// repair only.
    #[error("{}has one half of a code fence in line {line_number} of its body", for_path(.path.as_deref()))]
    FenceInBody {
        /// The path, for a file block.
        path: Option<String>,
        /// The line of the body, 1-based.
        line_number: u32,
    },
    /// A line that was meant as the block's tag but is not a tag. Found by [`read_in`](crate::read_in) only.
    #[error("is not recognised: '{written}' is not a tag{}", inside(*.not_run))]
    NearMiss {
        /// The line, cut if it is too long.
        written: String,
        /// The number of blocks between it and its closing tag, which did not run.
        not_run: usize,
    },
    /// A last line with the beginning of a tag, in which the reply was cut off. Found by [`read_in`](crate::read_in) only.
    #[error("was cut off in its tag: '{written}'")]
    CutTag {
        /// The line, cut if it is too long.
        written: String,
    },
    /// A closing tag that closes no block. Found by [`read_in`](crate::read_in) only.
    #[error("has a closing tag in line {line_number} of the reply that closes no block")]
    StrayClosing {
        /// The line of the reply, 1-based.
        line_number: u32,
    },
    /// A block with an unclear end. Found by [`read_in`](crate::read_in) only.
    #[error("{}", .doubt.text(*.line_number, *.not_run))]
    EndUnclear {
        /// The line of the reply that causes the doubt, 1-based.
        line_number: u32,
        /// The number of other blocks that may be part of its text, which did not run either.
        not_run: usize,
        /// The reason.
        doubt: EndDoubt,
    },
    /// A message or a summary with a whole block in its text, in a reply that has no other block that acts. Found by
    /// [`read_in`](crate::read_in) only.
    #[error("holds a block in line {line_number} of the reply, which is text there, so that it was not run")]
    BlockInText {
        /// The line of the reply with the opening tag, 1-based.
        line_number: u32,
    },
    /// A block that the reply only quotes. Found by [`read_in`](crate::read_in) only.
    #[error("{}, so that it was not run", .0.text())]
    OnlyQuoted(Quotation),
    /// A block in thinking that the end of the reply cuts off. Found by [`read_in`](crate::read_in) only.
    #[error("was only considered: the reply ends within its thinking, so that nothing of it was run")]
    OnlyConsidered,
    /// A block before a closing mark of thinking without an opening mark, which may be part of the thinking. Found by
    /// [`read_in`](crate::read_in) only.
    #[error(
        "may be a part of thinking: line {line_number} of the reply closes thinking without an opening mark, so that it was not \
             run, nor was any block between it and that line"
    )]
    MaybeConsidered {
        /// The line of the reply with the mark, 1-based.
        line_number: u32,
    },
    /// A hunk of an edit by text that cannot be read. Found by [`read_in`](crate::read_in) only.
    #[error("for '{path}': the hunk at line {line_number} of the reply {fault}")]
    Hunk {
        /// The path.
        path: String,
        /// The line of the reply, 1-based.
        line_number: u32,
        /// The fault.
        fault: HunkFault,
    },
    /// An edit in the format of another program that is not carried out. Found by [`read_in`](crate::read_in) only.
    #[error("{introduction}: {0}", introduction = .0.introduction())]
    Foreign(ForeignFault),
    /// An edit in the format of another program, in a reply that also has blocks. Found by [`read_in`](crate::read_in) only.
    #[error("{}in the format of another program appears alongside blocks, so it was not carried out", for_path(.path.as_deref()))]
    AlongsideBlocks {
        /// The path, if the edit certainly names one.
        path: Option<String>,
    },
    /// The first block beyond the maximum number of blocks of a reply. Found by [`read`](crate::read) only.
    #[error("is one block too many: a reply may have {most}{}", not_run(*.later_blocks))]
    TooManyBlocks {
        /// The maximum number of blocks of a reply.
        most: usize,
        /// The number of blocks after this one, which did not run either.
        later_blocks: usize,
    },
}

/// A way in which a reply quotes a block that is not meant to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Quotation {
    /// `>` in front of its lines, but not of all lines of the reply.
    Marks,
    /// Back-ticks around its tags, but not around those of other blocks.
    BackTicks,
    /// A code fence with other text in it, while other blocks are outside of fences.
    Fence,
    /// An HTML comment.
    Comment,
}

impl Quotation {
    fn text(self) -> &'static str {
        match self {
            Self::Marks => "is quoted, but not all of the reply is",
            Self::BackTicks => "has its tags in back-ticks, unlike other blocks of the reply",
            Self::Fence => "is in a code fence with other text, unlike other blocks of the reply",
            Self::Comment => "is in a comment, between <!-- and -->",
        }
    }

    fn meant_form(self) -> &'static str {
        match self {
            Self::Marks => "without '>' in front of its lines",
            Self::BackTicks => "without back-ticks around its tags",
            Self::Fence => "outside of the code fence, or without other text in it",
            Self::Comment => "outside of the comment",
        }
    }
}

/// A reason why the end of a block is unclear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndDoubt {
    /// It has a tag of its own kind in its body, and a later closing tag closes no block.
    OwnTag,
    /// A later closing tag of its kind closes no block.
    LaterTag,
    /// A closing tag of its kind closes no block, and its opening tag did not arrive.
    NoOpening,
    /// It has a tag of its own kind in its body and is followed by text, in which the reply may have been cut off.
    TextAfter,
    /// It has a tag of its own kind in its body: a closing tag before that tag may be missing.
    NextTag,
    /// Its text is a Markdown file, and its closing tag is in a code fence that begins in the text and ends after the block.
    InFence,
    /// It has the closing tag of another kind in its body, without the opening tag: two closing tags may have been swapped. In a
    /// file, an unclosed block follows.
    OtherClosing,
    /// It is a command with a whole block of another kind in its lines, which the shell would run.
    InnerBlock,
    /// It follows text after a closing tag of a file or a command that closes no block, in a reply that ends with text.
    AfterClosing,
}

impl EndDoubt {
    fn text(self, line: u32, not_run: usize) -> String {
        let later = later_blocks(not_run);
        let it_was_not_run = format!("so that its end is not clear: it was not run{later}");
        match self {
            Self::OwnTag => format!(
                "holds a tag of its own kind in its text, and a closing tag in line {line} of the reply closes no block, \
                 {it_was_not_run}"
            ),
            Self::LaterTag => {
                format!(
                    "has a later closing tag in line {line} of the reply, which closes no block, {it_was_not_run}"
                )
            }
            Self::TextAfter => format!(
                "holds a tag of its own kind in its text, and line {line} of the reply after it is in no block, \
                 {it_was_not_run}"
            ),
            Self::NextTag => format!(
                "holds a tag of its own kind in line {line} of the reply, before which it has no closing tag, {it_was_not_run}, nor \
                 was the block that begins there"
            ),
            Self::InFence => format!(
                "has its closing tag in a code fence of its text, which ends in line {line} of the reply, {it_was_not_run}"
            ),
            Self::OtherClosing => format!(
                "holds the closing tag of another kind in line {line} of the reply, which closes nothing in its text, \
                 {it_was_not_run}, nor was any block that begins before its own closing tag"
            ),
            Self::InnerBlock => format!(
                "holds a block of another kind in line {line} of the reply, whose text the shell would run, {it_was_not_run}, nor \
                 was that block"
            ),
            Self::AfterClosing => format!(
                "follows text and a closing tag in line {line} of the reply that closes no block, and the reply ends with text, so \
                 that it may be text too: it was not run{later}"
            ),
            Self::NoOpening => {
                let blocks = match not_run {
                    1 => "the block before it may be text: it was not run".to_owned(),
                    _ => format!("the {not_run} blocks before it may be text: they were not run"),
                };
                format!(
                    "has a closing tag in line {line} of the reply that closes no block, so that {blocks}"
                )
            }
        }
    }

    /// Returns the advice for the model.
    fn advice(self, command: BlockKind) -> String {
        match self {
            Self::NoOpening => "; send the block again, with its opening tag, and then the others".to_owned(),
            Self::AfterClosing => {
                "; if it is meant, send it again without such a closing tag before it".to_owned()
            }
            Self::InnerBlock => "; end the command with [/RUN_COMMAND] before that block; if its lines are the text of a file, write them \
                                 with a here-document"
                .to_owned(),
            Self::NextTag | Self::OtherClosing | Self::TextAfter => {
                let (closing, as_text) = (command.closing_tag(), tag_as_text(command));
                format!("; end each block with {closing}, alone on its line; if the tag is a line of the text, {as_text}")
            }
            Self::OwnTag | Self::LaterTag | Self::InFence
                if matches!(command, BlockKind::CreateFile | BlockKind::EditFile) =>
            {
                "; put a character in front of each tag line that belongs to the text, or write the file with a command".to_owned()
            }
            Self::OwnTag | Self::LaterTag | Self::InFence => {
                format!("; if a tag line belongs to the text, {}", tag_as_text(command))
            }
        }
    }
}

impl ParseErrorKind {
    /// Returns the advice for the model, which follows the text of the error.
    fn advice(&self, command: BlockKind) -> String {
        match self {
            Self::Unclosed { .. } => {
                format!("; send the block again and end it with {} on a line of its own", command.closing_tag())
            }
            Self::MissingPath => format!("; write [{command} path=\"relative/path\"] with double quotes"),
            Self::MissingEditAttributes => {
                "; write [EDIT_FILE path=\"relative/path\" start_line=\"N\" end_line=\"M\"] with double quotes".to_owned()
            }
            Self::MissingLines { .. } => {
                "; give start_line=\"N\" and end_line=\"M\", or write the body as lines <<<<<<< SEARCH, the text as it is in the \
                 file, =======, the new text, >>>>>>> REPLACE"
                    .to_owned()
            }
            Self::LineNumberNotInteger => "; count lines from 1".to_owned(),
            Self::DuplicateAttribute { .. } => "; give it once".to_owned(),
            Self::MissingProcessName => "; write [STOP_PROCESS name=\"web\"] with double quotes".to_owned(),
            Self::MissingBackgroundName => {
                "; write [RUN_COMMAND background=\"web\" ready=\"text on its output\"] with double quotes".to_owned()
            }
            Self::EmptyCommand => "; put the shell command between [RUN_COMMAND] and [/RUN_COMMAND]".to_owned(),
            Self::CitationInBody { .. } => "; send the block again without citations".to_owned(),
            Self::OmittedCode { .. } => {
                "; send the complete text, or a smaller EDIT_FILE that holds only the lines that change".to_owned()
            }
            Self::NumbersInBody { .. } => {
                "; send the lines as they are in the file, without number and bar; if these are part of the file, edit it by \
                 text, with SEARCH and REPLACE, or write it with a command"
                    .to_owned()
            }
            Self::EditInBody { path, .. } => {
                let text = match command {
                    BlockKind::EditFile => "the new text of the lines alone",
                    _ => "the whole text of the file",
                };
                format!(
                    "; send {text}, or [EDIT_FILE path=\"{path}\"]{SEARCH_AND_REPLACE}, each mark in the first column; if the marks are \
                     text of the file, write it with a command"
                )
            }
            Self::FenceInBody { path: None, .. } => "; send the command without it".to_owned(),
            Self::FenceInBody { path: Some(_), .. } => {
                "; send the text without it; if it is a line of the file, edit the file by text, with SEARCH and REPLACE, or write \
                 it with a command"
                    .to_owned()
            }
            Self::NearMiss { .. } => {
                let opening = match command {
                    BlockKind::EditFile => {
                        "[EDIT_FILE path=\"relative/path\" start_line=\"N\" end_line=\"M\"]".to_owned()
                    }
                    BlockKind::CreateFile | BlockKind::DeleteFile | BlockKind::ReadFile => {
                        format!("[{command} path=\"relative/path\"]")
                    }
                    BlockKind::StopProcess => "[STOP_PROCESS name=\"web\"]".to_owned(),
                    BlockKind::RunCommand | BlockKind::Message | BlockKind::Done => format!("[{command}]"),
                };
                if command.has_body() {
                    let closing = command.closing_tag();
                    format!("; write {opening} and {closing}, each alone on its line, with the body between them")
                } else {
                    format!("; write {opening}, alone on its line")
                }
            }
            Self::BlockInText { .. } => format!(
                "; send the block outside of the text, before [{command}] or after {}; if it is only shown, put it in a code fence",
                command.closing_tag()
            ),
            Self::OnlyQuoted(quotation) => format!("; if it is meant, send it {}", quotation.meant_form()),
            Self::OnlyConsidered => "; send the blocks without the thinking".to_owned(),
            Self::MaybeConsidered { .. } => {
                "; send the blocks that you mean again, without such a mark after them".to_owned()
            }
            Self::CutTag { .. } => "; send the block again".to_owned(),
            Self::StrayClosing { .. } => {
                "; a body ends at the first line that is its closing tag, and text after that line is read as blocks: check \
                 whether a part of a body was carried out"
                    .to_owned()
            }
            Self::EndUnclear { doubt, .. } => doubt.advice(command),
            Self::Hunk { .. } | Self::Foreign(_) => String::new(),
            Self::AlongsideBlocks { path } => {
                let path = path.as_deref().unwrap_or("relative/path");
                let body = match command {
                    BlockKind::EditFile => SEARCH_AND_REPLACE,
                    BlockKind::CreateFile => " with the whole text as its body",
                    _ => "",
                };
                format!(
                    "; send [{command} path=\"{path}\"]{body}, or the edit in a reply without any block, [DONE] included; if it \
                     only explains a block, leave it out"
                )
            }
            Self::TooManyBlocks { .. } => "; send the rest with your next reply".to_owned(),
        }
    }
}

/// Returns advice for a line of a body that is a tag.
fn tag_as_text(command: BlockKind) -> &'static str {
    match command {
        BlockKind::RunCommand => "print it with printf '[%s]\\n' /NAME, or put a character in front of it",
        BlockKind::Message | BlockKind::Done => "put it in back-ticks",
        _ => "put a character in front of it, or write the file with a command",
    }
}

/// The body of an edit by text, as advice shows it after the tag.
const SEARCH_AND_REPLACE: &str = " with the lines <<<<<<< SEARCH, the text as it is in the file, =======, the new text, >>>>>>> REPLACE as its \
                                  body";

fn for_path(path: Option<&str>) -> String {
    path.map(|path| format!("for '{path}' ")).unwrap_or_default()
}

fn not_run(blocks: usize) -> String {
    match blocks {
        0 => ", and it was not run".to_owned(),
        _ => format!(", and it and the {blocks} after it were not run"),
    }
}

fn inside(blocks: usize) -> String {
    match blocks {
        0 => String::new(),
        1 => ", and 1 block inside it was not run".to_owned(),
        _ => format!(", and {blocks} blocks inside it were not run"),
    }
}

fn later_blocks(blocks: usize) -> String {
    match blocks {
        0 => String::new(),
        1 => ", nor was the block after it".to_owned(),
        _ => format!(", nor were the {blocks} blocks after it"),
    }
}

fn later(tags: usize) -> String {
    match tags {
        0 => String::new(),
        1 => "; 1 later tag line was not run".to_owned(),
        _ => format!("; {tags} later tag lines were not run"),
    }
}
