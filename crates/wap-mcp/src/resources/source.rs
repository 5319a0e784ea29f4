//! The part of a workspace that the server needs for resources, prompts and completions.

use wap_core::{Call, ConversationId, WapError};

use super::ResourceName;

/// The runs, reviews and processes of a workspace, as texts for a model: without secrets.
///
/// Every method may wait for files and for another process.
pub trait WorkspaceResources: Send + Sync {
    /// Lists resources, the newest runs first. `before` leaves out this run and later ones, and everything but runs.
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

    /// Returns what is different whenever a resource has changed, for each of them in their order. One that cannot be looked at
    /// is an error of its own, and keeps nothing from the others.
    fn marks(&self, call: &Call<'_>, watched: &[Watched]) -> Vec<Result<Option<Mark>, WapError>>;

    /// Returns the number of the newest run that has changed files and is not an undo; `None` if there is none.
    ///
    /// # Errors
    ///
    /// [`WapError`] if the journal cannot be read.
    fn last_change(&self) -> Result<Option<u64>, WapError>;

    /// Describes the command that failed last, in a run or in all of them; `None` if none has.
    ///
    /// # Errors
    ///
    /// [`WapError`] if the journal cannot be read.
    fn failure(&self, run: Option<u64>) -> Result<Option<String>, WapError>;

    /// Describes the work of a conversation, or of the newest other than that of the call, for a model that continues it; `None`
    /// if there is none.
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

/// A part of the list of resources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedPage {
    /// The resources.
    pub resources: Vec<Listed>,
    /// The run before which the next part begins; `None` if this part is the last.
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

/// The state of a resource, as a text that is different after each change of it; empty if there is no such resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mark(pub String);
