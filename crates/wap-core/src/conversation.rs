//! One client's side of the calls: what it was shown, and so what its line numbers mean.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::{
    Call, CommandObserver, ConversationId, FileVersion, LineSpan, ModifyFile, ModifyFileResponse,
    ModifyOperation, ReadFile, ReadFileResponse, Reason, Request, Response, SearchFilesResponse,
    ShownVersions, WapError, Workspace, WriteMode,
};

/// A client that makes calls, one after another or several at once, and remembers what it was shown.
///
/// Line numbers in its `modifyFile` calls mean the file as this client was last shown it, its own edits included; what
/// others have changed meanwhile is allowed for by the engine, or answered with a conflict. A request that names its
/// `expectedVersion` itself is left as it is.
#[derive(Debug)]
pub struct Conversation {
    id: ConversationId,
    memory: Mutex<Memory>,
}

#[derive(Debug, Default)]
struct Memory {
    shown: ShownVersions,
    /// Files whose line numbers cannot be told any more unless they are shown again: the client has edited them after
    /// somebody else had, and has not seen what that did to the numbers.
    moved: BTreeSet<String>,
    /// Canonical paths by what the client calls them, where that is something else.
    called: BTreeMap<String, String>,
}

impl Conversation {
    /// Returns a conversation that was shown nothing yet.
    #[must_use]
    pub fn new(id: ConversationId) -> Conversation {
        Conversation { id, memory: Mutex::default() }
    }

    /// Returns its name.
    #[must_use]
    pub fn id(&self) -> &ConversationId {
        &self.id
    }

    /// Has a workspace answer a request as part of this conversation.
    ///
    /// # Errors
    ///
    /// Those of the [`Workspace`], and [`Reason::Conflict`] where the request's line numbers have no single meaning; the
    /// hint says which file to read again.
    pub fn answer<W: Workspace + ?Sized>(
        &self,
        workspace: &W,
        request: Request,
        call: &Call<'_>,
        observer: &mut dyn CommandObserver,
    ) -> Result<Response, WapError> {
        let (request, path) = match request {
            Request::ModifyFile(modify) => {
                let path = self.canonical(workspace, &modify.path, call);
                (Request::ModifyFile(self.meaning_of(modify, &path)?), path)
            }
            other => (other, String::new()),
        };
        let answer = request.answer(workspace, call, observer);
        match (&request, &answer) {
            (_, Ok(response)) => self.note(workspace, &request, response, call),
            (Request::ModifyFile(_), Err(error)) => self.memory().note_failure(&path, error),
            _ => {}
        }
        answer
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the canonical path of what the client calls `path`, asking the workspace where it has to.
    fn canonical<W: Workspace + ?Sized>(&self, workspace: &W, path: &str, call: &Call<'_>) -> String {
        let spelled = without_idle_components(path);
        {
            let memory = self.memory();
            if let Some(canonical) = memory.called.get(&spelled) {
                return canonical.clone();
            }
            if memory.was_shown(&spelled) || memory.moved.contains(&spelled) {
                return spelled;
            }
        }
        // It may be a file that was shown under another name, an absolute path for instance.
        let request = ReadFile { path: path.to_owned(), start_line: Some(1), end_line: Some(1) };
        match workspace.read_file(call, &request) {
            Ok(response) => {
                self.memory().learn(path, &response.metadata.path);
                response.metadata.path
            }
            Err(_) => spelled,
        }
    }

    /// Names the version that the line numbers of a request mean.
    fn meaning_of(&self, modify: ModifyFile, path: &str) -> Result<ModifyFile, WapError> {
        if modify.expected_version.is_some() {
            return Ok(modify);
        }
        let lines: Vec<u64> = modify.operations.iter().filter_map(first_line).collect();
        let memory = self.memory();
        let mut meant: Option<&FileVersion> = None;
        for line in lines {
            let version = match memory.moved.contains(path) {
                true => Some(memory.shown.version_at(path, line).ok_or_else(|| {
                    read_again(path, &format!("line {line} of '{path}' may have another number by now: others have changed the file before your last edit of it"))
                })?),
                false => memory.shown.version_for(path, line),
            };
            match (meant, version) {
                (Some(known), Some(version)) if known != version => {
                    let text = format!(
                        "the operations on '{path}' address lines that were shown in different versions of it"
                    );
                    return Err(read_again(path, &text));
                }
                _ => meant = meant.or(version),
            }
        }
        let expected_version = meant.cloned();
        drop(memory);
        Ok(ModifyFile { expected_version, ..modify })
    }

    fn note<W: Workspace + ?Sized>(
        &self,
        workspace: &W,
        request: &Request,
        response: &Response,
        call: &Call<'_>,
    ) {
        match (request, response) {
            (Request::ReadFile(request), Response::ReadFile(response)) => {
                let mut memory = self.memory();
                memory.learn(&request.path, &response.metadata.path);
                memory.note_read(request, response);
            }
            (Request::WriteFile(request), Response::WriteFile(response)) => {
                // Lines that are appended to move no others.
                if request.write_mode() != WriteMode::Append
                    && let Some(version) = &response.version
                {
                    self.memory().note_whole(&response.path, version.clone());
                }
            }
            (Request::ModifyFile(_), Response::ModifyFile(response)) => self.memory().note_edit(response),
            (_, Response::DeleteFile(response)) => {
                let mut memory = self.memory();
                memory.shown.forget(&response.path);
                memory.moved.remove(&response.path);
            }
            (_, Response::SearchFiles(response)) => self.note_search(workspace, response, call),
            _ => {}
        }
    }

    /// A search shows numbered lines without saying of which version. Where older lines of the same file were shown, it
    /// has to be found out, or the new numbers would be taken for the old ones.
    fn note_search<W: Workspace + ?Sized>(
        &self,
        workspace: &W,
        found: &SearchFilesResponse,
        call: &Call<'_>,
    ) {
        for matches in found.matches.chunk_by(|one, next| one.path == next.path) {
            let path = matches[0].path.as_str();
            if !self.memory().was_shown(path) {
                continue;
            }
            for found in matches {
                let line = i64::try_from(found.line).unwrap_or(i64::MAX);
                let request =
                    ReadFile { path: path.to_owned(), start_line: Some(line), end_line: Some(line) };
                let read = workspace.read_file(call, &request).ok();
                let is_same =
                    |read: &ReadFileResponse| read.content.trim_end_matches(['\r', '\n']) == found.match_text;
                let version = read.filter(is_same).and_then(|read| read.version);
                let before = found.context_before.len() as u64;
                let span = LineSpan {
                    first: found.line.saturating_sub(before).max(1),
                    last: found.line + found.context_after.len() as u64,
                };
                let mut memory = self.memory();
                match version {
                    Some(version) => memory.shown.record(path, version, span),
                    // It has changed since it was searched: neither the old nor the new numbers can be trusted.
                    None => {
                        memory.lose(path);
                        break;
                    }
                }
            }
        }
    }
}

impl Memory {
    fn note_read(&mut self, request: &ReadFile, response: &ReadFileResponse) {
        let Some(version) = response.version.clone() else { return };
        let path = &response.metadata.path;
        let first = request.start_line.and_then(|line| u64::try_from(line).ok()).unwrap_or(1);
        if first == 1 && response.returned_lines == response.total_lines {
            return self.note_whole(path, version);
        }
        if response.returned_lines > 0 {
            self.shown.record(path, version, LineSpan { first, last: first + response.returned_lines - 1 });
        }
    }

