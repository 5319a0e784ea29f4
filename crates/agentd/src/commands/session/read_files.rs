//! Files that the first message shows because the user names them, and a task from standard input.

use std::fs;
use std::io::Read;
use std::path::PathBuf;

use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure};

/// The longest task, in bytes.
const TASK_LIMIT_BYTES: u64 = 1 << 20;

/// Returns the paths in the workspace of files that the user names: from the current folder, or else from the workspace.
///
/// # Errors
///
/// [`Exit::Usage`] for what is not a file within the workspace.
pub(super) fn of(common: &CommonOptions, files: &[PathBuf]) -> Result<Vec<String>, Failure> {
    let refused = |file: &PathBuf, why: &str| {
        Failure::new(Exit::Usage, format!("--read {}: {why}", file.display()))
            .advise("name a file of the workspace")
    };
    let root = fs::canonicalize(&common.workspace)
        .map_err(|error| Failure::new(Exit::Usage, format!("the workspace: {error}")))?;
    let path = |file: &PathBuf| {
        let file_path = fs::canonicalize(file).or_else(|error| {
            // The first error is about the path as the user meant it.
            fs::canonicalize(root.join(file)).map_err(|_| error)
        });
        let file_path = file_path.map_err(|error| refused(file, &error.to_string()))?;
        let within =
            file_path.strip_prefix(&root).map_err(|_| refused(file, "it is outside of the workspace"))?;
        if !file_path.is_file() {
            return Err(refused(file, "it is not a file"));
        }
        let path = within.to_str().ok_or_else(|| refused(file, "its name is not UTF-8"))?;
        Ok(path.to_owned())
    };
    let mut paths: Vec<String> = Vec::new();
    for file in files {
        let path = path(file)?;
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    Ok(paths)
}

/// Reads a task from standard input.
///
/// # Errors
///
/// [`Exit::Usage`] if it is too long or not text.
pub(super) fn task_on_standard_input() -> Result<String, Failure> {
    let mut task = String::new();
    let input = std::io::stdin().lock();
    let length = input
        .take(TASK_LIMIT_BYTES + 1)
        .read_to_string(&mut task)
        .map_err(|error| Failure::new(Exit::Usage, format!("the task on standard input: {error}")))?;
    if length as u64 > TASK_LIMIT_BYTES {
        return Err(Failure::new(Exit::Usage, format!("the task is longer than {TASK_LIMIT_BYTES} bytes")));
    }
    Ok(task.trim().to_owned())
}
