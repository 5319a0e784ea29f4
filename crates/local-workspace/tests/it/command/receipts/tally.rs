//! Counts over the cases that ran.

use std::fmt;

use super::case::{Case, Said};

/// The counts, with the cases that were not as expected.
#[derive(Debug, Default)]
pub(super) struct Tally {
    refused: usize,
    named: usize,
    ordinary: usize,
    false_receipts: usize,
    without_limit: usize,
    complaints: Vec<String>,
}

impl Tally {
    pub(super) fn add(&mut self, case: &Case, said: Option<&Said>) {
        let Some(said) = said else {
            self.without_limit += 1;
            return;
        };
        let complaint = case.complaint(said);
        if case.is_refused() {
            self.refused += 1;
            self.named += usize::from(complaint.is_none());
        } else {
            self.ordinary += 1;
            self.false_receipts += usize::from(complaint.is_some());
        }
        self.complaints.extend(complaint);
    }

    pub(super) fn ran(&self) -> usize {
        self.refused + self.ordinary
    }

    pub(super) fn named_percent(&self) -> usize {
        (self.named * 100).checked_div(self.refused).unwrap_or(100)
    }

    pub(super) fn false_receipts(&self) -> usize {
        self.false_receipts
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { refused, named, ordinary, false_receipts, without_limit, complaints } = self;
        writeln!(f, "refused {refused}, named with the right cause {named} ({} %)", self.named_percent())?;
        writeln!(f, "ordinary {ordinary}, with a receipt {false_receipts}")?;
        if *without_limit > 0 {
            writeln!(f, "left out {without_limit}: this user cannot limit a whole command")?;
        }
        complaints.iter().try_for_each(|complaint| writeln!(f, "- {complaint}"))
    }
}
