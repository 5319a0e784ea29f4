//! Texts that are not UTF-8, and bytes that are not texts.

use text_edit::{EditErrorKind, Encoding, Numbering, Operation, Source};

use crate::{delete, edit, insert, regex, replace};

fn utf16(text: &str, encoding: Encoding) -> Vec<u8> {
    let units = "\u{FEFF}".encode_utf16().chain(text.encode_utf16());
    match encoding {
        Encoding::Utf16Be => units.flat_map(u16::to_be_bytes).collect(),
        _ => units.flat_map(u16::to_le_bytes).collect(),
    }
}

#[test]
fn utf16_is_edited_in_its_own_encoding() {
    // U+0A0D and U+0D0A look like line endings to a reader of bytes, and in the two pairs of the last line the halves of adjacent
    // units look like a line feed to a reader that ignores unit boundaries.
    let text = "a\u{0A0D}\r\n\u{0D0A}b😀\r\nc\u{0A41}\u{4100}\u{0A41}";
    let cases: &[(Operation, &str)] = &[
        (replace(1, 1, "ä😀"), "ä😀\r\n\u{0D0A}b😀\r\nc\u{0A41}\u{4100}\u{0A41}"),
        (insert(3, "x\ny"), "a\u{0A0D}\r\n\u{0D0A}b😀\r\nc\u{0A41}\u{4100}\u{0A41}\r\nx\r\ny"),
        (delete(2, 3), "a\u{0A0D}"),
        (replace(1, 1, "\u{FEFF}x"), "x\r\n\u{0D0A}b😀\r\nc\u{0A41}\u{4100}\u{0A41}"),
        (regex("(b)(.)", "$2\n$1", ""), "a\u{0A0D}\r\n\u{0D0A}😀\r\nb\r\nc\u{0A41}\u{4100}\u{0A41}"),
        (regex("^", "> ", "gm"), "> a\u{0A0D}\r\n> \u{0D0A}b😀\r\n> c\u{0A41}\u{4100}\u{0A41}"),
    ];
    for encoding in [Encoding::Utf16Le, Encoding::Utf16Be] {
        for (operation, expected) in cases {
            let source = utf16(text, encoding);
            let edited = edit(&source, std::slice::from_ref(operation), Numbering::Original).unwrap();
            assert_eq!(edited, utf16(expected, encoding), "{encoding} {operation:?}");
        }
    }
}

#[test]
fn lone_surrogates_stay_in_lines_that_are_not_edited() {
    let mut source = utf16("a\nb\n", Encoding::Utf16Le);
    source.extend([0x00, 0xD8]);
    let mut expected = utf16("x\nb\n", Encoding::Utf16Le);
    expected.extend([0x00, 0xD8]);
    assert_eq!(edit(&source, &[replace(1, 1, "x")], Numbering::Original).unwrap(), expected);
    let error = edit(&source, &[regex("a", "x", "")], Numbering::Original).unwrap_err();
    assert_eq!(error.kind, EditErrorKind::Undecodable { encoding: Encoding::Utf16Le });
}

#[test]
fn utf16_with_half_a_unit_is_refused() {
    let mut source = utf16("a\n", Encoding::Utf16Be);
    source.push(0);
    let error = edit(&source, &[replace(1, 1, "x")], Numbering::Original).unwrap_err();
    assert_eq!(error.kind, EditErrorKind::Undecodable { encoding: Encoding::Utf16Be });
    assert_eq!(error.to_string(), "the text is not valid UTF-16BE");
}

