//! Placeholders written in characters that occur in no other text of an edit.

use std::borrow::Cow;

use wap_core::ModifyOperation;

use crate::markers;

/// The private-use plane to which the characters of placeholders are moved.
const PLANE: u32 = 0x10_0000;

/// The form of placeholders while an edit is tried on the text that a model sees: words such as `secret` in them are
/// text of neither the file nor the model, and must not match.
pub(super) struct StandIns {
    /// False if the edit itself has such characters.
    is_free: bool,
}

impl StandIns {
    /// Returns the form for an edit of a masked text.
    pub(super) fn for_edit(text: &str, operations: &[ModifyOperation]) -> StandIns {
        let has = |text: &str| text.chars().any(|character| u32::from(character) >= PLANE);
        let mut is_free = !has(text);
        for operation in operations {
            each_text(&mut operation.clone(), |text| is_free &= !has(text));
        }
        StandIns { is_free }
    }

    /// Returns a masked text with its placeholders in that form, which has the same number of characters.
    pub(super) fn put_in<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut hits = markers(text).map(|(range, _)| range).peekable();
        if !self.is_free || hits.peek().is_none() {
            return Cow::Borrowed(text);
        }
        let moved = |character: char| char::from_u32(PLANE + u32::from(character)).unwrap_or(character);
        let mut put_in = String::with_capacity(text.len());
        let mut end = 0;
        for range in hits {
            put_in.push_str(&text[end..range.start]);
            put_in.extend(text[range.clone()].chars().map(moved));
            end = range.end;
        }
        put_in.push_str(&text[end..]);
        Cow::Owned(put_in)
    }

    /// Returns an operation with its placeholders in that form.
    pub(super) fn in_operation(&self, mut operation: ModifyOperation) -> ModifyOperation {
        each_text(&mut operation, |text| {
            if let Cow::Owned(put_in) = self.put_in(text) {
                *text = put_in;
            }
        });
        operation
    }

    /// Returns a text with its placeholders, whole or cut, as a model sees them.
    pub(super) fn taken_out<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let back = |character: char| u32::from(character).checked_sub(PLANE).and_then(char::from_u32);
        if !self.is_free || !text.chars().any(|character| back(character).is_some()) {
            return Cow::Borrowed(text);
        }
        Cow::Owned(text.chars().map(|character| back(character).unwrap_or(character)).collect())
    }
}

/// Calls `each` with the texts of an operation.
fn each_text(operation: &mut ModifyOperation, mut each: impl FnMut(&mut String)) {
    match operation {
        ModifyOperation::Replace { new_content, .. } | ModifyOperation::Insert { new_content, .. } => {
            each(new_content);
        }
        ModifyOperation::ReplaceText { old_text, new_text, whole_lines, .. } => {
            each(old_text);
            each(new_text);
            whole_lines.iter_mut().flat_map(|whole| &mut whole.behind).for_each(each);
        }
        ModifyOperation::RegexReplace { pattern, replacement, .. } => {
            each(pattern);
            each(replacement);
        }
        ModifyOperation::Delete { .. } => {}
    }
}
