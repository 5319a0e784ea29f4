//! Accepted and refused paths.

use rel_path::{MAX_COMPONENTS, MAX_PATH_BYTES, PathError, RelPath};

fn displayed(text: &str) -> String {
    RelPath::parse(text).unwrap().to_string()
}

#[test]
fn climbing_above_the_root_is_an_escape() {
    for text in [
        "..",
        "../x",
        "../outside/secret.txt",
        "src/../../outside",
        "nope/../../outside/new.txt",
        "./..",
        "a/b/../../..",
        "../srvspace/a.txt",
        "a//../..",
    ] {
        assert_eq!(RelPath::parse(text), Err(PathError::Escape), "{text}");
    }
}

#[test]
fn an_absolute_path_is_refused() {
    for text in ["/", "/etc/passwd", "//x", "/dev/stdin"] {
        assert_eq!(RelPath::parse(text), Err(PathError::Absolute), "{text}");
    }
}

#[test]
fn nul_is_refused_even_after_a_good_path() {
    assert_eq!(RelPath::parse("a.txt\0../../etc/passwd"), Err(PathError::Nul));
    assert_eq!(RelPath::root().child(b"a\0b"), Err(PathError::Nul));
}

#[test]
fn the_empty_path_is_the_root_for_listings_only() {
    assert_eq!(RelPath::parse(""), Err(PathError::Empty));
    assert_eq!(RelPath::parse_folder(""), Ok(RelPath::root()));
    assert_eq!(RelPath::parse_folder(".."), Err(PathError::Escape));
}

#[test]
fn single_dots_and_doubled_slashes_are_dropped() {
    for (text, expected) in [
        ("./a.txt", "a.txt"),
        ("src//a.txt", "src/a.txt"),
        ("././a/./b", "a/b"),
        (".", "."),
        ("./", "."),
        (".//.", "."),
    ] {
        assert_eq!(displayed(text), expected, "{text}");
    }
    assert!(RelPath::parse("./").unwrap().is_root());
}

#[test]
fn parent_steps_that_stay_inside_are_kept() {
    assert_eq!(displayed("src/../a.txt"), "src/../a.txt");
    assert!(RelPath::parse("src/../a.txt").unwrap().has_parent_steps());
    assert!(!RelPath::parse("src/..a/.b..").unwrap().has_parent_steps());
    assert_eq!(RelPath::parse("a/..").unwrap().file_name(), None);
}

#[test]
fn a_text_parses_by_the_trait_too_and_debugging_shows_it() {
    let path: RelPath = "src/a b/".parse().unwrap();
    assert_eq!(Ok(path.clone()), RelPath::parse("src/a b/"));
    assert_eq!(format!("{path:?}"), "RelPath(src/a b/)");
    assert_eq!("../x".parse::<RelPath>(), Err(PathError::Escape));
}

#[test]
fn a_path_is_text_if_it_is_utf_8() {
    assert_eq!(RelPath::parse("src/å/").unwrap().to_str(), Some("src/å"));
    assert_eq!(RelPath::root().to_str(), Some(""));
    assert_eq!(RelPath::from_bytes(b"a\xff").unwrap().to_str(), None);
}

#[test]
fn a_trailing_slash_is_remembered() {
    for text in ["d/", "d/.", "d//", "d/./"] {
        let path = RelPath::parse(text).unwrap();
        assert!(path.names_folder(), "{text}");
        assert_eq!(path.to_string(), "d/", "{text}");
        assert_eq!(path.as_bytes(), b"d", "{text}");
    }
    assert!(!RelPath::parse("d").unwrap().names_folder());
    assert!(RelPath::parse("a/..").unwrap().names_folder());
    assert_eq!(displayed("a/.."), "a/..");
}

