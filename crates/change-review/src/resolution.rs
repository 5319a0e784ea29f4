//! A choice in the form in which it is carried out.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::hunk::with_chosen;
use crate::step::{ProposedStep, StepEffect};
use crate::verdict::{Selection, StepVerdict};

/// The replacements for the steps that were not taken whole, by the number of the step.
///
/// It holds the texts themselves, so that carrying it out does not depend on later changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Resolution(pub BTreeMap<u32, Instead>);

/// The replacement for a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Instead {
    /// Nothing: the step answers that it was left out.
    Nothing,
    /// Nothing: the step answers that the whole proposal was sent back.
    SentBack,
    /// A part of the change of a file.
    Part {
        /// The whole text that the part was chosen from.
        before: String,
        /// The whole text with the chosen part.
        after: String,
        /// The numbers of the chosen hunks and of all hunks.
        chosen: (usize, usize),
    },
}

impl Resolution {
    /// Resolves a selection for these steps.
    #[must_use]
    pub fn of(selection: &Selection, steps: &[ProposedStep]) -> Resolution {
        let normal = selection.normal(steps);
        let instead = steps.iter().filter_map(|step| {
            let instead = match (normal.verdict(step.step), &step.effect) {
                (StepVerdict::Take, _) => return None,
                (StepVerdict::Hunks(taken), StepEffect::File(file)) => {
                    let before = file.before.clone().unwrap_or_default();
                    let after = with_chosen(&before, &file.hunks, |hunk| taken.contains(&hunk.id));
                    Instead::Part { before, after, chosen: (taken.len(), file.hunks.len()) }
                }
                (StepVerdict::Hunks(_) | StepVerdict::LeaveOut, _) => Instead::Nothing,
            };
            Some((step.step, instead))
        });
        Resolution(instead.collect())
    }

    /// Returns the resolution of a proposal that is sent back as a whole.
    #[must_use]
    pub fn of_sent_back(steps: &[ProposedStep]) -> Resolution {
        Resolution(steps.iter().map(|step| (step.step, Instead::SentBack)).collect())
    }
}
