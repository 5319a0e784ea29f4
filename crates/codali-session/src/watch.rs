//! Answers the requests that are dropped into a folder.

use codali_envelope::{Form, Response, Warning, WarningCode, render_response};
use drop_folder::FolderWatcher;
use rel_path::RelPath;

use crate::{DroppedRequest, Incoming, RequestFolder, Responder, Unusable, read_request, warning_response};

/// A receiver of the events of a watched folder.
pub trait WatchEvents {
    /// Reports a written response.
    fn answered(&self, file: &AnsweredFile<'_>);

    /// Reports a problem to the user.
    fn notice(&self, line: &str);

    /// Reports progress.
    fn progress(&self, line: &str) {
        let _ = line;
    }
}

/// A request and the response to it, both files of the folder.
#[derive(Clone, Copy, Debug)]
pub struct AnsweredFile<'a> {
    /// The name of the request.
    pub request: &'a RelPath,
    /// The name of the response.
    pub response: &'a RelPath,
    /// The content of the response.
    pub content: &'a Response,
}

/// The folder was removed, or can no longer be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the folder of requests was removed, or can no longer be read")]
pub struct FolderGone;

/// Answers each file that is dropped into a folder, until the responder is cancelled.
///
/// # Errors
///
/// [`FolderGone`]. A file that cannot be read, or a response that cannot be written, is reported to `events` and does
/// not end the watch.
pub fn watch(
    folder: RequestFolder,
    responder: &Responder<'_>,
    form: Form,
    events: &dyn WatchEvents,
) -> Result<(), FolderGone> {
    let mut watching = Watching { folder, responder, form, events };
    // The watcher starts before the first look, so that nothing can arrive unseen in between.
    let watcher = FolderWatcher::new(watching.folder.path(), responder.cancel);
    events.progress(&format!("requests in {} are answered", watching.folder.path().display()));
    while !responder.cancel.is_cancelled() {
        let look = watching.folder.look().map_err(|_| FolderGone)?;
        for file in &look.ready {
            if responder.cancel.is_cancelled() {
                break;
            }
            watching.take(file);
        }
        // After work, list the folder again immediately: files may have arrived.
        if look.ready.is_empty() {
            watcher.wait(look.again);
        }
    }
    Ok(())
}

struct Watching<'a> {
    folder: RequestFolder,
    responder: &'a Responder<'a>,
    form: Form,
    events: &'a dyn WatchEvents,
}

impl Watching<'_> {
    /// Answers one file, or reports why it cannot be answered.
    fn take(&mut self, file: &DroppedRequest) {
        // A file that changed since the listing is complete in a later one.
        let Some(content) = self.folder.read(file) else { return };
        let response = match &content {
            Ok(text) => self.respond(text, file),
            Err(reason) => {
                self.events.notice(&format!("{} {reason}", file.file.name));
                is_answerable(reason, file).then(|| warning_response(warning(reason)))
            }
        };
        // A cancelled answer is incomplete: the next watch gives the complete one.
        if self.responder.cancel.is_cancelled() {
            return;
        }
        let (Some(content), Some(name)) = (response, &file.response) else {
            return self.folder.finish(file);
        };
        match self.folder.respond(file, &render_response(&content, self.form)) {
            Ok(()) => {
                self.folder.finish(file);
                let request = &file.file.name;
                self.events.answered(&AnsweredFile { request, response: name, content: &content });
            }
            // A full disk may have space later.
            Err(error) => {
                if self.folder.postpone(file) {
                    self.events
                        .notice(&format!("{name} cannot be written, and will be tried again: {error}"));
                }
            }
        }
    }

    fn respond(&self, text: &str, file: &DroppedRequest) -> Option<Response> {
        match read_request(text, None) {
            Incoming::Request(reading) => Some(self.responder.respond(&reading)),
            Incoming::Refused { response, error } => {
                self.events.notice(&format!("{}: {error}", file.file.name));
                Some(response)
            }
            Incoming::Nothing => {
                self.events.progress(&format!("{} holds no request", file.file.name));
                file.is_named_request.then(|| warning_response(Warning::new(WarningCode::NoRequest)))
            }
        }
    }
}

/// Returns true if an unusable file receives a response. A symbolic link or a pipe does not come from an agent.
fn is_answerable(reason: &Unusable, file: &DroppedRequest) -> bool {
    file.is_named_request && !matches!(reason, Unusable::NotAFile(_) | Unusable::LongName)
}

fn warning(reason: &Unusable) -> Warning {
    let code = match reason {
        Unusable::TooLarge => WarningCode::TooLarge,
        Unusable::NotText => WarningCode::BinaryFile,
        Unusable::NotAFile(_) | Unusable::Unreadable | Unusable::LongName => WarningCode::NoRequest,
    };
    Warning::with(code, format!("the file {reason}"))
}
