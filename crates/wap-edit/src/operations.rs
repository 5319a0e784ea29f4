//! The operations of a request as edits of a text.

use text_edit::{Lines, Operation, SearchText};
use wap_core::ModifyOperation;

/// Returns the bytes of text that an operation carries.
pub(crate) fn content_bytes(operation: &ModifyOperation) -> u64 {
    match operation {
        ModifyOperation::Replace { new_content, .. } | ModifyOperation::Insert { new_content, .. } => {
            new_content.len() as u64
        }
        ModifyOperation::Delete { .. } => 0,
        ModifyOperation::ReplaceText { old_text, new_text, .. } => (old_text.len() + new_text.len()) as u64,
        ModifyOperation::RegexReplace { pattern, replacement, .. } => {
            (pattern.len() + replacement.len()) as u64
        }
    }
}

/// Turns an operation of a request into an edit.
pub(crate) fn operation(operation: &ModifyOperation) -> Operation {
    match operation {
        ModifyOperation::Replace { start_line, end_line, new_content, .. } => Operation::Replace {
            start_line: *start_line,
            end_line: *end_line,
            content: Lines::from_content(new_content),
        },
        ModifyOperation::Insert { after_line, new_content, .. } => {
            Operation::Insert { after_line: *after_line, content: Lines::from_content(new_content) }
        }
        ModifyOperation::Delete { start_line, end_line, .. } => {
            Operation::Delete { start_line: *start_line, end_line: *end_line }
        }
        ModifyOperation::ReplaceText { old_text, new_text, expected_matches, whole_lines } => {
            let search = match whole_lines {
                Some(lines) => {
                    let search = SearchText::of_lines(old_text).after(lines.behind.clone());
                    if lines.adds_behind { search.as_anchor() } else { search }
                }
                None => SearchText::anywhere(old_text),
            };
            Operation::ReplaceText {
                search,
                replacement: new_text.clone(),
                expected: expected_matches.map_or(1, |count| count as usize),
                within: whole_lines.as_ref().and_then(|lines| lines.within),
            }
        }
        ModifyOperation::RegexReplace { pattern, replacement, flags } => Operation::RegexReplace {
            pattern: pattern.clone(),
            replacement: replacement.clone(),
            flags: flags.clone().unwrap_or_default(),
        },
    }
}
