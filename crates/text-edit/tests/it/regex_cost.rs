//! The cost of regular expressions, and matches that equal those of the `regex` crate.

use std::cell::Cell;

use proptest::prelude::*;
use text_edit::{EditError, EditErrorKind, EditLimits, Edited, Numbering, Operation, apply, apply_until};

use crate::regex;

/// Bounds without a fixed part: this many steps for each byte.
fn looks_at_each_byte(work_factor: u64) -> EditLimits {
    EditLimits { base_work: 1 << 17, work_factor, ..EditLimits::default() }
}

fn replaced(text: &str, pattern: &str, limits: &EditLimits) -> Result<Edited, EditError> {
    apply(text.as_bytes(), &[regex(pattern, "x", "g")], Numbering::Original, limits)
}

/// Expressions that look for a longer match up to the end of the text, with the text that makes them do so at each letter.
const FAR_LOOKING: [(&str, &str); 6] = [
    (".*[^A-Z]|[A-Z]", "A"),
    ("(?s).*z|[A-Y]", "A"),
    ("[a-q][^u-z]{13,}#|.", "a"),
    (r"(?:a+b)+c|a", "a"),
    (r"(\w+\s)*!|\w", "a"),
    ("(?:aa|a|ab)*c|a", "a"),
];

#[test]
fn the_cost_of_all_matches_is_linear_in_the_text() {
    for (pattern, letter) in FAR_LOOKING {
        for count in [5_000, 60_000] {
            let text = letter.repeat(count);
            let edited = replaced(&text, pattern, &looks_at_each_byte(128));
            let edited = edited.unwrap_or_else(|error| panic!("{pattern} on {count} letters: {error}"));
            assert_eq!(edited.outcomes[0].replacements, count, "{pattern}");
        }
    }
}

#[test]
fn expressions_over_the_bound_are_refused_with_a_reason() {
    // Next to letters that are not ASCII, the search without memory decides word boundaries.
    let text = "é".repeat(20_000);
    let pattern = r"(?s)é.*\bz|é";
    let limits = looks_at_each_byte(64);
    let error = replaced(&text, pattern, &limits).map(|_| ()).unwrap_err();
    let limit_steps = (1 << 17) + 64 * 40_000;
    assert_eq!((error.operation_index, error.kind), (Some(0), EditErrorKind::TooMuchWork { limit_steps }));
    // The control: with a text that allows for it, it succeeds.
    let short = "é".repeat(40);
    assert_eq!(replaced(&short, pattern, &limits).unwrap().bytes, b"x".repeat(40));
    // And an ordinary expression with word boundaries is never near the bound.
    let words = "ein Wörtchen für größere Texte, ".repeat(2_000);
    let edited = replaced(&words, r"\bfür\b", &limits).unwrap();
    assert_eq!(edited.outcomes[0].replacements, 2_000);
}

#[test]
fn operations_share_one_bound() {
    let text = "word ".repeat(10_000);
    let operations: Vec<Operation> = (0..100).map(|_| regex("w(o)rd", "w${1}rd", "g")).collect();
    let bound = looks_at_each_byte(40);
    let error = apply(text.as_bytes(), &operations, Numbering::Original, &bound).unwrap_err();
    assert!(matches!(error.kind, EditErrorKind::TooMuchWork { .. }), "{error}");
    assert!(error.operation_index > Some(1), "{error}");
    apply(text.as_bytes(), &operations, Numbering::Original, &EditLimits::default()).unwrap();
}

#[test]
fn a_cancelled_edit_ends_soon() {
    let text = "A".repeat(1 << 20);
    let operation = [regex("(A)", "$1", "g")];
    let count_looks = |limit: usize| {
        let looks = Cell::new(0);
        let outcome =
            apply_until(text.as_bytes(), &operation, Numbering::Original, &EditLimits::default(), &|| {
                looks.set(looks.get() + 1);
                looks.get() > limit
            });
        (outcome, looks.get())
    };
    let (done, all) = count_looks(usize::MAX);
    assert!(done.is_ok() && all > 20, "{all} looks");
    for limit in [0, 1, all / 2] {
        let (cancelled, looks) = count_looks(limit);
        assert_eq!(cancelled.unwrap_err().kind, EditErrorKind::Cancelled);
        assert_eq!(looks, limit + 1, "nothing is done after the check that reports it");
    }
}

#[test]
fn a_replacement_is_bounded_and_read_once() {
    let open = "${".repeat(1 << 20);
    let edited = apply(b"a", &[regex("a", &open, "")], Numbering::Original, &EditLimits::default()).unwrap();
    assert_eq!(edited.bytes, open.as_bytes());
    let many = "$1".repeat(20_001);
    let error = apply(b"a", &[regex("(a)", &many, "")], Numbering::Original, &EditLimits::default());
    assert_eq!(error.unwrap_err().kind, EditErrorKind::TooManyReferences { limit: 10_000 });
    let unknown = format!("${{{}}}", "n".repeat(1 << 20));
    let error = apply(b"a", &[regex("a", &unknown, "")], Numbering::Original, &EditLimits::default());
    assert!(error.unwrap_err().to_string().len() < 500);
}

fn expected(text: &str, pattern: &str, multi_line: bool) -> (String, usize) {
    let regex = regex::RegexBuilder::new(pattern).multi_line(multi_line).crlf(true).build().unwrap();
    let count = regex.captures_iter(text).count();
    (regex.replace_all(text, "<$0|$1>").into_owned(), count)
}

fn patterns() -> impl Strategy<Value = String> {
    let atom = prop_oneof![
        Just("a".to_owned()),
        Just("b".to_owned()),
        Just("é".to_owned()),
        Just(".".to_owned()),
        Just("[^a]".to_owned()),
        Just(r"\w".to_owned()),
        Just(r"\b".to_owned()),
        Just(r"\B".to_owned()),
        Just("^".to_owned()),
        Just("$".to_owned()),
        Just(r"\s".to_owned()),
        Just("".to_owned()),
        Just("(?s:.)".to_owned()),
        Just(r"(?-u:\b)".to_owned()),
    ];
    atom.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            prop::collection::vec(inner.clone(), 2..4).prop_map(|parts| format!("(?:{})", parts.join("|"))),
            (inner, prop::sample::select(vec!["*", "+", "?", "*?", "+?", "{2}", "{0,2}"]))
                .prop_map(|(part, count)| format!("(?:{part}){count}")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4 * ProptestConfig::default().cases))]

    #[test]
    fn matches_are_those_of_the_engine(
        pattern in patterns(),
        text in prop_oneof![
            "[ab\n ]{0,30}",
            "[abé\r\n😀 ]{0,30}",
            "(aab|ab|b| ){40,120}",
        ],
        multi_line: bool,
    ) {
        let pattern = format!("({pattern})");
        let (expected, count) = expected(&text, &pattern, multi_line);
        let flags = if multi_line { "gm" } else { "g" };
        let operation = [regex(&pattern, "<$&|$1>", flags)];
        let edited = apply(text.as_bytes(), &operation, Numbering::Original, &EditLimits::default()).unwrap();
        prop_assert_eq!(String::from_utf8(edited.bytes).unwrap(), expected, "{}", pattern);
        prop_assert_eq!(edited.outcomes[0].replacements, count);
    }
}
