//! The same replies, applied by other programs, as far as they are installed.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::case::Case;
use super::format::Format;
use super::verdict::Verdict;
use crate::setup::client_packages::ReplayPeers;

/// The verdicts on one program: for each reply, `None` if the program does not know its format.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) name: String,
    /// The reason why there are no verdicts; `None` if there are.
    pub(super) missing: Option<String>,
    pub(super) verdicts: Vec<Option<Verdict>>,
}

/// Lets every installed program apply the replies in its formats.
pub(super) fn judge(cases: &[Case]) -> Vec<Peer> {
    let installed = ReplayPeers::installed();
    let advice = || "not installed: cargo xtask setup outside".to_owned();
    let aider = match &installed.aider {
        Some(python) => of_aider(python, cases).map_err(|error| error.to_string()),
        None => Err(advice()),
    };
    let codex = match &installed.codex {
        Some(program) => of_codex(program, cases).map_err(|error| error.to_string()),
        None => Err(advice()),
    };
    let peer = |name: &str, outcome: Result<Vec<Option<Verdict>>, String>| {
        let (verdicts, missing) = match outcome {
            Ok(verdicts) => (verdicts, None),
            Err(why) => (vec![None; cases.len()], Some(why)),
        };
        Peer { name: name.to_owned(), missing, verdicts }
    };
    vec![peer(ReplayPeers::AIDER, aider), peer(ReplayPeers::CODEX, codex)]
}

/// The process that runs aider's coders, one reply after the other.
struct Coders {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Coders {
    fn start(python: &Path, folder: &Path) -> std::io::Result<Coders> {
        let script = folder.join("aider_coders.py");
        fs::write(&script, include_str!("aider_coders.py"))?;
        let mut command = Command::new(python);
        command.arg("-B").arg(&script).env_clear().env("HOME", folder).env("TMPDIR", folder);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(std::io::Error::other("a child has the pipes that it is given"));
        };
        Ok(Coders { child, input, output: BufReader::new(output) })
    }

    fn apply(&mut self, case: &Case, format: &str) -> std::io::Result<String> {
        let reply = reply_of(case);
        let request =
            json!({ "format": format, "path": case.change.path, "content": case.before, "reply": reply });
        writeln!(self.input, "{request}")?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        let answer: Value = serde_json::from_str(&line).map_err(std::io::Error::other)?;
        Ok(answer["content"].as_str().unwrap_or_default().to_owned())
    }
}

impl Drop for Coders {
    fn drop(&mut self) {
        // Nothing is left to be done: each answer has been read.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn of_aider(python: &Path, cases: &[Case]) -> std::io::Result<Vec<Option<Verdict>>> {
    let folder = tempfile::tempdir()?;
    let mut coders = Coders::start(python, folder.path())?;
    let mut verdicts = Vec::with_capacity(cases.len());
    for case in cases {
        let format = match case.format {
            Format::SearchReplace => "search_replace",
            Format::UnifiedDiff => "unified_diff",
            Format::BeginPatch => "begin_patch",
            Format::LineNumbers | Format::Hunks => {
                verdicts.push(None);
                continue;
            }
        };
        let after = coders.apply(case, format)?;
        verdicts.push(Some(Verdict::of_file(case, &after)));
    }
    Ok(verdicts)
}

fn of_codex(program: &Path, cases: &[Case]) -> std::io::Result<Vec<Option<Verdict>>> {
    let verdicts: Mutex<Vec<Option<Verdict>>> = Mutex::new(vec![None; cases.len()]);
    let next = AtomicUsize::new(0);
    let work = || -> std::io::Result<()> {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = cases.get(index) else { return Ok(()) };
            if case.format == Format::BeginPatch {
                let after = patched(program, case)?;
                verdicts.lock().expect("no thread panics while holding it")[index] =
                    Some(Verdict::of_file(case, &after));
            }
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("a worker does not panic"))
    })?;
    Ok(verdicts.into_inner().expect("no thread panics while holding it"))
}

/// Runs the program's own patch command in a folder with the file, and returns the file.
fn patched(program: &Path, case: &Case) -> std::io::Result<String> {
    let folder = tempfile::tempdir()?;
    let root: PathBuf = folder.path().join("work");
    let file = root.join(&case.change.path);
    fs::create_dir_all(file.parent().unwrap_or(&root))?;
    fs::write(&file, &case.before)?;
    let mut command = Command::new(program);
    command.arg("--codex-run-as-apply-patch").arg(reply_of(case)).current_dir(&root);
    // Whatever it reads of settings, it reads none of the user's.
    command
        .env_clear()
        .env("HOME", folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status()?;
    Ok(String::from_utf8_lossy(&fs::read(&file).unwrap_or_default()).into_owned())
}

/// Returns the reply; of a patch its lines alone, since neither program takes prose around it.
fn reply_of(case: &Case) -> &str {
    if case.format != Format::BeginPatch {
        return &case.reply;
    }
    case.reply.find("*** Begin Patch").map_or(case.reply.as_str(), |start| case.reply[start..].trim_end())
}
