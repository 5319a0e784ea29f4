//! `agentd apply --try`: a reply is executed on a copy-on-write layer, shown, and kept or dropped as a whole.
//!
//! Another process of this program executes it, with a layer over the workspace and a copy of the journal: it does all
//! that it would do otherwise, and no other process sees anything of that.

use std::ffi::OsString;
use std::io::IsTerminal;

use local_workspace::{KeepError, PlannedChange};
use serde::{Deserialize, Serialize};
use tagproto::{CommandResult, Session};
use wap_core::{Call, CancelFlag, Reason, WapError};
use workspace_host::review::TrialFolder;
use workspace_host::session_failure::explain;
use workspace_host::{Opened, SecretMapFile, WorkspacePaths};

use crate::commands::apply::ExecutionOptions;
use crate::common_options::CommonOptions;
use crate::common_options::Switch;
use crate::exit::{Exit, Failure};
use crate::views::console::Console;
use crate::views::plan_view::obeyed_line;
use crate::views::progress::{printable, result_lines};
use crate::views::typed_line::typed_decision;

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
        if !self.sessions.would_execute(id, text, apply.again, apply.run_complete).map_err(explain)? {
            return Ok(true);
        }
        if self.common.layer == Switch::Off {
            return Err(Failure::new(Exit::Usage, "a reply is tried out on a layer: leave --layer off out"));
        }
        let origin = self.sessions.call_origin(id, text).map_err(explain)?;
        let call = Call { origin: &origin, cancel, time_left: None };
        self.sessions.record_base_versions(id, text, cancel).map_err(explain)?;
        let kept = self.execute_on_trial(text, apply, &call, cancel);
        if !matches!(kept, Ok(true)) {
            self.sessions.forget_base_versions(id, text).map_err(explain)?;
        }
        kept
    }

    fn execute_on_trial(
        &self,
        text: &str,
        apply: &ExecutionOptions,
        call: &Call<'_>,
        cancel: &CancelFlag,
    ) -> Result<bool, Failure> {
        let id = self.session.session_id;
        let trial = self.sessions.engine().begin_trial(call).map_err(|error| unavailable(&error))?;
        let folder = TrialFolder::make(self.sessions, self.paths, &trial)?;
        let results = self.run(&folder, text, apply, cancel)?;
        if cancel.is_cancelled() {
            return Err(Failure::new(Exit::Interrupted, "stopped: nothing was kept"));
        }
        let changes = trial.changes().map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
        let has_succeeded = results.iter().all(|result| result.success);
        if !self.console.json {
            self.show(&results, &changes);
        }
        let is_wanted = if apply.keep { has_succeeded } else { self.confirm(cancel) };
        if cancel.is_cancelled() {
            return Err(Failure::new(Exit::Interrupted, "stopped: nothing was kept"));
        }
        if is_wanted {
            // Before the next message: it may have placeholders that were given out there.
            SecretMapFile::of(self.paths).import(&folder.state()).map_err(|error| {
                Failure::new(Exit::Failed, format!("the secrets of the trial cannot be kept: {error}"))
            })?;
            let notes = trial.keep(&folder.journal(), &folder.outputs()).map_err(not_kept)?;
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
        let why = match (apply.keep, self.can_ask()) {
            (true, _) => "a block has failed, and --keep keeps all or nothing; ",
            (false, false) => "there is no terminal to ask at, and --keep keeps it without a question; ",
            (false, true) => "",
        };
        self.console.notice(&format!("not kept: {why}the workspace and the session are as they were"));
        Ok(false)
    }

    /// Lets another process execute the reply.
    fn run(
        &self,
        folder: &TrialFolder,
        text: &str,
        apply: &ExecutionOptions,
        cancel: &CancelFlag,
    ) -> Result<Vec<CommandResult>, Failure> {
        let mut arguments = self.common.trial_arguments();
        arguments.extend(["apply", "-", "--session"].map(OsString::from));
        arguments.push(self.session.session_id.to_string().into());
        if apply.again {
            arguments.push("--again".into());
        }
        if apply.run_complete {
            arguments.push("--run-complete".into());
        }
        let printed = folder.run(self.paths, &arguments, text.as_bytes(), cancel)?;
        let answer: Answer = serde_json::from_slice(&printed).map_err(|error| {
            Failure::new(Exit::Failed, format!("the outcome of the trial cannot be read: {error}"))
        })?;
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
                self.console.result(result.text().trim_end());
            }
            for note in result.notes.iter().filter(|_| result.success) {
                self.console.result(&format!("  note: {}", printable(note)));
            }
        }
        for (change, reason) in
            changes.iter().filter_map(|change| Some((change, change.obeyed_because.as_deref()?)))
        {
            self.console.result(&obeyed_line(&change.path, reason));
        }
        for change in changes {
            self.console.file_result(&format!("\n{}", change.diff.trim_end()));
        }
        if changes.is_empty() {
            self.console.result("it changes no file");
        }
    }

    /// Checks whether a person can be asked: with `--json`, a program reads what is printed.
    fn can_ask(&self) -> bool {
        !self.console.json && std::io::stdin().is_terminal()
    }

    fn confirm(&self, cancel: &CancelFlag) -> bool {
        if !self.can_ask() {
            return false;
        }
        let answer = typed_decision("keep all of this? [y/N] ", cancel).unwrap_or_default();
        !cancel.is_cancelled() && matches!(answer.trim(), "y" | "Y" | "yes")
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
