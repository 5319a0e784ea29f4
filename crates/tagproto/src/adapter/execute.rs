//! Carries out a reply.

use std::collections::BTreeSet;
use std::ops::Range;
use std::time::Duration;

use wap_core::{
    Call, CarriedLines, ExecuteCommand, FileChange, FileChanged, LineSpan, Origin, Reason, StopProcess,
    WapError, Workspace,
};

use super::batches::batches;
use super::edit_reports::EditReports;
use super::failure::Failure;
use super::file_change::file_change;
use super::line_moves::LineMoves;
use super::named_code::quoted_file;
use super::observer::ForwardedCommand;
use super::process_result::{command_ended, process_stopped};
use super::reply_versions::ReplyVersions;
use super::{BaseVersions, Execution, ExecutionObserver, read_lines, read_start, summary};
use crate::{
    Background, Block, BlockKind, CommandResult, CommandType, Dialect, IfExists, Item, ParseError, ReadRange,
};

/// Carries out the items of a reply in their order.
///
/// File changes and commands are the steps of the run, numbered from `call.origin.step` in the order of the reply, so the same
/// items make the same calls. `base` is the value of [`base_versions`](crate::base_versions) before the run first began.
/// `timeout` applies to each command. Once `call.cancel` is raised, nothing more is begun: finished steps are answered from the
/// workspace's record, other blocks are answered as cancelled and keep their step numbers, and texts still count.
///
/// Every block has a result, and the blocks after a failure are carried out.
///
/// # Errors
///
/// Only errors of the workspace as a whole, for instance of a journal that cannot be written. The run is then
/// unfinished, and calling this again with the same arguments resumes it.
///
/// Source: bracket-tag protocol, Command Syntax Reference; ruling in docs/tagproto.md.
pub fn execute<W: Workspace + ?Sized>(
    items: &[Item<'_>],
    dialect: Dialect,
    base: BaseVersions,
    timeout: Duration,
    workspace: &W,
    call: &Call<'_>,
    observer: &mut dyn ExecutionObserver,
) -> Result<Execution, WapError> {
    let batches = batches(items, &base);
    let mut run = Run {
        items,
        dialect,
        timeout,
        workspace,
        call,
        observer,
        next_step: call.origin.step,
        versions: ReplyVersions::new(base),
        moves: LineMoves::default(),
        reports: EditReports::default(),
        requested: BTreeSet::new(),
        shown_below: BTreeSet::new(),
        execution: Execution::default(),
    };
    for batch in batches {
        run.carry_out(batch)?;
    }
    // In the dialect of the first implementation, results have one line.
    if dialect == Dialect::Agentd {
        run.reports.write(&mut run.execution.results, &run.shown_below);
    }
    Ok(Execution { shown_versions: run.versions.into_shown(), ..run.execution })
}

/// The maximum length in bytes of a requested file whose changed lines are not shown separately: even the smallest budget for a
/// chat does not cut it.
const SHORT_FILE_BYTES: u64 = 4096;

struct Run<'a, W: ?Sized> {
    items: &'a [Item<'a>],
    dialect: Dialect,
    timeout: Duration,
    workspace: &'a W,
    call: &'a Call<'a>,
    observer: &'a mut dyn ExecutionObserver,
    next_step: u32,
    versions: ReplyVersions,
    moves: LineMoves,
    reports: EditReports,
    /// The requested files.
    requested: BTreeSet<String>,
    /// The requested files that are short enough to be shown whole in any message.
    shown_below: BTreeSet<String>,
    execution: Execution,
}

/// The workspace's outcomes of the file blocks of a batch.
type Outcomes = std::vec::IntoIter<Result<FileChanged, WapError>>;

