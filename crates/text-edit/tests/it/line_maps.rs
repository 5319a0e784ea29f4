//! Line maps: from edits, from comparison, composed.

use text_edit::{EditLimits, LineMap, Mapped, MappedRange, Numbering, Operation, Shift, Source, apply};

use crate::{delete, insert, regex, replace};

const TEXT: &[u8] = b"1\n2\n3\n4\n5\n6\n";

fn map(operations: &[Operation]) -> LineMap {
    apply(TEXT, operations, Numbering::Original, &EditLimits::default()).unwrap().line_map
}

fn lines(map: &LineMap) -> Vec<Option<usize>> {
    (1..=map.old_lines())
        .map(|line| match map.map(line) {
            Mapped::Kept(line) => Some(line),
            Mapped::Changed => None,
        })
        .collect()
}

fn between(old: &[u8], new: &[u8]) -> LineMap {
    LineMap::between(&Source::parse(old).unwrap(), &Source::parse(new).unwrap())
}

#[test]
fn edits_map_their_lines() {
    let cases: &[(&[Operation], [Option<usize>; 6])] = &[
        (&[insert(2, "a\nb")], [Some(1), Some(2), Some(5), Some(6), Some(7), Some(8)]),
        (&[replace(2, 3, "a")], [Some(1), None, None, Some(3), Some(4), Some(5)]),
        (&[delete(1, 5)], [None, None, None, None, None, Some(1)]),
        (&[delete(1, 1), insert(3, "x")], [None, Some(1), Some(2), Some(4), Some(5), Some(6)]),
        (&[regex("3\n4", "x", "")], [Some(1), Some(2), None, None, Some(4), Some(5)]),
        (&[regex("3\n", "", "")], [Some(1), Some(2), None, Some(3), Some(4), Some(5)]),
        (&[regex("[35]", "x\ny", "g")], [Some(1), Some(2), None, Some(5), None, Some(8)]),
        (&[regex("\n", "", "g")], [None; 6]),
        // A line replaced by itself has not changed, if it is at an edge of the range.
        (&[replace(2, 5, "2\nx\ny\n5")], [Some(1), Some(2), None, None, Some(5), Some(6)]),
        (&[replace(1, 6, "1\n2\n3\n4\n5\n6")], [Some(1), Some(2), Some(3), Some(4), Some(5), Some(6)]),
    ];
    for (operations, expected) in cases {
        assert_eq!(lines(&map(operations)), expected, "{operations:?}");
    }
}

#[test]
fn lines_that_never_existed_are_changed() {
    let map = LineMap::identity(3);
    assert_eq!((map.map(0), map.map(3), map.map(4)), (Mapped::Changed, Mapped::Kept(3), Mapped::Changed));
    assert_eq!(map.map_range(3..=4), MappedRange::Changed { now: 3..3 });
    assert_eq!(map.map_gap(4), None);
}

#[test]
fn ranges_know_insertions_between_their_lines() {
    let map = map(&[insert(1, "a"), insert(3, "b\nc"), replace(5, 5, "x\ny")]);
    assert_eq!(map.map_range(2..=3), MappedRange::Kept(3..=4));
    assert_eq!(map.map_range(3..=3), MappedRange::Kept(4..=4));
    assert_eq!(map.map_range(2..=4), MappedRange::Interrupted { lines: 3..=7, inserted: 2 });
    assert_eq!(map.map_range(4..=6), MappedRange::Changed { now: 6..10 });
    assert_eq!(map.map_range(5..=5), MappedRange::Changed { now: 7..9 });
}

#[test]
fn gaps_span_lines_inserted_there() {
    let map = map(&[insert(2, "a\nb"), replace(4, 5, "x")]);
    assert_eq!(map.map_gap(0), Some(0..=0));
    assert_eq!(map.map_gap(2), Some(2..=4));
    assert_eq!(map.map_gap(3), Some(5..=5));
    assert_eq!(map.map_gap(4), None);
    assert_eq!(map.map_gap(5), Some(6..=6));
    assert_eq!(map.map_gap(6), Some(7..=7));
}

#[test]
fn shifts_report_how_later_lines_moved() {
    let map = map(&[insert(1, "a\nb"), delete(4, 4), replace(6, 6, "x\ny")]);
    assert_eq!(map.shifts(), [Shift { from_line: 2, by: 2 }, Shift { from_line: 5, by: 1 }]);
    assert_eq!(map.line_delta(), 2);
    assert_eq!(LineMap::identity(4).shifts(), []);
}

