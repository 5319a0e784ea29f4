//! The texts of files with secrets that a model was shown or has edited, by their versions.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use wap_core::FileVersion;

/// The maximum number of bytes held. The most recent texts are those whose line numbers a model may still use.
const MOST_BYTES: usize = 16 << 20;

/// The overhead of a text in bytes.
const OVERHEAD_BYTES: usize = 256;

/// Earlier texts of files with secrets, the oldest first: an edit by line numbers is judged by the lines that they
/// referred to.
#[derive(Default)]
pub(super) struct HeldTexts {
    texts: Mutex<VecDeque<HeldText>>,
}

struct HeldText {
    /// The canonical path.
    path: String,
    version: FileVersion,
    text: Arc<str>,
}

impl fmt::Debug for HeldTexts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the texts, which contain secrets.
        formatter.debug_struct("HeldTexts").finish_non_exhaustive()
    }
}

impl HeldTexts {
    /// Holds the text of a version of a file.
    pub(super) fn add(&self, path: &str, version: &FileVersion, text: &str) {
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |held: &HeldText| held.path == path && held.version == *version;
        let held = match texts.iter().position(is_same).and_then(|index| texts.remove(index)) {
            Some(held) => held,
            None => HeldText { path: path.to_owned(), version: version.clone(), text: text.into() },
        };
        texts.push_back(held);
        let mut bytes: usize = texts.iter().map(|held| held.text.len() + OVERHEAD_BYTES).sum();
        while bytes > MOST_BYTES
            && let Some(oldest) = texts.pop_front()
        {
            bytes -= oldest.text.len() + OVERHEAD_BYTES;
        }
    }

    /// Returns the text of a version of a file; `None` if it is not held.
    pub(super) fn text(&self, path: &str, version: &FileVersion) -> Option<Arc<str>> {
        let texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        let held = texts.iter().find(|held| held.path == path && held.version == *version)?;
        Some(Arc::clone(&held.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_in_use_are_held_and_few_bytes_of_them() {
        let texts = HeldTexts::default();
        let version = |number: usize| FileVersion(number.to_string());
        let text = |number: usize| format!("{number}{}", " ".repeat(MOST_BYTES / 4));
        for number in 0..3 {
            texts.add("a", &version(number), &text(number));
        }
        texts.add("a", &version(0), &text(0));
        texts.add("b", &version(3), &text(3));
        let is_held = |path: &str, number: usize| texts.text(path, &version(number)).is_some();
        assert_eq!([0, 1, 2].map(|number| is_held("a", number)), [true, false, true]);
        assert!(is_held("b", 3) && !is_held("b", 0));
        // A text that is too large evicts all, and many short ones count as well.
        texts.add("a", &version(4), &" ".repeat(MOST_BYTES));
        assert!(!is_held("a", 4) && !is_held("b", 3));
        (0..2 * MOST_BYTES / OVERHEAD_BYTES / 64).for_each(|number| texts.add("c", &version(number), ""));
        assert!(texts.texts.lock().unwrap().len() <= MOST_BYTES / OVERHEAD_BYTES);
    }
}
