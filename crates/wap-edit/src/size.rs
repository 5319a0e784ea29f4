//! Bounds of a request, checked before any text is read.

use wap_core::{Limits, ModifyFile, Reason, WapError};

use crate::operations::content_bytes;

/// Checks that a request is not too large, does not have too many operations, and has one at least.
///
/// # Errors
///
/// [`Reason::RequestTooLarge`] and [`Reason::InvalidField`].
pub fn check_request(request: &ModifyFile) -> Result<(), WapError> {
    // The numbers first: summing the contents of a million operations is work, too.
    request.check_bounds()?;
    check_content_size(request.operations.iter().map(content_bytes).sum())?;
    if request.operations.is_empty() {
        let text = "there are no operations: give at least one";
        return Err(WapError::new(Reason::InvalidField, text).with("field", "operations"));
    }
    Ok(())
}

/// Checks that a request has at most [`Limits::MAX_REQUEST_BYTES`] of content.
///
/// # Errors
///
/// [`Reason::RequestTooLarge`], with the limit.
pub fn check_content_size(bytes: u64) -> Result<(), WapError> {
    let limit = Limits::MAX_REQUEST_BYTES;
    if bytes > limit {
        let text =
            format!("the request has {bytes} bytes of content, more than {limit}: write the file in parts");
        return Err(WapError::new(Reason::RequestTooLarge, text).with("limit", limit));
    }
    Ok(())
}
