//! Measures speed and memory of the servers, compared with widely used servers for files.
//!
//! `cargo xtask bench serve` installs these and runs it. All are measured in turns within one run, each through its own tools
//! over standard input and output. A row ends with the ratio of the medians, ours to the faster peer's, and the goal; a
//! peer that fails does not count. `BENCH_PROGRAM` names another program of ours to measure. The folders are made in the target folder, once.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it has measured")]

mod code_folder;
mod http_server;
mod line_server;
mod measured;
mod tasks;
mod web;

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::code_folder::{CodeFolder, Shape};
use crate::line_server::{LineServer, Program, measured_program};
use crate::measured::Measured;
use crate::tasks::Task;

const STARTS: usize = 31;

/// Numbers of files, and how often the tasks over all of them are measured.
const SIZES: [(usize, usize); 2] = [(20_000, 15), (100_000, 5)];

/// The most that ours may take of the smaller peer's memory.
const MEMORY: f64 = 0.5;

fn main() {
    let parent = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-serve");
    let small = CodeFolder::make(&parent, Shape::Tree(SIZES[0].0));
    let programs = programs(&small);
    for program in programs.iter().filter(|program| program.command.is_none()) {
        println!("{} is not installed: cargo xtask bench serve does that", program.name);
    }
    show_load();
    start(&programs);
    for (files, turns) in SIZES {
        let code = CodeFolder::make(&parent, Shape::Tree(files));
        let mut tasks = tasks::searches(&code, files, turns);
        // These do not depend on the number of files.
        if files == SIZES[0].0 {
            tasks.splice(..0, tasks::reads(&code).into_iter().chain([tasks::edit(&code)]));
        }
        measure_all(&code, &format!("a tree of {files} files"), &tasks);
    }
    for (files, turns) in SIZES {
        let code = CodeFolder::make(&parent, Shape::Flat(files));
        measure_all(&code, &format!("a folder of {files} files"), &[tasks::list(&code, files, turns)]);
    }
    web::measure(&small);
    show_load();
}

/// Prints how much else the machine does: figures of a busy one are larger, for all programs.
fn show_load() {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let mean = load.split(' ').take(3).collect::<Vec<_>>().join(" ");
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    println!("\n{processors} processors, load of the last 1, 5 and 15 minutes: {mean}");
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
    let rust = peer("PEER_RUST_MCP_FILESYSTEM");
    let rust = rust.map(|program| (text(&program), vec!["--allow-write".to_owned(), folder.clone()]));
    [
        Program { name: "agentd", command: Some((measured_program(), ours.to_vec())) },
        Program { name: "server-filesystem (node)", command: node },
        Program { name: "rust-mcp-filesystem", command: rust },
    ]
}

fn start(programs: &[Program; 3]) {
    let mut times: [Vec<Duration>; 3] = Default::default();
    for _ in 0..STARTS {
        for (program, times) in programs.iter().zip(&mut times) {
            times.extend(LineServer::start(program).map(|server| server.started_in));
        }
    }
    let measured = programs.iter().zip(times).map(|(program, times)| Measured::new(program.name, times));
    measured::show("start to the answer to initialize", 1.2, &measured.collect::<Vec<_>>());
}

/// Measures tasks on servers of one folder, whose name is `title`, and then the memory of these.
fn measure_all(code: &CodeFolder, title: &str, tasks: &[Task]) {
    let mut servers: Vec<_> = programs(code).iter().map(LineServer::start).collect();
    let mut measured = Vec::new();
    for task in tasks {
        measured.extend(measure(&mut servers, task));
    }
    println!("\npeak memory after the tasks on {title}, resident");
    // A program that has done nothing has needed no memory for it.
    let has_worked = |name: &str| measured.iter().any(|one| one.is_of(name) && one.median().is_some());
    let running = servers.iter().flatten();
    let peaks: Vec<_> = running.map(|server| (server.name, server.peak_megabytes())).collect();
    for (name, peak) in &peaks {
        println!(
            "  {name:<28} {peak:>8.1} MB{}",
            if has_worked(name) { "" } else { ", without having done any" }
        );
    }
    let ours = peaks.first().map(|(_, peak)| *peak);
    let peers = peaks.iter().skip(1).filter(|(name, _)| has_worked(name)).map(|(_, peak)| *peak);
    measured::judge(MEMORY, ours, peers, "the smaller peer's memory");
}

fn measure(servers: &mut [Option<LineServer>], task: &Task) -> Vec<Measured> {
    let mut measured: Vec<_> =
        servers.iter().flatten().map(|server| Measured::new(server.name, vec![])).collect();
    for turn in 0..=task.turns {
        let running =
            servers.iter_mut().zip(&task.calls).filter_map(|(server, calls)| Some((server.as_mut()?, calls)));
        for ((server, calls), measured) in running.zip(&mut measured) {
            let Some(calls) = calls else { continue };
            let answer = server.call(calls.tool, &calls.arguments[turn % calls.arguments.len()]);
            // The first turn is for caches.
            if turn > 0 {
                measured.add(answer);
            }
        }
    }
    measured::show(&task.title, task.goal, &measured);
    measured
}
