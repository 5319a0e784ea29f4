//! `agentd cocode run --compare`: the agents of one run beside each other.

use cocode_env::{AgentName, AgentState, PartName};
use cocode_runner::{AgentRecord, Runner, WorkSize};
use serde::Serialize;

use super::ground::explain;
use super::view::seconds;
use crate::console::Console;
use crate::exit::Failure;

/// What is to be compared of one agent.
#[derive(Serialize)]
struct Row<'a> {
    agent: &'a AgentName,
    state: AgentState,
    commits: u64,
    #[serde(flatten)]
    size: WorkSize,
    /// What the agent's check came to; `None` without a check, or where it was not reached.
    check_passed: Option<bool>,
    seconds: Option<f64>,
}

/// Prints a table of the agents, those that are ready first and among them those with the smallest change.
pub(crate) fn compare(console: Console, runner: &Runner, records: &[AgentRecord]) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Compared<'a> {
        event: &'static str,
        agents: Vec<Row<'a>>,
    }
    let mut rows = records.iter().map(|record| row(runner, record)).collect::<Result<Vec<_>, _>>()?;
    rows.sort_by_key(|row| (row.state != AgentState::Ready, row.size.lines_added + row.size.lines_removed));
    if console.json {
        let compared = Compared { event: "compared", agents: rows };
        console.result(&serde_json::to_string(&compared).expect("rows have string keys"));
        return Ok(());
    }
    console.result("\nagent        verdict     commits  files     lines  check      time");
    for row in &rows {
        let lines = format!("+{} -{}", row.size.lines_added, row.size.lines_removed);
        let check = match row.check_passed {
            Some(true) => "passed",
            Some(false) => "failed",
            None => "-",
        };
        let seconds = row.seconds.map_or_else(|| "-".to_owned(), |seconds| format!("{seconds:.1} s"));
        console.result(&format!(
            "{:<12} {:<10} {:>8} {:>6} {lines:>9}  {check:<6} {seconds:>8}",
            row.agent, row.state, row.commits, row.size.files
        ));
    }
    if let Some(first) = rows.first().filter(|row| row.state == AgentState::Ready) {
        console.result(&format!("\ntake one over with `agentd cocode pick {}`", first.agent));
    }
    Ok(())
}

fn row<'a>(runner: &Runner, record: &'a AgentRecord) -> Result<Row<'a>, Failure> {
    let parts = record.verdict.iter().flat_map(|verdict| &verdict.parts);
    let check = parts.into_iter().find(|part| part.name == PartName::Check);
    Ok(Row {
        agent: &record.agent,
        state: record.state,
        commits: record.commits,
        size: runner.work_size(record).map_err(explain)?,
        check_passed: check.filter(|_| record.check.is_some()).map(|part| part.holds),
        seconds: seconds(record),
    })
}
