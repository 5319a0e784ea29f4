//! Growth with the number of files.

use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::code_folder::{CodeFolder, EDITED, Shape, edited_file};
use crate::curve::Curves;
use crate::line_server::{LineServer, Program, measured_program};

const SIZES: [u32; 3] = [1_000, 10_000, 100_000];
const TURNS: usize = 15;

/// Measures calls in trees of these sizes, and `find` and `rg` there.
pub(crate) fn measure(parent: &Path) {
    let mut curves = Curves::new("growth-files", "Calls in a tree of files", "files");
    for files in SIZES {
        let code = CodeFolder::make(parent, Shape::Tree(files as usize));
        let mut server = LineServer::start(&ours(&code)).expect("it is built");
        for (line, tool, arguments) in calls() {
            match times(&mut server, tool, &arguments) {
                Ok(times) => curves.add(line, files, times),
                Err(why) => curves.none(line, files, &why),
            }
        }
        for (line, words) in [
            ("find -name", ["find", "tree", "-name", "*_7_7.*"]),
            ("rg", ["rg", "--fixed-strings", "needle 7_7", "tree"]),
        ] {
            match (0..TURNS).map(|_| spawned(&code, &words)).collect::<Option<Vec<_>>>() {
                Some(times) => curves.add(line, files, times),
                None => curves.none(line, files, "is not installed"),
            }
        }
    }
    curves.end();
}

/// The server of a folder.
pub(crate) fn ours(code: &CodeFolder) -> Program {
    let [folder, state] = [code.folder(), code.state()].map(|path| path.to_string_lossy().into_owned());
    let words = ["mcp", "--page", "0", "--workspace", &folder, "--base", &state].map(str::to_owned);
    Program { name: "agentd", command: Some((measured_program(), words.to_vec())) }
}

/// Each line with its tool and the arguments of its turns, over and over.
fn calls() -> [(&'static str, &'static str, Vec<Value>); 5] {
    let edit = |old: &str, new: &str| {
        let operation = json!({ "type": "replaceText", "oldText": old, "newText": new });
        json!({ "path": edited_file(0), "operations": [operation] })
    };
    let content = json!({ "paths": ["tree"], "query": "needle 7_7", "type": "literal", "contextLines": 0 });
    [
        ("names", "exploreFiles", vec![json!({ "path": "tree", "pattern": "*_7_7.*" })]),
        ("contents", "searchFiles", vec![content]),
        ("read", "readFile", vec![json!({ "path": "16k.txt" })]),
        ("edit", "modifyFile", vec![edit(EDITED[0], EDITED[1]), edit(EDITED[1], EDITED[0])]),
        ("command `true`", "executeCommand", vec![json!({ "command": "true" })]),
    ]
}

/// Returns the times of the turns, after an even number of others, or the reason why there are none.
pub(crate) fn times(
    server: &mut LineServer,
    tool: &str,
    arguments: &[Value],
) -> Result<Vec<Duration>, String> {
    let mut times = Vec::new();
    for turn in 0..TURNS + 2 {
        let answer = server.call(tool, &arguments[turn % arguments.len()]);
        if let Some(failure) = answer.failure {
            return Err(failure);
        }
        // The first turns are for caches.
        if turn >= 2 {
            times.push(answer.time);
        }
    }
    Ok(times)
}

/// Returns the time of a program; `None` if it is not installed.
///
/// # Panics
///
/// If it fails or finds nothing: the figure would be that of doing nothing.
fn spawned(code: &CodeFolder, words: &[&str]) -> Option<Duration> {
    let began = Instant::now();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(code.folder()).stdout(Stdio::null()).stderr(Stdio::null());
    let status = match command.status() {
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        status => status.expect("the program can be started"),
    };
    let took = began.elapsed();
    assert!(status.success(), "{} ended with {status}", words[0]);
    Some(took)
}
