//! `agentd cocode`: coding agents in git worktrees.

pub(crate) mod agent_confinement;
mod compare;
mod continued;
pub(crate) mod definitions;
pub(crate) mod failure;
#[cfg(feature = "fleet")]
mod fleet_options;
#[cfg(feature = "fleet")]
pub(crate) mod fleet_run;
mod harness;
mod look;
pub(crate) mod options;
mod own_paths;
mod paste;
mod records;
mod run;
pub(crate) mod runner_config;
mod view;

use cocode_runner::{Cleaned, ObeyedFiles, PickWay, diff, request_cancel};
use serde::Serialize;

use crate::commands::cocode::options::{CocodeAgent, CocodeCommand, WorktreesFolder};
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::{Console, Tone};
use crate::views::progress::printable;
use failure::explain;
use records::{find, recorded, records};
use runner_config::{config, open, open_to_remove, state_folder};

/// Runs a command about agents.
pub(crate) fn run(common: &CommonOptions, console: Console, command: &CocodeCommand) -> Outcome {
    if common.read_only && changes_something(command) {
        let failure =
            Failure::new(Exit::Refused, "--read-only refuses whatever runs agents or changes something");
        return Err(failure.advise("`agentd cocode status`, `logs`, `diff` and `doctor` only look"));
    }
    match command {
        CocodeCommand::Run(options) => run::run(common, console, options),
        CocodeCommand::Status => look::status(common, console),
        CocodeCommand::Logs { agent, follow } => look::logs(common, console, agent, *follow),
        CocodeCommand::Diff { agent, stat } => {
            let record = find(records(common)?, agent)?;
            let config = config(common, &WorktreesFolder::default())?;
            // As the file has it: on a terminal nothing in it is invisible.
            console.file_result(&diff(&config, &record, *stat).map_err(explain)?);
            Ok(Exit::Done)
        }
        CocodeCommand::Cancel { agent } => {
            let record = find(records(common)?, agent)?;
            if record.state.is_final() {
                console.progress(&format!("{} has ended already: {}", record.agent, record.state));
                return Ok(Exit::Done);
            }
            request_cancel(&state_folder(common)?, &record).map_err(explain)?;
            console.progress(&match &record.elsewhere {
                None => format!("{} is asked to end", record.agent),
                Some(_) => format!(
                    "{} is cancelled by the process that follows it: `agentd cocode run --fleet`, or else `agentd fleet collect`",
                    record.agent
                ),
            });
            Ok(Exit::Done)
        }
        CocodeCommand::Pick { agent, dry_run, folder } => {
            let record = find(records(common)?, agent)?;
            let runner = open(common, folder)?;
            if let Some(conversation) = &record.continues {
                return continued::pick(common, console, &runner, (&record, conversation), *dry_run);
            }
            let picked = runner.pick(&record, *dry_run).map_err(explain)?;
            if console.json {
                console.json_result(&picked);
                return Ok(Exit::Done);
            }
            let (would, has) = if picked.done { ("", " has been") } else { ("would be ", "") };
            let how = match picked.way {
                PickWay::AlreadyThere => "is part of the current branch already".to_owned(),
                PickWay::FastForward => format!("{would}{has} taken by moving the current branch forward"),
                PickWay::Merge => format!("{would}{has} merged into the current branch, without conflicts"),
            };
            console.result(&format!("{} {}", picked.branch, how.replace("  ", " ").trim()));
            if picked.is_continued {
                console.styled(
                    Tone::Bad,
                    "  its branch has commits on top of the agent's own: no verdict is on the whole",
                );
            }
            let is_ready = picked.is_ready || picked.is_continued;
            show_remarks(console, &picked.to_review, (is_ready, picked.is_checked || picked.is_continued));
            Ok(Exit::Done)
        }
        CocodeCommand::Clean { all, force: None, dry_run, folder, .. } => {
            let has_records = !records(common)?.is_empty();
            let clean = || open(common, folder)?.clean(*all, *dry_run).map_err(explain);
            show_cleaned(console, *dry_run, if has_records { clean()? } else { Vec::new() })
        }
        CocodeCommand::Clean { force: Some(name), issue, dry_run, folder, .. } => {
            let record = find(recorded(common)?, &CocodeAgent { name: name.clone(), issue: *issue })?;
            let runner = open_to_remove(common, folder, &record)?;
            // As it is since: the process that ran the agent may have died.
            let record = runner.record(&record.key()).map_err(explain)?.unwrap_or(record);
            let cleaned = runner.clean_by_force(&record, *dry_run).map_err(explain)?;
            show_cleaned(console, *dry_run, vec![cleaned])
        }
        CocodeCommand::Check { command } => harness::check(common, console, command),
        CocodeCommand::Doctor { definitions } => harness::doctor(common, console, definitions),
        CocodeCommand::Paste => paste::run(common, console),
    }
}

/// Checks whether a command starts or ends anything, or changes the repository, the worktrees or their records. Its dry run
/// does so, too: it settles an interrupted earlier run.
fn changes_something(command: &CocodeCommand) -> bool {
    use CocodeCommand::{Cancel, Check, Clean, Diff, Doctor, Logs, Paste, Pick, Run, Status};
    match command {
        Run(_) | Cancel { .. } | Pick { .. } | Clean { .. } | Check { .. } | Paste => true,
        Status | Logs { .. } | Diff { .. } | Doctor { .. } => false,
    }
}

/// Prints the concerns about picked work.
fn show_remarks(console: Console, to_review: &ObeyedFiles, (is_ready, is_checked): (bool, bool)) {
    for file in &to_review.0 {
        // Some reasons are written for models.
        let reason = file.reason.trim_end_matches(": show it to the user");
        console.styled(Tone::Bad, &format!("  look at {}: {reason}", file.path));
    }
    if !is_ready {
        console.styled(Tone::Bad, "  the agent is not verified ready");
    } else if !is_checked {
        console.styled(Tone::Bad, "  unchecked: only the agent itself says that it works");
    }
}

fn show_cleaned(console: Console, dry_run: bool, agents: Vec<Cleaned>) -> Outcome {
    #[derive(Serialize)]
    struct Report<T> {
        dry_run: bool,
        agents: T,
    }
    if console.json {
        console.json_result(&Report { dry_run, agents });
        return Ok(Exit::Done);
    }
    if agents.is_empty() {
        console.result("there is nothing to clean");
    }
    let keeps_work = agents.iter().any(|one| one.holds_work);
    for one in agents {
        let what = match (&one.why, dry_run) {
            (None, false) => "removed".to_owned(),
            (None, true) => "would be removed".to_owned(),
            // Agents choose the names of files.
            (Some(why), _) => format!("kept: {}", printable(&why.replace('\n', " "))),
        };
        console.result(&format!("{} #{}: {what}", one.agent, one.issue));
        if one.why.is_some() {
            console.result(&format!("  {} in {}", one.branch, one.worktree.display()));
        }
    }
    if keeps_work {
        console.progress(
            "`agentd cocode pick NAME` takes work in, `agentd cocode clean --force NAME` removes it with everything of that agent",
        );
    }
    Ok(Exit::Done)
}
