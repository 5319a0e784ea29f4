//! A session that this program drives.

use std::fs;
use std::process::Command;

use tempfile::TempDir;

use crate::model::{MODE, Reply};

/// A folder of code.
pub(crate) struct Session {
    folder: TempDir,
}

/// A round, as the model has noted it.
pub(crate) struct Round {
    pub(crate) number: usize,
    /// The beginning of the model, in nanoseconds since 1970.
    pub(crate) began: u64,
    /// The end of its reply.
    pub(crate) ended: u64,
    /// The memory of `agentd` meanwhile.
    pub(crate) resident_kib: u64,
    /// The processor time of `agentd` so far, in ticks.
    pub(crate) ticks: u64,
}

impl Session {
    /// Makes a folder with this many files, 100 in each folder.
    pub(crate) fn of(files: usize) -> Session {
        let folder = tempfile::Builder::new().prefix("agentd-bench-").tempdir().expect("a temporary folder");
        let text = "the quick brown fox jumps over the lazy dog\n".repeat(20);
        for number in 0..files {
            let path = folder.path().join(format!("code/folder{}", number / 100));
            if number % 100 == 0 {
                fs::create_dir_all(&path).expect("a folder");
            }
            fs::write(path.join(format!("file{}.txt", number % 100)), &text).expect("a file");
        }
        for number in 0..100 {
            let path = folder.path().join(format!("code/folder{number}"));
            if path.is_dir() {
                fs::write(path.join(format!("file{number}.txt")), &text).expect("a file");
            }
        }
        Session { folder }
    }

    /// Runs a session of this many rounds and a DONE.
    pub(crate) fn run(&self, rounds: usize, reply: Reply) -> Vec<Round> {
        let notes = self.folder.path().join("notes");
        let program = std::env::current_exe().expect("this program has a path");
        let model = format!("'{}' {MODE} '{}' {rounds} {}", program.display(), notes.display(), reply.name());
        let most = (rounds + 1).to_string();
        let agentd = std::env::var_os("BENCH_AGENTD").unwrap_or(env!("CARGO_BIN_EXE_agentd").into());
        let mut command = Command::new(agentd);
        command.args(["--quiet", "new", "measure", "--rounds", &most, "--model", &model]);
        command.current_dir(self.folder.path().join("code")).env("SHELL", "/bin/sh");
        command.env("XDG_STATE_HOME", self.folder.path().join("state"));
        let output = command.output().expect("agentd runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let notes = fs::read_to_string(notes).expect("the model has noted its calls");
        let rounds = notes.lines().map(|line| {
            let fields: Vec<u64> = line.split(' ').map(|field| field.parse().expect("a number")).collect();
            let [number, began, ended, resident_kib, ticks] = fields[..] else { panic!("{line}") };
            Round { number: number as usize, began, ended, resident_kib, ticks }
        });
        rounds.collect()
    }
}
