//! Detection of a text's format and the index of its lines.

use text_edit::{Encoding, LineEnding, Lines, Source};

#[test]
fn formats_are_detected() {
    type Case<'a> = (&'a [u8], Encoding, bool, LineEnding, bool, bool, usize);
    let cases: &[Case<'_>] = &[
        (b"", Encoding::Utf8, false, LineEnding::Lf, false, true, 0),
        (b"a", Encoding::Utf8, false, LineEnding::Lf, false, false, 1),
        (b"a\n", Encoding::Utf8, false, LineEnding::Lf, false, true, 1),
        (b"\n", Encoding::Utf8, false, LineEnding::Lf, false, true, 1),
        (b"\r\n\n\r\n", Encoding::Utf8, false, LineEnding::CrLf, true, true, 3),
        (b"a\r\nb\nc", Encoding::Utf8, false, LineEnding::CrLf, true, false, 3),
        (b"a\nb\r\nc\r", Encoding::Utf8, false, LineEnding::Lf, true, false, 3),
        (b"\xEF\xBB\xBF", Encoding::Utf8, true, LineEnding::Lf, false, true, 0),
        (b"\xEF\xBB\xBFa\xFF\r\n", Encoding::Utf8, true, LineEnding::CrLf, false, true, 1),
        (b"\xE9\n", Encoding::UnknownEightBit, false, LineEnding::Lf, false, true, 1),
        (b"\xFF\xFE", Encoding::Utf16Le, true, LineEnding::Lf, false, true, 0),
        (b"\xFF\xFEa\0\r\0\n\0", Encoding::Utf16Le, true, LineEnding::CrLf, false, true, 1),
        (b"\xFE\xFF\0\n\0a", Encoding::Utf16Be, true, LineEnding::Lf, false, false, 2),
        (b"\xFE\xFF\n\0\0\n", Encoding::Utf16Be, true, LineEnding::Lf, false, true, 1),
    ];
    for (bytes, encoding, mark, ending, mixed, final_newline, lines) in cases {
        let source = Source::parse(bytes).unwrap();
        let format = source.format();
        let form = (format.encoding, format.byte_order_mark, format.line_ending);
        assert_eq!(form, (*encoding, *mark, *ending), "{}", bytes.escape_ascii());
        let ends = (format.mixed_line_endings, format.final_newline, source.total_lines());
        assert_eq!(ends, (*mixed, *final_newline, *lines), "{}", bytes.escape_ascii());
    }
}

#[test]
fn lines_are_numbered_from_one_and_have_no_ending() {
    let source = Source::parse(b"\xEF\xBB\xBFa\r\n\r\nb\xFFc\r\r\nd").unwrap();
    let lines: Vec<_> =
        (0..=5).map(|number| source.line_text(number).map(|line| line.into_owned())).collect();
    let expected = [None, Some("a"), Some(""), Some("b\u{FFFD}c\r"), Some("d"), None];
    assert_eq!(lines, expected.map(|line| line.map(str::to_owned)));
    assert_eq!(source.line_bytes(3), Some(&b"b\xFFc\r"[..]));
    assert_eq!(source.line_span(1), Some(3..6));
    assert_eq!(source.lines_text(1..=2).unwrap(), "a\r\n\r\n");
    assert_eq!(source.lines_span(2..=5), None);
    assert_eq!(source.text(), "a\r\n\r\nb\u{FFFD}c\r\r\nd");
    assert!(source.is_lossy());
}

#[test]
fn offsets_belong_to_lines() {
    let with_newline = Source::parse(b"a\nbc\n").unwrap();
    let numbers: Vec<usize> = (0..=5).map(|offset| with_newline.line_at(offset)).collect();
    assert_eq!(numbers, [1, 1, 2, 2, 2, 3]);
    let without = Source::parse(b"a\nbc").unwrap();
    assert_eq!(without.line_at(4), 2);
}

#[test]
fn content_becomes_lines() {
    let cases: &[(&str, &[&str])] = &[
        ("", &[""]),
        ("\n", &[""]),
        ("\n\n", &["", ""]),
        ("a", &["a"]),
        ("a\r\n", &["a"]),
        ("a\r\nb\r\r\n", &["a", "b\r"]),
        ("a\n\n\n", &["a", "", ""]),
        ("\r\n", &[""]),
        ("a\rb", &["a\rb"]),
    ];
    for (content, lines) in cases {
        let content_lines = Lines::from_content(content);
        assert_eq!(content_lines.iter().collect::<Vec<_>>(), *lines, "{content:?}");
        assert_eq!(content_lines.count(), lines.len(), "{content:?}");
    }
    assert!(Lines::from_body::<[&str; 0]>([]).is_empty());
    assert_eq!(Lines::from_body([""]).count(), 1);
    assert_eq!(Lines::from_body(["a\r", "b"]), Lines::from_content("a\nb"));
}
