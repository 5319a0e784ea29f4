//! The refusals of the queue.

use change_journal::JournalError;

use crate::proposal::ProposalId;

/// The refusal of a change to the queue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueueError {
    /// There is no such proposal.
    #[error("there is no proposal {id}")]
    Unknown {
        /// The number.
        id: ProposalId,
    },
    /// The proposal is over.
    #[error("proposal {id} is over already")]
    Decided {
        /// The number.
        id: ProposalId,
    },
    /// Another window has saved the draft since it was read.
    #[error("the draft was saved by another window meanwhile: its revision is {revision}")]
    Revised {
        /// The revision that it has now.
        revision: u64,
    },
    /// Too many proposals wait, or they are too long together.
    #[error("{count} proposals of {} wait already: review some of them first", mebibytes(*bytes))]
    Full {
        /// The number of waiting proposals.
        count: usize,
        /// The length of their documents in bytes.
        bytes: u64,
    },
    /// The journal failed.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A document is not in the form of this version.
    #[error("proposal {id} cannot be read: {error}")]
    Damaged {
        /// The number.
        id: ProposalId,
        /// The fault.
        error: String,
    },
    /// Only unreadable documents are dropped.
    #[error("proposal {id} is not damaged; only damaged proposals can be dropped")]
    Readable {
        /// The number.
        id: ProposalId,
    },
}

fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}
