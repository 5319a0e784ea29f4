//! `agentd cocode status` and `logs`.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use cocode_runner::{AgentRecord, log_files, read_records};
use serde::Serialize;

use super::failure::explain;
use super::records::{find, records};
use super::runner_config::state_folder;
use super::view::outcome;
use crate::commands::cocode::options::CocodeAgent;
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::Console;

/// The polling interval for a followed log.
const INTERVAL: Duration = Duration::from_millis(100);

/// Lists the agents, newest run first.
pub(crate) fn status(common: &CommonOptions, console: Console) -> Outcome {
    #[derive(Serialize)]
    struct Status {
        agents: Vec<AgentRecord>,
    }
    let agents = records(common)?;
    if console.json {
        console.json_result(&Status { agents });
        return Ok(Exit::Done);
    }
    if agents.is_empty() {
        console.result("no agent has run here");
    }
    for record in &agents {
        console.result(&format!("#{:<5} {}", record.issue, outcome(record)));
    }
    Ok(Exit::Done)
}

/// Prints an agent's log, and follows it if asked to until the agent has ended.
pub(crate) fn logs(common: &CommonOptions, console: Console, agent: &CocodeAgent, follow: bool) -> Outcome {
    let record = find(records(common)?, agent)?;
    let folder = state_folder(common)?;
    let failed = |error: std::io::Error| Failure::new(Exit::Failed, format!("cannot read the log: {error}"));
    let mut files = log_files(&folder, &record);
    let Some(newest) = files.pop() else {
        console.notice("it has printed nothing yet");
        return Ok(Exit::Done);
    };
    for file in files {
        copy(console, &mut BufReader::new(File::open(file).map_err(failed)?)).map_err(failed)?;
    }
    let mut file = BufReader::new(File::open(&newest).map_err(failed)?);
    loop {
        // Determined before the log is read, so that lines that are written in between are not missed.
        let has_ended = !follow || has_ended(&folder, &record)?;
        copy(console, &mut file).map_err(failed)?;
        if is_another(file.get_ref(), &newest) {
            file = BufReader::new(File::open(&newest).map_err(failed)?);
        } else if has_ended {
            return Ok(Exit::Done);
        } else {
            thread::sleep(INTERVAL);
        }
    }
}

fn has_ended(folder: &Path, record: &AgentRecord) -> Result<bool, Failure> {
    let records = read_records(folder).map_err(explain)?;
    let now = records.iter().find(|one| one.key() == record.key() && one.run == record.run);
    Ok(now.is_none_or(|now| now.state.is_final()))
}

/// Checks whether the log was replaced by a new file of its name.
fn is_another(file: &File, path: &Path) -> bool {
    match (file.metadata(), path.metadata()) {
        (Ok(held), Ok(named)) => held.ino() != named.ino(),
        _ => false,
    }
}

/// Copies the available lines to standard output. A reader that went away is not an error.
fn copy(console: Console, log: &mut BufReader<File>) -> std::io::Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        if log.read_until(b'\n', &mut line)? == 0 || console.raw_result(&line).is_err() {
            return Ok(());
        }
    }
}
