//! Figures of a ranking in which each question has a first right answer.

/// The ranks (from 1) of the first right answers within the first ten hits; `None` where there is none.
pub(super) struct Quality {
    pub(super) ranks: Vec<Option<u32>>,
}

impl Quality {
    pub(super) fn new(ranks: Vec<Option<u32>>) -> Quality {
        Quality { ranks }
    }

    /// Returns the mean reciprocal rank.
    pub(super) fn mean_reciprocal(&self) -> f64 {
        self.mean(|rank| 1.0 / f64::from(rank))
    }

    /// Returns the normalized discounted cumulative gain, for one right answer a question.
    pub(super) fn discounted(&self) -> f64 {
        self.mean(|rank| 1.0 / (f64::from(rank) + 1.0).log2())
    }

    /// Returns how many questions have the right answer within the first `most` hits.
    pub(super) fn within(&self, most: u32) -> usize {
        self.ranks.iter().flatten().filter(|rank| **rank <= most).count()
    }

    fn mean(&self, gain: impl Fn(u32) -> f64) -> f64 {
        let count = f64::from(u32::try_from(self.ranks.len()).unwrap_or(u32::MAX));
        self.ranks.iter().flatten().map(|rank| gain(*rank)).sum::<f64>() / count.max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Quality;

    #[test]
    fn figures_follow_from_the_ranks() {
        let quality = Quality::new(vec![Some(1), Some(3), None, None]);
        assert!((quality.mean_reciprocal() - (1.0 + 1.0 / 3.0) / 4.0).abs() < 1e-9);
        assert!((quality.discounted() - 1.5 / 4.0).abs() < 1e-9);
        assert_eq!((quality.within(1), quality.within(10)), (1, 2));
    }
}
