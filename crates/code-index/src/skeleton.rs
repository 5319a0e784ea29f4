//! Reduces a text to the parts that the parser needs.
//!
//! Most of a source file is function bodies, and most of them neither define nor import anything; comments never
//! do. A skeleton empties such bodies and removes comments, so that the parser has a fraction of the work, and
//! maps offsets back to the whole text.

mod rust;

use std::borrow::Cow;

use crate::language::Language;

/// The shortest range in bytes that is worth cutting.
const SHORTEST_CUT_BYTES: usize = 8;

/// A text without its irrelevant parts.
#[derive(Clone, Debug)]
pub(crate) struct Skeleton<'t> {
    text: Cow<'t, [u8]>,
    /// The start of each piece in the skeleton and in the whole text, in bytes. The first is `(0, 0)`.
    pieces: Vec<(usize, usize)>,
}

impl<'t> Skeleton<'t> {
    /// Creates the skeleton of a text; the whole text for a language without rules for cutting.
    pub(crate) fn new(language: Language, text: &'t [u8]) -> Skeleton<'t> {
        match language {
            Language::Rust => Skeleton::without(text, &rust::cuts(text)),
            _ => Skeleton::whole(text),
        }
    }

    /// Creates a skeleton of the whole text.
    pub(crate) fn whole(text: &'t [u8]) -> Skeleton<'t> {
        Skeleton { text: Cow::Borrowed(text), pieces: vec![(0, 0)] }
    }

    /// Creates a skeleton without some byte ranges, which are sorted and do not overlap.
    fn without(text: &'t [u8], cuts: &[(usize, usize)]) -> Skeleton<'t> {
        if cuts.is_empty() {
            return Skeleton::whole(text);
        }
        let mut kept = Vec::with_capacity(text.len());
        let mut pieces = Vec::with_capacity(cuts.len() + 1);
        let mut from = 0;
        for (start, end) in cuts {
            pieces.push((kept.len(), from));
            kept.extend_from_slice(&text[from..*start]);
            from = *end;
        }
        pieces.push((kept.len(), from));
        kept.extend_from_slice(&text[from..]);
        Skeleton { text: Cow::Owned(kept), pieces }
    }

    /// Returns the text for the parser.
    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Returns the offset in the whole text of a byte of the skeleton.
    pub(crate) fn origin(&self, at: usize) -> usize {
        // The last piece that starts at or before the offset; the first one starts at 0.
        let piece = self.pieces.partition_point(|(start, _)| *start <= at).saturating_sub(1);
        let (start, origin) = self.pieces[piece];
        origin + (at - start)
    }

    /// Returns the end offset in the whole text for an end offset in the skeleton.
    pub(crate) fn origin_of_end(&self, end: usize) -> usize {
        // The text after the end may have been cut, so the last byte before it is mapped.
        end.checked_sub(1).map_or(0, |last| self.origin(last) + 1)
    }
}

/// The ranges to cut, while they are collected.
#[derive(Debug, Default)]
struct Cuts {
    ranges: Vec<(usize, usize)>,
    /// Groups that are not closed yet.
    open: Vec<OpenGroup>,
}

#[derive(Debug)]
struct OpenGroup {
    /// The closing byte.
    closing: u8,
    /// The offset after the opening byte.
    start: usize,
    content: Content,
}

/// The relevance of a group's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// Nothing relevant so far.
    Idle,
    /// Not cut itself, but does not keep the groups around it.
    Kept,
    /// Relevant for the parser; keeps the groups around it.
    Relevant,
    /// Irrelevant, regardless of its content.
    Opaque,
}

impl Cuts {
    /// Adds a range to cut, replacing the ranges within it.
    fn cut(&mut self, start: usize, end: usize) {
        // Groups close from the inside out, so the ranges within this one are the last ones.
        while self.ranges.last().is_some_and(|(inner, _)| *inner >= start) {
            self.ranges.pop();
        }
        if end >= start + SHORTEST_CUT_BYTES {
            self.ranges.push((start, end));
        }
    }

    fn open(&mut self, closing: u8, start: usize, content: Content) {
        self.open.push(OpenGroup { closing, start, content });
    }

    /// Marks the innermost group as relevant.
    fn mark_relevant(&mut self) {
        if let Some(group) = self.open.last_mut().filter(|group| group.content != Content::Opaque) {
            group.content = Content::Relevant;
        }
    }

    /// Closes the innermost group that `closing` at offset `end` can close; ignores an unmatched one.
    fn close(&mut self, closing: u8, end: usize) {
        // A closing brace also ends the unclosed parentheses and brackets within it.
        while closing == b'}' && self.open.last().is_some_and(|group| group.closing != closing) {
            self.open.pop();
            self.mark_relevant();
        }
        let Some(group) = self.open.pop_if(|group| group.closing == closing) else { return };
        match group.content {
            Content::Relevant => self.mark_relevant(),
            Content::Kept => {}
            Content::Idle | Content::Opaque => self.cut(group.start, end),
        }
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Returns the first offset from `at` on that is not white space, or the end.
fn past_space(text: &[u8], at: usize) -> usize {
    text[at..].iter().position(|byte| !byte.is_ascii_whitespace()).map_or(text.len(), |count| at + count)
}

/// Returns the end of the name that begins at `at`.
fn past_name(text: &[u8], at: usize) -> usize {
    text[at..].iter().position(|byte| !is_name_byte(*byte)).map_or(text.len(), |count| at + count)
}

/// Returns the end of a run of line comments that begins at `at`: the line ending of the last.
fn past_line_comments(text: &[u8], at: usize) -> usize {
    let mut from = at;
    loop {
        let Some(length) = memchr::memchr(b'\n', &text[from..]) else { return text.len() };
        let end = from + length;
        let next = past_space(text, end);
        if !text[next..].starts_with(b"//") {
            return end;
        }
        from = next;
    }
}

/// Returns the end of a quoted text; `at` is after the opening quote.
fn past_quoted(text: &[u8], at: usize, quote: u8) -> usize {
    let mut from = at;
    while let Some(length) = memchr::memchr2(quote, b'\\', &text[from..]) {
        let mark = from + length;
        if text[mark] == quote {
            return mark + 1;
        }
        // A backslash escapes the next byte, which may be the quote.
        from = (mark + 2).min(text.len());
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use wap_core::CancelFlag;

    use super::*;
    use crate::IndexLimits;
    use crate::lines::Lines;
    use crate::outline::syntax::Parsers;
    use crate::outline::{Outline, outline};

    fn outline_of(language: Language, text: &[u8], skeleton: &Skeleton<'_>) -> Outline {
        let tree =
            Parsers::default().parse(language, skeleton.text(), Duration::from_secs(60), &CancelFlag::new());
        let limits = IndexLimits { parse_time: Duration::from_secs(60), ..IndexLimits::default() };
        outline(language, &tree.unwrap(), skeleton, &Lines::new(text), &limits, &CancelFlag::new()).unwrap()
    }

    /// Texts with relevant parts in misleading positions.
    const CASES: [(Language, &str); 1] =
        [(Language::Rust, include_str!("../../../fixtures/index-skeletons/rust.txt"))];

    #[test]
    fn a_skeleton_has_the_outline_of_its_text() {
        for (language, text) in CASES {
            let skeleton = Skeleton::new(language, text.as_bytes());
            let whole = outline_of(language, text.as_bytes(), &Skeleton::whole(text.as_bytes()));
            assert_eq!(outline_of(language, text.as_bytes(), &skeleton), whole);
            let visible = String::from_utf8_lossy(skeleton.text());
            assert!(!visible.contains("left_out"), "{language:?}: {visible}");
            let count = whole.definitions.iter().filter(|one| one.name.starts_with("listed")).count();
            assert_eq!(count, text.matches("listed").count(), "{language:?}: {whole:?}");
        }
    }

    #[test]
    fn a_text_cut_anywhere_maps_its_offsets() {
        for (language, text) in CASES {
            for end in 0..=text.len() {
                let skeleton = Skeleton::new(language, &text.as_bytes()[..end]);
                let length = skeleton.text().len();
                assert!(length <= end);
                assert_eq!(skeleton.origin_of_end(length).min(end), skeleton.origin_of_end(length));
            }
        }
    }

    #[test]
    fn offsets_map_back_to_the_whole_text() {
        let text = "fn a() { left out } // left out as well\nfn b() {}";
        let skeleton = Skeleton::new(Language::Rust, text.as_bytes());
        assert_eq!(String::from_utf8_lossy(skeleton.text()), "fn a() {} \nfn b() {}");
        let at = |wanted: &str| String::from_utf8_lossy(skeleton.text()).find(wanted).unwrap();
        assert_eq!(skeleton.origin(at("fn b")), text.find("fn b").unwrap());
        assert_eq!(skeleton.origin_of_end(at("}") + 1), text.find('}').unwrap() + 1);
    }
}
