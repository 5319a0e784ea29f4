//! Starting a background process, and the answer once it is ready.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use change_journal::StepKind;
use egress::Network;
use sandbox_exec::{BackgroundProcess, FileConfinement, NetworkHolder, Readiness, ShellCommand};
use wap_core::{
    Call, CommandObserver, ExecuteCommand, ExecuteCommandResponse, OutputStream, PROCESS_PREFIX,
    ProcessState, Reason, StartedProcess, WapError, check_process_name, check_ready_text, visible_line,
};

use crate::adopt::build_folder_check::{BuildFoldersBefore, Moment};
use crate::command::answer::{CommandOutcome, denied, spawn_error, wait_error};
use crate::command::{describe, first_line, is_of};
use crate::engine::LocalWorkspace;
use crate::errors::journal_error;
use crate::processes::registry::Entry;
use crate::processes::{KEPT_OUTPUT_BYTES, text_of};
use crate::runs::{EngineRun, StepState};
use crate::step_record::{decode, other_request};

/// The time to wait for an immediate failure of a process without `ready`.
const GLANCE: Duration = Duration::from_secs(1);

/// The maximum number of characters of `ready` in a warning.
const MOST_QUOTED: usize = 100;

impl LocalWorkspace {
    /// Starts a process, and answers once the text of `ready` is in its output, it has ended, or the time is up.
    pub(crate) fn start_process(
        &self,
        call: &Call<'_>,
        (request, name): (&ExecuteCommand, &str),
        observer: &mut dyn CommandObserver,
    ) -> CommandOutcome {
        self.check_cancelled(call)?;
        check_process_name(name, "background")?;
        check_ready_text(request.ready.as_deref().unwrap_or_default())?;
        let run = EngineRun::enter(&self.journal, call.origin)?;
        let step = call.origin.step;
        let state = run.recall(step, StepKind::ShellCommand)?;
        let description = describe(request);
        if run.description(step).is_some_and(|recorded| !is_of(recorded, request, &description)) {
            return Err(other_request(step));
        }
        match state {
            StepState::Finished(recorded) => return decode::<CommandOutcome>(recorded)?,
            StepState::Unknown => return self.record(&run, step, Err(ended_with_daemon(name)), &[]).outcome,
            StepState::NotStarted => {}
        }
        let (command, mut warnings) = self.check_command(call, request)?;
        // One of the same name may be replaced, and is examined before that.
        warnings.extend(self.ended_processes(&call.origin.conversation));
        let report = self.confinement()?;
        self.check_background()?;
        self.check_cancelled(call)?;
        self.journal
            .start_step(run.number(), step, StepKind::ShellCommand, &description)
            .map_err(journal_error)?;
        let conversation = &call.origin.conversation;
        let make_network = || self.launcher()?.make_network().map_err(spawn_error);
        let started = self.processes.start(conversation, name, make_network, |network| {
            self.spawn_in_background(network, (request, name), &command)
        });
        let outcome = started.and_then(|entry| {
            observer.started(&report);
            let outcome = self.await_ready(call, request, &entry, (report, warnings));
            if let Ok(response) = &outcome {
                observer.output(OutputStream::Stdout, response.stdout.as_bytes());
            }
            outcome
        });
        self.record(&run, step, outcome, &[]).outcome
    }

    /// Refuses if a background process could not be kept from the folder or the network.
    fn check_background(&self) -> Result<(), WapError> {
        let refused = |text: &str| Err(WapError::new(Reason::SandboxUnavailable, text));
        if self.sandbox_report()?.fs != FileConfinement::Root {
            return refused(
                "this machine cannot keep a background process from changing the folder; run the command without \
                 `background`, and `agentd doctor` says what is missing",
            );
        }
        if matches!(self.config.network, Network::Names(_)) {
            return refused(
                "a background process cannot be kept to allowed names: start it with `&` in the command that uses it, with which \
                 it ends; or the user can choose --network off, with which it is reached on localhost, or --network on",
            );
        }
        Ok(())
    }

