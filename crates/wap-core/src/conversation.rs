//! The state of one client: the versions that it was shown, and the meaning of its line numbers.

pub(crate) mod last_answer;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::{
    Call, CommandObserver, ConversationId, FileVersion, LastAnswer, Limits, LineConflict, LineSpan,
    ModifyFile, ModifyOperation, ReadFile, ReadFileResponse, Request, Response, SearchFilesResponse,
    SeenVersions, ShownVersions, WapError, Workspace, WriteMode,
};

/// A client that makes calls, sequentially or concurrently, with a record of the versions that it was shown.
///
/// Line numbers in its `modifyFile` calls mean the file as this client was last shown it, or as it was when the client received
/// its last answer: the output of a command may have numbers of that version. If these are different lines, the engine refuses
/// the edit and shows both; see [`choose_lines`](crate::choose_lines). A request with an `expectedVersion` is unchanged.
#[derive(Debug)]
pub struct Conversation {
    id: ConversationId,
    memory: Mutex<Memory>,
}

#[derive(Debug, Default)]
struct Memory {
    shown_versions: ShownVersions,
    /// The files when the last answer was given; `None` before the first one.
    last_answer: Option<LastAnswer>,
    /// Files whose lines were shown in an unknown version: their numbers are meaningless until they are shown again.
    unsure: BTreeSet<String>,
    /// Canonical paths by the names that the client uses, where the two differ.
    called: BTreeMap<String, String>,
}

/// The bound on remembered other names of files. Beyond that, all are looked up again.
const MOST_NAMES: usize = 1_024;

impl Conversation {
    /// Returns a conversation that was not shown anything yet.
    #[must_use]
    pub fn new(id: ConversationId) -> Conversation {
        Conversation { id, memory: Mutex::default() }
    }

    /// Returns the id.
    #[must_use]
    pub fn id(&self) -> &ConversationId {
        &self.id
    }

