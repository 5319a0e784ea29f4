//! Lines in the body of a block that read as tags.

use super::tag_like::{TagLike, Weight, has_path};
use super::{glued_tag, inline_tag};
use crate::parse::scan::{Line, after};
use crate::parse::tag::OpeningTag;
use crate::repair::{FileKind, Opening, closing_kind, lines_from, opening};
use crate::{BlockKind, RepairKind};

/// The lines of a block's body that may be tags.
pub(super) struct BodyTags<'t> {
    block: &'t str,
    opening: Opening<'t>,
}

impl<'t> BodyTags<'t> {
    /// Takes the text of a block with its opening tag; `None` for a block without a body.
    pub(super) fn of(block: &'t str) -> Option<BodyTags<'t>> {
        let first = block.split('\n').next()?;
        let opening = opening(first).filter(|opening| opening.tag.kind.has_body())?;
        Some(BodyTags { block, opening })
    }

    /// Checks whether the body is text, which has its examples in code fences: Markdown, or a message to the user.
    pub(super) fn is_text(&self) -> bool {
        match self.opening.tag.usable_path() {
            Some(path) => FileKind::of(path) == FileKind::Markdown,
            None => self.opening.tag.kind != BlockKind::RunCommand,
        }
    }

    /// Iterates over the lines of the body that contain a character with which a tag may begin.
    pub(super) fn lines(&self) -> impl Iterator<Item = Line> {
        let first = self.block.find('\n').unwrap_or(self.block.len());
        let body_start = after(self.block, &Line { start: 0, end: first });
        let last = self.block.rfind('\n').map_or(0, |lf| lf + 1);
        // An unclosed block ends with a line of its text.
        let is_closed = closing_kind(&self.block[last..]) == Some(self.opening.tag.kind);
        let body_end = if is_closed { last } else { self.block.len() };
        lines_from(&self.block[..body_end], body_start).filter(|line| {
            let bytes = &self.block.as_bytes()[line.start..line.end];
            memchr::memchr3(b'[', b'<', b'&', bytes).is_some()
        })
    }

    /// Returns the starts of the lines that open another block of its kind.
    pub(super) fn own(&self) -> impl Iterator<Item = usize> {
        self.lines().filter(|line| self.opens_own_kind(self.content(line))).map(|line| line.start)
    }

    /// Returns a trimmed line.
    pub(super) fn content(&self, line: &Line) -> &'t str {
        self.block[line.start..line.end].trim()
    }

    /// Checks whether a line opens another block of its kind: with a tag that only has damage of the block's own tag, or with a
    /// tag that text does not contain by chance.
    pub(super) fn opens_own_kind(&self, line: &str) -> bool {
        let kind = self.opening.tag.kind;
        let is_usable = |tag: &OpeningTag<'_>| match kind {
            BlockKind::RunCommand => true,
            _ => kind.acts() && tag.usable_path().is_some(),
        };
        if let Some(next) = opening(line) {
            // In text, a tag in back-ticks is only mentioned, and in code, a tag after a single `#`.
            let is_mentioned =
                self.is_text() && next.damage.contains(RepairKind::Backtick) || line.starts_with("# ");
            return self.opening.is_followed_by(&next)
                || next.tag.kind == kind && is_usable(&next.tag) && !is_mentioned;
        }
        let is_misspelt = || {
            // Other programs have tags in angle brackets, with lower-case names.
            let is_of_protocol = line.starts_with('[')
                || line.strip_prefix('<').is_some_and(|rest| rest.starts_with(kind.name()));
            kind.acts()
                && is_of_protocol
                && (kind == BlockKind::RunCommand || has_path(line))
                && TagLike::read(line).is_some_and(|tag| tag.kind == kind && is_alone(&tag))
        };
        // Text may mention a tag at the end of a line; commands and code rarely do.
        let glued = if self.is_text() { glued_tag::after_label } else { glued_tag::after_words };
        let is_glued = || glued(line).is_some_and(|tag| tag.kind == kind && is_usable(&tag));
        is_misspelt() || is_glued()
    }

    /// Returns the kind of block that a trimmed line opens, if more than a damaged tag suggests it. Text may show damaged tags of
    /// other kinds.
    pub(super) fn opened_kind(&self, line: &str) -> Option<BlockKind> {
        let read = opening(line);
        if let Some(plain) = read.as_ref().filter(|opening| opening.damage.is_empty()) {
            return Some(plain.tag.kind);
        }
        let damaged = read
            .filter(|opening| opening.is_upper_case() || opening.tag.usable_path().is_some())
            .map(|opening| opening.tag.kind);
        let misspelt = || TagLike::read(line).filter(is_alone).map(|tag| tag.kind);
        let glued = || glued_tag::read(line).or_else(|| inline_tag::read(line)).map(|tag| tag.kind);
        let kind = damaged.or_else(misspelt).or_else(glued)?;
        (!self.is_text() || kind == self.opening.tag.kind).then_some(kind)
    }
}

fn is_alone(tag: &TagLike) -> bool {
    !tag.is_closing && tag.weight == Weight::Alone
}

/// Returns the first line that opens a block whose closing tag, if it has one, is among the later lines. `opened` reads an opening
/// tag.
pub(super) fn first_whole_block(
    text: &str,
    lines: impl Iterator<Item = Line>,
    opened: impl Fn(&str) -> Option<BlockKind>,
) -> Option<Line> {
    let mut first: [Option<Line>; BlockKind::ALL.len()] = [None; BlockKind::ALL.len()];
    for line in lines {
        let content = &text[line.start..line.end];
        let closes =
            |kind: &BlockKind| first[*kind as usize].is_some() && content.trim() == kind.closing_tag();
        if let Some(closed) = BlockKind::ALL.into_iter().find(closes) {
            return first[closed as usize];
        }
        match opened(content) {
            Some(kind) if !kind.has_body() => return Some(line),
            Some(kind) => _ = first[kind as usize].get_or_insert(line),
            None => {}
        }
    }
    None
}

/// Returns the kind of block that an opening tag means: a file has a path, and a tag of reading alone does nothing.
pub(super) fn meant_kind(opening: &Opening<'_>) -> Option<BlockKind> {
    let kind = opening.tag.kind;
    let is_file = matches!(kind, BlockKind::CreateFile | BlockKind::EditFile | BlockKind::DeleteFile);
    let has_path = || opening.tag.usable_path().is_some_and(|path| path.contains(char::is_alphanumeric));
    let is_meant = kind != BlockKind::ReadFile && opening.is_upper_case() && (!is_file || has_path());
    is_meant.then_some(kind)
}