    fn spawn_in_background(
        &self,
        network: &NetworkHolder,
        (request, name): (&ExecuteCommand, &str),
        command: &ShellCommand,
    ) -> Result<Entry, WapError> {
        let build_folders = self.without_leading_out(self.uncovered());
        let before = BuildFoldersBefore::look(&self.root, self.relative_to_root(&build_folders));
        let began = Moment::now();
        let mut policy = self.config.policy.clone();
        policy.is_workspace_read_only = true;
        policy.kept_home = None;
        policy.writable.extend(build_folders);
        let kept = KEPT_OUTPUT_BYTES.min(policy.limits.output_bytes_per_stream);
        // Its own record of the two streams is not used.
        policy.limits.output_bytes_per_stream = 0;
        let running = self.launcher()?.spawn_in(network, &policy, command).map_err(spawn_error)?;
        let process = BackgroundProcess::start(running, request.ready.as_deref(), kept).map_err(|error| {
            WapError::new(Reason::SpawnFailed, format!("the process was not started: {}", error.kind()))
        })?;
        Ok(Entry {
            name: name.to_owned(),
            command: first_line(request),
            process,
            began,
            build_folders: Mutex::new(Some(before)),
            is_end_known: AtomicBool::new(false),
        })
    }

    fn await_ready(
        &self,
        call: &Call<'_>,
        request: &ExecuteCommand,
        entry: &Arc<Entry>,
        (report, mut warnings): (String, Vec<String>),
    ) -> CommandOutcome {
        let began = Instant::now();
        let ready = request.ready.as_deref().filter(|ready| !ready.is_empty());
        let limit = match (ready, request.timeout) {
            (None, None) => GLANCE,
            _ => self.timeout(call, request.timeout)?.duration(),
        };
        let waker = Arc::clone(entry);
        let _wake_on_cancel = call.cancel.on_cancel(Box::new(move || waker.process.wake()));
        let readiness = entry.process.wait_ready(began + limit, &|| call.cancel.is_cancelled());
        let output = entry.process.output();
        let stdout = text_of(&output);
        if call.cancel.is_cancelled() && readiness == Readiness::Waiting {
            entry.process.stop(Duration::ZERO);
            entry.is_end_known.store(true, Ordering::Relaxed);
            return Err(WapError::new(
                Reason::Cancelled,
                "cancelled before the process was ready; it was ended",
            )
            .with("stdout", stdout)
            .with("sandbox", report));
        }
        let mut response = ExecuteCommandResponse {
            stdout,
            stderr: String::new(),
            exit_code: 0,
            is_output_truncated: output.omitted_bytes() > 0,
            duration_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
            signal: None,
            background: None,
            whole_output: None,
            sandbox: report,
            warnings: Vec::new(),
            denied: Vec::new(),
        };
        let name = &entry.name;
        let state = match readiness {
            Readiness::Ready => ProcessState::Ready,
            Readiness::Waiting => {
                if let Some(ready) = ready {
                    warnings.push(format!(
                        "`{}` has not appeared within {} ms; the process runs on, and '{PROCESS_PREFIX}{name}' has \
                         its output; a program that buffers prints late (Python: PYTHONUNBUFFERED=1)",
                        visible_line(ready, MOST_QUOTED),
                        limit.as_millis()
                    ));
                }
                ProcessState::Running
            }
            Readiness::Ended => {
                entry.is_end_known.store(true, Ordering::Relaxed);
                let outcome = entry.process.end().transpose().map_err(wait_error)?;
                if let Some(outcome) = outcome {
                    response.exit_code = outcome.ending.exit_code().unwrap_or(-1);
                    if let sandbox_exec::Ending::Signaled(signal) = outcome.ending {
                        response.signal = Some(signal.to_string());
                    }
                    response.denied = outcome.denied.iter().map(denied).collect();
                }
                warnings.push("the process has ended already".to_owned());
                warnings.extend(self.settle(entry));
                ProcessState::Ended
            }
        };
        if self.is_short_lived() && state != ProcessState::Ended {
            warnings.push(format!(
                "'{name}' ends with this reply, because no agentd stays in this folder: use it within the reply that starts \
                 it, or ask the user to start `agentd resume` or `agentd serve` before the next one"
            ));
        }
        let output = format!("{PROCESS_PREFIX}{name}");
        let background = Some(StartedProcess { name: name.clone(), state, output });
        Ok(ExecuteCommandResponse { background, warnings, ..response })
    }
}

fn ended_with_daemon(name: &str) -> WapError {
    let text = format!(
        "agentd ended while the background process '{name}' was started, and it ended, too: start it again"
    );
    WapError::new(Reason::OutcomeUnknown, text)
}
