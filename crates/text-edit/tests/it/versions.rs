//! Lines of one version of a file in another, where the file repeats itself or the edit was made before.

use text_edit::{LineMap, Lines, Mapped, Operation, Source, applied_elsewhere, applied_since};

fn source(text: &str) -> Source<'_> {
    Source::parse(text.as_bytes()).unwrap()
}

#[test]
fn a_line_that_a_slide_would_change_counts_as_changed() {
    let (old, new) = (source("a one\nend\nz\n"), source("a one\nend\nb two\nend\nz\n"));
    let plain = LineMap::between(&old, &new);
    assert!(matches!(plain.map(2), Mapped::Kept(_)));
    let certain = LineMap::between_versions(&old, &new);
    assert_eq!(certain.map(2), Mapped::Changed, "either `end` may be the one that was there");
    assert_eq!((certain.map(1), certain.map(3)), (Mapped::Kept(1), Mapped::Kept(5)));
}

#[test]
fn a_slide_upwards_is_detected_as_well() {
    let (old, new) = (source("a\nx\nb\nx\nc\n"), source("a\nx\nc\n"));
    let certain = LineMap::between_versions(&old, &new);
    assert_eq!((certain.map(1), certain.map(5)), (Mapped::Kept(1), Mapped::Kept(3)));
    assert_eq!((certain.map(2), certain.map(4)), (Mapped::Changed, Mapped::Changed));
}

#[test]
fn blocks_without_a_common_edge_change_no_other_line() {
    let (old, new) = (source("a\nb\nc\n"), source("a\nnew\nb\nc\n"));
    assert_eq!(LineMap::between_versions(&old, &new), LineMap::between(&old, &new));
}

#[test]
fn a_line_that_also_occurs_among_changed_ones_counts_as_changed() {
    // As many lines are the same whether the first or the second `end` is the old one.
    let (old, new) = (source("a\none\nend\nz\n"), source("a\ntwo\nend\nthree\nend\nz\n"));
    assert!(matches!(LineMap::between(&old, &new).map(3), Mapped::Kept(_)));
    let certain = LineMap::between_versions(&old, &new);
    assert_eq!(certain.map(3), Mapped::Changed);
    assert_eq!((certain.map(1), certain.map(4)), (Mapped::Kept(1), Mapped::Kept(6)));
    let (old, new) = (source("a\nend\nz\n"), source("a\nend\nb\nend\nc\nz\n"));
    assert_eq!(LineMap::between_versions(&old, &new).map(2), Mapped::Changed);
}

#[test]
fn lines_that_also_occur_elsewhere_are_certain_between_certain_ones() {
    let package =
        |name: &str, version: &str| format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n\n");
    let text = |versions: [&str; 3]| {
        ["globset", "printer", "searcher"]
            .iter()
            .zip(versions)
            .map(|(name, version)| package(name, version))
            .collect()
    };
    let (old, new): (String, String) = (text(["1.0.0", "0.3.0", "1.1.0"]), text(["1.0.1", "0.3.0", "1.1.1"]));
    let certain = LineMap::between_versions(&source(&old), &source(&new));
    let changed: Vec<usize> = (1..=12).filter(|line| certain.map(*line) == Mapped::Changed).collect();
    assert_eq!(changed, [3, 11]);
}

#[test]
fn lines_inserted_next_to_the_addressed_one_are_found() {
    let (earlier, current) = (source("one\ntwo\n"), source("zero\none\nmore\ntwo\n"));
    let replace =
        |text| Operation::Replace { start_line: 1, end_line: 1, content: Lines::from_content(text) };
    let lines = |text| applied_since((&earlier, 0..1), (&current, 1..2), &replace(text));
    assert_eq!(lines("one\nmore\n"), Some(2..=3));
    assert_eq!(lines("zero\none\n"), Some(1..=2));
    assert_eq!(lines("one\nother\n"), None);
    assert_eq!(lines("one\n"), None, "nothing is added");
}

#[test]
fn lines_that_were_next_to_it_before_do_not_count() {
    let (earlier, current) = (source("one\nmore\n"), source("zero\none\nmore\n"));
    let replace =
        Operation::Replace { start_line: 1, end_line: 1, content: Lines::from_content("one\nmore\n") };
    assert_eq!(applied_since((&earlier, 0..1), (&current, 1..2), &replace), None, "meant a second time");
}

