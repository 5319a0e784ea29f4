//! What carrying out a reply gave.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wap_core::{LineSpan, ShownVersions};

use crate::CommandResult;

/// What a reply gave, as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Execution {
    /// The results, one for each item, in the order of the reply.
    pub results: Vec<CommandResult>,
    /// The canonical paths of the files to show in the next outbox, each once, in the order of asking.
    pub read_file_requests: Vec<String>,
    /// Of those files of which some lines only were asked for, which ones: sorted, apart from each other.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub read_file_ranges: BTreeMap<String, Vec<LineSpan>>,
    /// The summary of the last DONE; `None` if there was none.
    pub done: Option<String>,
    /// Which items were not begun because the call was cancelled, as indexes of `results`, 0-based and sorted. Texts and
    /// malformed blocks are not among them: nothing has to be done for those.
    #[serde(default)]
    pub not_begun: Vec<usize>,
    /// What the model knows once it has read the results.
    pub shown_versions: ShownVersions,
}

impl Execution {
    /// Returns how many blocks failed; where the reply says DONE, they keep the session going.
    #[must_use]
    pub fn failed_blocks(&self) -> usize {
        self.results.iter().filter(|result| !result.success).count()
    }
}
