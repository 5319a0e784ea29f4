//! How fast and how small the servers are, beside other servers for files that people use.
//!
//! `cargo xtask bench serve` installs these and runs it. All are measured in turns within one run, each through its own tools
//! over standard input and output, and a ratio is that of the medians. The trees are made in the target folder, once.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it has measured")]

mod ground;
mod line_server;
mod measured;
mod web;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::ground::Ground;
use crate::line_server::{LineServer, Program};
use crate::measured::Measured;

const STARTS: usize = 15;
const TURNS: usize = 15;

/// One thing that each program is asked for, in its own words; `None` where it has no tool for it.
struct Asked {
    title: &'static str,
    goal: &'static str,
    calls: [Option<(&'static str, Value)>; 3],
    turns: usize,
}

fn main() {
    let ground = Ground::make(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-serve"));
    let programs = programs(&ground);
    for program in programs.iter().filter(|program| program.command.is_none()) {
        println!("{} is not installed: cargo xtask bench serve does that", program.name);
    }
    start(&programs);
    let mut servers: Vec<_> = programs.iter().map(LineServer::start).collect();
    for asked in asked(&ground) {
        measure(&mut servers, &asked);
    }
    println!("\npeak memory after all that, resident (goal for ours: under 40 MB)");
    for server in servers.iter().flatten() {
        println!("  {:<28} {:>8.1} MB", server.name, server.peak_megabytes());
    }
    drop(servers);
    web::measure(&ground);
}

/// This program and its peers.
fn programs(ground: &Ground) -> [Program; 3] {
    let folder = ground.folder().to_string_lossy().into_owned();
    let state = ground.state().to_string_lossy().into_owned();
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

fn asked(ground: &Ground) -> [Asked; 4] {
    let (tree, big) = (ground.in_folder("tree"), ground.in_folder("big.txt"));
    [
        Asked {
            title: "read a file of 1 MiB",
            goal: "as fast as the faster peer, half the bytes of the slower",
            calls: [
                Some(("readFile", json!({ "path": "big.txt" }))),
                Some(("read_text_file", json!({ "path": big }))),
                Some(("read_text_file", json!({ "path": big }))),
            ],
            turns: 3 * TURNS,
        },
        Asked {
            title: "tree of 20,000 files (ours shows 500 of them and the total, the others all)",
            goal: "3 times faster than both",
            calls: [
                Some(("exploreFiles", json!({ "path": "tree", "recursive": true, "maxDepth": 9 }))),
                Some(("directory_tree", json!({ "path": tree }))),
                Some(("directory_tree", json!({ "path": tree }))),
            ],
            turns: TURNS,
        },
        Asked {
            title: "names in 20,000 files (ours: find, as a confined command)",
            goal: "under 60 ms",
            calls: [
                Some(("executeCommand", json!({ "command": "find tree -name '*77_7*'" }))),
                Some(("search_files", json!({ "path": tree, "pattern": "**/*77_7*" }))),
                Some(("search_files", json!({ "path": tree, "pattern": "**/*77_7*" }))),
            ],
            turns: TURNS,
        },
        Asked {
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

fn measure(servers: &mut [Option<LineServer>], asked: &Asked) {
    let mut measured: Vec<_> =
        servers.iter().flatten().map(|server| Measured::new(server.name, vec![])).collect();
    for turn in 0..=asked.turns {
        let running =
            servers.iter_mut().zip(&asked.calls).filter_map(|(server, call)| Some((server.as_mut()?, call)));
        for ((server, call), measured) in running.zip(&mut measured) {
            let Some((tool, arguments)) = call else { continue };
            let answer = server.call(tool, arguments);
            // The first turn is for caches.
            if turn > 0 {
                measured.add(answer);
            }
        }
    }
    println!("\n{} (goal: {})", asked.title, asked.goal);
    measured::show(&measured);
}
