//! Requests that are put into a folder.

use std::path::Path;

use codali_envelope::{Response, Warning, WarningCode, render_response};
use drop_folder::FolderWatcher;
use rel_path::RelPath;
use serde::Serialize;
use wap_core::CancelFlag;

use super::answering::{Answering, Read, nothing_but, read};
use crate::cli::{Codali, Common};
use crate::commands::codali::request_folder::{Dropped, RequestFolder, Unusable};
use crate::commands::session::cancel_flag;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::Console;

/// One line for each response.
#[derive(Serialize)]
struct Answered {
    request: String,
    response: String,
    results: usize,
    warnings: usize,
}

/// Answers every file that is put into a folder, until it is told to stop.
pub(super) fn watch(common: &Common, console: Console, asked: &Codali, folder: &Path) -> Outcome {
    let cancel = cancel_flag()?;
    let answering = Answering::staying(common, console, asked, &cancel)?;
    let mut watching =
        Watching { folder: RequestFolder::open(folder)?, answering, console, asked, cancel: &cancel };
    // The watcher starts before the first look, so that nothing can arrive unseen in between.
    let watcher = FolderWatcher::new(watching.folder.path(), &cancel);
    console.progress(&format!("requests in {} are answered", watching.folder.path().display()));
    loop {
        if cancel.is_cancelled() {
            return Ok(Exit::Interrupted);
        }
        let look = watching.folder.look().map_err(|_| {
            Failure::new(Exit::Failed, "the folder of requests is gone, or cannot be read any more")
        })?;
        for file in &look.ready {
            if cancel.is_cancelled() {
                break;
            }
            watching.take(file);
        }
        if look.ready.is_empty() {
            watcher.wait(look.again);
        }
    }
}

struct Watching<'a> {
    folder: RequestFolder,
    answering: Answering<'a>,
    console: Console,
    asked: &'a Codali,
    cancel: &'a CancelFlag,
}

impl Watching<'_> {
    /// Answers one file, or says why not.
    fn take(&mut self, file: &Dropped) {
        // It is looked at again if it has changed.
        let Some(found) = self.folder.read(file) else { return };
        let response = match &found {
            Ok(text) => self.answer(text, file),
            Err(why) => {
                self.console.notice(&format!("{} {why}", file.file.name));
                is_told(why, file).then(|| nothing_but(unusable(why)))
            }
        };
        // What was cut short is answered as a whole the next time.
        if self.cancel.is_cancelled() {
            return;
        }
        let (Some(response), Some(name)) = (response, &file.response) else {
            return self.folder.is_done_with(file);
        };
        match self.folder.respond(file, &render_response(&response, self.asked.format)) {
            Ok(()) => {
                self.folder.is_done_with(file);
                self.tell(file, name, &response);
            }
            // A disk that is full may have space again.
            Err(error) => {
                if self.folder.put_off(file) {
                    self.console
                        .notice(&format!("{name} cannot be written, and will be tried again: {error}"));
                }
            }
        }
    }

    fn answer(&self, text: &str, file: &Dropped) -> Option<Response> {
        match read(text, None) {
            Read::Request(reading) => Some(self.answering.answer(&reading)),
            Read::Refused { response, why, .. } => {
                self.console.notice(&format!("{}: {why}", file.file.name));
                Some(response)
            }
            Read::Nothing => {
                self.console.progress(&format!("{} holds no request", file.file.name));
                file.is_named_request.then(|| nothing_but(Warning::new(WarningCode::NoRequest)))
            }
        }
    }

    fn tell(&self, file: &Dropped, name: &RelPath, response: &Response) {
        let place = self.folder.place(name).display().to_string();
        if !self.console.json {
            return self.console.result(&place);
        }
        let answered = Answered {
            request: self.folder.place(&file.file.name).display().to_string(),
            response: place,
            results: response.results.len(),
            warnings: response.meta.warnings.len(),
        };
        self.console.result(&serde_json::to_string(&answered).expect("it has string keys"));
    }
}

/// Whether somebody waits for a response: not to a link or a pipe, which nobody has written.
fn is_told(why: &Unusable, file: &Dropped) -> bool {
    file.is_named_request && !matches!(why, Unusable::NotAFile(_) | Unusable::LongName)
}

fn unusable(why: &Unusable) -> Warning {
    let code = match why {
        Unusable::TooLarge => WarningCode::TooLarge,
        Unusable::NotText => WarningCode::BinaryFile,
        Unusable::NotAFile(_) | Unusable::Unreadable | Unusable::LongName => WarningCode::NoRequest,
    };
    Warning::with(code, format!("the file {why}"))
}
