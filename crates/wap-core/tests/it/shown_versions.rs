//! What a conversation was shown.

use std::collections::BTreeMap;

use proptest::prelude::*;
use wap_core::{FileVersion, LineSpan, ShownVersions};

fn version(name: &str) -> FileVersion {
    FileVersion(name.to_owned())
}

fn span(first: u64, last: u64) -> LineSpan {
    LineSpan { first, last }
}

fn version_for(shown: &ShownVersions, line: u64) -> Option<&str> {
    shown.version_for("a", line).map(|version| version.0.as_str())
}

#[test]
fn a_line_means_the_version_in_which_it_was_shown_last() {
    let mut shown = ShownVersions::default();
    assert_eq!(version_for(&shown, 1), None);
    shown.record("a", version("v1"), LineSpan::ALL);
    shown.record("a", version("v2"), span(10, 20));
    assert_eq!(version_for(&shown, 9), Some("v1"));
    assert_eq!(version_for(&shown, 10), Some("v2"));
    assert_eq!(version_for(&shown, 20), Some("v2"));
    assert_eq!(version_for(&shown, 21), Some("v1"));
    shown.record("a", version("v1"), span(15, 15));
    assert_eq!(version_for(&shown, 15), Some("v1"));
    assert_eq!(version_for(&shown, 14), Some("v2"));
}

#[test]
fn a_line_that_was_not_shown_means_the_version_shown_last() {
    let mut shown = ShownVersions::default();
    shown.record("a", version("v1"), span(1, 5));
    shown.record("a", version("v2"), span(3, 4));
    assert_eq!(version_for(&shown, 100), Some("v2"));
    assert_eq!(shown.version_for("b", 1), None);
}

#[test]
fn a_whole_file_replaces_what_was_shown_before() {
    let mut shown = ShownVersions::default();
    shown.record("a", version("v1"), span(1, 5));
    shown.record("a", version("v2"), LineSpan::ALL);
    assert_eq!(version_for(&shown, 3), Some("v2"));
    shown.record("a", version("empty"), span(1, 0));
    assert_eq!(version_for(&shown, 3), Some("empty"), "an empty file was shown in full");
}

#[test]
fn a_whole_file_outlasts_many_excerpts() {
    let mut shown = ShownVersions::default();
    shown.record("a", version("whole"), LineSpan::ALL);
    for number in 0..30 {
        shown.record("a", version(&format!("v{number}")), span(number * 10 + 1, number * 10 + 5));
    }
    assert_eq!(version_for(&shown, 6), Some("whole"));
    assert_eq!(version_for(&shown, 205), Some("v20"));
}

#[test]
fn a_file_can_be_forgotten() {
    let mut shown = ShownVersions::default();
    shown.record("b", version("v1"), LineSpan::ALL);
    shown.record("a", version("v1"), LineSpan::ALL);
    assert_eq!(shown.paths().collect::<Vec<_>>(), ["a", "b"]);
    shown.forget("a");
    assert_eq!(shown.paths().collect::<Vec<_>>(), ["b"]);
    assert_eq!(version_for(&shown, 1), None);
}

#[test]
fn what_was_shown_is_a_plain_value() {
    let mut shown = ShownVersions::default();
    shown.record("a", version("v1"), span(1, 4));
    shown.record("a", version("v1"), span(5, 9));
    shown.record("a", version("v2"), span(2, 3));
    let text = serde_json::to_string(&shown).unwrap();
    assert_eq!(serde_json::from_str::<ShownVersions>(&text).unwrap(), shown);
    insta::assert_snapshot!(text, @r#"{"a":[{"version":"v1","lines":[{"first":1,"last":1},{"first":4,"last":9}]},{"version":"v2","lines":[{"first":2,"last":3}]}]}"#);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8 * ProptestConfig::default().cases))]

    #[test]
    fn spans_agree_with_a_list_of_lines(shows in prop::collection::vec((0_u8..8, 1_u64..30, 0_u64..30), 1..20)) {
        let mut shown = ShownVersions::default();
        let mut lines: BTreeMap<u64, u8> = BTreeMap::new();
        for (name, first, length) in shows {
            let last = first + length;
            shown.record("a", version(&name.to_string()), span(first, last));
            lines.extend((first..=last).map(|line| (line, name)));
        }
        for (line, name) in lines {
            let expected = name.to_string();
            prop_assert_eq!(version_for(&shown, line), Some(expected.as_str()), "line {}", line);
        }
    }
}
