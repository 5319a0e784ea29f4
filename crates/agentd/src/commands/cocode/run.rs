//! `agentd cocode run`.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use cocode_env::{AgentState, IssueUrl};
use cocode_runner::{
    AgentCommand, AgentDefinition, AgentRecord, HubIssue, PlanLine, RunLimits, RunRequest, StopFlag,
};
use serde::Serialize;
use wap_core::CancelFlag;
use workspace_host::state::report_lowered;

use super::agent_confinement::confine;
use super::compare::compare;
use super::continued::{conversation, start_from_the_folder, text};
use super::definitions::{agents_file, definition};
use super::failure::{error_chain, explain};
#[cfg(feature = "fleet")]
use super::fleet_run;
use super::own_paths;
use super::runner_config::{host, open_hiding};
use super::view::View;
use crate::commands::cocode::options::CocodeRun;
use crate::commands::session::cancel_flag;
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure, Outcome};
#[cfg(feature = "fleet")]
use crate::fleet::early_home::EarlyHome;
use crate::views::console::Console;

/// The longest text of an issue, in bytes.
const BODY_LIMIT_BYTES: u64 = 4 << 20;

/// Runs agents to their ends; succeeds if one of them, or with `--all` every one, is verified ready.
pub(crate) fn run(common: &CommonOptions, console: Console, options: &CocodeRun) -> Outcome {
    #[cfg(feature = "fleet")]
    options.fleet.check()?;
    let mut request = request(common, console, options)?;
    let cancel = cancel_flag()?;
    #[cfg(feature = "fleet")]
    let early = {
        let fleet = &options.fleet;
        fleet.url.as_deref().map(|url| EarlyHome::begin(&fleet.access, url)).transpose()?
    };
    // What came from a host runs in a check, and a key would make it home.
    let runner = open_hiding(common, &options.folder, keys(options))?;
    start_from_the_folder(common, &runner, &mut request)?;
    #[cfg(feature = "fleet")]
    if let Some(early) = early {
        return fleet_run::run(common, console, (options, early), request, runner, &cancel);
    }
    if options.dry_run {
        show(console, &runner.plan(&request).map_err(explain)?.lines());
        return Ok(Exit::Done);
    }
    report_lowered(&common.host(), &console.shared());
    let stop = StopFlag::new();
    let raised = stop.clone();
    let _guard = cancel.on_cancel(Box::new(move || raised.raise()));
    let view = View::new(console, &request);
    let records = runner.run(&request, &stop, &view).map_err(explain)?;
    view.finish(&records);
    if options.compare {
        compare(console, &runner, &records)?;
    }
    Ok(ending(&records, options.all, &cancel))
}

/// Returns the exit of a run: done if enough agents are ready.
pub(super) fn ending(records: &[AgentRecord], all: bool, cancel: &CancelFlag) -> Exit {
    match (is_enough(records, all), cancel.is_cancelled()) {
        (true, _) => Exit::Done,
        (false, true) => Exit::Interrupted,
        (false, false) => Exit::Failed,
    }
}

/// Checks whether enough agents are ready.
fn is_enough(records: &[AgentRecord], all: bool) -> bool {
    let mut ready = records.iter().map(|record| record.state == AgentState::Ready);
    if all { ready.all(|is_ready| is_ready) } else { ready.any(|is_ready| is_ready) }
}

fn request(common: &CommonOptions, console: Console, options: &CocodeRun) -> Result<RunRequest, Failure> {
    let file = agents_file(common, &options.definitions)?;
    let mut agents: Vec<AgentDefinition> = Vec::new();
    for text in &options.commands {
        agents.push(command_definition(text)?);
    }
    for name in &options.agents {
        if !agents.iter().any(|agent| agent.name.as_str() == name) {
            let agent = definition(&file, name);
            // The hosts have the definition; one of this machine says how the work is judged.
            #[cfg(feature = "fleet")]
            let agent = agent.or_else(|failure| match &options.fleet.url {
                Some(_) => undefined(name),
                None => Err(failure),
            });
            agents.push(agent?);
        }
    }
    let usage = |error: cocode_runner::AgentsFileError| Failure::new(Exit::Usage, error.to_string());
    let mut limits: RunLimits = file.limits;
    if let Some(timeout) = common.timeout {
        limits.timeout = RunLimits::timeout_of(timeout.as_secs()).map_err(usage)?;
        // The command line takes precedence over a definition.
        agents.iter_mut().for_each(|agent| agent.timeout = None);
    }
    if let Some(check) = &options.check {
        if check.trim().is_empty() {
            return Err(Failure::new(Exit::Usage, "the command of --check is empty"));
        }
        agents.iter_mut().for_each(|agent| agent.check = Some(check.clone()));
    }
    agents.iter_mut().try_for_each(|agent| confine(common, agent))?;
    if let Some(count) = options.parallel {
        limits.parallel = RunLimits::parallel_of(count).map_err(usage)?;
    }
    let continues = conversation(options.from.as_deref());
    let (body, url) = match continues {
        Some(conversation) => {
            let task = given_text(options)?;
            (text(common, console, conversation, task.as_deref())?, None)
        }
        None => body(common, options)?,
    };
    Ok(RunRequest {
        issue: options.issue,
        issue_url: options.issue_url.clone().or(url),
        body,
        agents,
        base: options.from.clone().filter(|_| continues.is_none()),
        continues: continues.map(str::to_owned),
        marker: options.marker.clone().unwrap_or_default(),
        limits,
    })
}

