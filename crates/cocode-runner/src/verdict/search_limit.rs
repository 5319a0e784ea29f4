//! The bounds on a search for names that other programs obey: an agent chooses the number and targets of symlinks.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::error::RunnerError;
use crate::run::stop::StopFlag;

/// The most lookups of symlink paths, in addition to one for each path of a tree or difference.
pub(super) const MOST_LOOKS: u64 = 1_000_000;

/// The bytes of a path that count as one lookup.
const BYTES_OF_LOOK: usize = 64;

/// The number of lookups after which the time is checked.
const LOOKS_AT_ONCE: u64 = 1024;

/// The end of a search by time or by the user. The default is unlimited.
#[derive(Clone, Debug, Default)]
pub(crate) struct SearchLimit {
    until: Option<Instant>,
    stop: StopFlag,
    /// The time that is left once the flag is raised.
    parting: Duration,
    /// The end of that time, for all parts of the search.
    until_parted: Rc<Cell<Option<Instant>>>,
}

impl SearchLimit {
    /// Ends a search after `limit`, or `parting` after the flag is raised: most searches finish by then.
    pub(crate) fn new(limit: Duration, stop: &StopFlag, parting: Duration) -> SearchLimit {
        let until = Some(Instant::now() + limit);
        SearchLimit { until, stop: stop.clone(), parting, until_parted: Rc::default() }
    }

    /// Checks that the search may continue.
    ///
    /// # Errors
    /// [`RunnerError::SearchEnded`].
    pub(crate) fn check(&self) -> Result<(), RunnerError> {
        let now = Instant::now();
        if self.stop.is_raised() {
            let until = self.until_parted.get().unwrap_or(now + self.parting);
            self.until_parted.set(Some(until));
            if now >= until {
                return Err(RunnerError::SearchEnded { why: "it was interrupted" });
            }
        }
        match self.until {
            Some(until) if now >= until => Err(RunnerError::SearchEnded { why: "it took too long" }),
            _ => Ok(()),
        }
    }
}

/// The remaining lookups of one search.
#[derive(Debug)]
pub(super) struct LookBudget {
    left: Cell<u64>,
    unchecked: Cell<u64>,
    limit: SearchLimit,
}

impl LookBudget {
    pub(super) fn new(looks: u64, limit: SearchLimit) -> LookBudget {
        LookBudget { left: Cell::new(looks), unchecked: Cell::new(0), limit }
    }

    /// Spends the lookups for a path of this length. Returns false if none are left, from then on for every path.
    pub(super) fn spend(&self, path_bytes: usize) -> bool {
        let looks = 1 + (path_bytes / BYTES_OF_LOOK) as u64;
        let mut left = self.left.get().saturating_sub(looks);
        let unchecked = self.unchecked.get() + looks;
        self.unchecked.set(unchecked % LOOKS_AT_ONCE);
        if unchecked >= LOOKS_AT_ONCE && self.limit.check().is_err() {
            left = 0;
        }
        self.left.set(left);
        left > 0
    }

    pub(super) fn is_over(&self) -> bool {
        self.left.get() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_ends_for_good() {
        let budget = LookBudget::new(10, SearchLimit::default());
        assert!(budget.spend(0) && budget.spend(6 * BYTES_OF_LOOK) && !budget.is_over());
        assert!(!budget.spend(100) && !budget.spend(0) && budget.is_over());
    }

    #[test]
    fn the_parts_of_a_search_share_the_time_that_is_left() {
        let stop = StopFlag::new();
        let limit = SearchLimit::new(Duration::from_secs(3600), &stop, Duration::from_secs(60));
        let part = limit.clone();
        stop.raise();
        assert!(limit.check().is_ok() && part.until_parted.get().is_some());
        part.until_parted.set(Some(Instant::now()));
        assert!(limit.check().is_err() && part.check().is_err());
    }

    #[test]
    fn a_budget_ends_with_the_time_or_the_flag() {
        let stop = StopFlag::new();
        let (none, hour) = (Duration::ZERO, Duration::from_secs(3600));
        let looks = 4 * LOOKS_AT_ONCE;
        let is_ended = |limit: SearchLimit| {
            let budget = LookBudget::new(2 * looks, limit);
            for _ in 0..looks {
                budget.spend(0);
            }
            budget.is_over()
        };
        assert!(
            !is_ended(SearchLimit::new(hour, &stop, none)) && is_ended(SearchLimit::new(none, &stop, hour))
        );
        stop.raise();
        assert!(
            is_ended(SearchLimit::new(hour, &stop, none)) && !is_ended(SearchLimit::new(hour, &stop, hour))
        );
    }
}
