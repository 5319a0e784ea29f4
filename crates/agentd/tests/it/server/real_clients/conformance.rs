//! The npm package `@modelcontextprotocol/conformance`: what each revision of the protocol requires of a server.
//!
//! Many scenarios call tools, prompts and resources that only an example server has. So two servers are looked at: `agentd`, and
//! the example, which is the same protocol code with those tools. For each of them a list in `fixtures/clients/` says what does not
//! apply, with the reason and the messages that show it: a listed check that fails with another message has failed. Everything else
//! has to be green, and what is listed has to fail: an exception that has become untrue is taken out.

mod checks;
mod exceptions;
mod table;

use std::collections::BTreeSet;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;

use contributed_tools::ExampleServer;
use test_support::skip;

use self::checks::{Check, Status, results};
use self::exceptions::Exceptions;
use crate::fixture::project::{Project, Ran};
use crate::fixture::web_server::WebServer;
use crate::server::real_clients::{node_script, show};

/// The revisions, with the least number of checks that each server passes.
const REVISIONS: [(&str, [usize; 2]); 2] = [("2025-11-25", [45, 83]), ("2026-07-28", [109, 165])];

/// The most checks of a revision that neither server passes.
const MOST_OPEN: usize = 24;

const TEST: &str = "what_each_revision_requires_is_green_or_does_not_apply";

/// Runs the suite against a server; `None` if it is not installed.
fn look_at(address: SocketAddr, revision: &str, folder: &Path) -> Option<Vec<Check>> {
    let mut suite = node_script("conformance/dist/index.js")?;
    suite.args(["server", "--requirements", revision, "--url"]).arg(format!("http://{address}/mcp"));
    let parent = folder.parent().unwrap();
    suite.arg("--output-dir").arg(folder).current_dir(parent).stdin(Stdio::null());
    let ran = Ran::of(suite.output().unwrap());
    assert!(folder.is_dir(), "the suite has not run: {ran}");
    Some(results(folder))
}

/// Checks that what fails is listed, and returns the number of checks that passed.
fn judge(
    server: &str,
    revision: &str,
    checks: &[Check],
    list: &Exceptions,
    used: &mut BTreeSet<String>,
) -> usize {
    for check in checks.iter().filter(|check| check.status == Status::Failed) {
        let Check { scenario, id, message, .. } = check;
        assert!(list.cover(check), "{server} {revision} {scenario} {id}: {message}");
        used.extend([id.clone(), scenario.clone()]);
    }
    checks.iter().filter(|check| check.status == Status::Passed).count()
}

/// Returns the checks that fail at one server, and that the other does not pass: neither them nor, where a check stands for the
/// want of a tool only, all others of their scenario.
fn open(both: [&[Check]; 2]) -> BTreeSet<(&str, &str)> {
    let of = |status: Status| {
        both.into_iter().flat_map(|checks| checks.iter()).filter(move |check| check.status == status)
    };
    let passed: BTreeSet<_> = of(Status::Passed).map(|check| (&*check.scenario, &*check.id)).collect();
    let passes_whole = |checks: &&[Check], scenario: &str| {
        let mut of_scenario = checks.iter().filter(|check| check.scenario == scenario).peekable();
        of_scenario.peek().is_some() && of_scenario.all(|check| check.status != Status::Failed)
    };
    let is_open = |(scenario, id): &(&str, &str)| {
        !passed.contains(&(*scenario, *id)) && !both.iter().any(|checks| passes_whole(checks, scenario))
    };
    of(Status::Failed).map(|check| (&*check.scenario, &*check.id)).filter(is_open).collect()
}

#[test]
#[ignore = "a suite of its own: `cargo xtask clients`, which is one of the checks"]
fn what_each_revision_requires_is_green_or_does_not_apply() {
    let lists = ["conformance_agentd.json", "conformance_example.json"].map(Exceptions::read);
    let mut used = [BTreeSet::new(), BTreeSet::new()];
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/mcp-conformance.md");
    let page = fs::read_to_string(page).unwrap();
    for (revision, least) in REVISIONS {
        let project = Project::new();
        // The suite cannot send a token.
        let agentd = WebServer::start(&project, &["--no-token"]);
        let example = ExampleServer::start().unwrap();
        let servers = [("agentd", agentd.address), ("example", example.address())];
        let mut both = Vec::new();
        for (name, address) in servers {
            let folder = project.folder().join(format!("results-{name}"));
            let Some(checks) = look_at(address, revision, &folder) else {
                return skip(
                    TEST,
                    "`cargo xtask setup` installs the npm package @modelcontextprotocol/conformance",
                );
            };
            both.push(checks);
        }
        let mut passed = [0; 2];
        for (index, (name, _)) in servers.iter().enumerate() {
            passed[index] = judge(name, revision, &both[index], &lists[index], &mut used[index]);
            assert!(passed[index] >= least[index], "{name} passes only {} of {revision}", passed[index]);
        }
        let open = open([&both[0], &both[1]]);
        let figures = format!(
            "{revision}: agentd passes {} checks, the example {}, neither {}",
            passed[0],
            passed[1],
            open.len()
        );
        show(&figures);
        assert!(open.len() <= MOST_OPEN, "{figures}: {open:?}");
        assert!(page.contains(&figures), "docs/mcp-conformance.md does not say: {figures}");
        let rows = table::render(&both[0], &both[1]);
        assert!(page.contains(&rows), "docs/mcp-conformance.md has other rows than {revision}:\n{rows}");
    }
    for (list, used) in lists.iter().zip(&used) {
        let untrue: Vec<_> = list.names().into_iter().filter(|name| !used.contains(name)).collect();
        assert!(untrue.is_empty(), "listed as failing, and not failing: {untrue:?}");
    }
}
