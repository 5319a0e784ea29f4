//! Tests of the public interface.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod appending;
mod bytes_kept;
mod certain_lines;
mod conflicts;
mod encodings;
mod expected_matches;
mod line_maps;
mod properties;
mod rebasing;
mod refusals;
mod regex_cost;
mod regex_edits;
mod reports;
mod sources;
mod text_matches;
mod vectors_tagproto;
mod vectors_text;
mod vectors_wap;
mod versions;

use text_edit::{EditError, EditLimits, Lines, Numbering, Operation, apply};

/// Applies operations with default limits and returns the new bytes.
fn edit(source: &[u8], operations: &[Operation], numbering: Numbering) -> Result<Vec<u8>, EditError> {
    apply(source, operations, numbering, &EditLimits::default()).map(|edited| edited.bytes)
}

fn replace(start_line: i64, end_line: i64, content: &str) -> Operation {
    Operation::Replace { start_line, end_line, content: Lines::from_content(content) }
}

fn insert(after_line: i64, content: &str) -> Operation {
    Operation::Insert { after_line, content: Lines::from_content(content) }
}

fn delete(start_line: i64, end_line: i64) -> Operation {
    Operation::Delete { start_line, end_line }
}

fn regex(pattern: &str, replacement: &str, flags: &str) -> Operation {
    Operation::RegexReplace {
        pattern: pattern.to_owned(),
        replacement: replacement.to_owned(),
        flags: flags.to_owned(),
    }
}
