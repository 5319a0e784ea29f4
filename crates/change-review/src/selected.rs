//! A workspace in which only the chosen parts of a proposal are carried out.

use std::ops::Range;

use wap_core::{
    Call, CommandObserver, ConversationId, ExecuteCommand, ExecuteCommandResponse, ExploreFiles,
    ExploreFilesResponse, FileChange, FileChanged, FileStates, ModifyFileResponse, Moment, ReadFile,
    ReadFileResponse, Reason, SearchFiles, SearchFilesResponse, StopProcess, StopProcessResponse, WapError,
    Workspace, WorkspaceInfo, WriteFile, WriteFileResponse, WriteMode,
};

use crate::hunk::hunks;
use crate::resolution::{Instead, Resolution};

/// The maximum number of context lines used to make the lines of a part unique.
const MOST_CONTEXT: usize = 12;

/// A workspace that carries out the steps of a run as a [`Resolution`] says.
///
/// Steps that were left out answer [`Reason::LeftOut`] and do not reach the inner workspace. A part of a change is
/// written exactly as shown if the file is unchanged since the choice; otherwise its lines are searched for, and the
/// step fails unless they occur exactly once.
#[derive(Clone, Debug)]
pub struct SelectedWorkspace<W> {
    below: W,
    resolution: Resolution,
}

impl<W: Workspace> SelectedWorkspace<W> {
    /// Wraps a workspace.
    pub fn new(below: W, resolution: Resolution) -> SelectedWorkspace<W> {
        SelectedWorkspace { below, resolution }
    }

    /// Returns the replacement for a step.
    fn instead(
        &self,
        call: &Call<'_>,
        change: &FileChange,
        instead: &Instead,
    ) -> Result<FileChange, WapError> {
        let Instead::Part { before, after, chosen: _ } = instead else { return Err(not_taken(instead)) };
        let path = change.path().to_owned();
        let content = match self.text_of(call, &path) {
            Some(now) if now == *before => Some(after.clone()),
            Some(now) => part_of(&now, before, after),
            None => None,
        };
        // Write the exact bytes: an edit by lines would convert all of them to the file's usual line end.
        let content = content.ok_or_else(|| moved(&path))?;
        let mode = Some(WriteMode::Overwrite);
        Ok(FileChange::Write(WriteFile { path, content, mode, create_directories: None, judged: None }))
    }

    /// Returns the text of a file; `None` if there is none, or it is not shown whole and unchanged.
    fn text_of(&self, call: &Call<'_>, path: &str) -> Option<String> {
        let request = ReadFile { path: path.to_owned(), ..ReadFile::default() };
        let read = self.below.read_file(call, &request).ok()?;
        // Compare the size as well: invalid bytes are read as a character that a text may contain.
        let is_exact = !read.is_truncated && usize::try_from(read.metadata.size) == Ok(read.content.len());
        is_exact.then_some(read.content)
    }

    /// Carries out changes that are taken whole or in part, and returns the answers in the form that the original
    /// requests expect.
    fn carry_out(
        &self,
        call: &Call<'_>,
        (first, taken): (u32, &[(FileChange, &FileChange)]),
    ) -> Result<Vec<Result<FileChanged, WapError>>, WapError> {
        let origin = call.origin.at_step(first);
        let call = Call { origin: &origin, ..*call };
        let changes: Vec<FileChange> = taken.iter().map(|(change, _)| change.clone()).collect();
        let answers = self.below.change_files(&call, &changes)?;
        let wanted = taken.iter().map(|(_, requested)| *requested);
        Ok(answers.into_iter().zip(wanted).map(|(answer, wanted)| Ok(in_form_of(wanted, answer?))).collect())
    }
}

/// Returns the error of a step that the reviewer did not take.
fn not_taken(instead: &Instead) -> WapError {
    let text = match instead {
        Instead::SentBack => "the user sent this back; nothing was done",
        _ => "the user left this out; nothing was done",
    };
    WapError::new(Reason::LeftOut, text)
}

fn moved(path: &str) -> WapError {
    let text = format!(
        "the chosen part of `{path}` builds on lines that are not there: on a part that was left out, or on a change by \
         another program"
    );
    WapError::new(Reason::Conflict, text).with("path", path)
}

/// Returns a text with the change from `before` to `after` in it: the lines of each hunk are searched for, with enough
/// context to make them unique in `before`. `None` if no context suffices, or they do not occur exactly once in the
/// text.
fn part_of(now: &str, before: &str, after: &str) -> Option<String> {
    let lines: Vec<&str> = before.split_inclusive('\n').collect();
    let now: Vec<&str> = now.split_inclusive('\n').collect();
    let mut parts: Vec<(Range<usize>, String)> = Vec::new();
    for hunk in hunks(before, after) {
        let old = hunk.old_first - 1..hunk.old_first - 1 + hunk.old_count;
        let mut windows = (0..=MOST_CONTEXT)
            .map(|context| old.start.saturating_sub(context)..(old.end + context).min(lines.len()));
        let is_unique = |around: &Range<usize>| {
            let text = &lines[around.clone()];
            text.iter().any(|line| !line.trim().is_empty()) && occurrences(&lines, text).nth(1).is_none()
        };
        let around = windows.find(is_unique)?;
        let mut starts = occurrences(&now, &lines[around.clone()]);
        let (first, further) = (starts.next()?, starts.next());
        if further.is_some() {
            return None;
        }
        let start = first + old.start - around.start;
        parts.push((start..start + old.len(), hunk.new_text));
    }
    parts.sort_by_key(|(range, _)| range.start);
    let mut result = String::new();
    let mut next = 0;
    for (range, text) in parts {
        result.extend(now.get(next..range.start)?.iter().copied());
        result.push_str(&text);
        next = range.end;
    }
    result.extend(now[next..].iter().copied());
    Some(result)
}

