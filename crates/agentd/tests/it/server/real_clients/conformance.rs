//! The npm package `@modelcontextprotocol/conformance`: what each revision of the protocol requires of a server.
//!
//! `fixtures/clients/conformance.json` lists what does not apply, with the reason and the messages that show it: a listed check that
//! fails with another message has failed. Everything else has to be green, and what is listed has to fail: an exception that has
//! become untrue is taken out.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::fixture::project::{Project, Ran};
use crate::fixture::web_server::WebServer;
use crate::server::real_clients::{fixture, node_script, show};
use test_support::skip;

/// One thing that the suite has looked at.
struct Check {
    scenario: String,
    id: String,
    status: String,
    message: String,
}

/// The checks and scenarios that do not apply, in groups with one reason.
struct Exceptions(Vec<Value>);

impl Exceptions {
    fn read() -> Exceptions {
        let text = fs::read_to_string(fixture("conformance.json")).unwrap();
        let groups: Vec<Value> = serde_json::from_str(&text).unwrap();
        for group in &groups {
            assert!(group["reason"].as_str().is_some_and(|reason| reason.ends_with('.')), "{group}");
        }
        Exceptions(groups)
    }

    /// Returns the names of all checks and scenarios.
    fn names(&self) -> BTreeSet<String> {
        let lists = self.0.iter().flat_map(|group| [&group["checks"], &group["scenarios"]]);
        lists.flat_map(words).map(str::to_owned).collect()
    }

    /// Reports whether a check fails for the reason of its group. Messages on the wire have to be valid in every scenario.
    fn cover(&self, check: &Check) -> bool {
        self.0.iter().any(|group| {
            let has = |list: &Value, name: &str| words(list).any(|word| word == name);
            let is_listed = has(&group["checks"], &check.id)
                || has(&group["scenarios"], &check.scenario) && check.id != "wire-schema-valid";
            is_listed && words(&group["messages"]).any(|message| check.message.contains(message))
        })
    }
}

fn words(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// Reads what the suite has written: a folder for each scenario, `server-SCENARIO-TIME`.
fn results(folder: &Path) -> Vec<Check> {
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
            status: check["status"].as_str().unwrap().to_owned(),
            message: check["errorMessage"].as_str().unwrap_or_default().to_owned(),
        }));
    }
    checks
}

#[test]
#[ignore = "a suite of its own: `cargo xtask clients`, which is one of the checks"]
fn what_each_revision_requires_is_green_or_does_not_apply() {
    let exceptions = Exceptions::read();
    let mut used = BTreeSet::new();
    for (revision, least) in [("2025-11-25", 40), ("2026-07-28", 90)] {
        let Some(mut suite) = node_script("conformance/dist/index.js") else {
            return skip(
                "what_each_revision_requires_is_green_or_does_not_apply",
                "`cargo xtask setup` installs the npm package @modelcontextprotocol/conformance",
            );
        };
        let project = Project::new();
        // The suite cannot send a token.
        let server = WebServer::start(&project, &["--no-token"]);
        let folder = project.folder().join("results");
        suite
            .args(["server", "--requirements", revision, "--url"])
            .arg(format!("http://{}/mcp", server.address));
        suite.arg("--output-dir").arg(&folder).current_dir(project.folder()).stdin(Stdio::null());
        let ran = Ran::of(suite.output().unwrap());
        assert!(folder.is_dir(), "the suite has not run: {ran}");
        let checks = results(&folder);
        let (mut passed, mut excepted) = (0, 0);
        for check in &checks {
            match check.status.as_str() {
                "SUCCESS" => passed += 1,
                "INFO" | "SKIPPED" => {}
                "FAILURE" | "WARNING" => {
                    let Check { scenario, id, message, .. } = check;
                    assert!(exceptions.cover(check), "{revision} {scenario} {id}: {message}");
                    used.extend([id.clone(), scenario.clone()]);
                    excepted += 1;
                }
                other => panic!("{}: {other}", check.id),
            }
        }
        show(&format!("conformance {revision}: {passed} checks passed, {excepted} do not apply, 0 failed"));
        assert!(passed >= least, "only {passed} checks of {revision} have passed");
    }
    let untrue: Vec<_> = exceptions.names().into_iter().filter(|name| !used.contains(name)).collect();
    assert!(untrue.is_empty(), "listed as failing, and not failing: {untrue:?}");
}
