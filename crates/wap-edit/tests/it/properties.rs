//! Properties of edits: all operations or none, and no other line ever changes.

use proptest::prelude::*;
use text_edit::{EditLimits, Source, apply};
use wap_core::{FileVersion, ModifyFile, ModifyOperation};
use wap_edit::{EditedFile, FileEdit};

fn operation() -> impl Strategy<Value = ModifyOperation> {
    let line = -1..12_i64;
    prop_oneof![
        (line.clone(), line.clone()).prop_map(|(start_line, end_line)| ModifyOperation::Replace {
            start_line,
            end_line,
            new_content: "new".into(),
            was: None
        }),
        line.clone().prop_map(|after_line| ModifyOperation::Insert {
            after_line,
            new_content: "new".into(),
            was: None
        }),
        (line.clone(), line).prop_map(|(start_line, end_line)| ModifyOperation::Delete {
            start_line,
            end_line,
            was: None
        }),
    ]
}

/// Applies operations to a text of numbered lines.
fn edit(text: &str, operations: Vec<ModifyOperation>) -> Option<EditedFile> {
    let request = ModifyFile { path: "a".into(), operations, ..ModifyFile::default() };
    let current = Source::parse(text.as_bytes()).unwrap();
    let edit = FileEdit {
        path: "a",
        current: &current,
        version: FileVersion("now".into()),
        before_run: None,
        request: &request,
    };
    let mut applied =
        |operations: &[_], numbering| apply(text.as_bytes(), operations, numbering, &EditLimits::default());
    edit.apply(&mut |_| None, &mut applied).ok()
}

/// Reports whether an operation removes a line, 1-based.
fn removes(operation: &ModifyOperation, number: i64) -> bool {
    match operation {
        ModifyOperation::Replace { start_line, end_line, .. }
        | ModifyOperation::Delete { start_line, end_line, .. } => (*start_line..=*end_line).contains(&number),
        _ => false,
    }
}

proptest! {
    #[test]
    fn only_the_named_lines_are_removed(lines in 0..10_i64, operations in prop::collection::vec(operation(), 1..4)) {
        let text: String = (1..=lines).map(|number| format!("line {number}\n")).collect();
        let Some(edited) = edit(&text, operations.clone()) else {
            // Each single operation is refused, or two of them touch each other.
            prop_assert!(operations.len() > 1 || edit(&text, operations).is_none());
            return Ok(());
        };
        let bytes = String::from_utf8(edited.edited.bytes).unwrap();
        let kept: Vec<&str> = bytes.lines().filter(|line| *line != "new").collect();
        let expected: Vec<String> = (1..=lines)
            .filter(|number| !operations.iter().any(|operation| removes(operation, *number)))
            .map(|number| format!("line {number}"))
            .collect();
        prop_assert_eq!(kept, expected);
    }
}
