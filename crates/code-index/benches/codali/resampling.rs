//! Bootstrap intervals: the range of a figure over other questions of the same kind.

/// The number of resamplings.
const DRAWS: usize = 4_000;

/// Returns the mean of some figures.
pub(crate) fn mean(figures: impl ExactSizeIterator<Item = f64>) -> f64 {
    let many = f64::from(u32::try_from(figures.len()).unwrap());
    figures.sum::<f64>() / many
}

/// Returns the range of the ratio of two means in 95 of 100 resamplings of the pairs, drawn with repetition.
pub(crate) fn ratio_interval(pairs: &[(f64, f64)]) -> [f64; 2] {
    // The same draws in every run, so that figures can be compared.
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut draw = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        pairs[usize::try_from(state % pairs.len() as u64).unwrap()]
    };
    let mut ratios: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let drawn = pairs.iter().map(|_| draw());
            let (left, right) = drawn.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            left / right
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    [ratios[DRAWS / 40], ratios[DRAWS - 1 - DRAWS / 40]]
}