    /// Answers a request from a workspace, as part of this conversation.
    ///
    /// # Errors
    ///
    /// Those of the [`Workspace`], and [`Reason::Conflict`](crate::Reason::Conflict) if the request's line numbers are ambiguous;
    /// the error shows the lines as they are now.
    pub fn answer<W: Workspace + ?Sized>(
        &self,
        workspace: &W,
        request: Request,
        call: &Call<'_>,
        observer: &mut dyn CommandObserver,
    ) -> Result<Response, WapError> {
        let (request, path) = match request {
            Request::ModifyFile(modify) => {
                let (modify, path) = self.with_seen_versions(workspace, modify, call);
                (Request::ModifyFile(modify), path)
            }
            other => (other, String::new()),
        };
        let answer = request.answer(workspace, call, observer);
        // Record the lines of this answer first, then the present versions: the order in which the client reads them.
        match (&request, &answer) {
            (_, Ok(response)) => self.note(workspace, &request, response, call),
            (Request::ModifyFile(_), Err(error)) => self.memory().note_failure(&path, error),
            _ => {}
        }
        let mut memory = self.memory();
        memory.take_answer(workspace, call);
        // Another client may have changed the file since, but the answer is about this version.
        if let Some((path, version)) = answered_version(&path, &answer)
            && let Some(last) = &mut memory.last_answer
        {
            last.note_answered(&path, &version);
        }
        drop(memory);
        answer
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the versions that the line numbers of a request may mean. Also returns the canonical path.
    fn with_seen_versions<W: Workspace + ?Sized>(
        &self,
        workspace: &W,
        modify: ModifyFile,
        call: &Call<'_>,
    ) -> (ModifyFile, String) {
        let spelled = without_redundant_components(&modify.path);
        // Do not hold the lock during calls of the workspace: a conversation may make several calls at once.
        let (mut path, is_known, since) = {
            let memory = self.memory();
            let path = memory.called.get(&spelled).cloned().unwrap_or(spelled);
            let is_known = memory.was_shown(&path);
            (path, is_known, memory.last_answer.as_ref().map(|answer| *answer.moment()))
        };
        let mut state = None;
        if !is_known {
            // The file may have been shown under another name, such as an absolute path.
            let requested = [modify.path.clone()];
            let states = workspace.file_states(call, &requested, since.as_ref());
            state = states.ok().and_then(|mut states| states.files.pop().flatten());
            if let Some(state) = &state {
                self.memory().learn(&modify.path, &state.path);
                path.clone_from(&state.path);
            }
        }
        // The request's own version decides; ours would only contradict it.
        if modify.expected_version.is_some() {
            return (ModifyFile { seen_versions: None, ..modify }, path);
        }
        let memory = self.memory();
        let lines: Vec<u64> = modify.operations.iter().map(first_line).collect();
        let now = state.as_ref().and_then(|state| Some((state.version.as_ref()?, state.has_changed)));
        let seen_versions = memory.last_answer.as_ref().map(|answer| {
            let versions = answer.seen_versions(&memory.shown_versions, &path, &lines, now);
            SeenVersions { unknown: versions.unknown || memory.unsure.contains(&path), ..versions }
        });
        drop(memory);
        (ModifyFile { seen_versions, ..modify }, path)
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
                // Appending does not move any lines.
                if request.write_mode() != WriteMode::Append
                    && let Some(version) = &response.version
                {
                    self.memory().note_whole(&response.path, version.clone());
                }
            }
            (Request::ModifyFile(_), Response::ModifyFile(response)) => {
                if let (Some(version), Some(previous)) = (&response.version, &response.previous_version) {
                    let mut memory = self.memory();
                    memory.shown_versions.note_own_edit(&response.path, previous, version, &response.shifts);
                }
            }
            (_, Response::DeleteFile(response)) => {
                let mut memory = self.memory();
                memory.shown_versions.forget(&response.path);
                memory.unsure.remove(&response.path);
            }
            (_, Response::SearchFiles(response)) => self.note_search(workspace, response, call),
            _ => {}
        }
    }

    /// Records the lines of a search, which shows numbers without a version. If older lines of the same file were shown, look up
    /// the version, or the new numbers would be taken for the old ones.
    fn note_search<W: Workspace + ?Sized>(
        &self,
        workspace: &W,
        response: &SearchFilesResponse,
        call: &Call<'_>,
    ) {
        for matches in response.matches.chunk_by(|one, next| one.path == next.path) {
            let path = matches[0].path.as_str();
            // Without older lines, only the search has numbers, and they mean the version of this answer.
            if !self.memory().was_shown(path) {
                continue;
            }
            let last = matches.iter().map(|hit| hit.line).max().unwrap_or(1);
            let mut passage: Option<Passage> = None;
            for hit in matches {
                // Read as many lines at once as fit into an answer: each read may take a pass over the file.
                if passage.as_ref().is_none_or(|passage| passage.line(hit.line).is_none()) {
                    passage = Passage::read(workspace, call, path, (hit.line, last));
                }
                let version = passage.as_ref().and_then(|passage| {
                    passage.line(hit.line).filter(|line| is_hit(line, &hit.match_text))?;
                    passage.version.clone()
                });
                let before = hit.context_before.len() as u64;
                let span = LineSpan {
                    first: hit.line.saturating_sub(before).max(1),
                    last: hit.line + hit.context_after.len() as u64,
                };
                let mut memory = self.memory();
                match version {
                    Some(version) => memory.shown_versions.record(path, version, span),
                    // The file has changed since the search: neither the old nor the new numbers are reliable.
                    None => {
                        memory.unsure.insert(path.to_owned());
                        break;
                    }
                }
            }
        }
    }
}

/// Lines of a file from a single read.
struct Passage {
    version: Option<FileVersion>,
    /// The number of the first line, 1-based.
    first: u64,
    lines: Vec<String>,
}

