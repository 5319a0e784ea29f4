//! The versions that a conversation was shown.

use std::collections::BTreeMap;

use proptest::prelude::*;
use wap_core::{FileVersion, LineSpan, ShownVersions};

fn version(name: &str) -> FileVersion {
    FileVersion(name.to_owned())
}

fn span(first: u64, last: u64) -> LineSpan {
    LineSpan { first, last }
}

fn version_for(versions: &ShownVersions, line: u64) -> Option<&str> {
    versions.version_for("a", line).map(|version| version.0.as_str())
}

#[test]
fn a_line_means_the_version_in_which_it_was_shown_last() {
    let mut versions = ShownVersions::default();
    assert_eq!(version_for(&versions, 1), None);
    versions.record("a", version("v1"), LineSpan::ALL);
    versions.record("a", version("v2"), span(10, 20));
    assert_eq!(version_for(&versions, 9), Some("v1"));
    assert_eq!(version_for(&versions, 10), Some("v2"));
    assert_eq!(version_for(&versions, 20), Some("v2"));
    assert_eq!(version_for(&versions, 21), Some("v1"));
    versions.record("a", version("v1"), span(15, 15));
    assert_eq!(version_for(&versions, 15), Some("v1"));
    assert_eq!(version_for(&versions, 14), Some("v2"));
}

#[test]
fn a_line_that_was_not_shown_means_the_version_shown_last() {
    let mut versions = ShownVersions::default();
    versions.record("a", version("v1"), span(1, 5));
    versions.record("a", version("v2"), span(3, 4));
    assert_eq!(version_for(&versions, 100), Some("v2"));
    assert_eq!(versions.version_for("b", 1), None);
}

#[test]
fn a_whole_file_replaces_earlier_excerpts() {
    let mut versions = ShownVersions::default();
    versions.record("a", version("v1"), span(1, 5));
    versions.record("a", version("v2"), LineSpan::ALL);
    assert_eq!(version_for(&versions, 3), Some("v2"));
    versions.record("a", version("empty"), span(1, 0));
    assert_eq!(version_for(&versions, 3), Some("empty"), "an empty file was shown in full");
}

#[test]
fn a_whole_file_outlasts_many_excerpts() {
    let mut versions = ShownVersions::default();
    versions.record("a", version("whole"), LineSpan::ALL);
    for number in 0..30 {
        versions.record("a", version(&format!("v{number}")), span(number * 10 + 1, number * 10 + 5));
    }
    assert_eq!(version_for(&versions, 6), Some("whole"));
    assert_eq!(version_for(&versions, 205), Some("v20"));
}

#[test]
fn a_file_can_be_forgotten() {
    let mut versions = ShownVersions::default();
    versions.record("b", version("v1"), LineSpan::ALL);
    versions.record("a", version("v1"), LineSpan::ALL);
    assert_eq!(versions.paths().collect::<Vec<_>>(), ["a", "b"]);
    versions.forget("a");
    assert_eq!(versions.paths().collect::<Vec<_>>(), ["b"]);
    assert_eq!(version_for(&versions, 1), None);
}

#[test]
fn shown_versions_are_a_plain_value() {
    let mut versions = ShownVersions::default();
    versions.record("a", version("v1"), span(1, 4));
    versions.record("a", version("v1"), span(5, 9));
    versions.record("a", version("v2"), span(2, 3));
    let text = serde_json::to_string(&versions).unwrap();
    assert_eq!(serde_json::from_str::<ShownVersions>(&text).unwrap(), versions);
    insta::assert_snapshot!(text, @r#"{"a":[{"version":"v1","lines":[{"first":1,"last":1},{"first":4,"last":9}]},{"version":"v2","lines":[{"first":2,"last":3}]}]}"#);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8 * ProptestConfig::default().cases))]

    #[test]
    fn spans_agree_with_a_list_of_lines(shows in prop::collection::vec((0_u8..8, 1_u64..30, 0_u64..30), 1..20)) {
        let mut versions = ShownVersions::default();
        let mut lines: BTreeMap<u64, u8> = BTreeMap::new();
        for (name, first, length) in shows {
            let last = first + length;
            versions.record("a", version(&name.to_string()), span(first, last));
            lines.extend((first..=last).map(|line| (line, name)));
        }
        for (line, name) in lines {
            let expected = name.to_string();
            prop_assert_eq!(version_for(&versions, line), Some(expected.as_str()), "line {}", line);
        }
    }
}
