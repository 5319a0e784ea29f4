//! The reasons to refuse a whole paste, with advice for the user.

/// A paste with damage that cannot be repaired. Nothing in it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line_number}: {kind}")]
#[non_exhaustive]
pub struct Refusal {
    /// The kind of damage.
    pub kind: RefusalKind,
    /// The 1-based line of the paste where the damage shows.
    pub line_number: u32,
}

/// The kinds of refusal. Their texts advise the user.
///
/// Source: `refusals` of fixtures/vectors/paste.json.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum RefusalKind {
    /// Python with a block opener and no leading whitespace at all.
    #[error(
        "the Python code has lost its indentation: copy with the reply's own copy button, or ask for the reply inside one code block"
    )]
    IndentationLost,
    /// A Makefile recipe that starts with spaces.
    #[error(
        "the Makefile's recipe lines have lost their tabs: ask the model to send the file again and copy it with the copy button"
    )]
    TabsLost,
    /// Escaped tag lines, and a body with entities instead of the raw characters.
    #[error("the text is HTML-escaped, perhaps a body as well: copy again as plain text")]
    EntitiesInBody,
    /// Curly quotes in tag lines, and a body with curly punctuation instead of plain.
    #[error(
        "quotes were made curly, perhaps in a body as well: switch off smart punctuation and paste again"
    )]
    SmartPunctuationInBody,
    /// Escaped tag lines, and a body in which everything is escaped.
    #[error("the text has Markdown escapes, perhaps in a body as well: copy the raw text")]
    EscapesInBody,
    /// No-break spaces at the start of lines of a new file of code, or instead of plain spaces in a command; or in tag lines, and
    /// a body indented with them or without a plain space.
    #[error("spaces were turned into no-break spaces, perhaps in a body as well: copy with the copy button")]
    NbspInBody,
    /// A damaged tag whose path holds the same doubtful character.
    #[error("copying may have changed characters of the path: write the path again")]
    AmbiguousPath,
    /// A numbered body in which some lines have no number.
    #[error(
        "some lines of a numbered body have no number, or the start of the text after the numbers is uncertain: copy without line numbers"
    )]
    GutterIncomplete,
    /// A quoted block in which some lines are not quoted.
    #[error("only some lines of a quoted block start with >: copy the unquoted text")]
    QuoteIncomplete,
    /// A block that is indented as a whole, for instance with its list item.
    #[error(
        "the block is indented as a whole, as inside a list item: ask for the block outside the list, with its tags at the start of the \
         line"
    )]
    ListIndent,
    /// The chat window's own label lines at the start of a body.
    #[error("a body starts with label lines of the chat window: delete them or use the copy button")]
    CopyLabel,
    /// The same text twice.
    #[error("the same text twice: paste it once")]
    DuplicatePaste,
    /// The outbox itself.
    #[error("the outbox is part of the paste: paste the model's reply alone")]
    OutboxInPaste,
    /// A tag broken over two lines inside a value.
    #[error("a tag is broken over two lines: widen the window or use the copy button")]
    SplitTag,
    /// A path that was turned into a Markdown link.
    #[error("the path was turned into a link: copy as plain text")]
    LinkedPath,
}

impl RefusalKind {
    /// Returns the name used in JSON, such as `indentation_lost`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::IndentationLost => "indentation_lost",
            Self::TabsLost => "tabs_lost",
            Self::EntitiesInBody => "entities_in_body",
            Self::SmartPunctuationInBody => "smart_punctuation_in_body",
            Self::EscapesInBody => "escapes_in_body",
            Self::NbspInBody => "nbsp_in_body",
            Self::AmbiguousPath => "ambiguous_path",
            Self::GutterIncomplete => "gutter_incomplete",
            Self::QuoteIncomplete => "quote_incomplete",
            Self::ListIndent => "list_indent",
            Self::CopyLabel => "copy_label",
            Self::DuplicatePaste => "duplicate_paste",
            Self::OutboxInPaste => "outbox_in_paste",
            Self::SplitTag => "split_tag",
            Self::LinkedPath => "linked_path",
        }
    }
}