/// Returns the files with keys that no agent and no check may read.
fn keys(options: &CocodeRun) -> &[PathBuf] {
    #[cfg(feature = "fleet")]
    return options.fleet.access.key_file.as_slice();
    #[cfg(not(feature = "fleet"))]
    {
        let _ = options;
        &[]
    }
}

/// Returns a definition of an agent that is defined on hosts alone.
#[cfg(feature = "fleet")]
fn undefined(name: &str) -> Result<AgentDefinition, Failure> {
    let name = name.parse().map_err(|error| Failure::new(Exit::Usage, format!("'{name}': {error}")))?;
    Ok(AgentDefinition::new(name))
}

/// Takes `NAME=COMMAND`.
fn command_definition(text: &str) -> Result<AgentDefinition, Failure> {
    let usage = |text: String| Failure::new(Exit::Usage, text);
    let (name, command) =
        text.split_once('=').ok_or_else(|| usage(format!("'{text}' is not NAME=COMMAND")))?;
    let name = name.parse().map_err(|error| usage(format!("'{name}': {error}")))?;
    if command.trim().is_empty() {
        return Err(usage(format!("the agent '{name}' has no command")));
    }
    command.split_whitespace().try_for_each(own_paths::check)?;
    let command = AgentCommand::Shell { text: command.to_owned() };
    Ok(AgentDefinition { command, ..AgentDefinition::new(name) })
}

/// The issue's text: from a file, the command line, standard input, or `gh`.
fn body(common: &CommonOptions, options: &CocodeRun) -> Result<(String, Option<IssueUrl>), Failure> {
    if let Some(text) = given_text(options)? {
        return Ok((text, None));
    }
    let issue = HubIssue::fetch(&host(common), &common.workspace, options.issue).map_err(|error| {
        Failure::new(Exit::Missing, error_chain(&error))
            .advise("give the issue's text with --issue-body-file FILE or --issue-body -")
    })?;
    Ok((issue.text, issue.url))
}

/// The issue's text as the user gave it, if so.
fn given_text(options: &CocodeRun) -> Result<Option<String>, Failure> {
    Ok(match (&options.issue_body_file, &options.issue_body) {
        (Some(path), _) => Some(read(path)?),
        (None, Some(text)) if text == "-" => Some(read(Path::new("/dev/stdin"))?),
        (None, text) => text.clone(),
    })
}

fn read(path: &Path) -> Result<String, Failure> {
    let failed = |what: &dyn std::fmt::Display| {
        Failure::new(Exit::Usage, format!("the issue's text {}: {what}", path.display()))
    };
    let mut text = String::new();
    let file = fs::File::open(path).map_err(|error| failed(&error))?;
    let length = file.take(BODY_LIMIT_BYTES + 1).read_to_string(&mut text).map_err(|error| failed(&error))?;
    if length as u64 > BODY_LIMIT_BYTES {
        return Err(failed(&format!("it is longer than {BODY_LIMIT_BYTES} bytes")));
    }
    Ok(text)
}

fn show(console: Console, lines: &[PlanLine]) {
    #[derive(Serialize)]
    struct Plan<'a> {
        agents: &'a [PlanLine],
    }
    if console.json {
        console.json_result(&Plan { agents: lines });
        return;
    }
    for line in lines {
        console.result(&format!("{}: would start  {}", line.agent, line.command.replace('\n', " ")));
        console.result(&format!("  branch     {} from {}", line.branch, line.base));
        console.result(&format!("  worktree   {}", line.worktree.display()));
        let confinement = if line.sandbox { "confined" } else { "not confined" };
        console.result(&format!("  limits     {} s, {confinement}", line.timeout_seconds));
        console.result(&format!("  variables  {}", line.variables.join(" ")));
    }
}
