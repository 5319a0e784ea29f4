//! Times as text.

use std::time::SystemTime;

/// Renders a time as ISO 8601 in UTC with milliseconds.
pub(crate) fn iso(time: SystemTime) -> String {
    match jiff::Timestamp::try_from(time) {
        Ok(timestamp) => format!("{timestamp:.3}"),
        // A file system may have times out of the calendar's range.
        Err(_) => "1970-01-01T00:00:00.000Z".to_owned(),
    }
}
