//! The kinds of damage that can be undone without loss, and sets of them.

use std::fmt;

/// A kind of damage that paste repair has undone.
///
/// Source: `repair_kinds` of fixtures/vectors/paste.json.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RepairKind {
    /// Back-ticks around a tag line.
    Backtick,
    /// A code fence around a whole file or command body; the fence lines are removed.
    BodyFence,
    /// `** **` or `__ __` around a tag line.
    Bold,
    /// A tag name not in upper case.
    Case,
    /// HTML entities in a tag line.
    Entity,
    /// The whole reply in one code fence.
    Fence,
    /// Line numbers on every line of a file body.
    Gutter,
    /// `#` before a tag line.
    Heading,
    /// A list marker before a tag line.
    List,
    /// Backslashes before the brackets or underscores of a tag line.
    MdEscape,
    /// A no-break space in a tag line, outside of attribute values.
    Nbsp,
    /// No blocks but edits in the format of another program, which are carried out as blocks.
    OtherFormat,
    /// `>` before the tag lines, and before all or none of the body lines.
    Quote,
    /// Curly quotes around attribute values.
    SmartQuotes,
    /// Tags inside a closed thinking block, which are not run.
    Thinking,
    /// An invisible character before a tag.
    ZeroWidth,
}

impl RepairKind {
    /// All kinds, in the order of their names.
    pub const ALL: [Self; 16] = [
        Self::Backtick,
        Self::BodyFence,
        Self::Bold,
        Self::Case,
        Self::Entity,
        Self::Fence,
        Self::Gutter,
        Self::Heading,
        Self::List,
        Self::MdEscape,
        Self::Nbsp,
        Self::OtherFormat,
        Self::Quote,
        Self::SmartQuotes,
        Self::Thinking,
        Self::ZeroWidth,
    ];

    /// Returns the name used in JSON, such as `smart_quotes`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Backtick => "backtick",
            Self::BodyFence => "body_fence",
            Self::Bold => "bold",
            Self::Case => "case",
            Self::Entity => "entity",
            Self::Fence => "fence",
            Self::Gutter => "gutter",
            Self::Heading => "heading",
            Self::List => "list",
            Self::MdEscape => "md_escape",
            Self::Nbsp => "nbsp",
            Self::OtherFormat => "other_format",
            Self::Quote => "quote",
            Self::SmartQuotes => "smart_quotes",
            Self::Thinking => "thinking",
            Self::ZeroWidth => "zero_width",
        }
    }

    /// Returns the description for the user: a noun phrase about the pasted text, for a list after "read despite".
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Self::Backtick => "back-ticks around tags",
            Self::BodyFence => "a code fence around a file or a command",
            Self::Bold => "bold tags",
            Self::Case => "lower-case tag names",
            Self::Entity => "HTML entities in tags",
            Self::Fence => "a code fence around the whole reply",
            Self::Gutter => "line numbers in front of a file's lines",
            Self::Heading => "heading marks in front of tags",
            Self::List => "list marks in front of tags",
            Self::MdEscape => "backslashes in tags",
            Self::Nbsp => "no-break spaces in tags",
            Self::OtherFormat => "edits in another program's format",
            Self::Quote => "quote marks in front of lines",
            Self::SmartQuotes => "curly quotes in tags",
            Self::Thinking => "tags within thinking, which do not run",
            Self::ZeroWidth => "invisible characters in front of tags",
        }
    }
}

impl fmt::Display for RepairKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of kinds of repair, iterated in the order of their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RepairSet(u16);

impl RepairSet {
    /// The empty set.
    pub const EMPTY: Self = Self(0);

    /// Checks whether nothing was repaired.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Checks whether this kind was repaired.
    #[must_use]
    pub const fn contains(self, kind: RepairKind) -> bool {
        self.0 & Self::bit(kind) != 0
    }

    /// Iterates over the kinds.
    pub fn iter(self) -> impl Iterator<Item = RepairKind> {
        RepairKind::ALL.into_iter().filter(move |kind| self.contains(*kind))
    }

    pub(crate) fn extend(&mut self, kinds: impl IntoIterator<Item = RepairKind>) {
        kinds.into_iter().for_each(|kind| self.insert(kind));
    }

    pub(crate) fn insert(&mut self, kind: RepairKind) {
        self.0 |= Self::bit(kind);
    }

    pub(crate) fn add_all(&mut self, other: Self) {
        self.0 |= other.0;
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) const fn is_within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    const fn bit(kind: RepairKind) -> u16 {
        1 << kind as u16
    }
}

impl FromIterator<RepairKind> for RepairSet {
    fn from_iter<I: IntoIterator<Item = RepairKind>>(kinds: I) -> Self {
        let mut set = Self::EMPTY;
        kinds.into_iter().for_each(|kind| set.insert(kind));
        set
    }
}
