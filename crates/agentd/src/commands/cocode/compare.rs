//! `agentd cocode run --compare`: the agents of one run, side by side.

use cocode_env::{AgentName, AgentState, Verdict};
use cocode_runner::{AgentRecord, Runner, WorkSize};
use serde::Serialize;

use super::failure::explain;
use super::view::seconds;
use crate::exit::Failure;
use crate::views::console::Console;

/// The compared figures of one agent.
#[derive(Serialize)]
struct Row<'a> {
    agent: &'a AgentName,
    state: AgentState,
    commits: u64,
    #[serde(flatten)]
    size: WorkSize,
    /// The result of the agent's check; `None` without a check, or if it was not reached.
    check_passed: Option<bool>,
    seconds: Option<f64>,
    #[serde(skip)]
    record: &'a AgentRecord,
}

/// Returns the rank of an agent: ready and checked first, then ready, then all others.
pub(crate) fn rank(record: &AgentRecord) -> u8 {
    match (record.state, record.verdict.as_ref().is_some_and(Verdict::is_checked)) {
        (AgentState::Ready, true) => 0,
        (AgentState::Ready, false) => 1,
        _ => 2,
    }
}

/// Prints a table of the agents: those that are ready and have passed a check first, then those that only say themselves that
/// they are done, and among each those with the smallest change. An agent without a passed check is never recommended.
pub(crate) fn compare(console: Console, runner: &Runner, records: &[AgentRecord]) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Compared<'a> {
        event: &'static str,
        agents: Vec<Row<'a>>,
    }
    let mut rows = records.iter().map(|record| row(runner, record)).collect::<Result<Vec<_>, _>>()?;
    rows.sort_by_key(|row| (rank(row.record), row.size.lines_added + row.size.lines_removed));
    if console.json {
        let compared = Compared { event: "compared", agents: rows };
        console.result(&serde_json::to_string(&compared).expect("rows have string keys"));
        return Ok(());
    }
    console.result("\nagent        verdict     commits  files     lines  check         time");
    for row in &rows {
        let lines = format!("+{} -{}", row.size.lines_added, row.size.lines_removed);
        let check = match row.check_passed {
            Some(true) => "passed",
            Some(false) => "failed",
            None if row.record.check.is_some() => "not run",
            None => "unchecked",
        };
        let seconds = row.seconds.map_or_else(|| "-".to_owned(), |seconds| format!("{seconds:.1} s"));
        console.result(&format!(
            "{:<12} {:<10} {:>8} {:>6} {lines:>9}  {check:<9} {seconds:>8}",
            row.agent, row.state, row.commits, row.size.files
        ));
    }
    match rows.first().map(|row| (rank(row.record), row.agent)) {
        Some((0, agent)) => {
            console.result(&format!("\ntake one over with `agentd cocode pick {agent}`"));
        }
        Some((1, _)) => console.result(
            "\nno check has passed: look at `agentd cocode diff NAME` first, or run again with --check COMMAND",
        ),
        _ => {}
    }
    Ok(())
}

fn row<'a>(runner: &Runner, record: &'a AgentRecord) -> Result<Row<'a>, Failure> {
    Ok(Row {
        agent: &record.agent,
        state: record.state,
        commits: record.commits,
        size: runner.work_size(record).map_err(explain)?,
        check_passed: record.verdict.as_ref().and_then(Verdict::check_passed),
        seconds: seconds(record),
        record,
    })
}
