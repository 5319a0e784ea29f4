//! Restoring the values in the fields of one request.

use std::borrow::Cow;
use std::cell::Cell;

use wap_core::{Limits, Reason, WapError};

use super::check_stays_hidden;
use crate::map::LITERAL;
use crate::secrets::PutBack;
use crate::{RestoreError, Secrets};

/// The maximum length of a restored path, or another restored text that an answer may quote.
const MOST_NAME_BYTES: usize = 4_096;

/// The maximum length of a restored content.
pub(super) const MOST_CONTENT_BYTES: usize = Limits::MAX_REQUEST_BYTES as usize;

/// Restores the values in the fields of a request.
///
/// A placeholder of a few bytes may stand for thousands, so sizes are checked while the values are copied, not
/// afterwards: each field has its own limit, and the values of all fields together have that of a request.
pub(super) struct PuttingBack<'a> {
    secrets: &'a Secrets,
    /// The remaining bytes for further fields.
    left: Cell<usize>,
}

impl<'a> PuttingBack<'a> {
    /// Starts with the first field of a request.
    pub(super) fn new(secrets: &'a Secrets) -> PuttingBack<'a> {
        PuttingBack { secrets, left: Cell::new(MOST_CONTENT_BYTES) }
    }

    /// Restores the values in a content.
    pub(super) fn content(&self, text: &str, field: &str) -> Result<String, WapError> {
        self.at_most(text, field, MOST_CONTENT_BYTES)
    }

    /// Restores the values in a line that is compared with a line of a file, and never written.
    pub(super) fn line(&self, text: &str, field: &str) -> Result<String, WapError> {
        Ok(self.put_back(text, field, MOST_CONTENT_BYTES, |value| Cow::Borrowed(value))?.0)
    }

    /// Restores the values in a path or another text that an answer may quote.
    pub(super) fn name(&self, text: &str, field: &str) -> Result<String, WapError> {
        let (restored, values) = self.put_back(text, field, MOST_NAME_BYTES, |value| Cow::Borrowed(value))?;
        // A path is split, normalized and truncated before an error or a listing names it, and parts of a value are not
        // recognised.
        let is_divided =
            |(value, marker): &&PutBack| marker.kind != LITERAL && !is_one_word(&restored[value.clone()]);
        if let Some((_, marker)) = values.iter().find(is_divided) {
            let text = format!(
                "'{field}' takes no placeholder whose value has characters other than letters, digits, `_`, `=`, `+` and `-`, such as \
                {marker}: use a command instead"
            );
            return Err(WapError::new(Reason::InvalidField, text).with("field", field));
        }
        check_stays_hidden(self.secrets, text, field)?;
        Ok(restored)
    }

    /// Restores the values in a field of at most `most_bytes`.
    pub(super) fn at_most(&self, text: &str, field: &str, most_bytes: usize) -> Result<String, WapError> {
        self.written(text, field, most_bytes, |value| Cow::Borrowed(value))
    }

    /// Restores the values, encoded by `written`.
    pub(super) fn written(
        &self,
        text: &str,
        field: &str,
        most_bytes: usize,
        written: impl Fn(&str) -> Cow<'_, str>,
    ) -> Result<String, WapError> {
        let (restored, values) = self.put_back(text, field, most_bytes, written)?;
        check_decodable(&restored, &values, field)?;
        Ok(restored)
    }

    fn put_back(
        &self,
        text: &str,
        field: &str,
        most_bytes: usize,
        written: impl Fn(&str) -> Cow<'_, str>,
    ) -> Result<(String, Vec<PutBack>), WapError> {
        let most = most_bytes.min(text.len().saturating_add(self.left.get()));
        let restored = match self.secrets.put_back(text, written, most) {
            Ok(restored) => restored.unwrap_or_else(|| (text.to_owned(), Vec::new())),
            Err(error) => return Err(refused(&error, field)),
        };
        self.left.set(self.left.get().saturating_sub(restored.0.len().saturating_sub(text.len())));
        Ok(restored)
    }
}

/// Checks whether a value is a word that no path is split at, and that messages show unchanged.
fn is_one_word(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'=' | b'+' | b'-'))
}

/// Refuses values with undecodable bytes, which are in their files but not in the map: they would be lost.
fn check_decodable(restored: &str, values: &[PutBack], field: &str) -> Result<(), WapError> {
    let is_lossy = |(value, _): &&PutBack| restored[value.clone()].contains(char::REPLACEMENT_CHARACTER);
    let Some((_, marker)) = values.iter().find(is_lossy) else { return Ok(()) };
    let text = format!(
        "the value of {marker} has bytes that cannot be decoded, so it cannot be restored: edit the other lines of its file by their \
        numbers, or copy the file with a command"
    );
    Err(WapError::new(Reason::InvalidField, text).with("field", field))
}

/// Returns the refusal of a field whose values cannot be restored.
fn refused(error: &RestoreError, field: &str) -> WapError {
    match error {
        RestoreError::TooLong { most_bytes } => {
            let text = format!(
                "with the values of its placeholders, '{field}' has more than {most_bytes} bytes: use fewer of them, or make several calls"
            );
            WapError::new(Reason::RequestTooLarge, text).with("field", field).with("limit", *most_bytes)
        }
        RestoreError::NotKept(_) => {
            WapError::new(Reason::InvalidField, error.to_string()).with("field", field)
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::MemoryStore;

    use super::*;

    #[test]
    fn no_more_values_are_copied_than_there_is_room_for() {
        let secrets = Secrets::open(MemoryStore::default()).expect("an empty store");
        let view = secrets.mask(&format!("password = \"{}\"\n", "aB3x".repeat(256))).into_owned();
        let placeholder = view.split('"').nth(1).expect("in quotes");
        let copies = |count: usize, most_bytes| {
            let copied = Cell::new(0);
            let putting_back = PuttingBack::new(&secrets);
            let restored = putting_back.written(&placeholder.repeat(count), "path", most_bytes, |value| {
                copied.set(copied.get() + 1);
                Cow::Borrowed(value)
            });
            (copied.get(), restored.map(|text| text.len()).map_err(|error| error.reason()))
        };
        assert_eq!(copies(4, 4_096), (4, Ok(4_096)));
        assert_eq!(copies(5, 4_096), (5, Err(Reason::RequestTooLarge)));
        assert_eq!(copies(1_000, 4_096), (5, Err(Reason::RequestTooLarge)));
        let (copied, refused) = copies(30_000, usize::MAX);
        assert!(copied < 18_000 && refused == Err(Reason::RequestTooLarge), "{copied} {refused:?}");
        // The control: with enough room, all are copied.
        assert_eq!(copies(1_000, usize::MAX), (1_000, Ok(1_024_000)));
    }

    #[test]
    fn the_fields_of_a_request_have_the_room_of_one_together() {
        let secrets = Secrets::open(MemoryStore::default()).expect("an empty store");
        let view = secrets.mask(&format!("password = \"{}\"\n", "aB3x".repeat(256))).into_owned();
        let content = view.repeat(6 * 1_024);
        let putting_back = PuttingBack::new(&secrets);
        let is_done = || putting_back.content(&content, "content").is_ok();
        assert_eq!([is_done(), is_done(), is_done()], [true, true, false]);
        // The request's own text does not count, and each request has its own limit.
        assert!(putting_back.content(&"plain".repeat(4 << 20), "content").is_ok());
        assert!(PuttingBack::new(&secrets).content(&content, "content").is_ok());
    }
}
