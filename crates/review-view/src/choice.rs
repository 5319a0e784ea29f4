//! Changing the choice by keys.

use std::collections::BTreeSet;

use change_review::{Hunk, HunkId, ProposedStep, Selection, StepEffect, StepVerdict, Tried};

/// The part of a step that is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    All,
    Part,
    Nothing,
}

/// Returns how much of a step is taken.
pub(crate) fn taken(selection: &Selection, step: &ProposedStep) -> Taken {
    match selection.verdict(step.step) {
        StepVerdict::Take => Taken::All,
        StepVerdict::LeaveOut => Taken::Nothing,
        StepVerdict::Hunks(_) => Taken::Part,
    }
}

/// Returns the hunks of a step; none of a command.
pub(crate) fn hunks(step: &ProposedStep) -> &[Hunk] {
    match &step.effect {
        StepEffect::File(file) => &file.hunks,
        StepEffect::Command(_) => &[],
    }
}

/// Takes a step or one of its hunks, or leaves it out if it was taken. A step of which a part is taken is taken whole.
pub(crate) fn toggle(selection: &mut Selection, steps: &[ProposedStep], index: usize, hunk: Option<usize>) {
    let Some(step) = steps.get(index) else { return };
    let verdict = match hunk.and_then(|hunk| hunks(step).get(hunk)) {
        None if taken(selection, step) == Taken::All => StepVerdict::LeaveOut,
        None => StepVerdict::Take,
        Some(hunk) => {
            let all = hunks(step).iter().map(|hunk| hunk.id.clone());
            let mut chosen: BTreeSet<HunkId> = all.filter(|id| selection.takes_hunk(step.step, id)).collect();
            if !chosen.remove(&hunk.id) {
                chosen.insert(hunk.id.clone());
            }
            StepVerdict::Hunks(chosen)
        }
    };
    selection.0.insert(step.step, verdict);
    *selection = selection.normal(steps);
}

/// Checks whether the choice runs a command that was not tried in exactly this choice.
pub(crate) fn needs_a_trial(selection: &Selection, steps: &[ProposedStep], tried: Option<&Tried>) -> bool {
    let is_command = |step: &&ProposedStep| step.path().is_none();
    let runs = steps.iter().filter(is_command).any(|step| taken(selection, step) == Taken::All);
    runs && !is_of_this_choice(selection, steps, tried)
}

/// Checks whether the last trial was of this choice, and its overlay still exists.
pub(crate) fn is_of_this_choice(
    selection: &Selection,
    steps: &[ProposedStep],
    tried: Option<&Tried>,
) -> bool {
    tried.is_some_and(|tried| tried.is_held && tried.selection == selection.normal(steps))
}
