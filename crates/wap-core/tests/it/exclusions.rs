//! Exclusion patterns.

use wap_core::{Exclusions, Reason};

#[test]
fn patterns_exclude_the_entries_they_name() {
    // Patterns, a path, whether it is a folder, whether it is left out.
    let cases: &[(&[&str], &str, bool, bool)] = &[
        (&["**/node_modules/**"], "node_modules", true, true),
        (&["**/node_modules/**"], "node_modules/x/y.js", false, true),
        (&["**/node_modules/**"], "a/node_modules/x.js", false, true),
        (&["**/node_modules/**"], "node_modules", false, false),
        (&["**/node_modules/**"], "my_node_modules/x.js", false, false),
        (&["**/*.tmp"], "a.tmp", false, true),
        (&["**/*.tmp"], "d/a.tmp", false, true),
        (&["*.tmp"], "a.tmp", false, true),
        (&["*.tmp"], "d/a.tmp", false, false),
        (&["a+b"], "a+b", false, true),
        (&["a+b"], "aab", false, false),
        (&["src/?.rs"], "src/a.rs", false, true),
        (&["src/?.rs"], "src/ab.rs", false, false),
        (&["src?a.rs"], "src/a.rs", false, false),
        (&["{a,b}/**"], "b", true, true),
        (&["./src/**"], "src/a.rs", false, true),
        (&["/src/**"], "src", true, true),
        (&["/src/**"], "a/src", true, false),
        (&["**"], "anything/at/all", false, true),
        (&[], "node_modules/x", false, false),
        (&["**/.git/**", "**/target/**"], "p/target/App.class", false, true),
    ];
    for (patterns, path, is_directory, expected) in cases {
        let exclusions = Exclusions::new(patterns).unwrap();
        assert_eq!(exclusions.excludes(path, *is_directory), *expected, "{patterns:?} on {path}");
    }
}

#[test]
fn a_request_replaces_the_defaults_and_an_empty_list_disables_them() {
    let excludes = |patterns: Option<&[String]>| {
        Exclusions::for_request(patterns).unwrap().excludes("target/debug/x", false)
    };
    assert!(excludes(None));
    assert!(!excludes(Some(&["**/*.log".to_owned()])));
    assert!(!excludes(Some(&[])));
}

#[test]
fn a_bad_pattern_is_named() {
    let error = Exclusions::new(&["**/*.rs", "[x"]).unwrap_err();
    assert_eq!(error.reason(), Reason::InvalidGlob);
    assert_eq!(error.detail("pattern").unwrap(), "[x");
    insta::assert_snapshot!(error, @"cannot use the glob '[x': unclosed character class; missing ']'");
}

#[test]
fn a_start_that_was_named_is_not_excluded() {
    let all = Exclusions::defaults();
    let for_walk_from = all.for_walk_from("pkg/target/debug");
    assert!(!for_walk_from.excludes("pkg/target/debug/app", false));
    assert!(for_walk_from.excludes("pkg/target/debug/node_modules", true), "other patterns still count");
    assert!(all.for_walk_from("").excludes("target", true));
    assert!(all.for_walk_from("src").excludes("src/target", true));
}
