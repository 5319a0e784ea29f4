//! File blocks as changes of a workspace.

use wap_core::{
    DeleteFile, FileChange, ModifyFile, ModifyOperation, SeenVersions, ViewNumbers, WholeLines, WriteFile,
    WriteMode,
};

use crate::repair::FileKind;
use crate::{Block, Body, Dialect, IfExists, TextHunk};

/// Returns the change that a block requests; `None` for a block that changes no file.
///
/// `versions` are the versions to which the line numbers of an edit may refer; `None` for the current file.
pub(super) fn file_change(
    block: &Block<'_>,
    dialect: Dialect,
    versions: Option<SeenVersions>,
) -> Option<FileChange> {
    match block {
        Block::CreateFile { path, body, if_exists } => Some(FileChange::Write(WriteFile {
            path: path.to_string(),
            content: content(body, dialect),
            mode: Some(match if_exists {
                IfExists::Replace | IfExists::ReplaceWithNote => WriteMode::Overwrite,
                IfExists::Refuse => WriteMode::Fill,
            }),
            create_directories: Some(true),
            judged: None,
        })),
        Block::EditFile { path, start_line, end_line, was, body } => Some(FileChange::Modify(ModifyFile {
            path: path.to_string(),
            operations: vec![operation(i64::from(*start_line), i64::from(*end_line), was.as_deref(), body)],
            expected_version: None,
            line_numbers: None,
            seen_versions: versions,
            judged: None,
            view_numbers: view_numbers(path, dialect),
        })),
        Block::EditText { path, within, hunks } => Some(FileChange::Modify(ModifyFile {
            path: path.to_string(),
            operations: hunks.iter().map(|hunk| replace_text(hunk, *within)).collect(),
            expected_version: None,
            line_numbers: None,
            seen_versions: versions,
            judged: None,
            view_numbers: None,
        })),
        Block::DeleteFile { path, lines } => {
            Some(FileChange::Delete(DeleteFile { path: path.to_string(), expected_lines: lines.clone() }))
        }
        Block::ReadFile { .. }
        | Block::RunCommand { .. }
        | Block::StopProcess { .. }
        | Block::Message { .. }
        | Block::Done { .. } => None,
    }
}

/// Returns the treatment of numbers in front of a body. Views of the first implementation have no numbers, and rows of a table
/// may be numbered themselves.
fn view_numbers(path: &str, dialect: Dialect) -> Option<ViewNumbers> {
    (dialect == Dialect::Agentd && FileKind::of(path) != FileKind::Table).then_some(ViewNumbers::TakeOff)
}

/// Returns the content of a created file.
fn content(body: &Body<'_>, dialect: Dialect) -> String {
    match dialect {
        Dialect::Agentd if body.line_count() > 0 => format!("{}\n", body.text()),
        Dialect::Agentd | Dialect::CodingAgent => body.text().to_owned(),
    }
}

fn replace_text(hunk: &TextHunk, within: Option<(i32, i32)>) -> ModifyOperation {
    ModifyOperation::ReplaceText {
        old_text: hunk.search.clone(),
        new_text: hunk.replacement.clone(),
        expected_matches: None,
        whole_lines: Some(WholeLines {
            within: within.map(|(first, last)| (first.into(), last.into())),
            behind: hunk.anchors.clone(),
            adds_behind: hunk.adds_after_anchor,
        }),
    }
}

/// Replaces lines, or deletes them if the body has none.
fn operation(start_line: i64, end_line: i64, was: Option<&str>, body: &Body<'_>) -> ModifyOperation {
    let was = was.map(str::to_owned);
    if body.line_count() == 0 {
        return ModifyOperation::Delete { start_line, end_line, was };
    }
    // The trailing newline does not add a line, but preserves blank lines at the end of the body.
    ModifyOperation::Replace { start_line, end_line, new_content: format!("{}\n", body.text()), was }
}
