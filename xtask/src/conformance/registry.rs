//! The runners of the cases.

use std::panic::catch_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use super::ruling::Ruling;
use super::{
    Outcome, Run, Tally, cases, cocode, codali, envelope_replies, is_of_form, llm4s, syntax_errors, tag,
    text_edits, wap,
};
use crate::TaskError;

/// The number of cases that run at the same time. Most of them wait, for disks and commands.
const WORKERS: usize = 4;

/// The runners, by vector file and kind of case.
///
/// A runner is a function in a module of its own, named here with the file and the kind that it is for (`None` for a
/// file whose cases have no kind). Cases without a runner are counted and named.
#[derive(Clone, Debug)]
pub struct Registry {
    runners: Vec<(&'static str, Option<&'static str>, Run)>,
}

impl Registry {
    /// Returns the runners of this repository.
    ///
    /// Some of them start the calling program again, as the spawner of commands or to be killed: its `main` must be the
    /// one of `xtask`.
    #[must_use]
    pub fn standard() -> Registry {
        Registry::of(&[
            ("tagproto.json", Some("parse"), tag::parse::run),
            ("tagproto.json", Some("exec"), tag::exec::run),
            ("tagproto.json", Some("flow"), tag::flow::run),
            ("paste.json", None, tag::paste::run),
            ("cut-off-replies.json", None, tag::cut_off_replies::run),
            ("unclear-blocks.json", None, text_edits::foreign),
            ("message-parts.json", None, tag::message_parts::run),
            ("syntax-errors.json", None, syntax_errors::run),
            ("text-edits.json", Some("edit"), text_edits::edit),
            ("text-edits.json", Some("carried_out"), tag::carried_out::run),
            ("text-edits.json", Some("foreign"), text_edits::foreign),
            ("numbered-views.json", Some("view"), tag::numbered_views::view),
            ("numbered-views.json", Some("body"), text_edits::foreign),
            ("numbered-views.json", Some("edit"), text_edits::edit),
            ("numbered-views.json", Some("read"), wap::run),
            ("codali.json", None, codali::run),
            ("envelope-replies.json", None, envelope_replies::run),
            ("wap.json", Some("read"), wap::run),
            ("wap.json", Some("write"), wap::run),
            ("wap.json", Some("modify"), wap::run),
            ("wap.json", Some("search"), wap::run),
            ("wap.json", Some("explore"), wap::run),
            ("wap.json", Some("exec"), wap::run),
            ("wap.json", Some("info"), wap::run),
            ("wap.json", Some("wire"), llm4s::wire),
            ("wap.json", Some("flow"), llm4s::flow::run),
            ("wap.json", Some("config"), llm4s::config),
            ("cocode.json", Some("issue_number"), cocode::run),
            ("cocode.json", Some("default_branch"), cocode::run),
            ("cocode.json", Some("worktree_dir"), cocode::run),
            ("cocode.json", Some("log_line"), cocode::run),
            ("cocode.json", Some("state_machine"), cocode::run),
            ("cocode.json", Some("config"), cocode::run),
            ("cocode.json", Some("agent_run"), cocode::run::run),
            ("cocode.json", Some("adapter"), cocode::run::run),
            ("cocode.json", Some("worktree"), cocode::run::run),
            ("cocode.json", Some("state"), cocode::run::run),
            ("cocode.json", Some("cli"), cocode::cli::run),
        ])
    }

    /// Returns other runners.
    #[must_use]
    pub fn of(runners: &[(&'static str, Option<&'static str>, Run)]) -> Registry {
        Registry { runners: runners.to_vec() }
    }

    /// Runs the cases of one vector file, some at the same time.
    ///
    /// # Errors
    ///
    /// [`TaskError::NotJson`] and [`TaskError::NoCases`].
    pub fn run_file(&self, file: &str, text: &str) -> Result<Tally, TaskError> {
        let mut tally = Tally::default();
        let mut jobs = Vec::new();
        for case in cases(file, text)? {
            let name = case["name"].as_str().unwrap_or("(a case without a name)").to_owned();
            match self.runner(file, case["kind"].as_str()) {
                Some(run) => jobs.push((name, run, case)),
                None => tally.no_runner(file, case["kind"].as_str()),
            }
        }
        let outcomes = run_all(&jobs, |(name, run, case)| run_ruled(file, name, *run, case));
        for ((name, ..), outcome) in jobs.iter().zip(outcomes) {
            if let Some(ruling) = Ruling::about(file, name) {
                tally.ruled_otherwise(file, name, ruling.reason);
            }
            tally.record(file, name, outcome);
        }
        Ok(tally)
    }

    fn runner(&self, file: &str, kind: Option<&str>) -> Option<Run> {
        let row = self.runners.iter().find(|(other, of_kind, _)| is_of_form(other, file) && *of_kind == kind);
        row.map(|(_, _, run)| *run)
    }
}

/// Does all jobs and returns what they gave, in their order.
fn run_all<T: Sync>(jobs: &[T], run: impl Fn(&T) -> Outcome + Sync) -> Vec<Outcome> {
    let next = AtomicUsize::new(0);
    let outcomes: Vec<Mutex<Outcome>> =
        jobs.iter().map(|_| Mutex::new(Outcome::Failed("was not run".to_owned()))).collect();
    std::thread::scope(|scope| {
        for _ in 0..WORKERS.min(jobs.len()) {
            scope.spawn(|| {
                while let Some(index) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|i| *i < jobs.len())
                {
                    *outcomes[index].lock().expect("no thread panics while holding it") = run(&jobs[index]);
                }
            });
        }
    });
    outcomes
        .into_iter()
        .map(|outcome| outcome.into_inner().expect("no thread panics while holding it"))
        .collect()
}

/// Runs a case, as it was ruled if it was.
fn run_ruled(file: &str, name: &str, run: Run, case: &Value) -> Outcome {
    let Some(ruling) = Ruling::about(file, name) else { return run_in_time(run, case) };
    match run_in_time(run, case) {
        Outcome::Passed => Outcome::Failed("holds as it stands, but is in the table of rulings".to_owned()),
        Outcome::Failed(_) => run_in_time(run, &ruling.apply(case)),
        unable => unable,
    }
}

/// Runs a case; if the time that it may take is all that was missed, twice more. A machine that does other things may stop
/// for longer than some cases leave room for.
fn run_in_time(run: Run, case: &Value) -> Outcome {
    let outcome = run_safely(run, case);
    let mut untimed = case.clone();
    let limit = untimed["expect"].as_object_mut().and_then(|expect| expect.remove("wall_s_max"));
    let is_late = || limit.is_some() && run_safely(run, &untimed) == Outcome::Passed;
    if matches!(outcome, Outcome::Failed(_)) && is_late() {
        let mut again = (0..2).map(|_| run_safely(run, case));
        return again.find(|outcome| *outcome == Outcome::Passed).unwrap_or(outcome);
    }
    outcome
}

fn run_safely(run: Run, case: &Value) -> Outcome {
    catch_unwind(|| run(case)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Outcome::Failed(format!("panicked: {}", text.unwrap_or("without a text")))
    })
}
