//! The outcome of carrying out a reply.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wap_core::{LineSpan, ShownVersions};

use crate::CommandResult;

/// The outcome of a whole reply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Execution {
    /// The results, one for each item, in the order of the reply.
    pub results: Vec<CommandResult>,
    /// The canonical paths of the files to show in the next outbox, each once, in the order of the requests.
    pub read_file_requests: Vec<String>,
    /// The requested lines of those files that were not requested whole, sorted and disjoint.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub read_file_ranges: BTreeMap<String, Vec<LineSpan>>,
    /// The summary of the last DONE; `None` if there was none.
    pub done: Option<String>,
    /// The items that were not begun because the call was cancelled, as sorted indexes of `results`. Texts and malformed blocks
    /// are not included, since they have no effect.
    #[serde(default)]
    pub not_begun: Vec<usize>,
    /// The versions that the model was shown, including those in the results.
    pub shown_versions: ShownVersions,
}

impl Execution {
    /// Returns the number of failed blocks. In a reply with DONE, they keep the session open.
    #[must_use]
    pub fn failed_blocks(&self) -> usize {
        self.results.iter().filter(|result| !result.success).count()
    }
}