    fn note_whole(&mut self, path: &str, version: FileVersion) {
        self.shown.record(path, version, LineSpan::ALL);
        self.moved.remove(path);
    }

    fn note_edit(&mut self, response: &ModifyFileResponse) {
        let path = &response.path;
        let (Some(version), Some(previous)) = (&response.version, &response.previous_version) else { return };
        if self.moved.contains(path) || (self.was_shown(path) && !self.shown.is_only(path, previous)) {
            self.lose(path);
        } else {
            self.shown.record(path, version.clone(), LineSpan::ALL);
        }
    }

    /// A refusal shows the lines as they are now.
    fn note_failure(&mut self, path: &str, error: &WapError) {
        let text = |name| error.detail(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        let number = |name| error.detail(name).and_then(Value::as_u64);
        if let (Some(_), Some(version), Some(first), Some(last)) = (
            text("currentText"),
            text("currentVersion"),
            number("currentFirstLine"),
            number("currentLastLine"),
        ) {
            self.shown.record(path, FileVersion(version.to_owned()), LineSpan { first, last });
        }
    }

    fn was_shown(&self, path: &str) -> bool {
        self.shown.version_for(path, 1).is_some()
    }

    fn learn(&mut self, asked: &str, canonical: &str) {
        let spelled = without_idle_components(asked);
        if spelled != canonical {
            self.called.insert(spelled, canonical.to_owned());
        }
    }

    fn lose(&mut self, path: &str) {
        self.shown.forget(path);
        self.moved.insert(path.to_owned());
    }
}

/// The first line that an operation addresses; none for one that addresses no lines.
fn first_line(operation: &ModifyOperation) -> Option<u64> {
    let line = match operation {
        ModifyOperation::Replace { start_line, .. } | ModifyOperation::Delete { start_line, .. } => {
            *start_line
        }
        // Line 0 is in front of the first one.
        ModifyOperation::Insert { after_line, .. } => (*after_line).max(1),
        ModifyOperation::RegexReplace { .. } => return None,
    };
    u64::try_from(line).ok()
}

/// Leaves out what changes nothing: `.` and doubled separators.
fn without_idle_components(path: &str) -> String {
    let absolute = if path.starts_with('/') { "/" } else { "" };
    let components: Vec<_> = path.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
    format!("{absolute}{}", components.join("/"))
}

fn read_again(path: &str, why: &str) -> WapError {
    WapError::new(Reason::Conflict, why)
        .with("path", path)
        .with("hint", "read the file again with readFile, then edit by the numbers that you see")
}
