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
    /// There was no file, or one whose last line is finished, or an empty one: what is appended begins a line of its own. Many can
    /// append to a file at once.
    WholeLines,
    /// The file of this version.
    Version(FileVersion),
}

impl JudgedFile {
    /// The detail of a refusal because of another state.
    const DETAIL: &'static str = "judgedOther";

    /// Checks that a file is still the judged one. `judged` is `None` for a change that no adapter has judged, and `now` for a file
    /// that is not there; else it has the version and the bytes of the file.
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

/// Checks whether the last line of a file is finished. In UTF-16, zero bytes stand around the line feed.
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
