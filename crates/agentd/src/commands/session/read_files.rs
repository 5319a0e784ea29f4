//! Files that the first message shows because the user names them, and a task from standard input.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use workspace_host::{SecretRules, WorkspacePaths};

use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure};

/// The longest task, in bytes.
const TASK_LIMIT_BYTES: u64 = 1 << 20;

/// The longest file that is searched for secrets where only a file with one is left out, in bytes.
const SEARCHED_BYTES: u64 = 1 << 20;

/// Returns the paths in the workspace of files that the user names: from the current folder, or else from the workspace.
///
/// # Errors
///
/// [`Exit::Usage`] for what is not a file within the workspace, and for a file of credentials that a model may not see.
pub(super) fn of(common: &CommonOptions, files: &[PathBuf]) -> Result<Vec<String>, Failure> {
    let refused = |file: &PathBuf, why: &str| {
        Failure::new(Exit::Usage, format!("--read {}: {why}", file.display()))
            .advise("name a file of the workspace")
    };
    if files.is_empty() {
        return Ok(Vec::new());
    }
    // It says what is wrong with a workspace that is not there.
    let paths = WorkspacePaths::find(&common.host())?;
    let rules = SecretRules::open(&common.host(), &paths)?;
    let root = fs::canonicalize(&paths.workspace)
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
        if rules.leaves_out_file(path, || short_text(&file_path)) {
            let what =
                format!("--read {}: it usually holds credentials, and models see none", file.display());
            return Err(Failure::new(Exit::Usage, what).advise(format!(
                "add --read-secret {path}, which shows the file with placeholders for its secrets; --secrets show shows the \
                 secrets, too"
            )));
        }
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

/// Returns the text of a file; `None` if it is not text or too long to be searched for secrets.
fn short_text(file: &Path) -> Option<String> {
    let mut text = String::new();
    let file = fs::File::open(file).ok()?;
    let length = file.take(SEARCHED_BYTES + 1).read_to_string(&mut text).ok()?;
    (length as u64 <= SEARCHED_BYTES).then_some(text)
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
