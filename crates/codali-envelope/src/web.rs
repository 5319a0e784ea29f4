//! The seam to a search of the web.

use serde::{Deserialize, Serialize};
use wap_core::Call;

/// A search of the web. There is none unless the caller brings one.
pub trait WebSearch: Send + Sync {
    /// Searches; `force` asks the web even if there is an older answer.
    ///
    /// # Errors
    ///
    /// [`WebError`]; the search stays usable.
    fn search(&self, call: &Call<'_>, query: &str, force: bool) -> Result<Vec<WebHit>, WebError>;
}

/// One page that was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebHit {
    /// Its title.
    pub title: String,
    /// Its address.
    pub url: String,
    /// What it says about the query.
    pub snippet: String,
}

/// Why a search of the web has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WebError {
    /// It took too long.
    #[error("the search of the web took too long")]
    TimedOut,
    /// It failed; the text says how.
    #[error("the search of the web failed: {cause}")]
    Failed {
        /// What failed.
        cause: String,
    },
}