#[test]
fn an_insertion_that_was_made_before_is_found() {
    let (earlier, current) = (source("one\ntwo\n"), source("one\nnew\ntwo\n"));
    let insert = Operation::Insert { after_line: 1, content: Lines::from_content("new\n") };
    assert_eq!(applied_since((&earlier, 1..1), (&current, 1..1), &insert), Some(2..=2));
}

#[test]
fn several_lines_that_were_added_elsewhere_are_recognised() {
    let replace = Operation::Replace {
        start_line: 2,
        end_line: 2,
        content: Lines::from_content("}\n\nfirst_export();\nsecond();\n"),
    };
    let earlier = Source::parse(b"{\n}\n").unwrap();
    let applied = |current: &str| {
        let current = Source::parse(current.as_bytes()).unwrap();
        applied_elsewhere(&earlier, (&current, 1..2), &replace)
    };
    assert_eq!(applied("{\n}\n\nother\n\nfirst_export();\nsecond();\n"), Some(6..=7));
    // Controls: one of them alone, both apart, and both twice.
    assert_eq!(applied("{\n}\n\nother\n\nfirst_export();\n"), None);
    assert_eq!(applied("{\n}\nfirst_export();\nother\nsecond();\n"), None);
    assert_eq!(applied("{\n}\nother\nfirst_export();\nsecond();\nfirst_export();\nsecond();\n"), None);
    let earlier = Source::parse(b"{\n}\nfirst_export();\nsecond();\n").unwrap();
    let current = Source::parse(b"{\n}\nother\nfirst_export();\nsecond();\n").unwrap();
    assert_eq!(applied_elsewhere(&earlier, (&current, 1..2), &replace), None, "it was there before");
}

#[test]
fn an_addressed_line_is_found_after_very_many_new_ones() {
    let new = "a\n".repeat(65);
    let current = format!("{new}kept\n");
    let replace = Operation::Replace { start_line: 1, end_line: 1, content: Lines::from_content(&current) };
    let (earlier, current) = (source("kept\n"), source(&current));
    assert_eq!(applied_since((&earlier, 0..1), (&current, 65..66), &replace), Some(1..=66));
}

#[test]
fn new_lines_in_the_middle_of_a_file_are_compared_with_earlier_ones() {
    let replace =
        |text| Operation::Replace { start_line: 4, end_line: 4, content: Lines::from_content(text) };
    let earlier = source("a\nb\nc\none\n");
    let current = source("a\nb\nc\none\nmore\n");
    let applied = applied_since((&earlier, 3..4), (&current, 3..4), &replace("one\nmore\n"));
    assert_eq!(applied, Some(4..=5));
    // They were there before: the edit is meant a second time.
    let earlier = source("a\nb\nc\none\nm\nn\n");
    let current = source("0\na\nb\nc\none\nm\nn\n");
    assert_eq!(applied_since((&earlier, 3..4), (&current, 4..5), &replace("one\nm\nn\n")), None);
}

#[test]
fn lines_elsewhere_are_recognised_by_two_distinctive_ones() {
    let applied = |content: &str, elsewhere: &str| {
        let replace =
            Operation::Replace { start_line: 1, end_line: 1, content: Lines::from_content(content) };
        let (earlier, current) = (source("one\ntwo\n"), format!("one\ntwo\nx\n{elsewhere}"));
        applied_elsewhere(&earlier, (&source(&current), 0..1), &replace)
    };
    let two = "first_line_of_two\nsecond_line_of_two\n";
    assert_eq!(applied(&format!("one\n{two}\n\n"), two), Some(4..=5), "without the blank lines at the end");
    let three = format!("{two}third_line\n");
    assert_eq!(applied(&format!("one\n{three}"), &three), Some(4..=6));
    assert_eq!(applied("one\nfirst_line_of_one\n", "first_line_of_one\n"), None, "one line alone");
    assert_eq!(applied("one\n}\n)\n", "}\n)\n"), None, "braces occur everywhere");
}