#[test]
fn schemes_globs_and_encodings_are_plain_names() {
    for (text, expected) in [
        ("file:///etc/passwd", "file:/etc/passwd"),
        ("%2e%2e/outside", "%2e%2e/outside"),
        ("~/.ssh/id_rsa", "~/.ssh/id_rsa"),
        ("*", "*"),
        ("C:secret.txt", "C:secret.txt"),
        (r"\\server\share\x", r"\\server\share\x"),
        ("..\u{ff0f}outside", "..\u{ff0f}outside"),
    ] {
        assert_eq!(displayed(text), expected, "{text}");
    }
}

#[test]
fn each_limit_holds_at_its_edge() {
    let deep = |count: usize| vec!["n"; count].join("/");
    assert!(RelPath::parse(&deep(MAX_COMPONENTS)).is_ok());
    assert_eq!(RelPath::parse(&deep(MAX_COMPONENTS + 1)), Err(PathError::TooManyComponents));

    assert!(RelPath::parse(&"x".repeat(255)).is_ok());
    let long_component = format!("a/{}", "x".repeat(256));
    let error = PathError::ComponentTooLong { component: 2, bytes: 256 };
    assert_eq!(RelPath::parse(&long_component), Err(error));

    let whole = |bytes: usize| {
        let mut text = vec!["y".repeat(200); 20].join("/");
        text.push('/');
        text.push_str(&"z".repeat(bytes - text.len()));
        text
    };
    assert!(RelPath::parse(&whole(MAX_PATH_BYTES)).is_ok());
    let error = PathError::TooLong { bytes: MAX_PATH_BYTES + 1 };
    assert_eq!(RelPath::parse(&whole(MAX_PATH_BYTES + 1)), Err(error));
}

#[test]
fn the_root_prefix_is_removed_from_absolute_paths() {
    let roots: [&[u8]; 2] = [b"/tmp/link/", b"/srv//./space"];
    let parse = |text: &str| RelPath::parse_beneath(text, &roots);
    for (text, expected) in [
        ("/tmp/link/a.txt", "a.txt"),
        ("/tmp//./link//a.txt", "a.txt"),
        ("/srv/space/src/a.txt", "src/a.txt"),
        ("/srv/space", "."),
        ("/srv/space/", "."),
        ("relative/too", "relative/too"),
    ] {
        assert_eq!(parse(text).unwrap().to_string(), expected, "{text}");
    }
    for text in ["/srv/space-evil/x", "/srv", "/", "/srv/space2", "/srv/../srv/space/a", "/tmp/./"] {
        assert_eq!(parse(text), Err(PathError::Absolute), "{text}");
    }
    for text in ["/srv/space/../x", "/srv/space/a/../../x"] {
        assert_eq!(parse(text), Err(PathError::Escape), "{text}");
    }
}

#[test]
fn a_child_is_one_name() {
    let folder = RelPath::parse("a/b").unwrap();
    assert_eq!(folder.child(b"c").unwrap().to_string(), "a/b/c");
    for name in [&b""[..], b".", b"..", b"x/y", b"/"] {
        assert_eq!(folder.child(name), Err(PathError::NotAName));
    }
}

#[test]
fn parents_and_prefixes_follow_components() {
    let path = RelPath::parse("a/b.txt").unwrap();
    assert_eq!(path.parent(), Some(RelPath::parse("a").unwrap()));
    assert_eq!(path.parent().unwrap().parent(), Some(RelPath::root()));
    assert_eq!(RelPath::root().parent(), None);
    assert_eq!(path.file_name(), Some(&b"b.txt"[..]));
    assert!(path.starts_with(&RelPath::parse("a").unwrap()));
    assert!(path.starts_with(&RelPath::root()));
    assert!(path.starts_with(&path));
    assert!(!RelPath::parse("ab/c").unwrap().starts_with(&RelPath::parse("a").unwrap()));
}

#[test]
fn joining_keeps_the_limits() {
    let deep = RelPath::parse(&vec!["n"; 40].join("/")).unwrap();
    assert_eq!(deep.join(&deep), Err(PathError::TooManyComponents));
    let joined = RelPath::parse("a").unwrap().join(&RelPath::parse("b/../c").unwrap()).unwrap();
    assert_eq!(joined.to_string(), "a/b/../c");
}
