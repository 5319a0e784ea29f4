//! Two contents of a file as a unified diff.

use std::time::Duration;

use similar::{ChangeTag, TextDiff};

/// The time spent on the best diff; after it, a coarser one is returned.
const DIFF_TIME: Duration = Duration::from_secs(1);

/// A unified diff and its numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnifiedDiff {
    /// The diff, empty if nothing differs; a line of explanation for contents that are not text.
    pub text: String,
    /// Lines that are new or different.
    pub lines_added: usize,
    /// Lines that are gone or different.
    pub lines_removed: usize,
}

impl UnifiedDiff {
    /// Compares the old and new content of `path`; `None` for a missing file.
    pub(crate) fn between(path: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> UnifiedDiff {
        let names = [name("a", path, before.is_some()), name("b", path, after.is_some())];
        let text =
            |side: Option<&[u8]>| side.map_or(Ok(String::new()), |bytes| String::from_utf8(bytes.to_vec()));
        let (Ok(before), Ok(after)) = (text(before), text(after)) else {
            return UnifiedDiff::said(&format!("{path} is not a text"));
        };
        let diff = TextDiff::configure().timeout(DIFF_TIME).diff_lines(&before, &after);
        let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
        UnifiedDiff {
            lines_added: count(ChangeTag::Insert),
            lines_removed: count(ChangeTag::Delete),
            text: diff.unified_diff().context_radius(3).header(&names[0], &names[1]).to_string(),
        }
    }

    /// Returns a line instead of a diff.
    pub(crate) fn said(line: &str) -> UnifiedDiff {
        UnifiedDiff { text: format!("{line}\n"), lines_added: 0, lines_removed: 0 }
    }
}

fn name(side: &str, path: &str, exists: bool) -> String {
    if exists { format!("{side}/{path}") } else { "/dev/null".to_owned() }
}
