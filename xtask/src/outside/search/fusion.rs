//! One ranking of two.

use std::collections::BTreeMap;

/// The usual constant of reciprocal rank fusion: the larger it is, the less the first hits stand out.
pub(super) const CONSTANT: u32 = 60;

/// Fuses two rankings by the sum of their reciprocal ranks; equal ones in the order of their numbers.
///
/// A number that a ranking has twice counts at its first rank there.
pub(super) fn fused(left: &[usize], right: &[usize]) -> Vec<usize> {
    let mut scores: BTreeMap<usize, f64> = BTreeMap::new();
    for ranking in [left, right] {
        for (rank, (index, number)) in (1..).zip(ranking.iter().enumerate()) {
            if !ranking[..index].contains(number) {
                *scores.entry(*number).or_default() += 1.0 / f64::from(CONSTANT + rank);
            }
        }
    }
    let mut scores: Vec<(usize, f64)> = scores.into_iter().collect();
    // The sort is stable, and the map has its numbers in order.
    scores.sort_by(|left, right| right.1.total_cmp(&left.1));
    scores.into_iter().map(|(number, _)| number).collect()
}

#[cfg(test)]
mod tests {
    use super::fused;

    #[test]
    fn a_hit_of_both_rankings_comes_first() {
        assert_eq!(fused(&[3, 1, 2], &[4, 5, 2]), [2, 3, 4, 1, 5]);
    }

    #[test]
    fn one_ranking_alone_keeps_its_order() {
        assert_eq!(fused(&[3, 1, 2], &[]), [3, 1, 2]);
        assert_eq!(fused(&[], &[3, 1, 3, 2]), [3, 1, 2]);
        assert!(fused(&[], &[]).is_empty());
    }

    #[test]
    fn a_hit_counts_once_in_each_ranking() {
        assert_eq!(fused(&[7, 8, 8, 8], &[]), [7, 8]);
    }
}
