//! `agentd codali critic`: the check of touched files, for the last run.

use codali_envelope::critic::{CriticStatus, check};
use workspace_host::{TouchedBy, WorkspacePaths, touched_paths};

use super::named_paths::resolved;
use super::options::CriticOptions;
use super::print;
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::Console;

/// The name of the result.
const ID: &str = "critic-last-run";

/// Stands for the builder's words, which the journal does not hold for every client.
const OUTPUT: &str = "a run in the journal";

/// Judges the last run, prints the result, and ends with failure for FAIL.
pub(super) fn critic(common: &CommonOptions, console: Console, options: &CriticOptions) -> Outcome {
    let paths = WorkspacePaths::find(&common.host())?;
    let named = |option: &str, typed: &[String]| resolved(&paths.workspace, option, typed);
    let targets = named("targets", &options.targets)?;
    let allowed = named("allowed", &options.limits.allowed)?;
    let untouched = named("untouched", &options.limits.untouched)?;
    let touched = match paths.journal_reader()? {
        Some(journal) => touched_paths(&journal, &paths, TouchedBy::LastRun, &untouched)
            .map_err(|error| Failure::new(Exit::Failed, error.to_string()))?,
        None => Vec::new(),
    };
    let result = check(&touched, &targets, &allowed, &untouched, OUTPUT);
    let has_passed = result.status == CriticStatus::Pass;
    print(console, &result.into_response(ID.parse().expect("it is short and printable")), options.format);
    Ok(if has_passed { Exit::Done } else { Exit::Failed })
}
