//! Sample work, by which the linker learns which functions of the program are needed together.
//!
//! Of 30 MB of code a command needs a small part, but that is scattered over all of it, and the system reads it 64 KiB at a
//! time. Side by side it is fewer pages: less memory, and an earlier start.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde::Deserialize;
use serde_json::{Value, json};

use super::write;
use crate::coverage::CoverageTools;
use crate::{Step, TaskError};

/// The work, relative to the root.
const WORK: &str = "packaging/training.json";

/// The commands that serve clients, of whom most only look whether the program is there.
const STARTS: usize = 4;

/// Flags of the compiler by which the program records when it first enters each function, in a folder. Small functions record
/// too, rather than being made part of their callers before: the released program may have them apart.
pub(super) fn recording_flags(records: &Path) -> String {
    let options = "-Cllvm-args=-pgo-temporal-instrumentation -Cllvm-args=-disable-preinline";
    format!("-Cprofile-generate={} {options}", records.display())
}

/// Flags by which the linker puts functions side by side that were entered together. It is the linker that comes with the
/// compiler; others refuse them.
pub(super) fn ordering_flags(order: &Path) -> String {
    format!("-Clink-arg=-Wl,--irpgo-profile={} -Clink-arg=-Wl,--bp-startup-sort=function", order.display())
}

/// The sample work.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Work {
    /// Arguments of the program, each list for one process.
    commands: Vec<Vec<String>>,
    /// Calls of tools, all in one conversation.
    calls: Vec<Value>,
}

/// Has a recording program do the sample work, and returns the file with the records of all of its processes.
///
/// # Errors
///
/// [`TaskError::StepFailed`] for a part of the work that fails, and those of reading and writing.
pub(super) fn train(
    root: &Path,
    program: &Path,
    records: &Path,
    tools: &CoverageTools,
) -> Result<PathBuf, TaskError> {
    let file = root.join(WORK);
    let work = fs::read(&file).map_err(|source| TaskError::Unreadable { path: file, source })?;
    let work: Work = serde_json::from_slice(&work)
        .map_err(|source| TaskError::NotJson { what: WORK.to_owned(), source })?;
    let unwritable = |source| TaskError::Unwritable { path: "the sample folder".into(), source };
    let scratch = tempfile::tempdir().map_err(unwritable)?;
    let sample = Sample::new(program, records, scratch.path())?;
    for arguments in &work.commands {
        sample.step(arguments).output()?;
    }
    for _ in 0..STARTS {
        sample.converse(&[])?;
    }
    sample.converse(&work.calls)?;
    for arguments in [["log"], ["diff"], ["undo"]] {
        sample.step(&arguments).output()?;
    }
    tools.merge(records, &records.with_extension("profdata"))
}

/// A folder of code, and the program that works on it.
struct Sample {
    program: String,
    records: String,
    folder: PathBuf,
    home: PathBuf,
}

impl Sample {
    /// Makes a repository with files of several sizes.
    fn new(program: &Path, records: &Path, scratch: &Path) -> Result<Sample, TaskError> {
        let (folder, home) = (scratch.join("sample"), scratch.join("home"));
        for folder in [&folder.join("src"), &home] {
            fs::create_dir_all(folder)
                .map_err(|source| TaskError::Unwritable { path: folder.clone(), source })?;
        }
        Step::new("sample", "git", &["init", "--quiet", &folder.to_string_lossy()]).run()?;
        write(&folder.join("README.md"), b"# A sample\n")?;
        write(&folder.join("large.rs"), code(1_000_000).as_bytes())?;
        write(&folder.join("middle.rs"), code(16 << 10).as_bytes())?;
        for number in 0..300 {
            let text = format!("fn item_{number}() {{\n{}}}\n", code(600));
            write(&folder.join(format!("src/f{number}.rs")), text.as_bytes())?;
        }
        let records = records.join("%p-%m.profraw").to_string_lossy().into_owned();
        Ok(Sample { program: program.to_string_lossy().into_owned(), records, folder, home })
    }

    fn step<A: AsRef<str>>(&self, arguments: &[A]) -> Step {
        let home = self.home.to_string_lossy();
        let step = Step::new("train", &self.program, arguments).folder(&self.folder);
        step.variable("HOME", &home).variable("LLVM_PROFILE_FILE", &self.records)
    }

    /// Starts a server for one client, makes the calls one after the other, and ends it.
    fn converse(&self, calls: &[Value]) -> Result<(), TaskError> {
        println!("== train: {} mcp, {} calls", self.program, calls.len());
        let not_started = |source| TaskError::NotStarted { program: self.program.clone(), source };
        let mut server = Command::new(&self.program)
            .args(["mcp", "--page", "0"])
            .current_dir(&self.folder)
            .env("HOME", &self.home)
            .env("LLVM_PROFILE_FILE", &self.records)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(not_started)?;
        let talked = talk(&mut server, calls);
        let ended = server.wait().map_err(not_started)?;
        let failed = || TaskError::StepFailed { step: "train".to_owned() };
        talked.filter(|()| ended.success()).ok_or_else(failed)
    }
}

/// Returns `None` if the server ends too early, or refuses a call.
fn talk(server: &mut Child, calls: &[Value]) -> Option<()> {
    let mut input = server.stdin.take()?;
    let mut output = BufReader::new(server.stdout.take()?).lines();
    let client = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "training", "version": "1" }
    });
    let calls = calls.iter().map(|call| ("tools/call", call));
    for (id, (method, params)) in [("initialize", &client)].into_iter().chain(calls).enumerate() {
        writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .ok()?;
        let answer = output.by_ref().find_map(|line| {
            let message: Value = serde_json::from_str(&line.ok()?).ok()?;
            (message["id"] == id && message.get("method").is_none()).then_some(message)
        })?;
        if answer.get("error").is_some() || answer["result"]["isError"] == true {
            println!("{answer}");
            return None;
        }
        if id == 0 {
            writeln!(input, "{}", json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).ok()?;
        }
    }
    Some(())
}

/// Returns lines of code of at least so many bytes.
fn code(bytes: usize) -> String {
    let mut text = String::new();
    for number in 0.. {
        if text.len() >= bytes {
            break;
        }
        text.push_str(&format!(
            "    let value_{number} = compute({}, \"{number:x}\");\n",
            number * 7919 % 10_007
        ));
    }
    text
}