impl<W: Workspace + ?Sized> Run<'_, W> {
    fn carry_out(&mut self, batch: Range<usize>) -> Result<(), WapError> {
        for index in batch.clone() {
            self.observer.block_started(index, &self.items[index]);
        }
        // The changes of the batch go first, as one unit; each block then takes its own outcome.
        let mut outcomes = self.change_files(batch.clone())?;
        for index in batch {
            let item = &self.items[index];
            let (result, changed) = match item {
                Item::Error(error) => (self.not_read(error), None),
                Item::Block(block) => self.block(&block.value, outcomes.as_mut())?,
            };
            self.observer.block_finished(index, item, &result, changed.as_ref());
            // Compared as a value, since blocks of a batch and single steps are cancelled in different functions.
            if result == failed(result.command_type, Failure::not_begun()) {
                self.execution.not_begun.push(index);
            }
            self.execution.results.push(result);
        }
        Ok(())
    }

    fn not_read(&self, error: &ParseError) -> CommandResult {
        match quoted_file(error, self.workspace, self.call) {
            Some(path) => succeeded(
                CommandType::Block(BlockKind::CreateFile),
                format!("'{path}' has the lines of the code block already"),
            ),
            None => failed(CommandType::ParseError, Failure::of_parse(error)),
        }
    }

    /// Makes the changes of a batch as one unit; `None` if the user had cancelled the reply.
    fn change_files(&mut self, batch: Range<usize>) -> Result<Option<Outcomes>, WapError> {
        let items = self.items;
        let changes: Vec<FileChange> =
            items[batch].iter().filter_map(|item| self.file_change(item)).collect();
        if changes.is_empty() {
            return Ok(None);
        }
        let steps = u32::try_from(changes.len()).expect("a reply has fewer than 2^32 blocks");
        // Taken before the call: a refused batch keeps its numbers too, or else a resumed run would count differently.
        let origin = self.take_steps(steps);
        let call = Call { origin: &origin, ..*self.call };
        match self.workspace.change_files(&call, &changes) {
            Ok(outcomes) => Ok(Some(outcomes.into_iter())),
            // The whole batch was refused before any change.
            Err(error) if error.reason() == Reason::Cancelled => Ok(None),
            // These blocks cannot be carried out, now or later; the following ones can.
            Err(error) if error.reason() == Reason::Conflict => {
                let answers: Vec<_> = changes.iter().map(|_| Err(error.clone())).collect();
                Ok(Some(answers.into_iter()))
            }
            Err(error) => Err(error),
        }
    }

    fn file_change(&mut self, item: &Item<'_>) -> Option<FileChange> {
        let Item::Block(block) = item else { return None };
        let versions = match (&block.value, self.dialect) {
            (Block::EditFile { path, start_line, .. }, Dialect::Agentd) => {
                self.versions.meant(path, *start_line)
            }
            (Block::EditText { path, within: Some((start_line, _)), hunks }, Dialect::Agentd) => {
                self.versions.meant_by_all(path, *start_line, hunks.len())
            }
            (Block::EditText { path, within: None, hunks }, Dialect::Agentd) => {
                self.versions.shown_to_all(path, hunks.len())
            }
            _ => None,
        };
        if let Block::CreateFile { path, .. }
        | Block::EditFile { path, .. }
        | Block::EditText { path, .. }
        | Block::DeleteFile { path, .. } = &block.value
        {
            self.versions.will_change(path);
        }
        file_change(&block.value, self.dialect, versions)
    }

    fn take_steps(&mut self, steps: u32) -> Origin {
        let origin = self.call.origin.at_step(self.next_step);
        self.next_step += steps;
        origin
    }

    fn block(
        &mut self,
        block: &Block<'_>,
        outcomes: Option<&mut Outcomes>,
    ) -> Result<(CommandResult, Option<FileChanged>), WapError> {
        let command_type = CommandType::Block(block.kind());
        let result = match block {
            Block::CreateFile { path, .. }
            | Block::EditFile { path, .. }
            | Block::EditText { path, .. }
            | Block::DeleteFile { path, .. } => {
                let Some(outcomes) = outcomes else {
                    return Ok((failed(command_type, Failure::not_begun()), None));
                };
                let outcome = outcomes.next().ok_or_else(|| {
                    WapError::new(
                        Reason::WriteError,
                        "the workspace answered fewer outcomes than there were changes",
                    )
                })?;
                return Ok(match outcome {
                    Ok(changed) => (self.file_changed(block, path, &changed), Some(changed)),
                    Err(error) => (self.file_failed(block, path, &error), None),
                });
            }
            Block::ReadFile { path, range } => match (range, self.dialect) {
                (ReadRange::Whole, _) | (_, Dialect::CodingAgent) => self.read_file(block, path),
                (ReadRange::Malformed, Dialect::Agentd) => {
                    failed(command_type, Failure::of_malformed_range())
                }
                (ReadRange::Lines { start_line, end_line }, Dialect::Agentd) => {
                    self.read_lines(block, path, *start_line, *end_line)
                }
            },
            Block::RunCommand { command, background } => self.run_command(command, background.as_ref())?,
            Block::StopProcess { name } => self.stop_process(name)?,
            Block::Message { text } => succeeded(command_type, text.to_string()),
            Block::Done { summary } => {
                self.execution.done = Some(summary.to_string());
                succeeded(command_type, summary.to_string())
            }
        };
        Ok((result, None))
    }

    fn file_changed(&mut self, block: &Block<'_>, path: &str, changed: &FileChanged) -> CommandResult {
        let (summary, warnings) = match changed {
            FileChanged::Written(written) => {
                self.versions.written(path, &written.path, written.version.as_ref());
                self.reports.forget(&written.path);
                self.moves.forget(&written.path);
                let notes = written.changed.as_ref().filter(|_| self.dialect == Dialect::Agentd);
                let notes = notes.map_or(&[][..], |changed| &changed.notes);
                let mut warnings = [&written.warnings[..], notes].concat();
                if let Block::CreateFile { if_exists: IfExists::ReplaceWithNote, .. } = block
                    && !written.created
                {
                    warnings.push("the file existed: all of it was replaced".to_owned());
                }
                (summary::written(block, path, written), warnings)
            }
            FileChanged::Modified(modified) => {
                // The result of this block will be pushed next.
                self.reports.record(self.execution.results.len(), modified);
                let (start_line, end_line) = match block {
                    Block::EditFile { start_line, end_line, .. } => (start_line, end_line),
                    Block::EditText { hunks, .. } => {
                        self.versions.edited(path, modified);
                        let summary = summary::hunks(path, hunks.len(), modified);
                        let result = succeeded(CommandType::Block(block.kind()), summary);
                        let notes = modified.warnings.iter().map(|text| summary::of_hunks(text).into_owned());
                        return CommandResult { notes: notes.collect(), ..result };
                    }
                    _ => return failed(CommandType::Block(block.kind()), Failure::of_wrong_answer(path)),
                };
                let mut summary = match modified.carried.first() {
                    Some(CarriedLines { first_line, last_line, .. }) => format!(
                        "Edited '{path}' lines {first_line}-{last_line} (your {start_line}-{end_line})"
                    ),
                    None => format!("Edited '{path}' lines {start_line}-{end_line}"),
                };
                self.versions.edited(path, modified);
                if self.dialect == Dialect::CodingAgent {
                    let moved_by = self.moves.above(&modified.path, *start_line);
                    if moved_by != 0 {
                        summary.push_str(&format!(" ({moved_by:+})"));
                    }
                    self.moves.record(*start_line, modified);
                }
                (summary, modified.warnings.clone())
            }
            FileChanged::Deleted(deleted) => {
                self.versions.deleted(path, &deleted.path);
                self.reports.forget(&deleted.path);
                self.moves.forget(&deleted.path);
                (format!("Deleted '{path}'"), deleted.warnings.clone())
            }
        };
        let result = succeeded(CommandType::Block(block.kind()), summary);
        CommandResult { notes: warnings, ..result }
    }

    fn file_failed(&mut self, block: &Block<'_>, path: &str, error: &WapError) -> CommandResult {
        let mut failure = Failure::of_file(block, path, error);
        if let Some(excerpt) = &failure.excerpt {
            // The dialect of the first implementation does not explain bars, and separates them from the line.
            if self.dialect == Dialect::CodingAgent {
                failure.output = failure.output.replace(&excerpt.text, &excerpt.spaced());
            }
            self.versions.excerpt_shown(path, excerpt);
        }
        failed(CommandType::Block(block.kind()), failure)
    }

    /// Checks that the file can be read now, and requests it for the next outbox.
    fn read_file(&mut self, block: &Block<'_>, path: &str) -> CommandResult {
        match read_start(self.workspace, self.call, path, 1) {
            Ok(response) => {
                let requested = response.metadata.path;
                // The whole file includes every range requested earlier.
                self.execution.read_file_ranges.remove(&requested);
                if response.metadata.size <= SHORT_FILE_BYTES {
                    self.shown_below.insert(requested.clone());
                }
                if self.requested.insert(requested.clone()) {
                    self.execution.read_file_requests.push(requested);
                }
                succeeded(CommandType::Block(block.kind()), format!("Queued '{path}' for next outbox"))
            }
            Err(error) => self.file_failed(block, path, &error),
        }
    }

    /// Checks that these lines of the file can be read now, and requests them for the next outbox.
    fn read_lines(
        &mut self,
        block: &Block<'_>,
        path: &str,
        start_line: Option<i32>,
        end_line: Option<i32>,
    ) -> CommandResult {
        let first = u64::try_from(start_line.unwrap_or(1)).unwrap_or(1).max(1);
        let last = end_line.map_or(u64::MAX, |line| u64::try_from(line).unwrap_or(0));
        let command_type = CommandType::Block(block.kind());
        // Reading one line is enough to get the total number of lines.
        let answer = match read_lines(self.workspace, self.call, path, LineSpan { first, last: first }) {
            Ok(response) if last < first => Err(Failure::of_read_range(first, last, response.total_lines)),
            Ok(response) => Ok((response.metadata.path, last.min(response.total_lines))),
            Err(error) if error.reason() == Reason::InvalidRange => {
                match read_start(self.workspace, self.call, path, 1) {
                    // An empty file has no lines, and is shown whole.
                    Ok(response) if response.total_lines == 0 => return self.read_file(block, path),
                    Ok(response) => Err(Failure::of_read_range(first, last, response.total_lines)),
                    Err(error) => return self.file_failed(block, path, &error),
                }
            }
            Err(error) => return self.file_failed(block, path, &error),
        };
        let (requested, shown_last) = match answer {
            Ok(answer) => answer,
            Err(failure) => return failed(command_type, failure),
        };
        let is_new = self.requested.insert(requested.clone());
        if is_new {
            self.execution.read_file_requests.push(requested.clone());
        }
        // A file that was requested earlier without ranges will be shown whole, including these lines.
        if is_new || self.execution.read_file_ranges.contains_key(&requested) {
            join(self.execution.read_file_ranges.entry(requested).or_default(), LineSpan { first, last });
        }
        succeeded(command_type, format!("Queued '{path}' lines {first}-{shown_last} for next outbox"))
    }

    /// Ends a background process.
    fn stop_process(&mut self, name: &str) -> Result<CommandResult, WapError> {
        let command_type = CommandType::Block(BlockKind::StopProcess);
        let origin = self.take_steps(1);
        let call = Call { origin: &origin, ..*self.call };
        match self.workspace.stop_process(&call, &StopProcess { name: name.to_owned() }) {
            Ok(response) => Ok(process_stopped(&response, self.dialect)),
            Err(error) if stops_everything(error.reason()) => Err(error),
            Err(error) if error.reason() == Reason::Cancelled => {
                Ok(failed(command_type, Failure::not_begun()))
            }
            Err(error) => Ok(failed(command_type, Failure::of_process(name, &error))),
        }
    }

    fn run_command(
        &mut self,
        command: &str,
        background: Option<&Background<'_>>,
    ) -> Result<CommandResult, WapError> {
        let command_type = CommandType::Block(BlockKind::RunCommand);
        let origin = self.take_steps(1);
        // Read before the call: a cancellation during it kills a command that has begun.
        let was_cancelled = self.call.cancel.is_cancelled();
        let call = Call { origin: &origin, ..*self.call };
        let timeout = i64::try_from(self.timeout.as_millis()).unwrap_or(i64::MAX);
        let request = ExecuteCommand {
            command: command.to_owned(),
            // Without a text to wait for, only the start of a background process is watched.
            timeout: background.is_none_or(|background| background.ready.is_some()).then_some(timeout),
            background: background.map(|background| background.name.to_string()),
            ready: background.and_then(|background| background.ready.as_deref()).map(str::to_owned),
            ..ExecuteCommand::default()
        };
        match self.workspace.execute_command(&call, &request, &mut ForwardedCommand(self.observer)) {
            Ok(response) => Ok(command_ended(command, response, self.dialect)),
            Err(error) if stops_everything(error.reason()) => Err(error),
            // A command that was killed while running has details with its output; without details it never started.
            Err(error)
                if was_cancelled
                    && error.reason() == Reason::Cancelled
                    && error.details().next().is_none() =>
            {
                Ok(failed(command_type, Failure::not_begun()))
            }
            Err(error) => {
                Ok(failed(command_type, Failure::of_command(command, &error, self.timeout, self.dialect)))
            }
        }
    }
}

