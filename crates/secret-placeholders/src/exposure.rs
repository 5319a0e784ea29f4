//! Values that are put back where they would be shown.

use std::borrow::Cow;
use std::ops::Range;

use crate::{Marker, Secrets};

/// Returns the placeholder of a value that would be shown where it is put back; `None` if all stay hidden. A short value is hidden
/// only where a rule finds it, be it as a part of a longer one.
pub(crate) fn exposed(secrets: &Secrets, text: &str) -> Option<Marker> {
    let (restored, values) = secrets.put_back(text, |value| Cow::Borrowed(value)).ok()??;
    // A value that is found only now hides others.
    let _ = secrets.mask(&restored);
    let hidden = secrets.ranges(&restored);
    values.into_iter().filter(|(value, _)| !is_within(value, &hidden)).map(|(_, marker)| marker).min()
}

/// Checks whether all bytes of a range lie within others, which are given in order and apart from each other.
fn is_within(range: &Range<usize>, others: &[Range<usize>]) -> bool {
    let mut end = range.start;
    for other in &others[others.partition_point(|other| other.end <= range.start)..] {
        if other.start > end || end >= range.end {
            break;
        }
        end = other.end;
    }
    end >= range.end
}
