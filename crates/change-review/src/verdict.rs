//! The reviewer's choice: which steps and which hunks are carried out.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::hunk::HunkId;
use crate::step::{ProposedStep, StepEffect};

/// The verdict on one step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StepVerdict {
    /// It is carried out as it was proposed.
    Take,
    /// Nothing of it is carried out.
    LeaveOut,
    /// Of a change to a file, only these hunks are carried out.
    Hunks(BTreeSet<HunkId>),
}

/// The verdicts on the steps of a proposal, by the number of the step. A step without one is taken.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Selection(pub BTreeMap<u32, StepVerdict>);

impl Selection {
    /// Returns the selection that leaves out every step.
    #[must_use]
    pub fn nothing(steps: &[ProposedStep]) -> Selection {
        Selection(steps.iter().map(|step| (step.step, StepVerdict::LeaveOut)).collect())
    }

    /// Returns the verdict on a step.
    #[must_use]
    pub fn verdict(&self, step: u32) -> &StepVerdict {
        self.0.get(&step).unwrap_or(&StepVerdict::Take)
    }

    /// Checks whether a hunk of a step is taken.
    #[must_use]
    pub fn takes_hunk(&self, step: u32, hunk: &HunkId) -> bool {
        match self.verdict(step) {
            StepVerdict::Take => true,
            StepVerdict::LeaveOut => false,
            StepVerdict::Hunks(taken) => taken.contains(hunk),
        }
    }

    /// Returns the same choice in its shortest form: all hunks of a step are the whole step, and no hunks are a step
    /// that is left out. Verdicts on steps and hunks that the proposal does not have are dropped.
    #[must_use]
    pub fn normal(&self, steps: &[ProposedStep]) -> Selection {
        let normal = steps.iter().filter_map(|step| {
            let verdict = match (self.verdict(step.step), &step.effect) {
                (StepVerdict::Take, _) => return None,
                (StepVerdict::Hunks(taken), StepEffect::File(file)) if !file.hunks.is_empty() => {
                    let taken_here: BTreeSet<HunkId> = file
                        .hunks
                        .iter()
                        .map(|hunk| hunk.id.clone())
                        .filter(|id| taken.contains(id))
                        .collect();
                    match taken_here.len() {
                        0 => StepVerdict::LeaveOut,
                        all if all == file.hunks.len() => return None,
                        _ => StepVerdict::Hunks(taken_here),
                    }
                }
                // A part of a step that no longer has parts is never the whole.
                (StepVerdict::Hunks(_) | StepVerdict::LeaveOut, _) => StepVerdict::LeaveOut,
            };
            Some((step.step, verdict))
        });
        Selection(normal.collect())
    }

    /// Checks whether nothing of these steps is taken.
    #[must_use]
    pub fn takes_nothing_of(&self, steps: &[ProposedStep]) -> bool {
        let normal = self.normal(steps);
        steps.iter().all(|step| *normal.verdict(step.step) == StepVerdict::LeaveOut)
    }
}
