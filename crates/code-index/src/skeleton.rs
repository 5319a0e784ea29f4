//! What of a text a parser has to see.
//!
//! Most of a source file is what functions do, and most of that neither defines nor imports anything. Comments never do. A
//! skeleton leaves such bodies empty and comments out, so that the parser has a fraction of the work, and still says where
//! in the text everything stands.

mod rust;

use std::borrow::Cow;

use crate::language::Language;

/// Shorter pieces are not worth leaving out.
const SHORTEST_CUT_BYTES: usize = 8;

/// A text without what defines nothing.
#[derive(Clone, Debug)]
pub(crate) struct Skeleton<'t> {
    text: Cow<'t, [u8]>,
    /// Where each piece begins: in the skeleton and in the whole text, in bytes. The first begins both.
    pieces: Vec<(usize, usize)>,
}

impl<'t> Skeleton<'t> {
    /// The skeleton of a text; all of it, where nothing is known about leaving something out.
    pub(crate) fn new(language: Language, text: &'t [u8]) -> Skeleton<'t> {
        match language {
            Language::Rust => Skeleton::without(text, &rust::cuts(text)),
            _ => Skeleton::whole(text),
        }
    }

    /// All of a text.
    pub(crate) fn whole(text: &'t [u8]) -> Skeleton<'t> {
        Skeleton { text: Cow::Borrowed(text), pieces: vec![(0, 0)] }
    }

    /// A text without ranges of bytes, which are in order and apart from each other.
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

    /// What the parser sees.
    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Where in the text a byte of the skeleton stands.
    pub(crate) fn origin(&self, at: usize) -> usize {
        let piece = self.pieces.partition_point(|(start, _)| *start <= at).saturating_sub(1);
        let (start, origin) = self.pieces[piece];
        origin + (at - start)
    }

    /// Where in the text what ends there in the skeleton ends.
    pub(crate) fn origin_of_end(&self, end: usize) -> usize {
        // The byte before it is its own; what follows it may have been left out.
        end.checked_sub(1).map_or(0, |last| self.origin(last) + 1)
    }
}

/// The ranges that are left out, as they are found.
#[derive(Debug, Default)]
struct Cuts {
    ranges: Vec<(usize, usize)>,
    /// Groups in braces that are not closed yet.
    open: Vec<OpenGroup>,
}

#[derive(Debug)]
struct OpenGroup {
    /// What closes it.
    closing: u8,
    /// The byte behind what opens it.
    start: usize,
    content: Content,
}

/// What is known of the content of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// Nothing that matters so far.
    Idle,
    /// It stays, but it is nothing that what is around it has to stay for.
    Kept,
    /// Something that the parser has to see.
    Telling,
    /// Whatever it is, it defines nothing.
    Opaque,
}

impl Cuts {
    /// Leaves a range out.
    fn cut(&mut self, start: usize, end: usize) {
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

    /// Something that matters stands here.
    fn tell(&mut self) {
        if let Some(group) = self.open.last_mut().filter(|group| group.content != Content::Opaque) {
            group.content = Content::Telling;
        }
    }

    /// Closes the innermost group that `closing`, which stands at `end`, can close. What closes nothing does no harm.
    fn close(&mut self, closing: u8, end: usize) {
        // Braces hold parentheses and brackets, never the other way round for long: what is open in them was never closed.
        while closing == b'}' && self.open.last().is_some_and(|group| group.closing != closing) {
            self.open.pop();
            self.tell();
        }
        let Some(group) = self.open.pop_if(|group| group.closing == closing) else { return };
        match group.content {
            Content::Telling => self.tell(),
            Content::Kept => {}
            Content::Idle | Content::Opaque => self.cut(group.start, end),
        }
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The first byte from `at` on that is no white space; the end if there is none.
fn past_space(text: &[u8], at: usize) -> usize {
    text[at..].iter().position(|byte| !byte.is_ascii_whitespace()).map_or(text.len(), |count| at + count)
}

/// The end of the name that begins at `at`.
fn past_name(text: &[u8], at: usize) -> usize {
    text[at..].iter().position(|byte| !is_name_byte(*byte)).map_or(text.len(), |count| at + count)
}

/// The end of a run of line comments that begins at `at`: the line ending of the last.
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

/// The end of a text in quotes whose first byte behind the opening quote is at `at`.
fn past_quoted(text: &[u8], at: usize, quote: u8) -> usize {
    let mut from = at;
    while let Some(length) = memchr::memchr2(quote, b'\\', &text[from..]) {
        let found = from + length;
        if text[found] == quote {
            return found + 1;
        }
        from = (found + 2).min(text.len());
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
        outline(language, &tree.unwrap(), skeleton, &Lines::new(text), &IndexLimits::default())
    }

    /// Texts in which something that matters stands where it is easily taken for something else.
    const CASES: [(Language, &str); 1] =
        [(Language::Rust, include_str!("../../../fixtures/index-skeletons/rust.txt"))];

    #[test]
    fn a_skeleton_has_the_outline_of_its_text() {
        for (language, text) in CASES {
            let skeleton = Skeleton::new(language, text.as_bytes());
            let whole = outline_of(language, text.as_bytes(), &Skeleton::whole(text.as_bytes()));
            assert_eq!(outline_of(language, text.as_bytes(), &skeleton), whole);
            let seen = String::from_utf8_lossy(skeleton.text());
            assert!(!seen.contains("left_out"), "{language:?}: {seen}");
            let told = whole.definitions.iter().filter(|one| one.name.starts_with("told")).count();
            assert_eq!(told, text.matches("told").count(), "{language:?}: {whole:?}");
        }
    }

    #[test]
    fn a_text_that_is_cut_anywhere_is_no_harm() {
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
    fn what_is_left_knows_where_it_stood() {
        let text = "fn a() { left out } // left out as well\nfn b() {}";
        let skeleton = Skeleton::new(Language::Rust, text.as_bytes());
        assert_eq!(String::from_utf8_lossy(skeleton.text()), "fn a() {} \nfn b() {}");
        let at = |wanted: &str| String::from_utf8_lossy(skeleton.text()).find(wanted).unwrap();
        assert_eq!(skeleton.origin(at("fn b")), text.find("fn b").unwrap());
        assert_eq!(skeleton.origin_of_end(at("}") + 1), text.find('}').unwrap() + 1);
    }
}
