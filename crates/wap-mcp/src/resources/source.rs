//! The part of a workspace that the server needs for resources, prompts and completions.

use wap_core::{Call, ConversationId, WapError};

use super::ResourceName;

/// The runs, reviews and processes of a workspace, as texts for a model: without secrets.
///
/// Every method may block on files and on another process.
pub trait WorkspaceResources: Send + Sync {
    /// Lists resources, newest runs first. With `before`, lists only runs, and only those before it.
    ///
    /// # Errors
    ///
    /// [`WapError`] if the journal cannot be read.
    fn list(&self, call: &Call<'_>, before: Option<u64>) -> Result<ListedPage, WapError>;

    /// Returns the whole text of a run or a review; `None` if there is none of this number.
    ///
    /// # Errors
    ///
    /// [`WapError`] if the journal cannot be read.
    fn text(&self, call: &Call<'_>, name: &ResourceName) -> Result<Option<String>, WapError>;

    /// Returns for each resource, in order, a mark that differs after every change. A resource that cannot be read has its own
    /// error and does not affect the others.
    fn marks(&self, call: &Call<'_>, watched: &[Watched]) -> Vec<Result<Option<Mark>, WapError>>;

    /// Returns the number of the newest run that has changed files and is not an undo; `None` if there is none.
    ///
    /// # Errors
    ///
    /// [`WapError`] if the journal cannot be read.
    fn last_change(&self) -> Result<Option<u64>, WapError>;

    /// Describes the last failed command of a run, or of all runs; `None` if there is none.
    ///
    /// # Errors
    ///
    /// [`WapError`] if the journal cannot be read.
    fn failure(&self, run: Option<u64>) -> Result<Option<String>, WapError>;

    /// Describes the work of a conversation, by default the newest other than that of the call, for a model that continues it;
    /// `None` if there is none.
    ///
    /// # Errors
    ///
    /// [`WapError`] if the journal cannot be read, or the call is cancelled.
    fn work(&self, call: &Call<'_>, conversation: Option<&str>) -> Result<Option<String>, WapError>;

    /// Returns the names of conversations that begin with a text, the newest first, at most `most`.
    ///
    /// # Errors
    ///
    /// [`WapError`] if the journal cannot be read.
    fn conversations(&self, prefix: &str, most: usize) -> Result<Vec<String>, WapError>;
}

/// A page of the list of resources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedPage {
    /// The resources.
    pub resources: Vec<Listed>,
    /// The run before which the next page begins; `None` for the last page.
    pub next: Option<u64>,
}

/// A resource in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: ResourceName,
    /// Its description, in one line.
    pub description: String,
}

/// A resource that a client follows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Watched {
    /// The conversation of the client, to which its processes belong.
    pub conversation: ConversationId,
    /// The resource.
    pub name: ResourceName,
}

/// The state of a resource, as a text that differs after each change; empty if there is no such resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mark(pub String);
