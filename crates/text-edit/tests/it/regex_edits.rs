//! `RegexReplace`: flags, JavaScript replacements, refusals.

use text_edit::{EditErrorKind, EditLimits, Numbering, UnsupportedConstruct, apply};

use crate::{edit, regex, replace};

fn replaced(source: &str, pattern: &str, replacement: &str, flags: &str) -> Result<String, EditErrorKind> {
    let edited = edit(source.as_bytes(), &[regex(pattern, replacement, flags)], Numbering::Original);
    edited.map(|bytes| String::from_utf8(bytes).unwrap()).map_err(|error| {
        assert_eq!(error.operation_index, Some(0));
        error.kind
    })
}

#[test]
fn replacements_read_as_in_javascript() {
    let cases = [
        ("ab", "(a)", "$1x", "axb"),
        ("ab", "(a)", "$10", "a0b"),
        ("ab", "(a)", "$01", "ab"),
        ("ab", "(a)", "$&$&", "aab"),
        ("ab", "a", "$$1", "$1b"),
        ("ab", "a", "$$$&", "$ab"),
        ("ab", "(?<n>a)", "${n}-$<n>", "a-ab"),
        ("ab", "(?P<n>a)", "${1}2", "a2b"),
        ("ab", "a", "$", "$b"),
        ("ab", "a", "$ x", "$ xb"),
        ("ab", "a", "$x", "$xb"),
        ("ab", "a", "${n", "${nb"),
        ("ab", "a|(x)", "[$1]", "[]b"),
        ("abcdefghijk", "(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)", "$10$1", "jak"),
        ("ab", "a", "\\n\\1", "\\n\\1b"),
        ("é", "(é)", "ü$1", "üé"),
    ];
    for (source, pattern, replacement, expected) in cases {
        assert_eq!(replaced(source, pattern, replacement, "").unwrap(), expected, "{replacement}");
    }
}

#[test]
fn a_group_with_a_backslash_is_refused_and_other_backslashes_are_text() {
    let refused = [("(a)", "\\1", 1), ("(a)(b)", "$1\\2", 2), ("(a)", "\\\\\\1", 1), ("(?<n>a)", "[\\1]", 1)];
    for (pattern, replacement, group) in refused {
        let kind = replaced("ab", pattern, replacement, "").unwrap_err();
        assert_eq!(kind, EditErrorKind::BackslashGroup { group }, "{replacement}");
        assert!(kind.to_string().contains(&format!("write ${group}")), "{kind}");
    }
    for (pattern, replacement) in
        [("(?:a)", "\\1"), ("(a)", "\\2"), ("(a)", "\\0"), ("(a)", "\\\\1"), ("(a)", "\\n1")]
    {
        assert_eq!(replaced("ab", pattern, replacement, "").unwrap(), format!("{replacement}b"));
    }
}

#[test]
fn references_to_missing_groups_are_refused() {
    let cases = [
        ("a", "$1", "$1"),
        ("a", "$0", "$0"),
        ("(a)", "$2", "$2"),
        ("(a)", "x$20", "$20"),
        ("(a)", "${n}", "${n}"),
        ("(a)", "$<n>", "$<n>"),
        ("(a)", "${2}", "${2}"),
        ("(a)", "${}", "${}"),
        ("a", "$`", "$`"),
        ("a", "$'", "$'"),
    ];
    for (pattern, replacement, group) in cases {
        let kind = replaced("a", pattern, replacement, "g").unwrap_err();
        let group_count = usize::from(pattern.contains('('));
        assert_eq!(kind, EditErrorKind::BadGroup { group: group.to_owned(), group_count }, "{replacement}");
    }
    // An invalid reference is refused even without a match.
    assert!(replaced("b", "a", "$1", "").is_err());
}

#[test]
fn flags_mean_what_they_mean_in_javascript() {
    let cases = [
        ("aa", "a", "", "xa"),
        ("aa", "a", "g", "xx"),
        ("aA", "A", "gi", "xx"),
        ("a\na", "^a", "g", "x\na"),
        ("a\na", "^a", "gm", "x\nx"),
        ("a\nb", "a.b", "", "a\nb"),
        ("a\nb", "a.b", "s", "x"),
        ("é", ".", "u", "x"),
        ("a\r\nb", "a.*", "", "x\r\nb"),
        ("a\r\na\r\n", "a$", "gm", "x\r\nx\r\n"),
        ("aé", "", "g", "xaxéx"),
        ("", "^", "", "x"),
        ("a\n", "$", "", "a\nx"),
    ];
    for (source, pattern, flags, expected) in cases {
        assert_eq!(replaced(source, pattern, "x", flags).unwrap(), expected, "/{pattern}/{flags}");
    }
}

