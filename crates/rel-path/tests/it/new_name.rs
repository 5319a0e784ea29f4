//! Names that are refused for new files.

use rel_path::{NameError, RelPath, check_new_name};

#[test]
fn deceptive_and_unportable_names_are_refused() {
    for (name, expected) in [
        ("a\u{1b}[2Jb.txt", NameError::Control('\u{1b}')),
        ("a\nb", NameError::Control('\n')),
        ("a\u{7f}", NameError::Control('\u{7f}')),
        ("a\u{85}", NameError::Control('\u{85}')),
        ("a\u{2028}b", NameError::Control('\u{2028}')),
        ("gpj\u{202e}.exe", NameError::Bidirectional('\u{202e}')),
        ("a\u{2066}", NameError::Bidirectional('\u{2066}')),
        (".g\u{200b}it", NameError::ZeroWidth('\u{200b}')),
        ("\u{feff}a", NameError::ZeroWidth('\u{feff}')),
        ("src\\main.rs", NameError::Backslash),
        ("a.txt:evil", NameError::Colon),
    ] {
        assert_eq!(check_new_name(name.as_bytes()), Err(expected), "{name:?}");
    }
    assert_eq!(check_new_name(b"f\xff"), Err(NameError::NotUtf8));
}

#[test]
fn ordinary_names_of_any_script_are_accepted() {
    for name in
        ["a b.txt", "größe.md", "日本語.txt", "=== PROMPT ===", "[x].tsx", "❤\u{fe0f}.md", "*", "~", "a'\"$b"]
    {
        assert_eq!(check_new_name(name.as_bytes()), Ok(()), "{name}");
    }
}

#[test]
fn every_component_of_a_path_is_checked() {
    let path = RelPath::parse("a:b/c.txt").unwrap();
    assert_eq!(path.check_new_name(), Err(NameError::Colon));
}
