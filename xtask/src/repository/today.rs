//! The date of the pages.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Returns the date of today in UTC, `2026-01-02`, so that pages do not depend on where they are written.
pub(crate) fn today() -> String {
    Timestamp::now().to_zoned(TimeZone::UTC).date().to_string()
}
