//! The positions of the blocks in a pasted reply, with damaged or intact tags. The content of bodies is not checked here.

use std::ops::Range;

use crate::{
    BlockKind, Dialect, LineRange, ParseError, Refusal, RefusalKind, RepairKind, RepairSet, Span,
    parse::scan::{self, Line, after, count_lines},
    repair::{
        fence::Fence,
        list_item::ListItem,
        spelled_closers::SpelledClosers,
        tag_line::{self, Opening},
        thinking::Thinking,
    },
    span::line_number,
};

/// The blocks of a paste, in order, and the marks between them.
#[derive(Debug, Default)]
pub(crate) struct Outline<'a> {
    pub(crate) blocks: Vec<FoundBlock<'a>>,
    /// The damage of the tag lines.
    pub(crate) damage: RepairSet,
    /// The first tag line for which the paste is refused.
    pub(crate) refusal: Option<Refusal>,
    /// Section markers of an outbox outside of bodies, with their line numbers.
    pub(crate) markers: Vec<(&'static str, usize)>,
    fences: Vec<(Range<usize>, Fence)>,
}

/// A block, from its opening tag to its closing tag.
#[derive(Debug)]
pub(crate) struct FoundBlock<'a> {
    pub(crate) opening: Opening<'a>,
    pub(crate) span: Span,
    pub(crate) lines: LineRange,
    /// The whitespace in front of the opening tag and its decoration.
    pub(crate) indent: &'a str,
    /// True if it is indented as part of a list item before it.
    pub(crate) is_in_list_item: bool,
    pub(crate) end: End<'a>,
}

/// The end of a block.
#[derive(Debug)]
pub(crate) enum End<'a> {
    /// The opening tag itself: the block has no body.
    AtOnce,
    /// A closing tag, with the text between the tags, the number of its first line, the whitespace in front of the closing tag,
    /// and the lines of both tags.
    Closed { body: &'a str, first_line: usize, indent: &'a str, tags: [&'a str; 2] },
    /// None: the closing tag is missing.
    Unclosed(ParseError),
}

const MARKERS: [&str; 4] = ["=== HEADER ===", "=== PROTOCOL ===", "=== CONTEXT ===", "=== PROMPT ==="];

impl<'a> Outline<'a> {
    pub(crate) fn of(text: &'a str, dialect: Dialect) -> Self {
        let mut outline = Self::default();
        let mut walk = Walk::new(text, dialect);
        while walk.at < text.len() {
            let line = walk.line();
            let content = &text[line.start..line.end];
            // Before tags: tags inside a thinking block do not run.
            if let Some(end) = walk.thinking.end_of_block(text, &line) {
                if holds_a_tag(&text[line.start..end]) {
                    outline.damage.insert(RepairKind::Thinking);
                }
                walk.pass_to(end);
                continue;
            }
            let stop = || match dialect {
                Dialect::Agentd => tag_line::stop(content),
                Dialect::CodingAgent => None,
            };
            if let Some(opening) = tag_line::opening(content).or_else(stop)
                && let Some(block) = walk.block(&line, opening)
            {
                outline.push(block);
                continue;
            }
            walk.item.pass(content);
            outline.note_prose(text, &line, walk.line_number);
            walk.pass_to(after(text, &line));
        }
        if outline.has_fence_around_everything(text) {
            outline.damage.insert(RepairKind::Fence);
        }
        outline
    }

    fn push(&mut self, block: FoundBlock<'a>) {
        self.damage.add_all(block.opening.damage);
        if let Some(kind) = block.opening.doubt {
            self.refuse(kind, block.lines.first);
        }
        self.blocks.push(block);
    }

    fn refuse(&mut self, kind: RefusalKind, line_number: u32) {
        self.refusal.get_or_insert(Refusal { kind, line_number });
    }

    fn note_prose(&mut self, text: &'a str, line: &Line, number: usize) {
        let content = &text[line.start..line.end];
        let trimmed = content.trim();
        if let Some(fence) = Fence::read(trimmed) {
            self.fences.push((line.start..line.end, fence));
        } else if let Some(marker) = marker(trimmed) {
            self.markers.push((marker, number));
        } else if trimmed.starts_with('[') && is_split_tag(trimmed, &text[after(text, line)..]) {
            self.refuse(RefusalKind::SplitTag, line_number(number));
        }
    }

    /// Checks whether the first and the last non-blank line form a fence, and there is no other fence between the blocks.
    fn has_fence_around_everything(&self, text: &str) -> bool {
        // With more than two fence lines, some are between the blocks and belong to the reply.
        let [(first, opening), (last, closing)] = self.fences.as_slice() else { return false };
        let is_blank = |text: &str| text.trim_start_matches('\u{feff}').trim().is_empty();
        !self.blocks.is_empty()
            && closing.closes(*opening)
            && is_blank(&text[..first.start])
            && is_blank(&text[last.end..])
    }
}

/// A position in a paste that only moves forward.
struct Walk<'a> {
    text: &'a str,
    at: usize,
    /// The number of the line at `at`.
    line_number: usize,
    thinking: Thinking,
    item: ListItem,
    closers: SpelledClosers,
}

impl<'a> Walk<'a> {
    fn new(text: &'a str, dialect: Dialect) -> Self {
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self {
            text,
            at,
            line_number: 1,
            thinking: Thinking::of(dialect),
            item: ListItem::default(),
            closers: SpelledClosers::default(),
        }
    }

