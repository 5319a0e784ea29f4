//! Replacing an expected number of matches changes these and nothing else.

use proptest::prelude::*;
use text_edit::{EditLimits, Numbering, Operation, SearchText, apply};

fn replaced(text: &str, search: &str, replacement: &str, expected: usize) -> Vec<u8> {
    let operation = Operation::ReplaceText {
        search: SearchText::anywhere(search),
        replacement: replacement.to_owned(),
        expected,
        within: None,
    };
    let edited = apply(text.as_bytes(), &[operation], Numbering::Original, &EditLimits::default()).unwrap();
    assert_eq!(edited.outcomes[0].replacements, expected);
    edited.bytes
}

fn text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec!["a", "b", "aa", "é", " ", "\n", "\r\n", "a\nb", "a\r\nb"]);
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn every_match_within_a_line_is_replaced_byte_by_byte(
        text in text(), search in "a|b|ab|aa|é", replacement in "[ac$\\\\1é]{0,3}",
    ) {
        let count = text.matches(&search).count();
        prop_assume!(count > 1);
        let new = replaced(&text, &search, &replacement, count);
        prop_assert_eq!(String::from_utf8(new).unwrap(), text.replace(&search, &replacement));
    }

    #[test]
    fn a_kept_line_of_a_match_keeps_its_ending(text in text(), last in "[cd]{0,2}") {
        // Either ending matches, and that of the kept line stays.
        let count = text.matches("a\nb").count() + text.matches("a\r\nb").count();
        prop_assume!(count > 1);
        let new = replaced(&text, "a\nb", &format!("a\n{last}"), count);
        let expected = text.replace("a\nb", &format!("a\n{last}")).replace("a\r\nb", &format!("a\r\n{last}"));
        prop_assert_eq!(String::from_utf8(new).unwrap(), expected);
    }
}
