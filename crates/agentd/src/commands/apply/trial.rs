//! `agentd apply --try`: a reply is executed on a copy-on-write layer, shown, and kept or dropped as a whole.
//!
//! Another process of this program executes it, with a layer over the workspace and a copy of the journal: it does all
//! that it would do otherwise, and no other process sees anything of that.

use std::fs;
use std::io::{BufRead, IsTerminal, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::process::{Command, Stdio};

use local_workspace::{KeepError, PlannedChange, Trial};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use sandbox_exec::KeptHomes;
use serde::{Deserialize, Serialize};
use tagproto::{CommandResult, Session};
use tempfile::TempDir;
use wap_core::{Call, CancelFlag, Reason, WapError};
use workspace_host::homes::{self, HomeUse};
use workspace_host::session_failure::explain;
use workspace_host::state::birth;
use workspace_host::{Opened, SecretMapFile, WorkspacePaths};

use crate::commands::apply::ExecutionOptions;
use crate::common_options::CommonOptions;
use crate::common_options::Switch;
use crate::config::confinement_arguments::settled_arguments;
use crate::exit::{Exit, Failure};
use crate::overlay_process;
use crate::views::console::Console;
use crate::views::plan_view::obeyed_line;
use crate::views::progress::result_lines;

/// The prefix of the names of trials' folders in the state folder.
const FOLDER_PREFIX: &str = "trial-";

/// A reply that is tried out.
pub(crate) struct Tried<'a> {
    pub common: &'a CommonOptions,
    pub console: Console,
    pub paths: &'a WorkspacePaths,
    pub sessions: &'a Opened,
    pub session: &'a Session,
}

/// The output of the other process.
#[derive(Deserialize)]
struct Answer {
    results: Vec<CommandResult>,
}

#[derive(Serialize)]
struct Report<'a> {
    session: String,
    sequence: u32,
    results: &'a [CommandResult],
    changes: Vec<ShownChange<'a>>,
    kept: bool,
}

#[derive(Serialize)]
struct ShownChange<'a> {
    path: &'a str,
    diff: &'a str,
}

