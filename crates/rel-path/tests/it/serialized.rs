//! Paths in documents.

use rel_path::RelPath;

#[test]
fn a_path_is_its_text_in_a_document() {
    let path = RelPath::from_bytes(b"src/a\xff/").unwrap();
    let text = serde_json::to_string(&path).unwrap();
    assert_eq!(text, r#""src/a\\xff/""#);
    assert_eq!(serde_json::from_str::<RelPath>(&text).unwrap(), path);
    let error = serde_json::from_str::<RelPath>(r#""../x""#).unwrap_err();
    assert!(error.to_string().starts_with(&rel_path::PathError::Escape.to_string()), "{error}");
}
