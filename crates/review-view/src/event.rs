//! The events of the view, and its requests to the program around it.

use change_review::{Draft, Proposal, ProposalId, ProposalSummary, Selection, SinceReview, Tried};

/// A key, in the form that the view understands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// A character.
    Character(char),
    /// The key Enter.
    Enter,
    /// The key Escape.
    Escape,
    /// The key Tab.
    Tab,
    /// Shift and Tab.
    BackTab,
    /// The arrow up.
    Up,
    /// The arrow down.
    Down,
    /// The arrow to the left.
    Left,
    /// The arrow to the right.
    Right,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// The beginning.
    Home,
    /// The end.
    End,
    /// Removes the character before the cursor.
    Backspace,
    /// Removes the character after the cursor.
    Delete,
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-U: removes everything before the cursor.
    ClearLine,
    /// A text that was pasted into the terminal.
    Paste(String),
}

/// A proposal with all data kept about it.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenedProposal {
    /// The proposal, with its steps planned on the current folder.
    pub proposal: Proposal,
    /// The draft as it was saved last.
    pub draft: Draft,
    /// The last trial; `None` if there was none.
    pub tried: Option<Tried>,
    /// The news since the last review of the same conversation; `None` if nothing was sent back before.
    pub since: Option<SinceReview>,
}

/// Something that happened outside of the view.
#[derive(Clone, Debug)]
pub enum Event {
    /// A key was pressed.
    Key(Key),
    /// The queue was listed.
    Listed(Vec<ProposalSummary>),
    /// A proposal was read, because the view requested it or because it has changed.
    Opened(Box<OpenedProposal>),
    /// A draft was saved.
    Saved {
        /// The proposal.
        id: ProposalId,
        /// The draft, with its next revision.
        draft: Draft,
    },
    /// A draft was not saved.
    SaveRefused {
        /// The proposal.
        id: ProposalId,
        /// The reason in one line.
        why: String,
    },
    /// A trial has ended.
    Tried {
        /// The proposal.
        id: ProposalId,
        /// Its result, or the reason in one line if it did not take place.
        outcome: Result<Tried, String>,
    },
    /// A decision was carried out.
    Decided {
        /// The proposal.
        id: ProposalId,
        /// The result in one line, or the reason if it did not take place and the proposal still waits.
        outcome: Result<String, String>,
    },
    /// Another call failed, for this reason.
    Failed(String),
    /// A moment has passed: a spinner turns.
    Tick,
}

/// A request of the view to its program. Requests are carried out in order; a trial runs concurrently with later ones.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Read a proposal and answer with [`Event::Opened`].
    Open(ProposalId),
    /// Save a draft whose revision is the one that is replaced; answer with [`Event::Saved`] or [`Event::SaveRefused`].
    Save {
        /// The proposal.
        id: ProposalId,
        /// The draft.
        draft: Draft,
    },
    /// Try a choice; answer with [`Event::Tried`].
    Try {
        /// The proposal.
        id: ProposalId,
        /// The choice.
        selection: Selection,
    },
    /// Stop the running trial.
    StopTrial,
    /// Land the choice of the draft, or send everything back; answer with [`Event::Decided`].
    Decide {
        /// The proposal.
        id: ProposalId,
        /// The reviewed draft, after the requested saves: if a different one is stored by now, nothing may be decided.
        draft: Draft,
        /// The mark of the reviewed steps: if they differ by now, nothing may land.
        mark: String,
        /// True if nothing of it lands.
        sends_back: bool,
    },
    /// End the view.
    Quit,
}
