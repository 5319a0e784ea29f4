//! The Python package `schemathesis`: requests made from the OpenAPI document, right ones and wrong ones.

use std::process::Stdio;

use crate::fixture::project::{Project, Ran};
use crate::fixture::web_server::WebServer;
use crate::server::real_clients::{python_program, show};
use test_support::skip;

/// The least number of requests.
const LEAST_CASES: u64 = 1_000;

#[test]
#[ignore = "a suite of its own: `cargo xtask clients`, which is one of the checks"]
fn a_thousand_made_up_requests_find_no_fault() {
    let Some(mut schemathesis) = python_program("schemathesis") else {
        return skip(
            "a_thousand_made_up_requests_find_no_fault",
            "`cargo xtask setup` installs the Python package schemathesis",
        );
    };
    let project = Project::new();
    project.write("a.txt", "one\ntwo\n").write("src/main.rs", "fn main() {}\n");
    // What is made up is run as commands, too: in the sandbox, and not for long.
    let server = WebServer::start(&project, &["--timeout", "2"]);
    schemathesis.args(["run", &format!("http://{}/v1/openapi.json", server.address)]);
    schemathesis.args(["--header", &format!("Authorization: Bearer {}", server.token.as_deref().unwrap())]);
    schemathesis.args(["--phases", "examples,coverage,fuzzing", "--max-examples", "120"]);
    // Everything is checked but that what fits the schema is accepted: a path, a glob, a regular expression and the name of
    // a variable can be wrong in more ways than a schema can say.
    schemathesis.args(["--checks", "all", "--exclude-checks", "positive_data_acceptance"]);
    schemathesis.args([
        "--generation-deterministic",
        "--continue-on-failure",
        "--no-color",
        "--warnings",
        "off",
    ]);
    schemathesis.current_dir(project.folder()).env("HOME", project.folder()).stdin(Stdio::null());
    let ran = Ran::of(schemathesis.output().unwrap());
    assert_eq!(ran.code, 0, "{ran}");
    let cases = ran
        .stdout
        .lines()
        .filter_map(|line| line.trim().split_once(" generated"))
        .find_map(|(count, _)| count.parse::<u64>().ok())
        .unwrap_or_else(|| panic!("it does not say how many cases there were: {ran}"));
    assert!(cases >= LEAST_CASES, "only {cases} cases");
    let metrics = server.get("/metrics").has_status(200).text();
    assert!(metrics.contains("agentd_running_calls 0\n"), "{metrics}");
    show(&format!("schemathesis: {cases} requests, 0 faults"));
}
