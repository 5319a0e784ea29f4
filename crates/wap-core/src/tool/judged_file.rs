//! The state of a file on which an adapter judged a change.

use serde::{Deserialize, Serialize};

use crate::{FileVersion, Reason, WapError};

/// The state of a file on which an adapter judged a change: an engine makes the change only on this state.
///
/// Another call, a command or an editor can change the file between the judgement and the change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum JudgedFile {
    /// There was no file.
    Absent,
    /// There was no file, an empty one, or one whose last line is complete: appended text begins a new line. Several callers can
    /// append to a file at once.
    WholeLines,
    /// The file of this version.
    Version(FileVersion),
}

impl JudgedFile {
    /// The detail of a refusal because of another state.
    const DETAIL: &'static str = "judgedOther";

    /// Checks that a file is still the judged one. `judged` is `None` for a change that no adapter judged. `now` is `None` for a
    /// missing file, and otherwise has its version and bytes.
    ///
    /// # Errors
    ///
    /// [`Reason::Busy`]. An engine answers the whole call with it and records nothing, so that the adapter can judge again.
    pub fn check(
        judged: Option<&JudgedFile>,
        path: &str,
        now: Option<(&FileVersion, &[u8])>,
    ) -> Result<(), WapError> {
        let is_same = match (judged, now) {
            (None, _) | (Some(JudgedFile::Absent | JudgedFile::WholeLines), None) => true,
            (Some(JudgedFile::Version(judged)), Some((version, _))) => judged == version,
            (Some(JudgedFile::WholeLines), Some((_, bytes))) => is_of_whole_lines(bytes),
            // A missing file is not the judged version.
            (Some(JudgedFile::Version(_)), None) => true,
            (Some(JudgedFile::Absent), Some(_)) => false,
        };
        if is_same {
            return Ok(());
        }
        let text = format!("'{path}' keeps changing, so nothing was done: try again");
        Err(WapError::new(Reason::Busy, text).with("path", path).with(Self::DETAIL, true))
    }

    /// Checks whether an error is the refusal of [`check`](Self::check).
    #[must_use]
    pub fn has_refused(error: &WapError) -> bool {
        error.detail(Self::DETAIL).is_some()
    }
}

/// Checks whether the last line of a file is complete. In UTF-16, the line feed has an adjacent zero byte.
fn is_of_whole_lines(bytes: &[u8]) -> bool {
    bytes.iter().rev().find(|byte| **byte != 0).is_none_or(|last| *last == b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_made_on_the_judged_file_only() {
        let version = |text: &str| FileVersion(text.to_owned());
        let cases = [
            (None, Some("a"), true),
            (Some(JudgedFile::Absent), None, true),
            (Some(JudgedFile::Absent), Some("a\n"), false),
            (Some(JudgedFile::Version(version("a"))), Some("a"), true),
            (Some(JudgedFile::Version(version("a"))), Some("b"), false),
            (Some(JudgedFile::Version(version("a"))), None, true),
            (Some(JudgedFile::WholeLines), None, true),
            (Some(JudgedFile::WholeLines), Some(""), true),
            (Some(JudgedFile::WholeLines), Some("a\nb\n"), true),
            (Some(JudgedFile::WholeLines), Some("a\0\n\0"), true),
            (Some(JudgedFile::WholeLines), Some("a\nb"), false),
        ];
        for (judged, now, is_made) in cases {
            let content = now.map(|text| (version(text), text.as_bytes()));
            let content = content.as_ref().map(|(version, bytes)| (version, *bytes));
            let checked = JudgedFile::check(judged.as_ref(), "a", content);
            assert_eq!(checked.is_ok(), is_made, "{judged:?} {now:?}");
            assert!(checked.err().is_none_or(|error| JudgedFile::has_refused(&error)));
        }
    }
}
