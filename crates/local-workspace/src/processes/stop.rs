//! Ending background processes, and reading their output.

use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use change_journal::StepKind;
use wap_core::{Call, FileMetadata, ReadFile, ReadFileResponse, StopProcess, StopProcessResponse, WapError};

use crate::command::answer::{denied, wait_error};
use crate::engine::LocalWorkspace;
use crate::errors::journal_error;
use crate::processes::{text_of, unknown};
use crate::read::line_window::{Window, Windowed};
use crate::read::respond;
use crate::read::timestamp::iso;
use crate::runs::{EngineRun, StepState};
use crate::step_record::{decode, encode, other_request};

/// The time that a process has to end by itself after a request.
const GRACE: Duration = Duration::from_secs(3);

type StopOutcome = Result<StopProcessResponse, WapError>;

impl LocalWorkspace {
    /// Ends a process of the call's conversation. A completed step is answered from the record.
    pub(crate) fn stop(&self, call: &Call<'_>, request: &StopProcess) -> StopOutcome {
        self.check_cancelled(call)?;
        let run = EngineRun::enter(&self.journal, call.origin)?;
        let step = call.origin.step;
        let description = format!("stop background process {}", request.name);
        let state = run.recall(step, StepKind::ShellCommand)?;
        if run.description(step).is_some_and(|recorded| recorded != description) {
            return Err(other_request(step));
        }
        let finish = |outcome: StopOutcome| {
            self.journal.finish_step(run.number(), step, &encode(&outcome), &[]).map_err(journal_error)?;
            outcome
        };
        match state {
            StepState::Finished(recorded) => return decode::<StopOutcome>(recorded)?,
            // It ended with the agentd process that was to stop it.
            StepState::Unknown => return finish(Err(unknown(&request.name, &[]))),
            StepState::NotStarted => {}
        }
        let entry = self.processes.find(&call.origin.conversation, &request.name)?;
        self.journal
            .start_step(run.number(), step, StepKind::ShellCommand, &description)
            .map_err(journal_error)?;
        let had_ended = !entry.is_running();
        entry.is_end_known.store(true, Ordering::Relaxed);
        entry.process.stop(GRACE);
        let output = entry.process.output();
        let mut response = StopProcessResponse {
            name: entry.name.clone(),
            had_ended,
            exit_code: None,
            output: text_of(&output),
            is_output_truncated: output.omitted_bytes() > 0,
            duration_ms: 0,
            warnings: self.settle(&entry),
            denied: Vec::new(),
        };
        match entry.process.end() {
            Some(Ok(outcome)) => {
                response.exit_code = outcome.ending.exit_code();
                response.duration_ms = u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX);
                response.denied = outcome.denied.iter().map(denied).collect();
            }
            Some(Err(error)) => return finish(Err(wait_error(error))),
            None => response.warnings.push("the kernel has not ended all of it yet".to_owned()),
        }
        finish(Ok(response))
    }

    /// Kills the processes of a conversation that is over.
    pub(crate) fn end_processes(&self, conversation: &wap_core::ConversationId) {
        for entry in self.processes.remove(conversation) {
            entry.process.stop(Duration::ZERO);
            self.settle(&entry);
        }
    }

    /// Reads the output of a process. Nothing can be edited there, so it has no version.
    pub(crate) fn read_process(
        &self,
        call: &Call<'_>,
        request: &ReadFile,
        name: &str,
        window: Window,
    ) -> Result<ReadFileResponse, WapError> {
        let entry = self.processes.find(&call.origin.conversation, name)?;
        let text = text_of(&entry.process.output()).into_bytes();
        let (excerpt, kept) = Window { takes_binary: true, ..window }.within(&text);
        let excerpt = Windowed { is_binary: false, bytes: text[kept].to_vec(), ..excerpt };
        let metadata = FileMetadata {
            path: request.path.clone(),
            size: text.len() as u64,
            is_directory: false,
            last_modified: iso(SystemTime::now()),
        };
        let warnings = if entry.is_running() { Vec::new() } else { vec!["the process has ended".to_owned()] };
        Ok(ReadFileResponse { version: None, ..respond(request, metadata, excerpt, warnings)? })
    }
}
