//! Restored values that would be visible.

use std::borrow::Cow;
use std::ops::Range;

use crate::{Marker, Secrets, markers};

/// Returns the placeholder of a value that would be visible once restored; `None` if all stay hidden. A short value is
/// hidden only where a rule finds it, alone or as part of a longer one.
pub(crate) fn exposed(secrets: &Secrets, text: &str) -> Option<Marker> {
    let (restored, values) = secrets.put_back(text, |value| Cow::Borrowed(value), usize::MAX).ok()??;
    // A value found only now hides others.
    let trial = secrets.trial(&restored);
    let secrets = trial.as_ref().unwrap_or(secrets);
    let _ = secrets.mask(&restored);
    let hidden = secrets.ranges(&restored);
    values.into_iter().filter(|(value, _)| !is_within(value, &hidden)).map(|(_, marker)| marker).min()
}

/// Checks whether the visible text of each line is as expected, or less of it. Text that the expected line shows as a
/// placeholder must be hidden, whatever surrounds it.
pub(crate) fn hides_lines(secrets: &Secrets, file: &str, expected: &str) -> bool {
    let trial = secrets.trial(file);
    let secrets = trial.as_ref().unwrap_or(secrets);
    let masked = secrets.mask(file);
    let hidden = secrets.ranges(file);
    let mut start = 0;
    let mut lines = file.split('\n').zip(masked.split('\n'));
    let is_hidden = expected.split('\n').all(|expected| {
        let Some((line, masked)) = lines.next() else { return false };
        let begin = start;
        start += line.len() + 1;
        line == expected || masked == expected || is_hidden_part(line, begin, expected, &hidden)
    });
    is_hidden && lines.next().is_none()
}

/// Checks whether the only placeholder of a line stands for hidden bytes of it; `begin` is where the line begins in the file.
fn is_hidden_part(line: &str, begin: usize, expected: &str, hidden: &[Range<usize>]) -> bool {
    let mut markers = markers(expected);
    let (Some((marker, _)), None) = (markers.next(), markers.next()) else { return false };
    let (before, after) = (&expected[..marker.start], &expected[marker.end..]);
    let value = line.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    value.is_some_and(|value| {
        let value = begin + before.len()..begin + before.len() + value.len();
        !value.is_empty() && is_within(&value, hidden)
    })
}

/// Checks whether a range is covered by `others`, which are sorted and disjoint.
pub(crate) fn is_within(range: &Range<usize>, others: &[Range<usize>]) -> bool {
    let mut end = range.start;
    for other in &others[others.partition_point(|other| other.end <= range.start)..] {
        if other.start > end || end >= range.end {
            break;
        }
        end = other.end;
    }
    end >= range.end
}
