//! `agentd cocode check` and `doctor`.

use std::ffi::OsString;
use std::path::PathBuf;

use cocode_runner::{
    AgentCommand, AgentDefinition, CheckContext, DoctorFinding, RunLimits, RunnerError, StopFlag,
    check_contract, doctor as look,
};
use sandbox_exec::{Level, SpawnerProgram};
use serde::Serialize;
use workspace_host::state::report_lowered;

use super::agent_confinement::confine;
use super::definitions::agents_file;
use super::failure::explain;
use super::own_paths;
use super::runner_config::{config, host, launcher, least_level};
use crate::commands::cocode::options::{CocodeDefinitions, WorktreesFolder};
use crate::commands::session::cancel_flag;
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::{Console, Tone};
use crate::views::progress::short_output;

/// Runs a command as an agent and reports on the contract.
pub(crate) fn check(common: &CommonOptions, console: Console, command: &[OsString]) -> Outcome {
    let cancel = cancel_flag()?;
    let usage = |error: cocode_runner::AgentsFileError| Failure::new(Exit::Usage, error.to_string());
    let mut limits = RunLimits::default();
    if let Some(timeout) = common.timeout {
        limits.timeout = RunLimits::timeout_of(timeout.as_secs()).map_err(usage)?;
    }
    let context = CheckContext {
        host: host(common),
        spawner: SpawnerProgram::this_program(),
        scratch: std::env::temp_dir(),
        least_level: least_level(common),
        limits,
    };
    report_lowered(&common.host(), &console.shared());
    let stop = StopFlag::new();
    let raised = stop.clone();
    let _guard = cancel.on_cancel(Box::new(move || raised.raise()));
    let mut definition = definition(command)?;
    confine(common, &mut definition)?;
    let report = check_contract(&context, &definition, &stop).map_err(|error| match error {
        RunnerError::NoProgram { program, .. } => {
            Failure::new(Exit::Missing, format!("the program '{program}' is missing or not executable"))
                .advise("name one on your PATH, or by its path from this folder")
        }
        error => explain(error),
    })?;
    if console.json {
        console.json_result(&report);
    } else {
        for part in &report.parts {
            let (mark, tone) = match (part.holds, part.required) {
                (true, _) => ("ok", Tone::Good),
                (false, true) => ("failed", Tone::Bad),
                (false, false) => ("advice", Tone::Plain),
            };
            let rest = format!(" {:<21} {}", part.name, part.detail);
            console.result_row(&[(tone, &format!("{mark:<7}")), (Tone::Plain, &rest)]);
        }
        if !report.passed {
            for line in &report.output {
                console.styled(Tone::Faint, &format!("  | {}", short_output(line)));
            }
        }
        console.result(if report.passed { "the agent keeps the contract" } else { "the agent is not ready" });
    }
    Ok(match (report.passed, cancel.is_cancelled()) {
        (true, _) => Exit::Done,
        (false, true) => Exit::Interrupted,
        (false, false) if !report.is_in_time() => Exit::TimedOut,
        (false, false) => Exit::Failed,
    })
}

/// Returns an agent that is a command of the caller: its arguments name files from here, not from the agent's worktree.
fn definition(command: &[OsString]) -> Result<AgentDefinition, Failure> {
    let mut words = Vec::new();
    for (index, word) in command.iter().enumerate() {
        let text =
            word.to_str().ok_or_else(|| Failure::new(Exit::Usage, "the command is not valid UTF-8"))?;
        own_paths::check(text)?;
        let names_file = (index > 0 || text.contains('/')) && PathBuf::from(text).is_file();
        let whole = if names_file { std::path::absolute(text).ok() } else { None };
        words.push(whole.map_or_else(|| text.to_owned(), |path| path.to_string_lossy().into_owned()));
    }
    let name = "check".parse().expect("it is letters only");
    let mut definition = AgentDefinition::new(name);
    // Programs may have files next to them.
    definition.readable = words.iter().map(PathBuf::from).filter(|path| path.is_absolute()).collect();
    let program = words.remove(0);
    definition.command = AgentCommand::Program { program, arguments: words };
    Ok(definition)
}

/// Reports the requirements of agents on this machine.
pub(crate) fn doctor(common: &CommonOptions, console: Console, definitions: &CocodeDefinitions) -> Outcome {
    #[derive(Serialize)]
    struct Report<T> {
        findings: T,
    }
    let agents: Vec<AgentDefinition> = agents_file(common, definitions)?.agents.into_values().collect();
    let config = config(common, &WorktreesFolder::default())?;
    let mut findings = look(&config, &agents, false);
    findings.push(confinement(common, config.least_level));
    let is_missing = findings.iter().any(|finding| finding.required && !finding.present);
    if console.json {
        console.json_result(&Report { findings });
    } else {
        for finding in &findings {
            let (mark, tone) = match (finding.present, finding.required) {
                (true, _) => ("ok", Tone::Good),
                (false, true) => ("missing", Tone::Bad),
                (false, false) => ("limited", Tone::Plain),
            };
            let rest = format!(" {:<14} {}", finding.what, finding.detail);
            console.result_row(&[(tone, &format!("{mark:<8}")), (Tone::Plain, &rest)]);
        }
    }
    Ok(if is_missing { Exit::Missing } else { Exit::Done })
}

/// Reports whether this machine confines agents as far as a run needs it.
fn confinement(common: &CommonOptions, needed: Level) -> DoctorFinding {
    let (present, detail) = match launcher(common) {
        Err(failure) => (false, format!("no agent can be started: {}", failure.message)),
        Ok(launcher) => match launcher.report().level {
            level if level >= needed => (true, format!("level {level}")),
            level => (
                false,
                format!(
                    "level {level}, and agents need {needed}; `agentd cocode run --sandbox allow={level}` allows less"
                ),
            ),
        },
    };
    DoctorFinding { what: "confinement".to_owned(), required: false, present, detail }
}
