//! Values that are put back where they would be shown.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::{Marker, Secrets, markers};

/// Returns a text of a model as it will see it in a file: a placeholder that was never given out is data, and has one of its own.
pub(crate) fn as_shown<'t>(secrets: &Secrets, text: &'t str) -> Cow<'t, str> {
    let mut visible = String::new();
    let mut end = 0;
    for (range, _) in markers(text) {
        let marker = &text[range.clone()];
        if secrets.restore(marker).is_ok_and(|value| value == marker) {
            visible.push_str(&text[end..range.start]);
            visible.push_str(&secrets.mask(marker));
            end = range.end;
        }
    }
    if end == 0 {
        return Cow::Borrowed(text);
    }
    visible.push_str(&text[end..]);
    Cow::Owned(visible)
}

/// Returns the placeholder of a value that would be shown where it is put back; `None` if all stay hidden. A short value is hidden
/// only where a rule finds it.
pub(crate) fn exposed(secrets: &Secrets, text: &str, restored: &str) -> Option<Marker> {
    if text == restored {
        return None;
    }
    let mut missing: HashMap<Marker, usize> = HashMap::new();
    for (_, marker) in markers(&as_shown(secrets, text)) {
        *missing.entry(marker).or_default() += 1;
    }
    for (_, marker) in markers(&secrets.mask(restored)) {
        missing.entry(marker).and_modify(|count| *count = count.saturating_sub(1));
    }
    missing.into_iter().filter(|(_, count)| *count > 0).map(|(marker, _)| marker).min()
}
