//! The scanner that finds the blocks of a reply, in one pass and in pieces.
//!
//! It visits each byte a bounded number of times: outside of blocks it searches for the next `[`, inside a block for the text of
//! its closing tag, and a line that turns out to be something else is skipped as a whole.

use std::sync::LazyLock;

use memchr::{memchr, memmem, memrchr};

use crate::{
    BlockKind, Body, Item, LineRange, Located, ParseError, ParseErrorKind, Span,
    parse::{assemble, tag::OpeningTag},
};

/// The state of a scan. Offsets count from the beginning of the whole reply; lines are 1-based.
#[derive(Clone, Debug)]
pub(crate) struct Scanner {
    /// Start of the first line that is not scanned yet.
    position: usize,
    /// Number of that line.
    line_number: usize,
    open: Option<OpenBlock>,
}

/// A block whose closing tag has not been reached yet.
#[derive(Clone, Debug)]
struct OpenBlock {
    kind: BlockKind,
    tag: Span,
    line_number: usize,
    body_start: usize,
}

/// A line, without its LF, as offsets into the scanned piece.
#[derive(Clone, Copy)]
pub(crate) struct Line {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Scanner {
    pub(crate) fn new() -> Self {
        Self { position: 0, line_number: 1, open: None }
    }

    /// Returns the offset of the first byte that is needed again.
    pub(crate) fn needed_from(&self) -> usize {
        self.open.as_ref().map_or(self.position, |open| open.tag.start)
    }

    /// Scans the whole lines of `text`, which starts at offset `base` of the reply; the text after the last LF is left for the
    /// next call.
    pub(crate) fn scan<'t>(&mut self, text: &'t str, base: usize, emit: &mut impl FnMut(Item<'t>)) {
        let end = memrchr(b'\n', text.as_bytes()).map_or(0, |lf| lf + 1);
        self.scan_until(&text[..end], base, emit);
    }

    /// Scans `text` to its end, even if its last line lacks LF, and reports a block that is still open as unclosed.
    pub(crate) fn scan_to_end<'t>(&mut self, text: &'t str, base: usize, emit: &mut impl FnMut(Item<'t>)) {
        self.scan_until(text, base, emit);
        if let Some(open) = self.open.take() {
            emit(Item::Error(open.unclosed(text, base)));
        }
    }

    fn scan_until<'t>(&mut self, text: &'t str, base: usize, emit: &mut impl FnMut(Item<'t>)) {
        // A byte-order mark at the start of the reply only: elsewhere U+FEFF is content.
        if self.position == 0 && text.starts_with('\u{feff}') {
            self.position = '\u{feff}'.len_utf8();
        }
        while self.position - base < text.len() {
            match self.open.take() {
                // Taken out here; `close` puts it back as long as its closing tag is missing.
                Some(open) => self.close(open, text, base, emit),
                None => self.open_next(text, base, emit),
            }
        }
    }

    /// Advances to the next opening tag; emits its block at once if it needs no closing tag.
    fn open_next<'t>(&mut self, text: &'t str, base: usize, emit: &mut impl FnMut(Item<'t>)) {
        let from = self.position - base;
        let Some((line, tag_at, tag)) = next_opening(text, from) else {
            self.pass(text, from, text.len());
            return;
        };
        self.pass(text, from, line.start);
        let line_number = self.line_number;
        self.pass(text, line.start, after(text, &line));
        let span = Span { start: base + tag_at.start, end: base + tag_at.end };
        if tag.kind.has_body() {
            self.open = Some(OpenBlock { kind: tag.kind, tag: span, line_number, body_start: self.position });
        } else {
            emit(item(tag, Body::no_lines(), span, LineRange::of(line_number, line_number)));
        }
    }

    /// Advances to the closing tag of `open` and emits the block, or keeps it open.
    fn close<'t>(&mut self, open: OpenBlock, text: &'t str, base: usize, emit: &mut impl FnMut(Item<'t>)) {
        let from = self.position - base;
        let Some((line, closing)) = closing_line(text, from, open.kind) else {
            self.pass(text, from, text.len());
            self.open = Some(open);
            return;
        };
        self.pass(text, from, line.start);
        let lines = LineRange::of(open.line_number, self.line_number);
        let body = assemble::body(&text[open.body_start - base..line.start]);
        self.pass(text, line.start, after(text, &line));
        let span = Span { start: open.tag.start, end: base + closing.end };
        // Parsed again instead of kept: an open block must not borrow from a piece that is dropped before it closes.
        let tag = OpeningTag::read(&text[open.tag.start - base..open.tag.end - base])
            .expect("the tag was read when the block was opened");
        emit(item(tag, body, span, lines));
    }

