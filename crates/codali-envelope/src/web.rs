//! The interface to a web search.

use serde::{Deserialize, Serialize};
use wap_core::Call;

/// A web search, implemented by the caller.
pub trait WebSearch: Send + Sync {
    /// Searches the web; `force` bypasses older answers.
    ///
    /// # Errors
    ///
    /// [`WebError`]; the search stays usable.
    fn search(&self, call: &Call<'_>, query: &str, force: bool) -> Result<Vec<WebHit>, WebError>;
}

/// A page of a web search.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebHit {
    /// Its title.
    pub title: String,
    /// Its address.
    pub url: String,
    /// The passage that matches the query.
    pub snippet: String,
}

/// The error of a web search.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WebError {
    /// The search exceeded its time limit.
    #[error("the web search timed out")]
    TimedOut,
    /// The search failed.
    #[error("the web search failed: {cause}")]
    Failed {
        /// The cause.
        cause: String,
    },
}
