//! Writes, edits and deletions.

use text_edit::{EditLimits, apply};
use wap_core::{
    DeleteFile, DeleteFileResponse, FileChange, FileChanged, JudgedFile, ModifyFile, ModifyFileResponse,
    Reason, WapError, WriteFile, WriteFileResponse, WriteMode,
};
use wap_edit::{
    FileEdit, Rewrite, appended, check_content_size, check_expected_lines, check_request, check_whole_content,
};

use crate::run_changes::RunChanges;
use crate::tree::{Access, Tree, parse_text, version_of};

/// Carries out one change of a run. `run_changes` has the earlier ones.
pub(crate) fn change(
    tree: &mut Tree,
    change: &FileChange,
    run_changes: &RunChanges,
) -> Result<FileChanged, WapError> {
    match change {
        FileChange::Write(request) => write(tree, request).map(FileChanged::Written),
        FileChange::Modify(request) => modify(tree, request, run_changes).map(FileChanged::Modified),
        FileChange::Delete(request) => delete(tree, request).map(FileChanged::Deleted),
    }
}

fn write(tree: &mut Tree, request: &WriteFile) -> Result<WriteFileResponse, WapError> {
    let path = tree.file_path(&request.path, Access::Write)?;
    let size = request.content.len() as u64;
    check_content_size(size)?;
    let old = tree.files().get(&path);
    if old.is_some_and(|present| request.is_refused_over(present)) {
        return Err(WapError::new(Reason::FileExists, format!("'{path}' already exists")));
    }
    let now = old.map(|bytes| (version_of(bytes), bytes.as_slice()));
    JudgedFile::check(
        request.judged.as_ref(),
        &path,
        now.as_ref().map(|(version, bytes)| (version, *bytes)),
    )?;
    if old.is_none() {
        tree.check_creation(&path, request.create_directories.unwrap_or(false))?;
    }
    // `old` borrows the tree, which `put` changes below.
    let created = old.is_none();
    let new = match request.write_mode() {
        WriteMode::Append => appended(&path, old.map_or(&[][..], Vec::as_slice), &request.content)?,
        WriteMode::Create | WriteMode::Fill | WriteMode::Overwrite => {
            check_whole_content(&path, old.map(Vec::as_slice), &request.content)?;
            request.content.as_bytes().to_vec()
        }
    };
    let Rewrite { lines_added, lines_removed, changed, format_note } =
        Rewrite::between(old.map(Vec::as_slice), &new);
    let version = tree.put(&path, new, None);
    Ok(WriteFileResponse {
        success: true,
        path,
        bytes_written: size,
        version: Some(version),
        created,
        lines_added,
        lines_removed,
        changed,
        warnings: format_note.into_iter().collect(),
    })
}

fn modify(
    tree: &mut Tree,
    request: &ModifyFile,
    run_changes: &RunChanges,
) -> Result<ModifyFileResponse, WapError> {
    check_request(request)?;
    let path = tree.file_path(&request.path, Access::Write)?;
    let bytes = tree.content(&path)?;
    let current = parse_text(&path, bytes)?;
    let version = version_of(bytes);
    JudgedFile::check(request.judged.as_ref(), &path, Some((&version, bytes)))?;
    let before_run = run_changes.version_before(&path, &version);
    let edit = FileEdit { path: &path, current: &current, version: version.clone(), before_run, request };
    let edited = edit
        .apply(&mut |version| tree.known_version(&path, version), &mut |operations, numbering| {
            apply(bytes, operations, numbering, &EditLimits::default())
        })?;
    let after = version_of(&edited.edited.bytes);
    let response = edited.response(path.clone(), request, version, after, Vec::new());
    tree.put(&path, edited.edited.bytes, Some(edited.edited.line_map));
    Ok(response)
}

fn delete(tree: &mut Tree, request: &DeleteFile) -> Result<DeleteFileResponse, WapError> {
    let path = tree.file_path(&request.path, Access::Write)?;
    // Removing does not fail for a missing file; reading it first gives the right error.
    check_expected_lines(&path, tree.content(&path)?, request)?;
    tree.remove(&path);
    Ok(DeleteFileResponse { success: true, path, warnings: Vec::new() })
}
