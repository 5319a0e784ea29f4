//! The unfinished review of a proposal.

use serde::{Deserialize, Serialize};

use crate::anchor::Anchor;
use crate::step::{ProposedStep, StepEffect};
use crate::verdict::Selection;

/// The unfinished review of one proposal. It is kept in the journal, so that it survives the end of any process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Draft {
    /// The number of times that it was saved. Saving requires the number that was read, so that two windows do
    /// not overwrite each other's drafts.
    pub revision: u64,
    /// The verdicts.
    #[serde(default)]
    pub selection: Selection,
    /// The comments, in the order in which they were written.
    #[serde(default)]
    pub comments: Vec<Comment>,
    /// A comment on the proposal as a whole.
    #[serde(default)]
    pub summary: String,
}

/// A comment on lines of a step, or on the step as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Comment {
    /// The number of the step, 0-based.
    pub step: u32,
    /// The path of the file; empty for a command.
    #[serde(default)]
    pub path: String,
    /// The text that the lines belong to.
    #[serde(default)]
    pub side: Side,
    /// The lines; `None` for the step as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<Anchor>,
    /// The comment.
    pub text: String,
}

/// One of the two texts of a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Side {
    /// The text before the step.
    Before,
    /// The text after the step.
    #[default]
    After,
}

/// The lines of a comment in the current texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CommentPosition {
    /// It refers to the step as a whole.
    Step,
    /// It refers to these lines, 1-based and inclusive.
    Lines {
        /// The first line.
        first: usize,
        /// The last line.
        last: usize,
    },
    /// Its lines are gone.
    Outdated,
}

impl Comment {
    /// Anchors a comment to lines of a step, 1-based and inclusive; `None` if the step has no such lines.
    #[must_use]
    pub fn on_lines(
        step: &ProposedStep,
        side: Side,
        lines: (usize, usize),
        text: impl Into<String>,
    ) -> Option<Comment> {
        let anchor = Anchor::of(side_of(step, side)?, lines.0, lines.1)?;
        let path = step.path().unwrap_or_default().to_owned();
        Some(Comment { step: step.step, path, side, anchor: Some(anchor), text: text.into() })
    }

    /// Comments on a step as a whole.
    #[must_use]
    pub fn on_step(step: &ProposedStep, text: impl Into<String>) -> Comment {
        let path = step.path().unwrap_or_default().to_owned();
        Comment { step: step.step, path, side: Side::After, anchor: None, text: text.into() }
    }

    /// Returns the text that the lines belong to, in the current steps.
    pub(crate) fn text_of<'s>(&self, steps: &'s [ProposedStep]) -> Option<&'s str> {
        let step = steps.iter().find(|step| step.step == self.step && step.path() == Some(&self.path));
        step.and_then(|step| side_of(step, self.side))
    }

    /// Returns the position of the comment in the current steps.
    #[must_use]
    pub fn position(&self, steps: &[ProposedStep]) -> CommentPosition {
        let Some(anchor) = &self.anchor else { return CommentPosition::Step };
        match self.text_of(steps).and_then(|text| anchor.find(text)) {
            Some((first, last)) => CommentPosition::Lines { first, last },
            None => CommentPosition::Outdated,
        }
    }
}

fn side_of(step: &ProposedStep, side: Side) -> Option<&str> {
    let StepEffect::File(file) = &step.effect else { return None };
    match side {
        Side::Before => file.before.as_deref(),
        Side::After => file.after.as_deref(),
    }
}
