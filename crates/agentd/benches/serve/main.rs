//! Measures speed and memory of the servers, beside widely used servers for files.
//!
//! `cargo xtask bench serve` installs these and runs it. All are measured in turns within one run, each through its own tools
//! over standard input and output, and a ratio is that of the medians. The trees are made in the target folder, once.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it has measured")]

mod code_folder;
mod line_server;
mod measured;
mod web;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::code_folder::CodeFolder;
use crate::line_server::{LineServer, Program};
use crate::measured::Measured;

const STARTS: usize = 15;
const TURNS: usize = 15;

/// One task for each program, as a call of its own tool; `None` if it has no tool for it.
struct Task {
    title: &'static str,
    goal: &'static str,
    calls: [Option<(&'static str, Value)>; 3],
    turns: usize,
}

fn main() {
    let code = CodeFolder::make(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-serve"));
    let programs = programs(&code);
    for program in programs.iter().filter(|program| program.command.is_none()) {
        println!("{} is not installed: cargo xtask bench serve does that", program.name);
    }
    start(&programs);
    let mut servers: Vec<_> = programs.iter().map(LineServer::start).collect();
    for task in tasks(&code) {
        measure(&mut servers, &task);
    }
    println!("\npeak memory after all that, resident (goal for ours: under 40 MB)");
    for server in servers.iter().flatten() {
        println!("  {:<28} {:>8.1} MB", server.name, server.peak_megabytes());
    }
    drop(servers);
    web::measure(&code);
}

/// This program and its peers.
fn programs(code: &CodeFolder) -> [Program; 3] {
    let folder = code.folder().to_string_lossy().into_owned();
    let state = code.state().to_string_lossy().into_owned();
    let peer = |variable: &str| std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_file());
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let ours = ["mcp", "--page", "0", "--workspace", &folder, "--base", &state].map(str::to_owned);
    let node = peer("PEER_NODE").zip(peer("PEER_SERVER_FILESYSTEM"));
    let node = node.map(|(node, script)| (text(&node), vec![text(&script), folder.clone()]));
    let rust = peer("PEER_RUST_MCP_FILESYSTEM").map(|program| (text(&program), vec![folder.clone()]));
    [
        Program { name: "agentd", command: Some((env!("CARGO_BIN_EXE_agentd").to_owned(), ours.to_vec())) },
        Program { name: "server-filesystem (node)", command: node },
        Program { name: "rust-mcp-filesystem", command: rust },
    ]
}

fn tasks(code: &CodeFolder) -> [Task; 4] {
    let (tree, big) = (code.in_folder("tree"), code.in_folder("big.txt"));
    [
        Task {
            title: "read a file of 1 MiB",
            goal: "as fast as the faster peer, half the bytes of the slower",
            calls: [
                Some(("readFile", json!({ "path": "big.txt" }))),
                Some(("read_text_file", json!({ "path": big }))),
                Some(("read_text_file", json!({ "path": big }))),
            ],
            turns: 3 * TURNS,
        },
        Task {
            title: "tree of 20,000 files (ours shows 500 of them and the total, the others all)",
            goal: "3 times faster than both",
            calls: [
                Some(("exploreFiles", json!({ "path": "tree", "recursive": true, "maxDepth": 9 }))),
                Some(("directory_tree", json!({ "path": tree }))),
                Some(("directory_tree", json!({ "path": tree }))),
            ],
            turns: TURNS,
        },
        Task {
            title: "names in 20,000 files (ours: find, as a confined command)",
            goal: "under 60 ms",
            calls: [
                Some(("executeCommand", json!({ "command": "find tree -name '*77_7*'" }))),
                Some(("search_files", json!({ "path": tree, "pattern": "**/*77_7*" }))),
                Some(("search_files", json!({ "path": tree, "pattern": "**/*77_7*" }))),
            ],
            turns: TURNS,
        },
        Task {
            title: "contents of 20,000 files",
            goal: "under 150 ms",
            calls: [
                Some((
                    "searchFiles",
                    json!({ "paths": ["tree"], "query": "needle 7_7", "type": "literal", "contextLines": 0 }),
                )),
                None,
                Some((
                    "search_files_content",
                    json!({ "path": tree, "pattern": "**/*", "query": "needle 7_7", "is_regex": false }),
                )),
            ],
            turns: TURNS,
        },
    ]
}

fn start(programs: &[Program; 3]) {
    let mut times: [Vec<Duration>; 3] = Default::default();
    for _ in 0..STARTS {
        for (program, times) in programs.iter().zip(&mut times) {
            times.extend(LineServer::start(program).map(|server| server.started_in));
        }
    }
    println!("\nstart to the answer to initialize (goal: under 5 ms)");
    let measured = programs.iter().zip(times).map(|(program, times)| Measured::new(program.name, times));
    measured::show(&measured.collect::<Vec<_>>());
}

fn measure(servers: &mut [Option<LineServer>], task: &Task) {
    let mut measured: Vec<_> =
        servers.iter().flatten().map(|server| Measured::new(server.name, vec![])).collect();
    for turn in 0..=task.turns {
        let running =
            servers.iter_mut().zip(&task.calls).filter_map(|(server, call)| Some((server.as_mut()?, call)));
        for ((server, call), measured) in running.zip(&mut measured) {
            let Some((tool, arguments)) = call else { continue };
            let answer = server.call(tool, arguments);
            // The first turn is for caches.
            if turn > 0 {
                measured.add(answer);
            }
        }
    }
    println!("\n{} (goal: {})", task.title, task.goal);
    measured::show(&measured);
}