impl Passage {
    /// Reads these lines, or the first of them; `None` if the file cannot be read.
    fn read<W: Workspace + ?Sized>(
        workspace: &W,
        call: &Call<'_>,
        path: &str,
        (first, last): (u64, u64),
    ) -> Option<Passage> {
        let line = |number: u64| Some(i64::try_from(number).unwrap_or(i64::MAX));
        let (start_line, end_line) = (line(first), line(last.max(first)));
        let request = ReadFile { path: path.to_owned(), start_line, end_line, ..ReadFile::default() };
        let read = workspace.read_file(call, &request).ok()?;
        let lines = read.content.split_inclusive('\n').map(str::to_owned).collect();
        Some(Passage { version: read.version, first, lines })
    }

    fn line(&self, number: u64) -> Option<&str> {
        let index = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.lines.get(index).map(String::as_str)
    }
}

/// Checks whether a line of a file is the one that a search matched; long lines are truncated there.
fn is_hit(line: &str, matched: &str) -> bool {
    let line = line.trim_end_matches(['\r', '\n']);
    let is_long = || line.chars().nth(Limits::MAX_MATCH_CHARACTERS).is_some();
    line == matched || (!matched.is_empty() && line.starts_with(matched) && is_long())
}

/// Returns the file of an answer, with the version that the answer shows or created.
fn answered_version(requested: &str, answer: &Result<Response, WapError>) -> Option<(String, FileVersion)> {
    match answer {
        Ok(Response::ReadFile(read)) => Some((read.metadata.path.clone(), read.version.clone()?)),
        Ok(Response::ModifyFile(edit)) => Some((edit.path.clone(), edit.version.clone()?)),
        Ok(Response::WriteFile(written)) => Some((written.path.clone(), written.version.clone()?)),
        Err(error) => Some((requested.to_owned(), LineConflict::of(error)?.version)),
        Ok(_) => None,
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
            self.shown_versions.record(
                path,
                version,
                LineSpan { first, last: first + response.returned_lines - 1 },
            );
        }
    }

    fn note_whole(&mut self, path: &str, version: FileVersion) {
        self.shown_versions.record(path, version, LineSpan::ALL);
        self.unsure.remove(path);
    }

    /// Records the current lines that a refusal shows: from now on their numbers mean that version.
    fn note_failure(&mut self, path: &str, error: &WapError) {
        if let Some(conflict) = LineConflict::of(error) {
            for lines in conflict.excerpts {
                self.shown_versions.record(path, conflict.version.clone(), lines);
            }
            self.unsure.remove(path);
            return;
        }
        let text = |name| error.detail(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        let number = |name| error.detail(name).and_then(Value::as_u64);
        if let (Some(_), Some(version), Some(first), Some(last)) = (
            text("currentText"),
            text("currentVersion"),
            number("currentFirstLine"),
            number("currentLastLine"),
        ) {
            self.shown_versions.record(path, FileVersion(version.to_owned()), LineSpan { first, last });
        }
    }

    fn take_answer<W: Workspace + ?Sized>(&mut self, workspace: &W, call: &Call<'_>) {
        let Memory { shown_versions, last_answer, .. } = self;
        last_answer.get_or_insert_default().take(workspace, call, shown_versions);
    }

    fn was_shown(&self, path: &str) -> bool {
        self.shown_versions.version_for(path, 1).is_some()
    }

    fn learn(&mut self, requested: &str, canonical: &str) {
        let spelled = without_redundant_components(requested);
        if spelled != canonical {
            // Clearing is safe: a name that is not remembered is looked up in the workspace again.
            if self.called.len() >= MOST_NAMES {
                self.called.clear();
            }
            self.called.insert(spelled, canonical.to_owned());
        }
    }
}

/// Returns the line that is used to look up the version of an operation's numbers.
fn first_line(operation: &ModifyOperation) -> u64 {
    // Line 0 is before the first one; smaller numbers are refused, and any version will do for that.
    let (line, _) = operation.addressed_lines().unwrap_or((1, 1));
    u64::try_from(line).unwrap_or(1).max(1)
}

/// Returns a path without redundant components: `.` and doubled separators.
fn without_redundant_components(path: &str) -> String {
    // `..` stays: it cannot be resolved without the folders, as a symlink may lead elsewhere.
    let absolute = if path.starts_with('/') { "/" } else { "" };
    let components: Vec<_> = path.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
    format!("{absolute}{}", components.join("/"))
}
