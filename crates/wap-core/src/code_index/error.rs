//! The errors of an index.

/// The failure of a [`CodeIndex`](crate::CodeIndex) to answer. No text holds a path outside of the workspace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// There is no index.
    #[error("no code index is available")]
    Unavailable,
    /// The index belongs to a daemon, and the connection to it failed.
    #[error("the daemon of the code index cannot be reached; start it, or correct its address")]
    Unreachable,
    /// The index does not have, or no longer has, a document of that name.
    #[error("there is no document '{doc_id}'; search again for its present name")]
    UnknownDocument {
        /// The requested name.
        doc_id: String,
    },
    /// The file does not exist, or is not one that is indexed.
    #[error("'{file}' is not in the index")]
    UnknownFile {
        /// The requested file.
        file: String,
    },
    /// The index cannot parse files of this kind.
    #[error("the language of '{file}' is not known to the index")]
    UnknownLanguage {
        /// The requested file.
        file: String,
    },
    /// The caller cancelled.
    #[error("the caller cancelled")]
    Cancelled,
    /// The caller's time ran out.
    #[error("the index took too long")]
    TimedOut,
    /// The index is damaged or its store failed.
    #[error("the code index failed: {cause}")]
    Failed {
        /// The cause, without paths outside of the workspace.
        cause: String,
    },
}