    /// Advances over a piece of the text, counting its lines.
    fn pass(&mut self, text: &str, from: usize, to: usize) {
        self.line_number += count_lines(&text[from..to]);
        self.position += to - from;
    }
}

impl OpenBlock {
    fn unclosed(self, text: &str, base: usize) -> ParseError {
        let tag = OpeningTag::read(&text[self.tag.start - base..self.tag.end - base])
            .expect("the tag was read when the block was opened");
        let rest = &text[self.body_start - base..];
        let span = Span { start: self.tag.start, end: base + text.len() };
        unclosed(&tag, span, self.line_number, rest, opening_lines(rest))
    }
}

/// Returns the error for a block that runs to the end of the text; `rest` is the text after its opening line.
pub(crate) fn unclosed(
    tag: &OpeningTag<'_>,
    span: Span,
    line_number: usize,
    rest: &str,
    later_tags: usize,
) -> ParseError {
    // Only the errors of file blocks name a path.
    let path = match tag.kind {
        BlockKind::CreateFile | BlockKind::EditFile => tag.usable_path().map(str::to_owned),
        _ => None,
    };
    // A last line without LF counts as well.
    let unended = usize::from(!rest.is_empty() && !rest.ends_with('\n'));
    let lines = LineRange::of(line_number, line_number + count_lines(rest) + unended);
    ParseError { command: tag.kind, kind: ParseErrorKind::Unclosed { path, later_tags }, span, lines }
}

/// Returns the number of lines that are opening tags, including lines inside blocks.
pub(crate) fn opening_lines(text: &str) -> usize {
    opening_tags(text).count()
}

/// Returns the starts and kinds of the lines that are opening tags, including lines inside blocks.
pub(crate) fn opening_tags(text: &str) -> impl Iterator<Item = (usize, BlockKind)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let (line, _, tag) = next_opening(text, from)?;
        from = after(text, &line);
        Some((line.start, tag.kind))
    })
}

/// Returns the item of a block, well-formed or not.
pub(crate) fn item<'a>(tag: OpeningTag<'a>, body: Body<'a>, span: Span, lines: LineRange) -> Item<'a> {
    let command = tag.kind;
    match assemble::block(tag, body) {
        Ok(value) => Item::Block(Located { value, span, lines }),
        Err(kind) => Item::Error(ParseError { command, kind, span, lines }),
    }
}

/// Returns the number of LF in a text.
pub(crate) fn count_lines(text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes()).count()
}

/// Returns the offset after a line and its LF.
pub(crate) fn after(text: &str, line: &Line) -> usize {
    (line.end + 1).min(text.len())
}

/// Returns the first line at or after the line start `from` that is an opening tag, with the position of the tag.
fn next_opening(text: &str, mut from: usize) -> Option<(Line, Span, OpeningTag<'_>)> {
    let bytes = text.as_bytes();
    while let Some(bracket) = memchr(b'[', &bytes[from..]).map(|at| from + at) {
        let start = memrchr(b'\n', &bytes[from..bracket]).map_or(from, |lf| from + lf + 1);
        let line = Line { start, end: line_end(bytes, bracket) };
        // Text in front of the first bracket makes the line prose, whatever follows.
        if text[start..bracket].trim_start().is_empty() {
            let trimmed = text[bracket..line.end].trim_end();
            if let Some(tag) = OpeningTag::read(trimmed) {
                return Some((line, Span { start: bracket, end: bracket + trimmed.len() }, tag));
            }
        }
        from = after(text, &line);
    }
    None
}

/// Returns the first line at or after the line start `from` that trims to the closing tag of `kind`, with the position of the
/// tag.
///
/// The first occurrence on a line decides: if there is other text around it, the line is not a tag.
pub(crate) fn closing_line(text: &str, mut from: usize, kind: BlockKind) -> Option<(Line, Span)> {
    // Building a finder costs more than a search in a short body, so each is built once.
    static FINDERS: LazyLock<[memmem::Finder<'static>; BlockKind::ALL.len()]> =
        LazyLock::new(|| BlockKind::ALL.map(|kind| memmem::Finder::new(kind.closing_tag())));
    let bytes = text.as_bytes();
    let finder = &FINDERS[kind as usize];
    while let Some(at) = finder.find(&bytes[from..]).map(|at| from + at) {
        let start = memrchr(b'\n', &bytes[from..at]).map_or(from, |lf| from + lf + 1);
        let tag = Span { start: at, end: at + kind.closing_tag().len() };
        let line = Line { start, end: line_end(bytes, tag.end) };
        if text[start..at].trim_start().is_empty() && text[tag.end..line.end].trim_end().is_empty() {
            return Some((line, tag));
        }
        from = after(text, &line);
    }
    None
}

fn line_end(bytes: &[u8], from: usize) -> usize {
    memchr(b'\n', &bytes[from..]).map_or(bytes.len(), |lf| from + lf)
}
