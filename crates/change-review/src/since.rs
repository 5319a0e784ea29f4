//! The news of a proposal since the last review of the same conversation.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::proposal::{Content, Proposal, ProposalId, State};
use crate::step::{CommandStep, FileChangeKind, FileStep, ProposedStep, StepEffect};

/// The news of a proposal since its conversation was reviewed last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SinceReview {
    /// The steps that an earlier proposal also had and that were not carried out unchanged, by number. Every other step
    /// is new.
    #[serde(default)]
    pub steps: BTreeMap<u32, StepSince>,
    /// The titles of the steps that were left out at the last review and are not proposed again. Only for replies: a
    /// client makes one call after the other.
    #[serde(default)]
    pub dropped: Vec<String>,
}

/// The news of one step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepSince {
    /// The proposal in which the reviewer saw the step last.
    pub review: ProposalId,
    /// The difference between the file as proposed then and now; `None` if both are the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<FileStep>,
}

impl SinceReview {
    /// Compares steps with those of the decided proposals of the same conversation, the newest first. `None` if none of
    /// them recurs and nothing was dropped.
    #[must_use]
    pub fn of(steps: &[ProposedStep], earlier: &[Proposal]) -> Option<SinceReview> {
        let mut since = SinceReview::default();
        let mut turns: BTreeMap<&str, usize> = BTreeMap::new();
        for step in steps {
            let news = match &step.effect {
                StepEffect::File(file) => {
                    let turn = turns.entry(&file.path).or_insert(0);
                    *turn += 1;
                    file_since(file, *turn - 1, earlier)
                }
                StepEffect::Command(_) => command_since(step, earlier),
            };
            since.steps.extend(news.map(|news| (step.step, news)));
        }
        if let Some(last) = earlier.first().filter(|last| matches!(last.content, Content::Reply(_))) {
            let is_dropped = |step: &&ProposedStep| {
                was_left_out(last, step.step) && steps.iter().all(|now| !is_about_the_same(now, step))
            };
            since.dropped = last.steps.iter().filter(is_dropped).map(|step| step.title.clone()).collect();
        }
        let has_news = !since.steps.is_empty() || !since.dropped.is_empty();
        has_news.then_some(since)
    }
}

/// Returns the news of the change of a file. `turn` is the number of earlier changes of the same file.
fn file_since(file: &FileStep, turn: usize, earlier: &[Proposal]) -> Option<StepSince> {
    let of_this_file =
        |proposal: &&Proposal| proposal.steps.iter().any(|step| step.path() == Some(&file.path));
    let last = earlier.iter().find(of_this_file)?;
    let changes: Vec<(u32, &FileStep)> = last
        .steps
        .iter()
        .filter_map(|step| match &step.effect {
            StepEffect::File(other) if other.path == file.path => Some((step.step, other)),
            _ => None,
        })
        .collect();
    let (number, reviewed) = changes.get(turn).or(changes.last()).copied()?;
    // Landed parts are in the folder, so the difference to the folder is the news.
    was_left_out(last, number).then(|| StepSince { review: last.id, changed: difference(reviewed, file) })
}

fn command_since(step: &ProposedStep, earlier: &[Proposal]) -> Option<StepSince> {
    let (last, reviewed) = earlier.iter().find_map(|proposal| {
        let same = proposal.steps.iter().find(|other| is_about_the_same(step, other))?;
        Some((proposal, same))
    })?;
    was_left_out(last, reviewed.step).then_some(StepSince { review: last.id, changed: None })
}

/// Checks whether nothing, or only a part, of a step of a decided proposal was carried out.
fn was_left_out(proposal: &Proposal, step: u32) -> bool {
    match &proposal.state {
        State::Decided(decision) => !decision.has_landed || decision.resolution.0.contains_key(&step),
        State::Pending | State::Landing { .. } => false,
    }
}

fn is_about_the_same(one: &ProposedStep, other: &ProposedStep) -> bool {
    match (&one.effect, &other.effect) {
        (StepEffect::File(one), StepEffect::File(other)) => one.path == other.path,
        (StepEffect::Command(one), StepEffect::Command(other)) => request(one) == request(other),
        _ => false,
    }
}

/// Returns a command as requested, without the effects of a trial.
fn request(command: &CommandStep) -> CommandStep {
    CommandStep { effects: Vec::new(), unlisted: String::new(), ..command.clone() }
}

/// Returns the difference between two proposed states of a file; `None` if they are the same.
fn difference(reviewed: &FileStep, now: &FileStep) -> Option<FileStep> {
    let goes = |file: &FileStep| file.kind == FileChangeKind::Deleted;
    match (text_of(reviewed), text_of(now)) {
        (Some(reviewed), Some(after)) => (reviewed != after)
            .then(|| FileStep::between(&now.path, reviewed.map(str::as_bytes), after.map(str::as_bytes))),
        // Contents that are not kept are compared by hash.
        _ if goes(reviewed) == goes(now) && !hash_of(now).is_empty() && hash_of(reviewed) == hash_of(now) => {
            None
        }
        _ if goes(reviewed) && goes(now) => None,
        _ => {
            let file = FileStep { path: now.path.clone(), kind: now.kind, ..FileStep::default() };
            Some(file.with_note("the two states cannot be compared"))
        }
    }
}

/// Returns the text that a step leaves; an inner `None` if it removes the file, and an outer `None` if the text
/// is not kept.
fn text_of(file: &FileStep) -> Option<Option<&str>> {
    match (&file.after, &file.before) {
        (Some(after), _) => Some(Some(after)),
        (None, Some(_)) if file.kind == FileChangeKind::Deleted => Some(None),
        (None, _) => None,
    }
}

/// Returns the hash of the content that a step leaves; empty if it is unknown, or the file is removed.
fn hash_of(file: &FileStep) -> &str {
    file.mark.split_once(' ').map_or("", |(_, after)| after)
}
