//! The changes and commands that wait for a review at the host of the workspace.

use wap_core::{Call, ConversationId, Request, Tool, WapError};

/// The review of a workspace, for questions to the person at a client.
pub trait ReviewQuestions: Send + Sync {
    /// Returns the tools whose calls a person reviews.
    fn reviewed_tools(&self) -> &'static [Tool];

    /// Returns the question about a request of this conversation; `None` if it does not wait for a review, not yet or no longer.
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

    /// Decides about the subject of a question.
    ///
    /// # Errors
    ///
    /// [`WapError`] if the subject has changed since, or if another front end has decided; nothing is done then.
    fn decide(&self, call: &Call<'_>, question: &Question, verdict: &Verdict) -> Result<(), WapError>;
}

/// A question to the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The number of the proposal.
    pub proposal: u64,
    /// The conversation that proposed it.
    pub conversation: ConversationId,
    /// The digest of the subject: a different one means that it has changed since.
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
        /// A comment for the model, which may be empty.
        comment: String,
    },
}

/// The proposal that an app draws.
#[derive(Clone, Debug, PartialEq)]
pub enum Wanted {
    /// The newest waiting proposal about this request.
    About {
        /// The request.
        request: Box<Request>,
        /// True to require that the calling conversation proposed it. If each request is a separate client, conversations cannot
        /// be compared.
        is_own: bool,
    },
    /// The proposal with this number.
    Numbered(u64),
}

/// A proposal as an app draws it, without secrets and invisible characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownReview {
    /// The question to which a verdict is bound; its text is empty.
    pub question: Question,
    /// The subject, in one line.
    pub subject: String,
    /// The progress.
    pub progress: ReviewProgress,
    /// The steps, in execution order.
    pub steps: Vec<ShownStep>,
    /// True if not all of it is shown. A truncated proposal cannot be carried out from an app.
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
    /// Its text, with the prefix of its kind, unless it is a note.
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
    /// Information for the person.
    Note,
    /// A line of a command.
    Command,
    /// Anything else.
    Plain,
}

impl LineKind {
    /// Returns the name of the kind in the app.
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
