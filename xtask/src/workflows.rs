//! Everyday workflows, plainly and confined, and the page about them.

mod account;
mod confined_shell;
mod page;
mod plain_shell;
mod row;
mod shell;
mod step_result;
mod tools;
mod workflow;

use std::path::{Path, PathBuf};

pub use step_result::StepResult;
pub(crate) use tools::{install_workflow_tools, missing_debian_packages};
pub use workflow::{Refusal, Workflow, WorkflowGroup, WorkflowStep, parse_group, read_workflows};

use self::account::Account;
use self::confined_shell::Agentd;
use self::row::{Bench, Row, Verdict};
use crate::repository::page::write_section;
use crate::setup::{is_installed_in, is_root};
use crate::{Step, TaskError};

/// The choices of a run.
#[derive(Clone, Debug)]
pub struct WorkflowRun {
    /// The groups to run, by the stem of their files; all if there are none.
    pub groups: Vec<String>,
    /// A part of the names of the rows to run. Then no page is written.
    pub only: Option<String>,
    /// The number of measured runs of each row.
    pub rounds: u32,
    /// The program, instead of a release build of this repository.
    pub binary: Option<PathBuf>,
    /// Prints the tables and writes no page.
    pub print: bool,
}

/// Runs the workflows and writes the sections of their groups into `docs/workflows.md`.
///
/// # Errors
///
/// [`TaskError::WorkflowsFailed`] if a row is red, or not run while `CI` is set, and those of reading and starting programs.
pub fn workflows(root: &Path, run: &WorkflowRun) -> Result<(), TaskError> {
    let groups = read_workflows(&root.join("fixtures/workflows"))?;
    let names: Vec<String> = groups.iter().map(|(name, _)| name.clone()).collect();
    if let Some(name) = run.groups.iter().find(|name| !names.contains(name)) {
        return Err(TaskError::NoWorkflowGroup { name: name.clone(), names });
    }
    let state =
        tempfile::tempdir().map_err(|source| TaskError::Unwritable { path: "state".into(), source })?;
    let bench = bench(root, run, state.path())?;
    let account = Account::own(&bench.tools);
    let (mut red, mut not_run) = (0, 0);
    for (name, group) in groups.iter().filter(|(name, _)| run.groups.is_empty() || run.groups.contains(name))
    {
        let mut rows = Vec::new();
        let machine = page::machine();
        let is_chosen =
            |workflow: &&Workflow| run.only.as_ref().is_none_or(|part| workflow.name.contains(part));
        for workflow in group.workflows.iter().filter(is_chosen) {
            let is_there = |program: &String| is_installed_in(program, account.search_path());
            let row = if workflow.programs.iter().all(is_there) { Some(bench.row(workflow)?) } else { None };
            println!("{name}: {}: {}", workflow.name, summary(row.as_ref()));
            red += usize::from(row.as_ref().is_some_and(Row::is_red));
            not_run += usize::from(row.is_none());
            rows.push((workflow, row));
        }
        let section = page::section(&machine, &rows);
        if run.print || run.only.is_some() {
            println!("{section}");
        } else {
            write_section(&root.join("docs/workflows.md"), page::BEGINNING, &group.heading, &section)?;
        }
    }
    let is_ci = std::env::var_os("CI").is_some_and(|ci| !ci.is_empty());
    if red > 0 || (is_ci && not_run > 0) { Err(TaskError::WorkflowsFailed { red, not_run }) } else { Ok(()) }
}

fn bench(root: &Path, run: &WorkflowRun, state: &Path) -> Result<Bench, TaskError> {
    let binary = match &run.binary {
        Some(binary) => binary.clone(),
        None => {
            Step::cargo("build", &["build", "--release", "--package", "agentd-workspace"])
                .folder(root)
                .run()?;
            let target =
                std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
            target.join("release/agentd")
        }
    };
    let unreadable = |source| TaskError::Unreadable { path: binary.clone(), source };
    let binary = binary.canonicalize().map_err(unreadable)?;
    // Everyone may read the settings, because an ordinary user runs the program, too.
    let settings = PathBuf::from("/dev/null");
    let agentd = Agentd { binary, settings, state: state.to_owned() };
    Ok(Bench { agentd, tools: tools::tool_folders(), rounds: run.rounds, can_switch_user: is_root() })
}

fn summary(row: Option<&Row>) -> String {
    let Some(row) = row else { return "not run: a program is missing".to_owned() };
    let ordinary = row
        .ordinary
        .as_ref()
        .map_or_else(String::new, |verdict| format!(", as a user {}", verdict_text(verdict)));
    let times = row.times.map_or_else(String::new, |(plain, confined)| {
        format!(", {:.3} s and {:.3} s", plain.as_secs_f64(), confined.as_secs_f64())
    });
    format!("plain {}, confined {}{ordinary}{times}", verdict_text(&row.plain), verdict_text(&row.confined))
}

fn verdict_text(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Green => "ok".to_owned(),
        Verdict::Refused => "refused as expected".to_owned(),
        Verdict::FailsToo => "fails too".to_owned(),
        Verdict::Red(why) => format!("FAILED ({why})"),
    }
}
