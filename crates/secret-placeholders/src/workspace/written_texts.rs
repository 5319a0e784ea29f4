//! The texts that models have written into files and may use again.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use wap_core::{ConversationId, FileChange, ModifyOperation};

/// The maximum number of bytes remembered, including overhead.
const MOST_BYTES: usize = 4 << 20;

/// The overhead of a text in bytes, apart from the text and its names.
const OVERHEAD_BYTES: usize = 128;

/// The maximum number of bytes compared for one edit: a file with many values and a long text would take minutes.
const MOST_COMPARED_BYTES: usize = 256 << 20;

/// The texts of changes that were made, by conversation and file, the oldest first. A model knows the values in them,
/// so an edit that names such a value reveals nothing.
#[derive(Default)]
pub(super) struct WrittenTexts {
    texts: Mutex<Texts>,
}

#[derive(Default)]
struct Texts {
    texts: VecDeque<WrittenText>,
    bytes: usize,
}

struct WrittenText {
    conversation: ConversationId,
    /// The canonical path.
    path: String,
    text: String,
}

impl WrittenText {
    fn bytes(&self) -> usize {
        self.text.len() + self.path.len() + self.conversation.0.len() + OVERHEAD_BYTES
    }
}

impl fmt::Debug for WrittenTexts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the texts, which contain secrets.
        formatter.debug_struct("WrittenTexts").finish_non_exhaustive()
    }
}

impl WrittenTexts {
    /// Remembers the texts of a change as the model has sent it: where it has a placeholder, the model does not know
    /// the value.
    pub(super) fn add(&self, conversation: &ConversationId, path: &str, change: &FileChange) {
        let mut kept = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        for text in
            written(change).into_iter().filter(|text| !text.trim().is_empty() && text.len() <= MOST_BYTES)
        {
            let text = WrittenText {
                conversation: conversation.clone(),
                path: path.to_owned(),
                text: text.to_owned(),
            };
            kept.bytes += text.bytes();
            kept.texts.push_back(text);
        }
        while kept.bytes > MOST_BYTES
            && let Some(oldest) = kept.texts.pop_front()
        {
            kept.bytes -= oldest.bytes();
        }
    }

    /// Returns those of some values that a conversation has written into a file. If there are too many to compare, the
    /// last ones count as values of others.
    pub(super) fn own(
        &self,
        conversation: &ConversationId,
        path: &str,
        values: &[impl AsRef<str>],
    ) -> Vec<String> {
        let kept = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        let is_of_file = |text: &&WrittenText| text.conversation == *conversation && text.path == path;
        let texts: Vec<&str> = kept.texts.iter().filter(is_of_file).map(|text| text.text.as_str()).collect();
        if texts.is_empty() {
            return Vec::new();
        }
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        let is_own = |value: &&str| texts.iter().any(|text| has_whole(text, value));
        let compared = values.iter().take(MOST_COMPARED_BYTES / bytes.max(1));
        compared.map(AsRef::as_ref).filter(is_own).map(str::to_owned).collect()
    }

    /// Forgets the texts of a conversation.
    pub(super) fn forget(&self, conversation: &ConversationId) {
        let mut kept = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        kept.texts.retain(|text| text.conversation != *conversation);
        kept.bytes = kept.texts.iter().map(WrittenText::bytes).sum();
    }
}

/// Returns the texts that a change puts into its file.
pub(super) fn written(change: &FileChange) -> Vec<&str> {
    match change {
        FileChange::Write(write) => vec![&write.content],
        FileChange::Modify(modify) => modify.operations.iter().filter_map(written_by).collect(),
        FileChange::Delete(_) => Vec::new(),
    }
}

fn written_by(operation: &ModifyOperation) -> Option<&str> {
    match operation {
        ModifyOperation::Replace { new_content, .. } | ModifyOperation::Insert { new_content, .. } => {
            Some(new_content)
        }
        ModifyOperation::ReplaceText { new_text, .. } => Some(new_text),
        ModifyOperation::RegexReplace { replacement, .. } => Some(replacement),
        ModifyOperation::Delete { .. } => None,
    }
}

/// Checks whether a text has a value as a whole word: a value of a few letters is part of many words.
fn has_whole(text: &str, value: &str) -> bool {
    let is_part = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    text.match_indices(value).any(|(start, _)| {
        let before = start.checked_sub(1).map(|at| text.as_bytes()[at]);
        !value.is_empty() && !is_part(before) && !is_part(text.as_bytes().get(start + value.len()).copied())
    })
}

#[cfg(test)]
mod tests {
    use wap_core::WriteFile;

    use super::*;

    fn write(content: String) -> FileChange {
        FileChange::Write(WriteFile { path: "a".into(), content, ..WriteFile::default() })
    }

    #[test]
    fn the_oldest_texts_are_forgotten_first_and_few_bytes_are_kept() {
        let texts = WrittenTexts::default();
        let (one, other) = (ConversationId("one".into()), ConversationId("other".into()));
        let own = |conversation: &ConversationId, path: &str, value: &str| {
            !texts.own(conversation, path, &[value]).is_empty()
        };
        texts.add(&one, "a", &write("p = \"first7\"".into()));
        texts.add(&one, "a", &write("p = \"second7\"".into()));
        assert!(own(&one, "a", "first7") && own(&one, "a", "second7"));
        // Nothing else: no values of another conversation or file, and no parts of words.
        assert!(!own(&other, "a", "first7") && !own(&one, "b", "first7") && !own(&one, "a", "first"));
        texts.add(&other, "b", &write(format!("third7{}", " ".repeat(MOST_BYTES - 3 * OVERHEAD_BYTES))));
        assert!(!own(&one, "a", "first7") && own(&one, "a", "second7"));
        texts.add(&one, "a", &write("x".repeat(MOST_BYTES + 1)));
        assert!(own(&other, "b", "third7"));
        texts.forget(&one);
        assert!(!own(&one, "a", "second7") && own(&other, "b", "third7"));
        // Many short texts take no more memory than a long one.
        for _ in 0..3 * MOST_BYTES / OVERHEAD_BYTES {
            texts.add(&one, "a", &write("y".to_owned()));
        }
        let kept = texts.texts.lock().unwrap();
        assert!(kept.bytes <= MOST_BYTES && kept.texts.len() <= MOST_BYTES / OVERHEAD_BYTES);
    }

    #[test]
    fn few_of_very_many_values_are_looked_for_in_a_long_text() {
        let texts = WrittenTexts::default();
        let conversation = ConversationId("one".into());
        let text = format!("{}last7", " ".repeat(MOST_BYTES / 2));
        texts.add(&conversation, "a", &write(text.clone()));
        let most = MOST_COMPARED_BYTES / text.len();
        let mut values = vec!["-".repeat(8); most - 1];
        values.push("last7".to_owned());
        assert_eq!(texts.own(&conversation, "a", &values), ["last7"]);
        values.insert(0, "-".repeat(8));
        assert!(texts.own(&conversation, "a", &values).is_empty());
    }
}