#[test]
fn characters_that_the_encoding_cannot_hold_are_refused() {
    let latin1 = b"\xE9\nb\n";
    let cases: &[(Operation, char, usize)] = &[
        (replace(2, 2, "x\ny é"), 'é', 2),
        (insert(2, "\u{FFFD}"), '\u{FFFD}', 1),
        (regex("b", "x\né", "g"), 'é', 2),
        (replace(2, 2, "a\0"), '\0', 1),
    ];
    for (operation, character, content_line) in cases {
        let error = edit(latin1, std::slice::from_ref(operation), Numbering::Original).unwrap_err();
        let (character, content_line) = (*character, *content_line);
        let encoding = Encoding::UnknownEightBit;
        assert_eq!(error.operation_index, Some(0));
        assert_eq!(error.kind, EditErrorKind::Unencodable { character, encoding, content_line });
    }
    let error = edit(latin1, &[replace(2, 2, "é")], Numbering::Original).unwrap_err();
    assert_eq!(
        error.to_string(),
        "operation 1: a character other than ASCII in line 1 of the new content cannot be written in an unknown 8-bit encoding"
    );
}

#[test]
fn a_replacement_that_cannot_be_written_matters_only_if_something_matches() {
    let edited = edit(b"\xE9\n", &[regex("b", "é", "g")], Numbering::Original).unwrap();
    assert_eq!(edited, b"\xE9\n");
}

#[test]
fn expressions_run_over_bytes_that_are_not_utf8() {
    let cases: &[(&[u8], Operation, &[u8])] = &[
        (b"\xE9 a\r\na \xFF\r\n", regex("a", "b\nc", "g"), b"\xE9 b\r\nc\r\nb\r\nc \xFF\r\n"),
        (b"\xE9a\n", regex("(.)$", "[$1]", "m"), b"\xE9[a]\n"),
        // An empty match does not fall into the middle of what may be one character.
        (b"\xC3\xA9\xFF", regex("", "-", "g"), b"-\xC3\xA9-\xFF-"),
    ];
    for (source, operation, expected) in cases {
        let edited = edit(source, std::slice::from_ref(operation), Numbering::Original).unwrap();
        assert_eq!(edited.escape_ascii().to_string(), expected.escape_ascii().to_string());
    }
}

#[test]
fn a_marked_utf8_text_with_a_bad_byte_takes_any_character() {
    let edited = edit(b"\xEF\xBB\xBFa\xFF\nb\n", &[replace(2, 2, "é")], Numbering::Original).unwrap();
    assert_eq!(edited, b"\xEF\xBB\xBFa\xFF\n\xC3\xA9\n");
}

#[test]
fn binary_files_are_refused() {
    let utf32 = b"\xFF\xFE\0\0a\0\0\0";
    let late = [vec![b'a'; 8191], vec![0]].concat();
    for (source, offset) in [(&b"a\0b\n"[..], 1), (utf32, 2), (&late, 8191)] {
        let error = edit(source, &[insert(0, "x")], Numbering::Original).unwrap_err();
        assert_eq!(error.operation_index, None);
        let EditErrorKind::Binary(binary) = error.kind else { panic!("{error}") };
        assert_eq!(binary.offset_bytes, offset);
    }
}

#[test]
fn a_nul_after_the_first_8_kib_is_kept() {
    let long = vec![b'a'; 8191];
    let source = [&long[..], b"\n\0\n"].concat();
    // The deletion moves the NUL to the front, and a second operation still edits a text.
    let edited = edit(&source, &[delete(1, 1), insert(1, "x")], Numbering::Sequential).unwrap();
    assert_eq!(edited, b"\0\nx\n");
}

#[test]
fn half_a_unit_at_the_end_makes_the_text_lossy() {
    for encoding in [Encoding::Utf16Le, Encoding::Utf16Be] {
        let mut bytes = utf16("a\nb", encoding);
        assert!(!Source::parse(&bytes).unwrap().is_lossy());
        bytes.push(b'c');
        let source = Source::parse(&bytes).unwrap();
        assert!(source.is_lossy());
        assert_eq!(source.text(), "a\nb\u{FFFD}");
    }
}

#[test]
fn a_text_of_one_utf16_unit_is_a_text() {
    let bytes = utf16("a", Encoding::Utf16Le);
    assert!(!Source::parse(&bytes).unwrap().is_lossy());
    let edited = edit(&bytes, &[regex("a", "bc", "")], Numbering::Original).unwrap();
    assert_eq!(edited, utf16("bc", Encoding::Utf16Le));
}