/// Adds a span to sorted and disjoint spans, and keeps them sorted and disjoint.
fn join(spans: &mut Vec<LineSpan>, span: LineSpan) {
    // Adjacent spans count: otherwise the outbox would show one passage in two pieces.
    let touches = |other: &LineSpan| {
        other.first <= span.last.saturating_add(1) && span.first <= other.last.saturating_add(1)
    };
    let (touching, mut apart): (Vec<LineSpan>, Vec<LineSpan>) =
        spans.iter().partition(|other| touches(other));
    let joined = touching.iter().fold(span, |joined, other| LineSpan {
        first: joined.first.min(other.first),
        last: joined.last.max(other.last),
    });
    let at = apart.partition_point(|other| other.first < joined.first);
    apart.insert(at, joined);
    *spans = apart;
}

/// Checks whether an error of a command is about the workspace and not about the command.
fn stops_everything(reason: Reason) -> bool {
    // Every later block would fail in the same way, so the run stays unfinished and can be resumed.
    matches!(reason, Reason::NoSpace | Reason::WriteError | Reason::ReadError | Reason::Busy)
}

fn succeeded(command_type: CommandType, summary: String) -> CommandResult {
    CommandResult {
        command_type,
        summary,
        success: true,
        output: String::new(),
        notes: Vec::new(),
        denied: Vec::new(),
    }
}

fn failed(command_type: CommandType, failure: Failure) -> CommandResult {
    let Failure { summary, output, denied, .. } = failure;
    CommandResult { command_type, summary, success: false, output, notes: Vec::new(), denied }
}
