#![doc = include_str!("../README.md")]

mod anchor;
mod draft;
mod hunk;
mod proposal;
mod queue;
mod reading;
mod recording;
mod replayed;
mod resolution;
mod section;
mod selected;
mod since;
mod step;
mod tried;
mod verdict;

pub use anchor::Anchor;
pub use draft::{Comment, CommentPosition, Draft, Side};
pub use hunk::{Hunk, HunkId, hunks};
pub use proposal::{
    Content, Decision, Proposal, ProposalEnd, ProposalId, ProposalSummary, ProposedCall, State,
};
pub use queue::{NewProposal, Queue, QueueError, QueueLimits};
pub use reading::{FileClass, reading_order};
pub use recording::{RecordedStep, RecordingWorkspace, StepAnswer, StepRequest};
pub use replayed::ReplayedWorkspace;
pub use resolution::{Instead, Resolution};
pub use section::review_text;
pub use selected::SelectedWorkspace;
pub use since::{SinceReview, StepSince};
pub use step::{CommandStep, FileChangeKind, FileStep, ProposedStep, StepEffect, files_before, steps_mark};
pub use tried::{StepOutcome, Tried};
pub use verdict::{Selection, StepVerdict};
