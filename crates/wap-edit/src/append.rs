//! Appending to a file.

use text_edit::{EditErrorKind, append};
use wap_core::{Reason, WapError};

/// Returns the bytes of a file followed by the content of an appending `writeFile`, in the encoding of the file.
///
/// # Errors
///
/// [`Reason::InvalidField`] for a character that the file's encoding does not have, and [`Reason::BinaryFile`] for UTF-16 that ends
/// in the middle of a code unit.
pub fn appended(path: &str, file: &[u8], content: &str) -> Result<Vec<u8>, WapError> {
    append(file, content).map_err(|kind| {
        let reason = match kind {
            EditErrorKind::Undecodable { .. } => Reason::BinaryFile,
            _ => Reason::InvalidField,
        };
        WapError::new(reason, format!("nothing was appended to '{path}': {kind}")).with("path", path)
    })
}
