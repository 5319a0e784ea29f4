//! Rendering then parsing is the identity for any bytes.

use proptest::prelude::*;
use rel_path::{PathError, RelPath};

#[test]
fn undecodable_bytes_are_escaped_and_accepted_back() {
    let path = RelPath::from_bytes(b"d/f\xffo").unwrap();
    assert_eq!(path.to_string(), r"d/f\xffo");
    assert_eq!(RelPath::parse(r"d/f\xFFo").unwrap(), path);
}

#[test]
fn invisible_characters_are_escaped() {
    let path = RelPath::from_bytes("a\nb\u{202e}c".as_bytes()).unwrap();
    assert_eq!(path.to_string(), r"a\x0ab\xe2\x80\xaec");
    assert_eq!(RelPath::parse(&path.to_string()).unwrap(), path);
}

#[test]
fn a_name_that_looks_escaped_stays_itself() {
    let literal = RelPath::from_bytes(br"f\xffo").unwrap();
    assert_eq!(literal.to_string(), r"f\x5cxffo");
    assert_eq!(RelPath::parse(&literal.to_string()).unwrap(), literal);
}

#[test]
fn no_escape_stands_for_a_slash_a_dot_or_a_nul() {
    for text in [r"a\x2fb", r"\x2e\x2e/x", r"a\x00b"] {
        let path = RelPath::parse(text).unwrap();
        assert_eq!(path.as_bytes(), text.as_bytes());
    }
}

fn segment() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..6),
        Just(b"..".to_vec()),
        Just(b".".to_vec()),
        Just(br"\x5c".to_vec()),
        Just(br"\xff\x".to_vec()),
        "\\PC{0,4}".prop_map(String::into_bytes),
    ]
}

fn path_bytes() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(segment(), 0..8).prop_map(|segments| segments.join(&b'/'))
}

proptest! {
    #[test]
    fn rendering_then_parsing_is_the_identity(bytes in path_bytes()) {
        if let Ok(path) = RelPath::from_bytes(&bytes) {
            let text = path.to_string();
            prop_assert!(!text.contains(char::is_control));
            prop_assert_eq!(RelPath::parse(&text), Ok(path));
        }
    }

    #[test]
    fn an_accepted_path_never_climbs_and_never_has_empty_parts(bytes in path_bytes()) {
        let Ok(path) = RelPath::from_bytes(&bytes) else { return Ok(()) };
        let mut depth = 0_i32;
        for part in path.components() {
            prop_assert!(!part.is_empty() && part != b"." && !part.contains(&0));
            depth += if part == b".." { -1 } else { 1 };
            prop_assert!(depth >= 0);
        }
        let mut backwards: Vec<_> = path.components().rev().collect();
        backwards.reverse();
        prop_assert_eq!(backwards, path.components().collect::<Vec<_>>());
    }

    #[test]
    fn any_text_gives_a_path_or_an_error(text in "\\PC*") {
        match RelPath::parse(&text) {
            Ok(path) => prop_assert_eq!(RelPath::parse(&path.to_string()), Ok(path)),
            Err(error) => prop_assert_ne!(error, PathError::NotAName),
        }
    }

    #[test]
    fn joining_children_is_parsing_the_whole(names in proptest::collection::vec("[a-z]{1,5}", 1..10)) {
        let mut path = RelPath::root();
        for name in &names {
            path = path.child(name.as_bytes()).unwrap();
        }
        prop_assert_eq!(path, RelPath::parse(&names.join("/")).unwrap());
    }
}

#[cfg(feature = "serde")]
#[test]
fn documents_hold_the_text() {
    let path = RelPath::from_bytes(b"d/f\xff").unwrap();
    let json = serde_json::to_string(&path).unwrap();
    assert_eq!(json, r#""d/f\\xff""#);
    assert_eq!(serde_json::from_str::<RelPath>(&json).unwrap(), path);
    assert!(serde_json::from_str::<RelPath>(r#""../x""#).is_err());
}
