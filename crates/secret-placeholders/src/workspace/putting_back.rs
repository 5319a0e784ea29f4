//! The values of one request, put back into its fields.

use std::borrow::Cow;
use std::cell::Cell;

use wap_core::{Limits, Reason, WapError};

use super::check_stays_hidden;
use crate::{RestoreError, Secrets};

/// The most bytes of a path, and of another text that an answer may quote, in which values are put back.
const MOST_NAME_BYTES: usize = 4_096;

/// The most bytes of a content.
pub(super) const MOST_CONTENT_BYTES: usize = Limits::MAX_REQUEST_BYTES as usize;

/// Puts the values back into the fields of a request.
///
/// A placeholder of a few bytes may stand for thousands, so the sizes are checked while the values are copied and not afterwards: each
/// field has the limit of what it is, and the values of all fields together that of a request.
pub(super) struct PuttingBack<'a> {
    secrets: &'a Secrets,
    /// The bytes for which there is room in the further fields.
    left: Cell<usize>,
}

impl<'a> PuttingBack<'a> {
    /// Returns the fields of a request before the first.
    pub(super) fn new(secrets: &'a Secrets) -> PuttingBack<'a> {
        PuttingBack { secrets, left: Cell::new(MOST_CONTENT_BYTES) }
    }

    /// Puts the values back into a content.
    pub(super) fn content(&self, text: &str, field: &str) -> Result<String, WapError> {
        self.at_most(text, field, MOST_CONTENT_BYTES)
    }

    /// Puts the values back into a path or another text that an answer may quote.
    pub(super) fn name(&self, text: &str, field: &str) -> Result<String, WapError> {
        let restored = self.at_most(text, field, MOST_NAME_BYTES)?;
        check_stays_hidden(self.secrets, text, field)?;
        Ok(restored)
    }

    /// Puts the values back into a field of at most some bytes.
    pub(super) fn at_most(&self, text: &str, field: &str, most_bytes: usize) -> Result<String, WapError> {
        self.written(text, field, most_bytes, |value| Cow::Borrowed(value))
    }

    /// Puts the values back as `written` writes them.
    pub(super) fn written(
        &self,
        text: &str,
        field: &str,
        most_bytes: usize,
        written: impl Fn(&str) -> Cow<'_, str>,
    ) -> Result<String, WapError> {
        let most = most_bytes.min(text.len().saturating_add(self.left.get()));
        let restored = match self.secrets.put_back(text, written, most) {
            Ok(restored) => restored.map_or_else(|| text.to_owned(), |(restored, _)| restored),
            Err(error) => return Err(refused(&error, field)),
        };
        self.left.set(self.left.get().saturating_sub(restored.len().saturating_sub(text.len())));
        Ok(restored)
    }
}

/// Returns the refusal of a field into which the values cannot be put back.
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
        // The control: where there is room, all are.
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
        // Text of the request itself takes no room, and another request has its own.
        assert!(putting_back.content(&"plain".repeat(4 << 20), "content").is_ok());
        assert!(PuttingBack::new(&secrets).content(&content, "content").is_ok());
    }
}