#[test]
fn comparison_finds_kept_lines() {
    type Case<'a> = (&'a [u8], &'a [u8], &'a [Option<usize>]);
    let cases: &[Case<'_>] = &[
        (b"a\nb\nc\n", b"a\nx\nb\nc\n", &[Some(1), Some(3), Some(4)]),
        (b"a\nb\nc\n", b"c\n", &[None, None, Some(1)]),
        (b"a\nb\n", b"a\r\nb", &[Some(1), Some(2)]),
        (b"a\n\xC3\xA9\n", b"\xFF\xFEa\0\n\0\xE9\0\n\0", &[Some(1), Some(2)]),
        (b"\xEF\xBB\xBFa\n", b"a\n", &[Some(1)]),
        (b"a\n", b"", &[None]),
        (b"\xE9\n", b"\xE8\n", &[None]),
        // An adjacent line, or the start or end of the text, decides which of two equal lines is which.
        (b"a\n=\nb\n", b"c\n=\nd\n=\ne\n", &[None, None, None]),
        (b"a\n=\nb\n=\n", b"c\n=\nb\n=\n", &[None, Some(2), Some(3), Some(4)]),
        (b"=\n=\n=\n", b"=\n=\nx\n=\n", &[Some(1), Some(2), Some(4)]),
    ];
    for (old, new, expected) in cases {
        assert_eq!(lines(&between(old, new)), *expected, "{}", new.escape_ascii());
    }
}

#[test]
fn comparison_of_large_unlike_texts_ends() {
    // A quadratic comparison of these would take hours.
    let old: String = (0..200_000u64).map(|line| format!("{}\n", line * 7919 % 199_999)).collect();
    let new: String = (0..200_000u64).map(|line| format!("{}\n", line * 104_729 % 199_999)).collect();
    let map = between(old.as_bytes(), new.as_bytes());
    assert_eq!((map.old_lines(), map.new_lines()), (200_000, 200_000));
}

#[test]
fn composed_maps_span_both_steps() {
    let first = map(&[insert(2, "a"), delete(5, 5)]);
    let new = b"1\n2\na\n3\n4\n6\n";
    let operations = [replace(1, 1, "x\ny"), delete(3, 3)];
    let second = apply(new, &operations, Numbering::Original, &EditLimits::default()).unwrap().line_map;
    let composed = first.compose(&second);
    assert_eq!(lines(&composed), [None, Some(3), Some(4), Some(5), None, Some(6)]);
    assert_eq!(lines(&composed.inverse()), [None, None, Some(2), Some(3), Some(4), Some(6)]);
    assert!(first.compose(&first.inverse()).map(5) == Mapped::Changed);
}

#[test]
fn texts_of_very_many_lines_are_compared_at_their_ends_only() {
    let text = |marks: [usize; 2]| -> String {
        (0..300_000)
            .map(|line| if marks.contains(&line) { "x\n".to_owned() } else { format!("{line}\n") })
            .collect()
    };
    let (old, new) = (text([0, 0]), text([1_000, 290_000]));
    let (old, new) = (Source::parse(old.as_bytes()).unwrap(), Source::parse(new.as_bytes()).unwrap());
    let map = LineMap::between(&old, &new);
    assert_eq!(map.hunks().len(), 1, "from the first difference to the last one");
    assert_eq!(map.map(290_002), Mapped::Kept(290_002));
    assert_eq!(map.map(150_000), Mapped::Changed);
}

#[test]
fn equal_lines_at_one_end_of_one_text_only_count_as_changed() {
    let map = |old: &str, new: &str| {
        LineMap::between(&Source::parse(old.as_bytes()).unwrap(), &Source::parse(new.as_bytes()).unwrap())
    };
    let at_the_start = map("e\na\ne\n", "b\ne\nc\ne\n");
    assert_eq!(
        [1, 2, 3].map(|line| at_the_start.map(line)),
        [Mapped::Changed, Mapped::Changed, Mapped::Kept(4)]
    );
    let at_the_end = map("e\na\ne\n", "e\nc\ne\nb\n");
    assert_eq!(
        [1, 2, 3].map(|line| at_the_end.map(line)),
        [Mapped::Kept(1), Mapped::Changed, Mapped::Changed]
    );
}
