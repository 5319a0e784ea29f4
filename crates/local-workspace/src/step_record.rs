//! The outcome of a step, in the form that the engine writes into the journal.

use change_journal::ContentHash;
use serde::{Deserialize, Serialize};
use text_edit::{Hunk, LineMap};
use wap_core::{FileChange, FileChanged, ModifyFile, Reason, WapError, WriteFile};

/// The outcome of one file change, with the line map of an edit so that any process can follow line numbers of older
/// versions exactly.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ChangeRecord {
    pub outcome: Result<FileChanged, WapError>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_map: Option<MapRecord>,
    /// The digest of the request, so that a different request is not answered with it; see [`request_digest`]. Records
    /// of older versions, and of changes that later became a conflict, have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
}

/// A [`LineMap`] as data: 0-based half-open line indexes.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct MapRecord {
    old_lines: usize,
    new_lines: usize,
    hunks: Vec<[usize; 4]>,
}

impl From<&LineMap> for MapRecord {
    fn from(map: &LineMap) -> MapRecord {
        let hunk = |hunk: &Hunk| [hunk.old.start, hunk.old.end, hunk.new.start, hunk.new.end];
        MapRecord {
            old_lines: map.old_lines(),
            new_lines: map.new_lines(),
            hunks: map.hunks().iter().map(hunk).collect(),
        }
    }
}

impl MapRecord {
    /// Rebuilds the map; `None` if the record is not consistent.
    pub(crate) fn line_map(&self) -> Option<LineMap> {
        let hunk = |[old_start, old_end, new_start, new_end]: &[usize; 4]| Hunk {
            old: *old_start..*old_end,
            new: *new_start..*new_end,
        };
        LineMap::new(self.old_lines, self.new_lines, self.hunks.iter().map(hunk).collect())
    }
}

/// Returns a digest of a requested change. It excludes the version that its line numbers refer to and the file by which
/// it was judged, since a caller that repeats the call may have read the file again, and the treatment of numbers
/// before its lines.
pub(crate) fn request_digest(change: &FileChange) -> String {
    let without_version = match change {
        FileChange::Modify(modify) => FileChange::Modify(ModifyFile {
            expected_version: None,
            judged: None,
            view_numbers: None,
            ..modify.clone()
        }),
        FileChange::Write(write) if write.judged.is_some() => {
            FileChange::Write(WriteFile { judged: None, ..write.clone() })
        }
        other => return ContentHash::of(&encode(other)).to_string(),
    };
    ContentHash::of(&encode(&without_version)).to_string()
}

/// The refusal of a request under the step of another request.
pub(crate) fn other_request(step: u32) -> WapError {
    let text = format!(
        "step {step} of this run was made with another request, so nothing was done: give each reply a run of its own"
    );
    WapError::new(Reason::Conflict, text)
}

/// Renders an outcome for the journal.
pub(crate) fn encode<T: Serialize>(outcome: &T) -> Vec<u8> {
    serde_json::to_vec(outcome).expect("outcomes have string keys")
}

/// Reads an outcome back.
pub(crate) fn decode<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<T, WapError> {
    serde_json::from_slice(bytes).map_err(|error| {
        WapError::new(Reason::ReadError, format!("cannot read what the journal recorded: {error}"))
    })
}