/// Returns the indexes at which some lines occur among others.
fn occurrences<'l>(lines: &'l [&'l str], wanted: &'l [&'l str]) -> impl Iterator<Item = usize> + 'l {
    let windows = lines.windows(wanted.len().max(1)).enumerate();
    windows.filter(move |(_, window)| *window == wanted).map(|(start, _)| start)
}

/// Returns an answer in the form that the request expects.
fn in_form_of(requested: &FileChange, answer: FileChanged) -> FileChanged {
    match (requested, answer) {
        (FileChange::Modify(_), FileChanged::Written(written)) => {
            let WriteFileResponse {
                success,
                path,
                version,
                lines_added,
                lines_removed,
                changed,
                warnings,
                ..
            } = written;
            FileChanged::Modified(ModifyFileResponse {
                success,
                path,
                version,
                previous_version: None,
                shifts: Vec::new(),
                carried: Vec::new(),
                replacements: Vec::new(),
                lines_added,
                lines_removed,
                changed,
                warnings,
            })
        }
        (FileChange::Write(write), FileChanged::Modified(modified)) => {
            let ModifyFileResponse {
                success,
                path,
                version,
                lines_added,
                lines_removed,
                changed,
                warnings,
                ..
            } = modified;
            FileChanged::Written(WriteFileResponse {
                success,
                path,
                bytes_written: u64::try_from(write.content.len()).unwrap_or(u64::MAX),
                version,
                created: false,
                lines_added,
                lines_removed,
                changed,
                warnings,
            })
        }
        (_, answer) => answer,
    }
}

/// Adds to an answer that only a part of the request was carried out.
fn say_part(answer: &mut FileChanged, (taken, all): (usize, usize)) {
    let warning = format!(
        "only a part was carried out: the user chose {taken} of {all} hunks; read the file before you go on"
    );
    match answer {
        FileChanged::Written(written) => written.warnings.push(warning),
        FileChanged::Modified(modified) => modified.warnings.push(warning),
        FileChanged::Deleted(_) => {}
    }
}

impl<W: Workspace> Workspace for SelectedWorkspace<W> {
    fn workspace_info(&self, call: &Call<'_>) -> Result<WorkspaceInfo, WapError> {
        self.below.workspace_info(call)
    }

    fn explore_files(
        &self,
        call: &Call<'_>,
        request: &ExploreFiles,
    ) -> Result<ExploreFilesResponse, WapError> {
        self.below.explore_files(call, request)
    }

    fn read_file(&self, call: &Call<'_>, request: &ReadFile) -> Result<ReadFileResponse, WapError> {
        self.below.read_file(call, request)
    }

    fn search_files(&self, call: &Call<'_>, request: &SearchFiles) -> Result<SearchFilesResponse, WapError> {
        self.below.search_files(call, request)
    }

    fn file_states(
        &self,
        call: &Call<'_>,
        paths: &[String],
        since: Option<&Moment>,
    ) -> Result<FileStates, WapError> {
        self.below.file_states(call, paths, since)
    }

    fn change_files(
        &self,
        call: &Call<'_>,
        changes: &[FileChange],
    ) -> Result<Vec<Result<FileChanged, WapError>>, WapError> {
        let mut answers: Vec<Result<FileChanged, WapError>> = Vec::with_capacity(changes.len());
        // Consecutive taken steps are one batch, because they are one commit.
        let mut batch: Vec<(FileChange, &FileChange)> = Vec::new();
        let mut first = call.origin.step;
        for (step, change) in (call.origin.step..).zip(changes) {
            let Some(instead) = self.resolution.0.get(&step) else {
                if batch.is_empty() {
                    first = step;
                }
                batch.push((change.clone(), change));
                continue;
            };
            // A part is chosen from the file as left by the previous steps.
            answers.extend(self.carry_out(call, (first, &std::mem::take(&mut batch)))?);
            let origin = call.origin.at_step(step);
            let at_step = Call { origin: &origin, ..*call };
            let mut answer = self.instead(&at_step, change, instead).and_then(|part| {
                self.carry_out(call, (step, &[(part, change)]))?
                    .pop()
                    .unwrap_or_else(|| Err(not_taken(instead)))
            });
            if let (Ok(answer), Instead::Part { chosen, .. }) = (&mut answer, instead) {
                say_part(answer, *chosen);
            }
            answers.push(answer);
        }
        answers.extend(self.carry_out(call, (first, &batch))?);
        Ok(answers)
    }

    fn execute_command(
        &self,
        call: &Call<'_>,
        request: &ExecuteCommand,
        observer: &mut dyn CommandObserver,
    ) -> Result<ExecuteCommandResponse, WapError> {
        if let Some(instead) = self.resolution.0.get(&call.origin.step) {
            return Err(not_taken(instead));
        }
        self.below.execute_command(call, request, observer)
    }

    fn stop_process(&self, call: &Call<'_>, request: &StopProcess) -> Result<StopProcessResponse, WapError> {
        // Reviewers do not see it as a step, so only sending everything back keeps it from running.
        let is_sent_back = |instead: &&Instead| matches!(instead, Instead::SentBack);
        if let Some(instead) = self.resolution.0.values().find(is_sent_back) {
            return Err(not_taken(instead));
        }
        self.below.stop_process(call, request)
    }

    fn end_conversation(&self, conversation: &ConversationId) {
        self.below.end_conversation(conversation);
    }
}
