//! The checks of the suite, and their ends.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// The end of a check.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Passed,
    /// The suite only notes something, or leaves the check out itself.
    Noted,
    Failed,
}

/// One thing that the suite has looked at.
pub(super) struct Check {
    pub(super) scenario: String,
    pub(super) id: String,
    pub(super) status: Status,
    pub(super) message: String,
}

/// Reads what the suite has written: a folder for each scenario, `server-SCENARIO-TIME`.
pub(super) fn results(folder: &Path) -> Vec<Check> {
    let mut checks = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let time = "-2026-11-22T04-17-02-546Z".len();
        let scenario = name.strip_prefix("server-").unwrap();
        let scenario = scenario[..scenario.len() - time].to_owned();
        let text = fs::read_to_string(entry.path().join("checks.json")).unwrap();
        let results: Vec<Value> = serde_json::from_str(&text).unwrap();
        checks.extend(results.iter().map(|check| Check {
            scenario: scenario.clone(),
            id: check["id"].as_str().unwrap().to_owned(),
            status: match check["status"].as_str().unwrap() {
                "SUCCESS" => Status::Passed,
                "INFO" | "SKIPPED" => Status::Noted,
                "FAILURE" | "WARNING" => Status::Failed,
                other => panic!("{}: {other}", check["id"]),
            },
            message: check["errorMessage"].as_str().unwrap_or_default().to_owned(),
        }));
    }
    checks
}
