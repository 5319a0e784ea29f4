//! The order in which the steps are shown.

use change_review::{ProposedStep, reading_order};

/// An order of the steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As they were proposed: the order in which they are carried out.
    #[default]
    Proposed,
    /// For reading: code with definitions before their uses, tests, commands, generated files.
    Reading,
    /// Files by their paths, then commands.
    Path,
}

impl Order {
    /// Returns the order that follows this one.
    #[must_use]
    pub fn next(self) -> Order {
        match self {
            Order::Proposed => Order::Reading,
            Order::Reading => Order::Path,
            Order::Path => Order::Proposed,
        }
    }

    /// Returns its name for the user.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Order::Proposed => "as proposed",
            Order::Reading => "for reading: definitions before uses, tests after code",
            Order::Path => "by path",
        }
    }

    /// Returns the indexes of the steps in this order.
    #[must_use]
    pub fn of(self, steps: &[ProposedStep]) -> Vec<usize> {
        match self {
            Order::Proposed => (0..steps.len()).collect(),
            Order::Reading => reading_order(steps),
            Order::Path => {
                let mut indexes: Vec<usize> = (0..steps.len()).collect();
                // The sort is stable: steps of the same file stay in the order in which they build on each other.
                indexes.sort_by_key(|index| (steps[*index].path().is_none(), steps[*index].path()));
                indexes
            }
        }
    }
}
