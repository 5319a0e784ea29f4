//! Lines that are kept between two versions are kept by every comparison with as few differences.

use proptest::collection::vec;
use proptest::prelude::*;
use text_edit::{LineMap, Mapped, Source};

/// A text of few different lines between two that occur once.
fn lines() -> impl Strategy<Value = Vec<char>> {
    vec(prop::sample::select(vec!['a', 'b', 'c']), 0..7).prop_map(|inner| {
        let mut lines = vec!['{'];
        lines.extend(inner);
        lines.push('}');
        lines
    })
}

fn text(lines: &[char]) -> String {
    lines.iter().flat_map(|line| [*line, '\n']).collect()
}

/// The most lines that can be kept, for each pair of ends (0-based) of the two texts, and in how many ways.
fn kept_and_ways(old: &[char], new: &[char]) -> Vec<Vec<(usize, u64)>> {
    let mut table = vec![vec![(0, 1); new.len() + 1]; old.len() + 1];
    for old_end in 1..=old.len() {
        for new_end in 1..=new.len() {
            let (above, left) = (table[old_end - 1][new_end], table[old_end][new_end - 1]);
            let most = above.0.max(left.0);
            // The common part was counted twice.
            let both = table[old_end - 1][new_end - 1];
            let ways = |cell: (usize, u64)| if cell.0 == most { cell.1 } else { 0 };
            let apart = ways(above) + ways(left) - ways(both);
            let paired = (both.0 + 1, both.1);
            let is_same = old[old_end - 1] == new[new_end - 1];
            table[old_end][new_end] = match paired.0.cmp(&most) {
                std::cmp::Ordering::Greater if is_same => paired,
                std::cmp::Ordering::Equal if is_same => (most, apart + paired.1),
                _ => (most, apart),
            };
        }
    }
    table
}

fn reversed(lines: &[char]) -> Vec<char> {
    lines.iter().rev().copied().collect()
}

/// Checks whether every comparison that keeps as many lines as possible maps `old_line` to `new_line` (0-based).
fn is_certain(old: &[char], new: &[char], old_line: usize, new_line: usize) -> bool {
    let before = kept_and_ways(&old[..old_line], &new[..new_line])[old_line][new_line];
    let (old_rest, new_rest) = (reversed(&old[old_line + 1..]), reversed(&new[new_line + 1..]));
    let after = kept_and_ways(&old_rest, &new_rest)[old_rest.len()][new_rest.len()];
    let all = kept_and_ways(old, new)[old.len()][new.len()];
    (before.0 + 1 + after.0, before.1 * after.1) == all
}

/// Returns the lines of a map that are kept, as pairs of 0-based indexes.
fn kept(map: &LineMap) -> Vec<(usize, usize)> {
    let kept = |index: usize| match map.map(index + 1) {
        Mapped::Kept(number) => Some((index, number - 1)),
        Mapped::Changed => None,
    };
    (0..map.old_lines()).filter_map(kept).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn between_unique_lines_every_comparison_keeps_the_kept_ones(old in lines(), new in lines()) {
        let (old_text, new_text) = (text(&old), text(&new));
        let map = LineMap::between_versions(
            &Source::parse(old_text.as_bytes()).unwrap(),
            &Source::parse(new_text.as_bytes()).unwrap(),
        );
        let kept = kept(&map);
        let occurs_once = |lines: &[char], wanted: char| lines.iter().filter(|line| **line == wanted).count() == 1;
        let anchors = kept.iter().filter(|(line, _)| occurs_once(&old, old[*line]) && occurs_once(&new, old[*line]));
        let anchors: Vec<(usize, usize)> = anchors.copied().collect();
        for pair in anchors.windows(2) {
            let ((old_from, new_from), (old_to, new_to)) = (pair[0], pair[1]);
            let (old_part, new_part) = (&old[old_from..=old_to], &new[new_from..=new_to]);
            for (line, now) in kept.iter().filter(|(line, _)| (old_from..=old_to).contains(line)) {
                prop_assert!(
                    is_certain(old_part, new_part, line - old_from, now - new_from),
                    "line {} of {old_text:?} is not certainly line {} of {new_text:?}",
                    line + 1,
                    now + 1
                );
            }
        }
    }
}
