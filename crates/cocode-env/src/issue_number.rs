//! The number of an issue.

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The number of an issue: 1 or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IssueNumber(NonZeroU64);

/// The error for a text that is not an issue number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number, 1 or more")]
pub struct IssueNumberError;

impl IssueNumber {
    /// Returns the number.
    pub fn get(self) -> u64 {
        self.0.get()
    }
}

impl TryFrom<u64> for IssueNumber {
    type Error = IssueNumberError;

    fn try_from(number: u64) -> Result<IssueNumber, IssueNumberError> {
        NonZeroU64::new(number).map(IssueNumber).ok_or(IssueNumberError)
    }
}

impl FromStr for IssueNumber {
    type Err = IssueNumberError;

    /// Accepts decimal digits only: no sign, no whitespace.
    fn from_str(text: &str) -> Result<IssueNumber, IssueNumberError> {
        // `u64::from_str` also accepts a leading plus sign, which would not survive a round trip.
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(IssueNumberError);
        }
        text.parse::<u64>().map_err(|_| IssueNumberError)?.try_into()
    }
}

impl fmt::Display for IssueNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
