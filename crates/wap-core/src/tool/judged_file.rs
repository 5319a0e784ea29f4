//! The state of a file by which a change of it was judged.

use serde::{Deserialize, Serialize};

use crate::{FileVersion, Reason, WapError};

/// The state of a file by which an adapter has judged a change of it: an engine makes the change on no other one.
///
/// Another call, a command or an editor can change the file between the adapter's look at it and the change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum JudgedFile {
    /// There was no file.
    Absent,
    /// The file of this version.
    Version(FileVersion),
}

impl JudgedFile {
    /// The detail of a refusal because of another state.
    const DETAIL: &'static str = "judgedOther";

    /// Checks that a file is still the judged one. `judged` is `None` for a change that no adapter has judged, and `now` for a file
    /// that is not there.
    ///
    /// # Errors
    ///
    /// [`Reason::Busy`]. An engine answers the whole call with it and records nothing, so that the adapter can judge again.
    pub fn check(judged: Option<&JudgedFile>, path: &str, now: Option<&FileVersion>) -> Result<(), WapError> {
        let is_same = match (judged, now) {
            (None, _) | (Some(JudgedFile::Absent), None) => true,
            (Some(JudgedFile::Version(judged)), Some(now)) => judged == now,
            // What is gone shows nothing.
            (Some(JudgedFile::Version(_)), None) => true,
            (Some(JudgedFile::Absent), Some(_)) => false,
        };
        if is_same {
            return Ok(());
        }
        let text = format!("'{path}' keeps changing, so nothing was done: try again");
        Err(WapError::new(Reason::Busy, text).with("path", path).with(Self::DETAIL, true))
    }

    /// Reports whether an error is the refusal of [`check`](Self::check).
    #[must_use]
    pub fn has_refused(error: &WapError) -> bool {
        error.detail(Self::DETAIL).is_some()
    }
}