    fn line(&self) -> Line {
        line_at(self.text, self.at)
    }

    fn pass_to(&mut self, to: usize) {
        self.line_number += count_lines(&self.text[self.at..to]);
        self.at = to;
    }

    /// Finds the end of the block that `opening` opens and moves past it; returns `None` without moving if the line is prose.
    fn block(&mut self, line: &Line, opening: Opening<'a>) -> Option<FoundBlock<'a>> {
        let content = &self.text[line.start..line.end];
        let kind = opening.tag.kind;
        let body_start = after(self.text, line);
        // `[done]` and `[Message]` occur in prose: a block that is not in upper case needs more evidence than its tag.
        if !opening.is_upper_case() {
            let is_block = if kind.has_body() {
                self.closers.closes_from(self.text, body_start, &opening)
            } else {
                opening.tag.usable_path().is_some()
            };
            // Nothing has been passed so far, so the caller can treat the line as prose.
            if !is_block {
                return None;
            }
        }
        let first = self.line_number;
        let indent = &content[..content.len() - content.trim_start().len()];
        let is_in_list_item = self.item.holds(indent);
        if !is_in_list_item {
            self.item = ListItem::default();
        }
        let tag = Span { start: line.start + indent.len(), end: line.start + content.trim_end().len() };
        self.pass_to(body_start);
        if !kind.has_body() {
            let lines = LineRange::of(first, first);
            let end = End::AtOnce;
            return Some(FoundBlock { opening, span: tag, lines, indent, is_in_list_item, end });
        }
        let Some(closing) = self.closing_line(&opening) else {
            let rest = &self.text[body_start..];
            let span = Span { start: tag.start, end: self.text.len() };
            let error = scan::unclosed(&opening.tag, span, first, rest, later_tags(rest, &opening));
            self.at = self.text.len();
            let (lines, end) = (error.lines, End::Unclosed(error));
            return Some(FoundBlock { opening, span, lines, indent, is_in_list_item, end });
        };
        let body = &self.text[body_start..closing.start];
        let first_line = self.line_number;
        self.pass_to(closing.start);
        let lines = LineRange::of(first, self.line_number);
        let last = &self.text[closing.start..closing.end];
        let closing_indent = &last[..last.len() - last.trim_start().len()];
        let span = Span { start: tag.start, end: closing.start + last.trim_end().len() };
        self.pass_to(after(self.text, &closing));
        let end = End::Closed { body, first_line, indent: closing_indent, tags: [content, last] };
        Some(FoundBlock { opening, span, lines, indent, is_in_list_item, end })
    }

    fn closing_line(&self, opening: &Opening<'_>) -> Option<Line> {
        // An undamaged block closes by the strict rule, so that a clean reply is parsed as strictly as ever.
        if opening.damage.is_empty() {
            return scan::closing_line(self.text, self.at, opening.tag.kind).map(|(line, _)| line);
        }
        let closes = |line: &Line| {
            tag_line::closing(&self.text[line.start..line.end])
                .is_some_and(|closing| opening.is_closed_by(&closing))
        };
        lines_from(self.text, self.at).find(closes)
    }
}

/// Iterates over the lines of a text from a line start on.
pub(crate) fn lines_from(text: &str, from: usize) -> impl Iterator<Item = Line> {
    let mut at = from;
    std::iter::from_fn(move || {
        (at < text.len()).then(|| {
            let line = line_at(text, at);
            at = after(text, &line);
            line
        })
    })
}

fn line_at(text: &str, start: usize) -> Line {
    let end = memchr::memchr(b'\n', &text.as_bytes()[start..]).map_or(text.len(), |lf| start + lf);
    Line { start, end }
}

fn holds_a_tag(text: &str) -> bool {
    text.split('\n').any(|line| tag_line::opening(line).is_some_and(|opening| opening.is_upper_case()))
}

/// Returns the number of lines after an unclosed opening tag that read as opening tags, by the rule for that tag.
fn later_tags(rest: &str, opening: &Opening<'_>) -> usize {
    if opening.damage.is_empty() {
        return scan::opening_lines(rest);
    }
    rest.split('\n').filter(|line| tag_line::opening(line).is_some_and(|later| later.is_upper_case())).count()
}

/// Returns the section marker of an outbox that a line consists of, quoted or not.
fn marker(trimmed: &str) -> Option<&'static str> {
    let line = trimmed.trim_start_matches('>').trim_start();
    MARKERS.into_iter().find(|marker| *marker == line)
}

/// Checks whether a line begins a tag that ends in one of the next two lines.
fn is_split_tag(trimmed: &str, rest: &str) -> bool {
    let name_end = trimmed[1..].find(char::is_whitespace).map_or(trimmed.len(), |end| end + 1);
    if trimmed[1..name_end].parse::<BlockKind>().is_err() {
        return false;
    }
    // An odd number of quotes leaves a value open at the end of the line.
    let is_odd = |quotes: &[char]| trimmed.matches(quotes).count() % 2 == 1;
    let between = match () {
        () if is_odd(&['"']) || is_odd(&tag_line::CURLY_DOUBLE) => "",
        () if !trimmed.ends_with(']') => " ",
        () => return false,
    };
    let mut joined = trimmed.to_owned();
    rest.split('\n').take(2).any(|line| {
        joined.push_str(between);
        joined.push_str(line.trim());
        tag_line::opening(&joined).is_some_and(|opening| opening.tag.usable_path().is_some())
    })
}
