//! Patterns of listings.

use wap_core::{ExploreFiles, Limits, PathPattern, Reason};

#[test]
fn patterns_match_names_or_paths() {
    // A pattern, a path, whether it is a folder, whether it matches.
    let cases: &[(&str, &str, bool, bool)] = &[
        ("*.rs", "main.rs", false, true),
        ("*.rs", "src/deep/main.rs", false, true),
        ("*.rs", "src/main.rs.orig", false, false),
        ("*.rs", "src/MAIN.RS", false, false),
        ("main", "src/main", true, true),
        ("main", "src/mainly", false, false),
        ("*", ".env", false, true),
        ("**", "a/b/c", false, true),
        ("{a,b}.txt", "x/b.txt", false, true),
        ("[ab]?.txt", "x/ac.txt", false, true),
        ("src/*.rs", "src/a.rs", false, true),
        ("src/*.rs", "src/deep/a.rs", false, false),
        ("src/*.rs", "old/src/a.rs", false, false),
        ("src/**/*.rs", "src/a.rs", false, true),
        ("src/**/*.rs", "src/x/y/a.rs", false, true),
        ("**/src/*.rs", "old/src/a.rs", false, true),
        ("**/src/*.rs", "src/a.rs", false, true),
        ("./a.rs", "a.rs", false, true),
        ("./a.rs", "x/a.rs", false, false),
        ("/a.rs", "a.rs", false, true),
        ("/a.rs", "x/a.rs", false, false),
        ("docs/", "docs", true, true),
        ("docs/", "x/docs", true, true),
        ("docs/", "x/docs", false, false),
        ("x/docs/", "x/docs", true, true),
        ("x/docs/", "y/x/docs", true, false),
        ("é*", "x/été", false, true),
        ("é?", "x/été", false, false),
        ("é*", "x/école", false, true),
    ];
    for (pattern, path, is_directory, expected) in cases {
        let compiled = PathPattern::new(pattern).unwrap();
        assert_eq!(compiled.matches(path.as_bytes(), *is_directory), *expected, "{pattern} on {path}");
        let name = path.rsplit('/').next().unwrap();
        let may = compiled.may_match_name(name.as_bytes());
        assert!(may || !expected, "{pattern} on the name of {path}");
        if compiled.is_decided_by_name() {
            assert_eq!(may, *expected, "{pattern} on the name of {path}");
        }
    }
}

#[test]
fn deeply_nested_pattern_is_refused() {
    let nested = |depth: usize| format!("{}{}", "{a,".repeat(depth), "}".repeat(depth));
    assert!(PathPattern::new(&nested(100)).unwrap().matches(b"src/a", false));
    let error = PathPattern::new(&nested(1_000)).unwrap_err();
    assert_eq!(error.reason(), Reason::InvalidGlob);
    assert!(
        error.message().ends_with("it has too many alternatives within each other, or is too large"),
        "{error:?}"
    );
    assert!(error.message().len() < 1_000);
}

#[test]
fn unusable_pattern_is_refused_and_the_longest_is_accepted() {
    let longest = "a".repeat(Limits::MAX_PATTERN_BYTES);
    PathPattern::new(&longest).unwrap();
    for pattern in ["", "/", "./", "[a", "{a,b", &format!("{longest}a")] {
        let error = PathPattern::new(pattern).unwrap_err();
        assert_eq!(error.reason(), Reason::InvalidGlob, "{pattern}");
        assert_eq!(error.detail("field").unwrap(), "pattern", "{pattern}");
    }
    let error = PathPattern::new(&format!("{longest}a")).unwrap_err();
    assert!(error.to_string().contains("4096"), "{error}");
}

#[test]
fn pattern_implies_all_depths_unless_the_request_says_otherwise() {
    // A pattern, `recursive`, `maxDepth`; whether the listing is recursive, and its depth.
    let cases = [
        (None, None, None, false, Some(1)),
        (None, Some(true), None, true, Some(3)),
        (Some("*.rs"), None, None, true, None),
        (Some("src/*.rs"), None, None, true, None),
        (Some("*.rs"), Some(true), None, true, None),
        (Some("*.rs"), None, Some(2), true, Some(2)),
        (Some("*.rs"), Some(false), None, false, Some(1)),
        (Some("*.rs"), Some(false), Some(2), false, Some(1)),
    ];
    for (pattern, recursive, max_depth, is_recursive, depth) in cases {
        let pattern = pattern.map(str::to_owned);
        let request = ExploreFiles { pattern, recursive, max_depth, ..ExploreFiles::default() };
        assert_eq!((request.is_recursive(), request.depth().unwrap()), (is_recursive, depth), "{request:?}");
    }
    let request = ExploreFiles { max_depth: Some(0), ..ExploreFiles::default() };
    assert_eq!(request.depth().unwrap_err().detail("field").unwrap(), "maxDepth");
}

#[test]
fn warning_names_the_whole_path_that_was_perhaps_meant() {
    let warning = |path: &str, pattern: &str, total| {
        let request = ExploreFiles {
            path: path.to_owned(),
            pattern: Some(pattern.to_owned()),
            ..ExploreFiles::default()
        };
        request.pattern_warning(total)
    };
    let text = warning("crates/a", "src/*.rs", 0).unwrap();
    assert!(text.ends_with("try 'crates/a/src/*.rs'"), "{text}");
    for (path, pattern, total) in
        [("crates/a", "src/*.rs", 1), (".", "src/*.rs", 0), ("crates/a", "*.rs", 0), ("a", "a/*.rs", 0)]
    {
        assert_eq!(warning(path, pattern, total), None, "{path} {pattern} {total}");
    }
}