impl Tried<'_> {
    /// Tries the reply out. Returns true if it is kept; the caller then applies it.
    pub(crate) fn execute(
        &self,
        text: &str,
        apply: &ExecutionOptions,
        cancel: &CancelFlag,
    ) -> Result<bool, Failure> {
        let id = self.session.session_id;
        if !self.sessions.would_execute(id, text, apply.again).map_err(explain)? {
            return Ok(true);
        }
        if self.common.layer == Switch::Off {
            return Err(Failure::new(Exit::Usage, "a reply is tried out on a layer: leave --layer off out"));
        }
        let origin = self.sessions.call_origin(id, text).map_err(explain)?;
        let call = Call { origin: &origin, cancel, time_left: None };
        let trial =
            self.sessions.workspace().inner().begin_trial(&call).map_err(|error| unavailable(&error))?;
        let folder = self.folder(text, &trial).map_err(|why| {
            Failure::new(Exit::Failed, format!("nothing could be prepared to try the reply out: {why}"))
        })?;
        let results = self.run(folder.path(), apply, cancel);
        // Commands may have left folders there that are closed to this user, too.
        let _ = KeptHomes::remove(&homes::trial_home(&folder.path().join("state")));
        let results = results?;
        if cancel.is_cancelled() {
            return Err(Failure::new(Exit::Interrupted, "stopped: nothing was kept"));
        }
        let changes = trial.changes().map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
        let has_succeeded = results.iter().all(|result| result.success);
        if !self.console.json {
            self.show(&results, &changes);
        }
        let is_wanted = if apply.keep { has_succeeded } else { self.confirm(cancel) };
        if is_wanted {
            let state = folder.path().join("state");
            // Before the next message: it may have placeholders that were given out there.
            self.secrets().import(&state).map_err(|error| {
                Failure::new(Exit::Failed, format!("the secrets of the trial cannot be kept: {error}"))
            })?;
            let notes = trial.keep(&state.join("journal"), &state.join("output")).map_err(not_kept)?;
            for note in notes {
                self.console.notice(&note);
            }
            self.console.progress("kept");
            return Ok(true);
        }
        if self.console.json {
            let changes =
                changes.iter().map(|change| ShownChange { path: &change.path, diff: &change.diff }).collect();
            let (session, sequence) = (id.to_string(), self.session.sequence_number);
            self.console.json_result(&Report { session, sequence, results: &results, changes, kept: false });
        }
        self.console.notice("not kept: the workspace and the session are as they were");
        Ok(false)
    }

    fn secrets(&self) -> SecretMapFile {
        SecretMapFile::of(self.paths)
    }

    /// Makes the folder with the reply, the state and the list of overlays for the other process.
    fn folder(&self, text: &str, trial: &Trial<'_>) -> Result<TempDir, String> {
        let describe = |error: std::io::Error| error.to_string();
        remove_stale(&self.paths.base);
        let folder =
            tempfile::Builder::new().prefix(FOLDER_PREFIX).tempdir_in(&self.paths.base).map_err(describe)?;
        let state = folder.path().join("state");
        // It replaces the state folder, so it must be closed to other users as well.
        fs::DirBuilder::new().mode(0o700).create(&state).map_err(describe)?;
        birth::mark(&state).map_err(describe)?;
        fs::write(folder.path().join("reply.txt"), text).map_err(describe)?;
        // The placeholders of the reply mean the same there.
        self.secrets().copy_to(&state).map_err(describe)?;
        self.sessions.copy_journal_to(&state.join("journal")).map_err(|error| error.to_string())?;
        overlay_process::Request::new(trial.layers(), vec![(state, self.paths.base.clone())])
            .write(&folder.path().join("layers.json"))?;
        Ok(folder)
    }

    /// Lets the other process execute the reply.
    fn run(
        &self,
        folder: &Path,
        apply: &ExecutionOptions,
        cancel: &CancelFlag,
    ) -> Result<Vec<CommandResult>, Failure> {
        let failed =
            |why: String| Failure::new(Exit::Failed, format!("the reply could not be tried out: {why}"));
        let reply = fs::File::open(folder.join("reply.txt")).map_err(|error| failed(error.to_string()))?;
        // The running program, even if its file was replaced since.
        let mut command = Command::new("/proc/self/exe");
        command.arg(overlay_process::ARGUMENT).arg(folder.join("layers.json"));
        command.arg("--workspace").arg(&self.paths.workspace).arg("--base").arg(&self.paths.base);
        // Commands change the trial's layer itself, so that later blocks see their changes.
        let mut common = CommonOptions { layer: Switch::Off, ..self.common.clone() };
        if common.home == HomeUse::Kept {
            common.home = HomeUse::Trial;
        }
        command.args(settled_arguments(&common)).arg("--json");
        // Its standard input is the reply, so it would take itself for unattended and refuse lower levels.
        if self.common.sandbox.is_none() && workspace_host::confinement::is_attended() {
            command.args(["--sandbox", "allow=none"]);
        }
        if self.console.is_quiet() {
            command.arg("--quiet");
        }
        command.args(["apply", "-", "--session", &self.session.session_id.to_string()]);
        if apply.again {
            command.arg("--again");
        }
        if apply.run_complete {
            command.arg("--run-complete");
        }
        // A working directory within the workspace would still be the folder beneath the layer.
        command.current_dir("/").stdin(reply).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let child = command.spawn().map_err(|error| failed(error.to_string()))?;
        let pidfd =
            Pid::from_raw(child.id().cast_signed()).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        // Ctrl-C on a terminal signals the whole process group, but a supervisor signals this process only.
        let _stopped_with_this_one = cancel.on_cancel(Box::new(move || {
            if let Some(pidfd) = &pidfd {
                let _ = pidfd_send_signal(pidfd, Signal::TERM);
            }
        }));
        let output = child.wait_with_output().map_err(|error| failed(error.to_string()))?;
        match output.status.code() {
            Some(0) => {}
            Some(130) => return Err(Failure::new(Exit::Interrupted, "stopped: nothing was kept")),
            Some(code) if code == Exit::Missing as i32 => {
                return Err(Failure::new(Exit::Missing, "the reply could not be tried out").advise(
                    "`agentd doctor` says what is missing; --dry-run shows what it would do to files",
                ));
            }
            _ => return Err(failed(output.status.to_string())),
        }
        let answer: Answer =
            serde_json::from_slice(&output.stdout).map_err(|error| failed(error.to_string()))?;
        Ok(answer.results)
    }

    fn show(&self, results: &[CommandResult], changes: &[PlannedChange]) {
        self.console.result(&format!(
            "reply to message {} of session {}, tried out:",
            self.session.sequence_number, self.session.session_id
        ));
        for result in results {
            for line in result_lines("", result) {
                self.console.result(&line);
            }
            if !result.success {
                self.console.result(result.output.trim_end());
            }
        }
        for (change, reason) in
            changes.iter().filter_map(|change| Some((change, change.obeyed_because.as_deref()?)))
        {
            self.console.result(&obeyed_line(&change.path, reason));
        }
        for change in changes {
            self.console.result(&format!("\n{}", change.diff.trim_end()));
        }
        if changes.is_empty() {
            self.console.result("it changes no file");
        }
    }

    fn confirm(&self, cancel: &CancelFlag) -> bool {
        if self.console.json || !std::io::stdin().is_terminal() {
            return false;
        }
        let mut error = std::io::stderr().lock();
        let _ = write!(error, "keep all of this? [y/N] ");
        let _ = error.flush();
        let mut answer = String::new();
        let is_read = std::io::stdin().lock().read_line(&mut answer).is_ok();
        is_read && !cancel.is_cancelled() && matches!(answer.trim(), "y" | "Y" | "yes")
    }
}

/// Removes the folders of killed predecessors. Only the owner of the state folder calls this.
fn remove_stale(base: &Path) {
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(FOLDER_PREFIX.as_bytes()) {
            let _ = KeptHomes::remove(&homes::trial_home(&entry.path().join("state")));
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn unavailable(error: &WapError) -> Failure {
    let exit = match error.reason() {
        Reason::ReadOnly => Exit::Refused,
        Reason::Cancelled => Exit::Interrupted,
        _ => Exit::Missing,
    };
    let failure = Failure::new(exit, error.to_string());
    if exit == Exit::Missing {
        failure
            .advise("`agentd doctor` says what is missing; --dry-run shows what the reply would do to files")
    } else {
        failure
    }
}

fn not_kept(error: KeepError) -> Failure {
    let failure = Failure::new(Exit::Failed, format!("not kept: {error}"));
    match error {
        KeepError::SavedMeanwhile { .. } => failure.advise("try it out again, on the files as they are now"),
        _ => failure,
    }
}
