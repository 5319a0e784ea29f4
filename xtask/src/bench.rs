//! The benchmarks.

use std::path::Path;

use crate::setup::client_packages::{install_clients, install_peers, install_question_packages};
use crate::{CrateList, Step, TaskError};

/// Measures searching, listing, reading and editing files beside `rg` and `find`, and prints what was wanted of each.
///
/// The trees are made in the target folder: 20,000 small files, 90,000 if `is_large`.
///
/// # Errors
///
/// That of the benchmark: it fails if two programs give different results, not if one is slow.
pub fn bench_files(root: &Path, is_large: bool) -> Result<(), TaskError> {
    let mut arguments = vec!["bench", "--package", "local-workspace", "--bench", "files"];
    if is_large {
        arguments.extend(["--", "--large"]);
    }
    Step::cargo("files", &arguments).folder(root).run().map(drop)
}

/// Measures the servers beside other servers for files, which are installed first.
///
/// # Errors
///
/// That of the benchmark. It fails on no figure.
pub fn bench_serve(root: &Path) -> Result<(), TaskError> {
    install_clients();
    let peers = install_peers();
    Step::cargo("serve", &["bench", "--package", "agentd-workspace", "--bench", "serve"])
        .variable("PEER_NODE", &peers.node.to_string_lossy())
        .variable("PEER_SERVER_FILESYSTEM", &peers.server_filesystem.to_string_lossy())
        .variable("PEER_RUST_MCP_FILESYSTEM", &peers.rust_mcp_filesystem.to_string_lossy())
        .folder(root)
        .run()
        .map(drop)
}

/// Measures searching with a list of files that is kept, beside `rg` and beside searching without it, in trees of 20,000 and
/// of 90,000 files.
///
/// # Errors
///
/// That of the benchmark: it fails if two searches give different results, not if one is slow.
pub fn bench_search(root: &Path) -> Result<(), TaskError> {
    let arguments = ["bench", "--package", "local-workspace", "--bench", "files", "--", "warm"];
    Step::cargo("search", &arguments).folder(root).run()?;
    let arguments = [arguments.as_slice(), &["--large"]].concat();
    Step::cargo("search, large", &arguments).folder(root).run().map(drop)
}

/// Measures envelopes and the code index, and how well the index finds beside plain ways of ranking. The packages that it is
/// asked about are installed first.
///
/// # Errors
///
/// Those of the first benchmark that fails. They fail on no figure.
pub fn bench_codali(root: &Path, is_quality_alone: bool) -> Result<(), TaskError> {
    let packages = install_question_packages();
    if !is_quality_alone {
        let arguments = ["bench", "--package", "codali-envelope", "--bench", "codali"];
        Step::cargo("codali-envelope", &arguments).folder(root).run()?;
    }
    let mut arguments = vec!["bench", "--package", "code-index", "--bench", "codali"];
    if is_quality_alone {
        arguments.extend(["--", "--quality"]);
    }
    Step::cargo("code-index", &arguments)
        .variable("QUESTIONS_PYTHON", &packages.python.to_string_lossy())
        .variable("QUESTIONS_NODE", &packages.node.to_string_lossy())
        .folder(root)
        .run()
        .map(drop)
}

/// Runs the benchmarks of every package that has some, or those of one name, or of one package.
///
/// # Errors
///
/// Those of the first benchmark that fails.
pub fn bench(root: &Path, name: Option<&str>, package: Option<&str>) -> Result<(), TaskError> {
    let list = CrateList::read(root)?;
    let wanted = list.crates.iter().filter(|one| package.is_none_or(|package| one.name == package));
    for one in wanted {
        for bench in one.benches.iter().filter(|bench| name.is_none_or(|name| name == bench.as_str())) {
            let title = format!("{} {bench}", one.name);
            Step::cargo(&title, &["bench", "--package", &one.name, "--bench", bench]).folder(root).run()?;
        }
    }
    Ok(())
}

/// Measures a fleet of real processes on this machine, and commands that have nothing to do with fleets beside a build without
/// the feature `fleet`, which is made first. Needs root, for the network namespaces of the hosts.
///
/// # Errors
///
/// That of the build or of the benchmark. It fails on no figure.
pub fn bench_fleet(root: &Path) -> Result<(), TaskError> {
    let without = root.join("target/without-fleets");
    let folder = without.to_string_lossy();
    let arguments = ["build", "--release", "--package", "agentd-workspace", "--no-default-features"];
    Step::cargo("without", &[&arguments[..], &["--target-dir", &folder]].concat()).folder(root).run()?;
    Step::cargo("fleet", &["bench", "--package", "agentd-workspace", "--bench", "fleet"])
        .variable("FLEET_BENCH_WITHOUT", &without.join("release/agentd").to_string_lossy())
        .folder(root)
        .run()
        .map(drop)
}
