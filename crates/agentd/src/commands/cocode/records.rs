//! The records of agents.

use cocode_runner::{AgentRecord, RunnerError, read_records};

use super::failure::explain;
use super::options::{CocodeAgent, WorktreesFolder};
use super::runner_config::{open, state_folder};
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure};

/// Reads the records of agents. If no process runs agents, those that an earlier one left are marked as lost first,
/// unless nothing may be changed.
pub(crate) fn records(common: &CommonOptions) -> Result<Vec<AgentRecord>, Failure> {
    let records = recorded(common)?;
    if common.read_only || records.iter().all(|record| record.state.is_final()) {
        return Ok(records);
    }
    match open(common, &WorktreesFolder::default()) {
        Ok(runner) => runner.records().map_err(explain),
        Err(failure) if failure.exit == Exit::Held => Ok(records),
        Err(failure) => Err(failure),
    }
}

/// Reads the records of agents as they are: they list the agents of a dead process as running.
pub(crate) fn recorded(common: &CommonOptions) -> Result<Vec<AgentRecord>, Failure> {
    let folder = state_folder(common)?;
    match folder.is_dir() {
        true => read_records(&folder).map_err(explain),
        false => Ok(Vec::new()),
    }
}

/// The newest record of an agent.
pub(crate) fn find(records: Vec<AgentRecord>, wanted: &CocodeAgent) -> Result<AgentRecord, Failure> {
    let is_wanted = |record: &AgentRecord| {
        record.agent.as_str() == wanted.name && wanted.issue.is_none_or(|issue| issue == record.issue)
    };
    records
        .into_iter()
        .find(is_wanted)
        .ok_or_else(|| explain(RunnerError::NoRecord { name: wanted.name.clone() }))
}