#[test]
fn unknown_and_repeated_flags_are_refused() {
    for (flags, flag) in [("y", 'y'), ("gg", 'g'), ("gi ", ' '), ("gimsug", 'g')] {
        assert_eq!(replaced("a", "a", "x", flags).unwrap_err(), EditErrorKind::BadFlag { flag });
    }
}

#[test]
fn unsupported_syntax_is_named() {
    let cases = [
        ("a(?=b)", UnsupportedConstruct::LookAround, 1),
        ("(?!b)", UnsupportedConstruct::LookAround, 0),
        ("(?<=b)", UnsupportedConstruct::LookAround, 0),
        ("x(?<!b)", UnsupportedConstruct::LookAround, 1),
        (r"(a)\1", UnsupportedConstruct::BackReference, 3),
        (r"(?<n>a)\k<n>", UnsupportedConstruct::BackReference, 7),
        ("(?>a)", UnsupportedConstruct::AtomicGroup, 2),
        (r"a\\\<b\>", UnsupportedConstruct::EscapedAngleBracket, 3),
    ];
    for (pattern, construct, offset_bytes) in cases {
        let expected = EditErrorKind::UnsupportedRegex { construct, offset_bytes };
        assert_eq!(replaced("a", pattern, "x", "g").unwrap_err(), expected, "{pattern}");
    }
    let kind = replaced("a", "(?=a)", "x", "").unwrap_err();
    assert_eq!(kind.to_string(), "unsupported in regular expressions: look-around at byte 0");
}

#[test]
fn bad_expressions_are_refused_with_the_offset() {
    for (pattern, offset, reason) in [
        ("a(b", 1, "unclosed group"),
        ("[a", 0, "unclosed character class"),
        ("ab)", 2, "unopened group"),
        ("*a", 0, "repetition operator missing expression"),
        (r"\p{Nonsense}", 0, "Unicode property not found"),
    ] {
        let expected = EditErrorKind::InvalidRegex { reason: reason.to_owned(), offset_bytes: offset };
        assert_eq!(replaced("a", pattern, "x", "").unwrap_err(), expected, "{pattern}");
    }
}

#[test]
fn limits_hold() {
    let limits = EditLimits {
        pattern_limit_bytes: 20,
        regex_limit_bytes: 10_000,
        result_limit_bytes: 100,
        ..EditLimits::default()
    };
    let kind = |source: &str, operation| {
        apply(source.as_bytes(), &[operation], Numbering::Original, &limits).unwrap_err().kind
    };
    let long = "a".repeat(21);
    assert_eq!(kind("a", regex(&long, "", "")), EditErrorKind::PatternTooLong { limit_bytes: 20 });
    assert_eq!(kind("a", regex(r"\w{100}", "", "")), EditErrorKind::RegexTooLarge { limit_bytes: 10_000 });
    let too_large = EditErrorKind::ResultTooLarge { limit_bytes: 100 };
    assert_eq!(kind("aaaaaaaaaa", regex("a", "$&$&$&$&$&$&$&$&$&$&$&", "g")), too_large);
    assert_eq!(kind("a", replace(1, 1, &"b".repeat(101))), too_large);
    // A text over the limit can still be made smaller, or kept as large as it is.
    let large = "a".repeat(200);
    let edited = apply(large.as_bytes(), &[regex("a", "b", "g")], Numbering::Original, &limits).unwrap();
    assert_eq!(edited.bytes, "b".repeat(200).as_bytes());
    let large = format!("{large}\n1234\n");
    for (content, is_allowed) in [("12", true), ("1234", true), ("12345", false)] {
        let edited = apply(large.as_bytes(), &[replace(2, 2, content)], Numbering::Original, &limits);
        assert_eq!(edited.is_ok(), is_allowed, "{content}");
    }
    // Nesting is bounded before anything is compiled.
    let nested = "(".repeat(5_000) + &")".repeat(5_000);
    assert!(matches!(replaced("a", &nested, "", "").unwrap_err(), EditErrorKind::InvalidRegex { .. }));
}

#[test]
fn no_match_is_success_and_counted() {
    let apply = |pattern| {
        apply(b"a\nb\na\n", &[regex(pattern, "a", "g")], Numbering::Original, &EditLimits::default()).unwrap()
    };
    assert_eq!(apply("x").outcomes[0].replacements, 0);
    assert!(!apply("x").differs_from(b"a\nb\na\n"));
    // Two matches, each replaced by itself.
    assert_eq!(apply("a").outcomes[0].replacements, 2);
    assert!(apply("a").line_map.is_identity());
}

#[test]
fn new_line_feeds_get_the_ending_of_the_text() {
    assert_eq!(replaced("a;b\r\n", ";", ";\n", "").unwrap(), "a;\r\nb\r\n");
    assert_eq!(replaced("a;b\r\n", ";", ";\r\n", "").unwrap(), "a;\r\nb\r\n");
    assert_eq!(replaced("a;b\n", ";", ";\r\n", "").unwrap(), "a;\nb\n");
}
