//! The changes and commands that wait for a review, as the host of the workspace keeps it.

use wap_core::{Call, ConversationId, Request, Tool, WapError};

/// The review of a workspace, as far as questions to a client's person can decide about it.
pub trait ReviewQuestions: Send + Sync {
    /// Returns the tools whose calls a person reviews.
    fn reviewed_tools(&self) -> &'static [Tool];

    /// Returns the question about a request that this conversation makes; `None` if it does not wait for a review, not yet
    /// or not any more.
    ///
    /// # Errors
    ///
    /// [`WapError`] if the review cannot be reached.
    fn question(&self, call: &Call<'_>, request: &Request) -> Result<Option<Question>, WapError>;

    /// Returns a proposal as an app draws it; `None` if there is no such one.
    ///
    /// # Errors
    ///
    /// [`WapError`] if the review cannot be reached.
    fn review(&self, call: &Call<'_>, wanted: &Wanted) -> Result<Option<ShownReview>, WapError>;

    /// Decides about what was asked.
    ///
    /// # Errors
    ///
    /// [`WapError`] if it is not what was asked any more, or if another front end has decided; nothing is done then.
    fn decide(&self, call: &Call<'_>, question: &Question, verdict: &Verdict) -> Result<(), WapError>;
}

/// A question to the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The number of the proposal.
    pub proposal: u64,
    /// The conversation that proposed it.
    pub conversation: ConversationId,
    /// The digest of what is asked: another one means that it has changed since.
    pub digest: String,
    /// The text for the person, without secrets.
    pub text: String,
}

/// A verdict of the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All of it is carried out.
    CarryOut,
    /// Nothing of it is carried out.
    SendBack {
        /// A word for the model, which may be empty.
        comment: String,
    },
}

/// The proposal that an app draws.
#[derive(Clone, Debug, PartialEq)]
pub enum Wanted {
    /// The newest one that waits and is about this request.
    About {
        /// The request.
        request: Box<Request>,
        /// True if the conversation that makes the call proposed it. Where each request is a client of its own, it cannot be
        /// recognised by its conversation.
        is_own: bool,
    },
    /// The one of this number.
    Numbered(u64),
}

/// A proposal as an app draws it, without secrets and without characters that are not seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownReview {
    /// The question that a verdict is bound to; its text is empty.
    pub question: Question,
    /// The subject, in one line.
    pub subject: String,
    /// The progress.
    pub progress: ReviewProgress,
    /// The steps, in the order in which they would be done.
    pub steps: Vec<ShownStep>,
    /// True if not all of it is shown. What is not shown cannot be carried out from an app.
    pub is_cut: bool,
}

/// The progress of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewProgress {
    /// It waits for a person.
    Pending,
    /// A verdict is being carried out.
    Landing,
    /// It was carried out, at least in part.
    Landed,
    /// It was sent back.
    SentBack,
    /// It was ended without an answer, and nothing of it was carried out.
    Closed,
}

/// One step of a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownStep {
    /// Its effect, in one line.
    pub title: String,
    /// Its lines.
    pub lines: Vec<ShownLine>,
}

/// One line of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownLine {
    /// Its kind.
    pub kind: LineKind,
    /// Its text, with the sign that says so, unless it is a note.
    pub text: String,
}

/// The kinds of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// The line at which a hunk begins.
    Position,
    /// A line that is added.
    Added,
    /// A line that is removed.
    Removed,
    /// Something that the person should know.
    Note,
    /// A line of a command.
    Command,
    /// Anything else.
    Plain,
}

impl LineKind {
    /// Returns the word by which the app knows it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            LineKind::Position => "position",
            LineKind::Added => "added",
            LineKind::Removed => "removed",
            LineKind::Note => "note",
            LineKind::Command => "command",
            LineKind::Plain => "plain",
        }
    }
}
