//! What the engine writes into the journal as the outcome of a step.

use serde::{Deserialize, Serialize};
use text_edit::{Hunk, LineMap};
use wap_core::{FileChanged, Reason, WapError};

/// The outcome of one file change, with the line map of an edit so that line numbers of older versions can be followed
/// exactly, by whichever process.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ChangeRecord {
    pub outcome: Result<FileChanged, WapError>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_map: Option<MapRecord>,
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
