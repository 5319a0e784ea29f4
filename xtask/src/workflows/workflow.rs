//! Workflows as data: the files under `fixtures/workflows`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use regex::Regex;
use serde::Deserialize;

use crate::TaskError;

/// A group of workflows: one file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkflowGroup {
    /// The heading of its section on the page.
    pub heading: String,
    /// The workflows, in the order of the page.
    #[serde(rename = "workflow")]
    pub workflows: Vec<Workflow>,
}

/// A piece of everyday work: a folder, and the commands that a developer runs in it.
///
/// In files and commands, `{outside}` is replaced by a folder outside of the workspace and `{port}` by a free TCP port.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workflow {
    /// The name of its row.
    pub name: String,
    /// The programs that it needs.
    pub programs: Vec<String>,
    /// The network of confined commands, as an argument of `--network`.
    #[serde(default = "network_off")]
    pub network: String,
    /// Runs it once more, confined, as a user who is not root.
    #[serde(default)]
    pub ordinary_user: bool,
    /// Runs everything as an ordinary user if this process is root's, for programs that refuse to run as root.
    #[serde(default)]
    pub only_ordinary_user: bool,
    /// The files of the folder, by path.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Commands that make the rest of the folder. They run once, unconfined and with the network.
    #[serde(default)]
    pub prepare: Vec<String>,
    /// Commands that undo a run, before the next one. They run unconfined.
    #[serde(default)]
    pub reset: Vec<String>,
    /// A command that runs unconfined in the background during all runs: a program of the user's, outside.
    pub beside: Option<WorkflowStep>,
    /// The steps, in order.
    #[serde(rename = "step")]
    pub steps: Vec<WorkflowStep>,
    /// Paths of the folder that exist after a run. A confined run has to have them adopted.
    #[serde(default)]
    pub exists: Vec<String>,
    /// Paths of the folder that do not exist after a run.
    #[serde(default)]
    pub absent: Vec<String>,
    /// A remark for the page, one sentence.
    pub remark: Option<String>,
}

/// One command of a workflow.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkflowStep {
    /// The command, for `sh -c`.
    pub run: String,
    /// A pattern that its output has to match.
    pub output: Option<String>,
    /// The name under which it runs in the background until the end of the run.
    pub background: Option<String>,
    /// The text by which a background command reports that it is ready.
    pub ready: Option<String>,
    /// The longest run time, in seconds.
    #[serde(default = "five_minutes")]
    pub timeout_seconds: u64,
    /// The refusal that is expected of the confined run, instead of success.
    pub refused: Option<Refusal>,
}

/// A refusal by design.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    /// The reason, for the page: one sentence.
    pub why: String,
    /// A pattern that one of the receipts has to match.
    pub receipt: Option<String>,
    /// A pattern that the output has to match.
    pub output: Option<String>,
    /// Accepts that the plain command fails on this machine, for want of a service.
    #[serde(default)]
    pub plain_may_fail: bool,
}

fn network_off() -> String {
    "off".to_owned()
}

fn five_minutes() -> u64 {
    300
}

impl Workflow {
    /// Returns the refusals by design among its steps.
    pub fn refusals(&self) -> impl Iterator<Item = &Refusal> {
        self.steps.iter().filter_map(|step| step.refused.as_ref())
    }
}

/// Reads the groups of a folder, in the order of their file names, each with its file's stem.
///
/// # Errors
///
/// [`TaskError::Unreadable`], and those of [`parse_group`].
pub fn read_workflows(folder: &Path) -> Result<Vec<(String, WorkflowGroup)>, TaskError> {
    let unreadable = |path: &Path, source| TaskError::Unreadable { path: path.to_owned(), source };
    let entries = fs::read_dir(folder).map_err(|source| unreadable(folder, source))?;
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let mut groups = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).map_err(|source| unreadable(&file, source))?;
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        groups.push((stem.clone(), parse_group(&stem, &text)?));
    }
    Ok(groups)
}

/// Parses one file of workflows. `name` is its stem, for errors.
///
/// # Errors
///
/// [`TaskError::NotToml`], also for an unknown key, a pattern that cannot be parsed, and a refusal without a pattern.
pub fn parse_group(name: &str, text: &str) -> Result<WorkflowGroup, TaskError> {
    let invalid = |why: String| TaskError::NotToml { file: format!("{name}.toml"), why };
    let group: WorkflowGroup = toml::from_str(text).map_err(|error| invalid(error.to_string()))?;
    for workflow in &group.workflows {
        let refusals = workflow.refusals().flat_map(|refusal| [&refusal.receipt, &refusal.output]);
        let patterns = workflow.steps.iter().map(|step| &step.output).chain(refusals).flatten();
        for pattern in patterns {
            Regex::new(pattern).map_err(|error| invalid(format!("{}: {error}", workflow.name)))?;
        }
        if let Some(refusal) =
            workflow.refusals().find(|refusal| refusal.receipt.is_none() && refusal.output.is_none())
        {
            return Err(invalid(format!("{}: `{}` has no pattern", workflow.name, refusal.why)));
        }
    }
    Ok(group)
}
