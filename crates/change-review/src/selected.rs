//! A workspace in which only the chosen parts of a proposal are carried out.

use wap_core::{
    Call, CommandObserver, ConversationId, ExecuteCommand, ExecuteCommandResponse, ExploreFiles,
    ExploreFilesResponse, FileChange, FileChanged, FileStates, ModifyFile, ModifyFileResponse,
    ModifyOperation, Moment, ReadFile, ReadFileResponse, Reason, SearchFiles, SearchFilesResponse,
    StopProcess, StopProcessResponse, WapError, WholeLines, Workspace, WorkspaceInfo, WriteFile,
    WriteFileResponse, WriteMode,
};

use crate::hunk::hunks;
use crate::resolution::{Instead, Resolution};

/// The most lines of context that a part gets so that its lines are unique.
const MOST_CONTEXT: usize = 12;

/// A workspace that carries out the steps of a run as a [`Resolution`] says.
///
/// Steps that were left out answer [`Reason::LeftOut`] and do not reach the workspace below. A part of a change is
/// written exactly as it was shown if the file still is what it was chosen from; otherwise its lines are looked for, and
/// the step fails if they do not stand there once.
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

    /// Returns the change that stands for a step.
    fn instead(
        &self,
        call: &Call<'_>,
        change: &FileChange,
        instead: &Instead,
    ) -> Result<FileChange, WapError> {
        let Instead::Part { before, after, chosen: _ } = instead else { return Err(left_out()) };
        let path = change.path().to_owned();
        let is_as_shown = self.is_now(call, &path, before);
        if is_as_shown {
            let (content, mode) = (after.clone(), Some(WriteMode::Overwrite));
            return Ok(FileChange::Write(WriteFile { path, content, mode, create_directories: None }));
        }
        let operations = text_operations(before, after).ok_or_else(|| moved(&path))?;
        Ok(FileChange::Modify(ModifyFile { path, operations, ..ModifyFile::default() }))
    }

    /// Checks whether a file holds exactly this text.
    fn is_now(&self, call: &Call<'_>, path: &str, text: &str) -> bool {
        let request = ReadFile { path: path.to_owned(), ..ReadFile::default() };
        self.below.read_file(call, &request).is_ok_and(|read| {
            // The size as well: bytes that are not text are read as a character that a text may hold.
            !read.is_truncated
                && read.content == text
                && usize::try_from(read.metadata.size) == Ok(text.len())
        })
    }

    /// Carries out changes that are all taken in one form or another, and returns the answers in the form that the
    /// original requests expect.
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

/// Returns the error of a step that the reviewer left out.
fn left_out() -> WapError {
    WapError::new(Reason::LeftOut, "the user left this out; nothing was done")
}

fn moved(path: &str) -> WapError {
    let text = format!(
        "the chosen part of `{path}` builds on lines that are not there: on a part that was left out, or on a change by \
         another program"
    );
    WapError::new(Reason::Conflict, text).with("path", path)
}

/// Returns operations that look for the lines of each hunk, with as much context as makes them unique in `before`;
/// `None` if no context does.
fn text_operations(before: &str, after: &str) -> Option<Vec<ModifyOperation>> {
    let lines: Vec<&str> = before.split_inclusive('\n').collect();
    let operation = |hunk: crate::hunk::Hunk| {
        let old = hunk.old_first - 1..hunk.old_first - 1 + hunk.old_count;
        (0..=MOST_CONTEXT).find_map(|context| {
            let start = old.start.saturating_sub(context);
            let end = (old.end + context).min(lines.len());
            let old_text = lines[start..end].concat();
            let is_unique = !old_text.trim().is_empty() && occurrences(&lines, &lines[start..end]) == 1;
            is_unique.then(|| ModifyOperation::ReplaceText {
                new_text: [&lines[start..old.start].concat(), &hunk.new_text, &lines[old.end..end].concat()]
                    .map(String::as_str)
                    .concat(),
                old_text,
                expected_matches: None,
                whole_lines: Some(WholeLines::default()),
            })
        })
    };
    hunks(before, after).into_iter().map(operation).collect()
}

fn occurrences(lines: &[&str], wanted: &[&str]) -> usize {
    lines.windows(wanted.len().max(1)).filter(|window| *window == wanted).count()
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

/// Says in an answer that only a part of the request was carried out.
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
        // Steps that follow each other and are taken are one batch, because they are one commit.
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
            // A part is chosen from the file as the steps before it leave it.
            answers.extend(self.carry_out(call, (first, &std::mem::take(&mut batch)))?);
            let origin = call.origin.at_step(step);
            let at_step = Call { origin: &origin, ..*call };
            let mut answer = self.instead(&at_step, change, instead).and_then(|part| {
                self.carry_out(call, (step, &[(part, change)]))?.pop().unwrap_or_else(|| Err(left_out()))
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
        if self.resolution.0.contains_key(&call.origin.step) {
            return Err(left_out());
        }
        self.below.execute_command(call, request, observer)
    }

    fn stop_process(&self, call: &Call<'_>, request: &StopProcess) -> Result<StopProcessResponse, WapError> {
        self.below.stop_process(call, request)
    }

    fn end_conversation(&self, conversation: &ConversationId) {
        self.below.end_conversation(conversation);
    }
}
