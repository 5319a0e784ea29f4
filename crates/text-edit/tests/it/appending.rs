//! Text appended to the bytes of a file.

use proptest::prelude::*;
use text_edit::{EditErrorKind, Encoding, append};

#[test]
fn text_is_appended_in_the_encoding_of_the_file() {
    let cases: [(&str, &[u8], &str, &[u8]); 8] = [
        ("an empty file", b"", "ä\n", "ä\n".as_bytes()),
        ("without a last line feed", b"a", "b\n", b"ab\n"),
        ("line feeds stay line feeds", b"a\r\n", "b\n", b"a\r\nb\n"),
        ("a UTF-8 mark", b"\xef\xbb\xbfa", "ä", b"\xef\xbb\xbfa\xc3\xa4"),
        ("bytes that are not text", b"\0\xff", "ä", b"\0\xff\xc3\xa4"),
        ("UTF-16, low byte first", b"\xff\xfea\0", "ä\n", b"\xff\xfea\0\xe4\0\n\0"),
        ("UTF-16, high byte first", b"\xfe\xff\0a", "ä\n", b"\xfe\xff\0a\0\xe4\0\n"),
        ("an unknown encoding", b"gr\xfcn", "blau\n", b"gr\xfcnblau\n"),
    ];
    for (name, file, text, expected) in cases {
        assert_eq!(append(file, text).unwrap(), expected, "{name}");
    }
}

#[test]
fn text_that_the_encoding_lacks_is_refused_with_its_line() {
    let unencodable =
        |character, encoding, content_line| EditErrorKind::Unencodable { character, encoding, content_line };
    let cases: [(&[u8], &str, EditErrorKind); 4] = [
        (b"gr\xfcn", "a\nb\nä", unencodable('ä', Encoding::UnknownEightBit, 3)),
        (b"gr\xfcn", "ä", unencodable('ä', Encoding::UnknownEightBit, 1)),
        (b"\xff\xfea\0", "a\n\0", unencodable('\0', Encoding::Utf16Le, 2)),
        (b"\xff\xfea\0b", "c", EditErrorKind::Undecodable { encoding: Encoding::Utf16Le }),
    ];
    for (file, text, expected) in cases {
        assert_eq!(append(file, text), Err(expected), "{text:?}");
    }
}

proptest! {
    #[test]
    fn present_bytes_stay_and_texts_add_up(file in prop::collection::vec(any::<u8>(), 0..40), one in "[a-z\n]{0,9}", other in "[a-z\n]{0,9}") {
        if let Ok(bytes) = append(&file, &one) {
            prop_assert!(bytes.starts_with(&file));
            prop_assert_eq!(append(&bytes, &other), append(&file, &format!("{one}{other}")));
        }
    }
}
