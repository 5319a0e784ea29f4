//! The reasons that a bundle is refused.

use std::path::PathBuf;

use crate::bundle::header::BundleHeaderError;
use crate::repository::git::GitError;

/// A reason to refuse a bundle. None of its objects is reachable then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BundleRefusal {
    /// The file cannot be opened or is not a file.
    #[error("the bundle {} cannot be opened", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// Its header is malformed.
    #[error("the bundle is damaged")]
    Header(#[from] BundleHeaderError),
    /// It is larger than the limit.
    #[error("the bundle has {bytes} bytes, and {limit_bytes} are allowed")]
    TooLarge {
        /// Its size.
        bytes: u64,
        /// The limit.
        limit_bytes: u64,
    },
    /// It carries another commit than the expected one.
    #[error("the bundle carries the commit {tip}, and {expected} is expected")]
    OtherTip {
        /// The commit that it carries.
        tip: String,
        /// The expected one.
        expected: String,
    },
    /// It needs a commit that is not here.
    #[error("the bundle is based on the commit {commit}, which is not here: send one that is not")]
    MissingPrerequisite {
        /// The commit.
        commit: String,
    },
    /// Its pack is damaged.
    #[error("the pack of the bundle is damaged: {reason}")]
    Damaged {
        /// Git's reason.
        reason: String,
    },
    /// Git rejects one of its objects, such as a tree with an entry `..`.
    #[error("git rejects an object of the bundle: {reason}")]
    Rejected {
        /// Git's reason.
        reason: String,
    },
    /// It carries another object than a commit, such as a tag.
    #[error("the bundle carries {object}, which is a {kind} and not a commit")]
    NoCommit {
        /// The name of the object.
        object: String,
        /// The kind of the object.
        kind: String,
    },
    /// It lacks objects that its commit refers to, or the commit itself.
    #[error("the bundle lacks the commit {commit}, or objects that it refers to")]
    Incomplete {
        /// The commit.
        commit: String,
    },
    /// A folder of the reader's cannot be used.
    #[error("cannot {what} {}", .path.display())]
    File {
        /// The operation, as a verb.
        what: &'static str,
        /// The folder.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// Git could not be run, or took too long.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl BundleRefusal {
    /// Returns whether the bundle itself is at fault. If not, the fault is on this machine, which may later accept the same
    /// bundle.
    pub fn is_about_bundle(&self) -> bool {
        match self {
            BundleRefusal::Unreadable { .. } | BundleRefusal::File { .. } | BundleRefusal::Git(_) => false,
            BundleRefusal::Header(BundleHeaderError::Read(_)) => false,
            BundleRefusal::Header(_)
            | BundleRefusal::TooLarge { .. }
            | BundleRefusal::OtherTip { .. }
            | BundleRefusal::MissingPrerequisite { .. }
            | BundleRefusal::Damaged { .. }
            | BundleRefusal::Rejected { .. }
            | BundleRefusal::NoCommit { .. }
            | BundleRefusal::Incomplete { .. } => true,
        }
    }
}
