//! `agentd codali --watch`: requests that are dropped into a folder.

use std::path::Path;

use codali_session::{AnsweredFile, FolderError, RequestFolder, WatchEvents};
use rel_path::RelPath;
use serde::Serialize;

use super::responding::Responding;
use crate::commands::codali::options::CodaliOptions;
use crate::commands::session::cancel_flag;
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::Console;

/// The line that `--json` prints for each response.
#[derive(Serialize)]
struct AnsweredLine {
    request: String,
    response: String,
    results: usize,
    warnings: usize,
}

/// Answers every file that is dropped into a folder, until the user ends the program.
pub(super) fn watch(
    common: &CommonOptions,
    console: Console,
    options: &CodaliOptions,
    folder: &Path,
) -> Outcome {
    let cancel = cancel_flag()?;
    let responding = Responding::staying(common, console, &options.response_form(), &cancel)?;
    let folder = RequestFolder::open(folder).map_err(failure)?;
    let events = Printed { console, folder: folder.path().to_owned() };
    codali_session::watch(folder, &responding.responder(), options.format, &events)
        .map_err(|gone| Failure::new(Exit::Failed, gone.to_string()))?;
    Ok(Exit::Interrupted)
}

fn failure(error: FolderError) -> Failure {
    match error {
        FolderError::Unusable { .. } => Failure::new(Exit::Usage, error.to_string()),
        FolderError::Held { .. } => Failure::new(Exit::Held, error.to_string()),
        FolderError::ReadOnly { .. } => {
            Failure::new(Exit::Usage, error.to_string()).advise("choose a folder that you may write to")
        }
    }
}

/// The events of the watch on the console.
struct Printed {
    console: Console,
    folder: std::path::PathBuf,
}

impl Printed {
    fn path(&self, name: &RelPath) -> String {
        use std::os::unix::ffi::OsStrExt;
        self.folder.join(std::ffi::OsStr::from_bytes(name.as_bytes())).display().to_string()
    }
}

impl WatchEvents for Printed {
    fn answered(&self, file: &AnsweredFile<'_>) {
        if !self.console.json {
            return self.console.result(&self.path(file.response));
        }
        let line = AnsweredLine {
            request: self.path(file.request),
            response: self.path(file.response),
            results: file.content.results.len(),
            warnings: file.content.meta.warnings.len(),
        };
        self.console.result(&serde_json::to_string(&line).expect("it has string keys"));
    }

    fn notice(&self, line: &str) {
        self.console.notice(line);
    }

    fn progress(&self, line: &str) {
        self.console.progress(line);
    }
}
