//! Cases of kind carried_out: edits in the formats of other programs, carried out in a real folder.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use tagproto::{CommandResult, Dialect};
use wap_core::CancelFlag;

use super::exec;
use crate::conformance::Outcome;
use crate::conformance::expected::{list, members, text};
use crate::conformance::fixture::Fixture;
use crate::conformance::problem::{Problem, ensure};

/// The time for one reply, which runs no command.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Begins a session with the task `T`, carries the reply out, and compares all files and, for each result, the parts of text that
/// the case states.
pub(crate) fn run(case: &Value) -> Outcome {
    check(case).into()
}

fn check(case: &Value) -> Result<(), Problem> {
    let fixture = Fixture::new()?;
    for (path, content) in members(&case["files"]) {
        fixture.put(path, text(content))?;
    }
    let sessions = fixture.sessions()?;
    let session = sessions.create("T", Dialect::Agentd, None, &CancelFlag::new())?;
    let executed = exec::apply(&sessions, &session, text(&case["reply"]), TIMEOUT)?;
    let files = fixture.files()?;
    let expected: BTreeMap<String, Vec<u8>> = members(&case["expect"]["files"])
        .map(|(path, content)| (path.to_owned(), text(content).as_bytes().to_vec()))
        .collect();
    ensure(files == expected, || format!("the files are {}", exec::render_files(&files)))?;
    let parts = list(&case["expect"]["results"]);
    ensure(executed.results.len() == parts.len(), || {
        format!("the number of results is {}", executed.results.len())
    })?;
    executed.results.iter().zip(parts).try_for_each(|(result, parts)| {
        let result = rendered(result);
        let missing = list(parts).iter().find(|part| !result.contains(text(part)));
        ensure(missing.is_none(), || format!("{missing:?} is not in the result {result}"))
    })
}

/// Returns a result as a message has it, with the notes about it.
fn rendered(result: &CommandResult) -> String {
    let state = if result.success { "OK" } else { "FAILED" };
    format!("{state} {}\n{}", result.summary, result.notes.join("\n"))
}
