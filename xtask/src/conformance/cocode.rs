//! Cases of cocode that need no process: names, numbers, log lines, states, definitions.

pub(crate) mod cli;
mod fixture;
pub(crate) mod run;

use cocode_env::{AgentName, AgentState, IssueNumber, LogLine, default_branch_of};
use cocode_runner::AgentsFile;
use serde_json::{Value, json};

use super::Outcome;
use super::expected::derived;

/// Runs a case of a kind that needs no process.
pub(super) fn run(case: &Value) -> Outcome {
    let (input, expect) = (&case["input"], &case["expect"]);
    match case["kind"].as_str() {
        Some("issue_number") => {
            let is_number = serde_json::from_value::<IssueNumber>(input.clone()).is_ok();
            Outcome::compare("whether it is a number", expect, &is_number.into())
        }
        Some("default_branch") => {
            let branch = default_branch_of(input.as_str().unwrap_or_default(), "origin");
            Outcome::compare("the branch", expect, &branch.into())
        }
        Some("worktree_dir") => {
            let is_name = input.as_str().unwrap_or_default().parse::<AgentName>().is_ok();
            let is_expected = expect["ok"].as_bool() == Some(true) && expect["error"].as_bool() != Some(true);
            Outcome::compare("whether it is a name", &is_expected.into(), &is_name.into())
        }
        Some("log_line") => log_line(input, expect),
        Some("state_machine") => states(expect),
        Some("config") => config(input, expect),
        other => Outcome::Failed(format!("the kind {other:?} has another runner")),
    }
}

fn log_line(input: &Value, expect: &Value) -> Outcome {
    let line = LogLine::parse(input.as_str().unwrap_or_default());
    let actual = json!({
        "level": line.level.map(|level| level.name()),
        "message": line.message,
        "timestamp": line.timestamp,
    });
    each(expect, &actual)
}

fn states(expect: &Value) -> Outcome {
    let names: Vec<&str> = AgentState::ALL.iter().map(|state| state.name()).collect();
    let mut edges = Vec::new();
    for from in AgentState::ALL {
        edges.extend(
            AgentState::ALL.iter().filter(|to| from.can_become(**to)).map(|to| format!("{from}>{to}")),
        );
    }
    each(expect, &json!({ "states": names, "edges": edges }))
}

fn config(input: &Value, expect: &Value) -> Outcome {
    let text = match input {
        Value::String(text) => text.clone(),
        _ => definitions(input),
    };
    let file = match (AgentsFile::parse(&text), expect["error"].as_bool()) {
        (Err(_), Some(true)) => return Outcome::Passed,
        (Ok(_), Some(true)) => return Outcome::Failed("it was accepted".to_owned()),
        (Err(error), _) => return Outcome::Failed(format!("it was refused: {error}")),
        (Ok(file), _) => file,
    };
    let agents: Vec<&str> = file.agents.keys().map(AgentName::as_str).collect();
    let seconds = file.limits.timeout.as_secs();
    let actual = json!({
        "agents": agents,
        "agent_timeout": seconds,
        "agent_timeout_s": seconds,
        "max_concurrent_agents": file.limits.parallel.get(),
    });
    each(expect, &actual)
}

/// Writes the case's definitions in our format; none for a file that is absent.
fn definitions(input: &Value) -> String {
    let mut text = String::new();
    for agent in input["agents"].as_array().into_iter().flatten() {
        text.push_str(&format!("[agents.{}]\n", agent["name"].as_str().unwrap_or_default()));
        if let Some(command) = agent["command"].as_str() {
            text.push_str(&format!("command = '{command}'\n"));
        }
    }
    if let Some(values) = input["performance"].as_object() {
        text.push_str("[performance]\n");
        text.extend(values.iter().map(|(name, value)| format!("{name} = {value}\n")));
    }
    text
}

/// Compares every field that the case expects.
pub(super) fn each(expect: &Value, actual: &Value) -> Outcome {
    let Some(fields) = expect.as_object() else {
        return Outcome::Failed("the case expects no object".to_owned());
    };
    fields.iter().fold(Outcome::Passed, |outcome, (key, expected)| {
        outcome.and(|| match actual.get(key) {
            None => match derived(key, expected, |name| actual.get(name).cloned()) {
                Some(true) => Outcome::Passed,
                Some(false) => Outcome::Failed(format!("{key} should be {expected}, and there is {actual}")),
                None => Outcome::Failed(format!("the case expects {key}, which its runner does not know")),
            },
            Some(actual) => Outcome::compare(key, expected, actual),
        })
    })
}
