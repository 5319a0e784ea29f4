//! The order in which the steps are shown.

use change_review::{ProposedStep, StepEffect};

/// An order of the steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As they were proposed: the order in which they are carried out.
    #[default]
    Proposed,
    /// Files of code in front, then tests, then commands.
    TestsLast,
    /// Files by their paths, then commands.
    Path,
}

impl Order {
    /// Returns the order that follows this one.
    #[must_use]
    pub fn next(self) -> Order {
        match self {
            Order::Proposed => Order::TestsLast,
            Order::TestsLast => Order::Path,
            Order::Path => Order::Proposed,
        }
    }

    /// Returns its name for the user.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Order::Proposed => "as proposed",
            Order::TestsLast => "tests after code",
            Order::Path => "by path",
        }
    }

    /// Returns the indexes of the steps in this order.
    #[must_use]
    pub fn of(self, steps: &[ProposedStep]) -> Vec<usize> {
        let mut indexes: Vec<usize> = (0..steps.len()).collect();
        // The sort is stable: steps of the same file stay in the order in which they build on each other.
        match self {
            Order::Proposed => {}
            Order::TestsLast => indexes.sort_by_key(|index| match &steps[*index].effect {
                StepEffect::File(file) => usize::from(is_test(&file.path)),
                StepEffect::Command(_) => 2,
            }),
            Order::Path => {
                indexes.sort_by_key(|index| (steps[*index].path().is_none(), steps[*index].path()))
            }
        }
        indexes
    }
}

/// Checks whether a file is one of tests, by the words in its path.
fn is_test(path: &str) -> bool {
    let words = path.split(|character: char| !character.is_ascii_alphanumeric());
    words
        .into_iter()
        .any(|word| matches!(word, "test" | "tests" | "spec" | "specs" | "Test" | "Tests" | "testdata"))
}
