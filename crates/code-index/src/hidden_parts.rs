//! Parts of texts that are hidden from answers.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// Finds the parts of a text to hide from readers of answers: secrets.
///
/// No word, name or import is taken from such a part, neither for the index nor for an answer, and no excerpt begins or ends
/// within one. Otherwise queries could reveal a value piece by piece.
pub trait HiddenParts: fmt::Debug + Send + Sync {
    /// Returns the parts, ordered and disjoint.
    fn parts_of(&self, text: &str) -> Vec<Range<usize>>;
}

/// A content whose hidden parts are replaced by spaces, so that every other byte and line keeps its position.
#[derive(Debug)]
pub(crate) struct VisibleContent<'c> {
    /// The content with the spaces.
    pub(crate) bytes: Cow<'c, [u8]>,
    /// The hidden parts, ordered and disjoint.
    pub(crate) hidden: Vec<Range<usize>>,
}

impl<'c> VisibleContent<'c> {
    pub(crate) fn new(content: &'c [u8], parts: Option<&dyn HiddenParts>) -> VisibleContent<'c> {
        let hidden = parts.map_or_else(Vec::new, |parts| hidden_parts(content, parts));
        if hidden.is_empty() {
            return VisibleContent { bytes: Cow::Borrowed(content), hidden };
        }
        let mut bytes = content.to_vec();
        for part in &hidden {
            bytes[part.clone()].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        }
        VisibleContent { bytes: Cow::Owned(bytes), hidden }
    }

    /// Checks whether any part is hidden.
    pub(crate) fn has_hidden(&self) -> bool {
        !self.hidden.is_empty()
    }

    /// Returns the hidden part that a cut at a byte would divide.
    pub(crate) fn divided_at(&self, at: usize) -> Option<Range<usize>> {
        let part = self.hidden.get(self.hidden.partition_point(|part| part.end <= at))?;
        (part.start < at).then(|| part.clone())
    }
}

/// Returns the hidden parts of a content. The search is done on the text that answers quote, where invalid UTF-8 is replaced.
fn hidden_parts(content: &[u8], parts: &dyn HiddenParts) -> Vec<Range<usize>> {
    if let Ok(text) = str::from_utf8(content) {
        return parts.parts_of(text);
    }
    // The start of each run of valid and of invalid bytes in the quoted text, and in the content.
    let mut starts = Vec::new();
    let (mut text, mut at) = (String::with_capacity(content.len()), 0);
    for chunk in content.utf8_chunks() {
        starts.push((text.len(), at));
        text.push_str(chunk.valid());
        at += chunk.valid().len();
        starts.push((text.len(), at));
        if !chunk.invalid().is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
            at += chunk.invalid().len();
        }
    }
    let origin = |offset: usize| {
        let (quoted, original) = starts[starts.partition_point(|(quoted, _)| *quoted <= offset) - 1];
        (original + offset - quoted).min(content.len())
    };
    parts.parts_of(&text).into_iter().map(|part| origin(part.start)..origin(part.end)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hides every run of the letter `s`.
    #[derive(Debug)]
    struct LetterS;

    impl HiddenParts for LetterS {
        fn parts_of(&self, text: &str) -> Vec<Range<usize>> {
            let is_s = |at: usize| text.as_bytes().get(at) == Some(&b's');
            let starts = (0..text.len()).filter(|at| is_s(*at) && (*at == 0 || !is_s(at - 1)));
            starts.map(|start| start..(start..).find(|at| !is_s(*at)).unwrap_or(text.len())).collect()
        }
    }

    #[test]
    fn hidden_parts_are_blanked_next_to_invalid_utf8() {
        let cases: [(&[u8], &[u8]); 5] = [
            (b"a ss\nb", b"a   \nb"),
            (b"\xff\xfe ss \xffss", b"\xff\xfe    \xff  "),
            (b"\xe2\x82ss\xe2\x82", b"\xe2\x82  \xe2\x82"),
            (b"s\xff", b" \xff"),
            ("ä ss\u{20ac}s".as_bytes(), "ä   \u{20ac} ".as_bytes()),
        ];
        for (content, expected) in cases {
            let visible = VisibleContent::new(content, Some(&LetterS));
            assert_eq!(visible.bytes, expected, "{}", content.escape_ascii());
            // The control: without anything to hide, nothing is copied.
            let all = VisibleContent::new(content, None);
            assert!(matches!(all.bytes, Cow::Borrowed(_)) && !all.has_hidden());
        }
    }

    #[test]
    fn a_cut_divides_only_the_part_around_it() {
        let visible = VisibleContent::new(b"ab sss d", Some(&LetterS));
        let divided = |at| visible.divided_at(at);
        assert_eq!([divided(3), divided(6), divided(8)], [None, None, None]);
        assert_eq!([divided(4), divided(5)], [Some(3..6), Some(3..6)]);
    }
}
