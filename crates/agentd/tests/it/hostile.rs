//! Every tool with hostile sizes and shapes, in a process of little memory.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::hostile_table::{HostileCase, hostile_cases};
use crate::line_client::LineClient;
use crate::project::Project;

/// What the process may take for data, in KiB: 256 MB.
const MEMORY_KIB: u64 = 256 * 1024;

/// The longest answer: 100 matches with 20 lines around them on both sides, of 1,000 characters that each take six bytes.
const MOST_ANSWER_BYTES: usize = 32 << 20;

/// The program on a project, with so much memory.
fn limited(project: &Project, memory_kib: u64) -> Command {
    let plain = project.command(&["wap"]);
    let mut limited = Command::new("sh");
    limited.args(["-c", &format!("ulimit -d {memory_kib} && exec \"$@\""), "sh"]);
    limited.arg(plain.get_program()).args(plain.get_args());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    limited.current_dir(project.workspace()).stderr(Stdio::piped());
    limited
}

fn project() -> (Project, Vec<HostileCase>) {
    let (files, cases) = hostile_cases(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    let project = Project::new();
    for file in files {
        project.write(&file.path, &file.content);
    }
    (project, cases)
}

/// The longest refusal, which may quote what it is about.
const MOST_REFUSAL_BYTES: usize = 64 << 10;

/// Sends one case and looks at its answer, which must come in time. Answers with what is wrong with it, if anything is: it
/// has to be bounded, and what the table says.
fn ask(client: &mut LineClient, case: &HostileCase) -> Option<String> {
    client.send_bytes(case.line.as_bytes());
    client.send_bytes(b"\n");
    let answer = client.wait_for(&case.name, |message| message["id"] == 1 || message["id"].is_null());
    let length = answer.to_string().len();
    let shown: String = answer.to_string().chars().take(600).collect();
    let error = answer.get("error");
    let reason = error.and_then(|error| error["data"]["details"]["reason"].as_str());
    let is_expected = match case.expected.as_deref() {
        None => true,
        Some("ok") => error.is_none(),
        Some("refused") => error.is_some(),
        Some(expected) => reason == Some(expected),
    };
    let most = if error.is_some() { MOST_REFUSAL_BYTES } else { MOST_ANSWER_BYTES };
    let is_right = is_expected && length <= most;
    (!is_right).then(|| format!("{}: wanted {:?}, {length} bytes: {shown}", case.name, case.expected))
}

#[test]
fn no_request_takes_much_memory_or_for_ever_and_the_next_one_is_answered() {
    let (project, mut cases) = project();
    if std::env::var_os("SOAK_FACTOR").is_none() {
        cases.retain(|case| !case.is_long);
    }
    let mut client = LineClient::start(limited(&project, MEMORY_KIB));
    let mut wrong = Vec::new();
    for case in &cases {
        wrong.extend(ask(&mut client, case));
        let small = client.request("getWorkspaceInfo", Value::Null);
        assert!(client.answer(small)["result"]["limits"].is_object(), "after {}", case.name);
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    client.does("writeFile", json!({ "path": "after.txt", "content": "x" }));
    assert_eq!(project.read("after.txt"), "x");
}

#[test]
fn the_bound_on_memory_is_one() {
    let (project, cases) = project();
    let large = cases.iter().find(|case| case.name == "writeFile: 16 MiB").unwrap();
    let input = tempfile::NamedTempFile::new().unwrap();
    fs::write(&input, format!("{}\n", large.line)).unwrap();
    let is_answered = |memory_kib| {
        let input = File::open(&input).unwrap();
        let output = limited(&project, memory_kib).stdin(input).output().unwrap();
        String::from_utf8_lossy(&output.stdout).contains("\"success\":true")
    };
    assert!(is_answered(MEMORY_KIB));
    assert!(!is_answered(40 * 1024), "40 MB are not enough for 16 MiB as a line, a value and a plan");
}
