//! Entries that are not git's own stay in no git folder of an agent, and in no folder that agents share.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use cocode_env::AgentState;
use cocode_runner::{AgentDefinition, AgentRecord};
use sandbox_exec::Level;

use crate::fixture::{Fixture, MARKED, agent};

/// Makes a repository at `$R` that starts the program at `$V`, with files by which git takes it for one.
const PLANT: &str = "git init -q $R; git -C $R config core.fsmonitor $V; git -C $R config core.worktree $PWD";

/// The folder of such a repository, from the repository's own folder, and the levels at which an agent can make it.
const FOLDERS: [(&str, &[Level]); 9] = [
    ("worktrees/7-a/foo", ALL),
    ("worktrees/7-a/logs/foo", ALL),
    ("worktrees/7-a/refs/worktree/foo", ALL),
    ("worktrees/7-a/modules/foo", ALL),
    ("worktrees/7-a/x.refused/foo", ALL),
    ("refs/heads/cocode/foo", ALL),
    ("logs/refs/heads/cocode/foo", ALL),
    ("objects/foo", ALL),
    ("worktrees/7-a", ALL),
];

const ALL: &[Level] = &[Level::Full, Level::Landlock];

/// Returns where a folder of the agent's view is afterwards.
fn outside(fixture: &Fixture, record: &AgentRecord, folder: &str) -> PathBuf {
    let own = record.git_folder.as_ref().unwrap().join("cocode");
    let replaced =
        [("refs/heads/cocode", "heads"), ("logs/refs/heads/cocode", "logs"), ("objects", "objects")];
    let inside = replaced
        .iter()
        .find_map(|(from, to)| Some(own.join(to).join(folder.strip_prefix(*from)?.strip_prefix('/')?)));
    let renamed = folder.replace("7-a/modules/", "7-a/modules.refused/");
    inside.filter(|_| record.own_branches).unwrap_or_else(|| fixture.repository().join(".git").join(renamed))
}

fn program(fixture: &Fixture) -> (PathBuf, PathBuf) {
    let (trap, program) = (fixture.root.join("trap"), fixture.root.join("home/evil"));
    fs::write(&program, format!("#!/bin/sh\ntouch {}\n", trap.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    (trap, program)
}

fn status(fixture: &Fixture, folder: &Path) -> Option<Output> {
    let mut git = Command::new("git");
    git.arg("status").current_dir(folder).env("HOME", fixture.root.join("home"));
    folder.is_dir().then(|| git.output().unwrap())
}

#[test]
fn no_repository_of_an_agent_stays_where_a_link_can_lead() {
    for bare in [false, true] {
        for (folder, levels) in FOLDERS {
            for level in levels {
                if bare && folder == "worktrees/7-a" {
                    continue;
                }
                let fixture = Fixture::at_level(*level);
                let (trap, program) = program(&fixture);
                let flatten = if bare {
                    "mv $R/.git $R.x; rm -r $R; mv $R.x $R; git -C $R config core.bare false"
                } else {
                    "true"
                };
                let script = format!(
                    "C=$(git rev-parse --path-format=absolute --git-common-dir); R=$C/{folder}; V={}; mkdir -p $(dirname $R); \
                     {PLANT}; {flatten}; {MARKED}; test -e $R/.git/config -o -e $R/config",
                    program.display()
                );
                let record = fixture.run(&script);
                let case = format!("{level} {folder} {bare}: {record:?}");
                assert_eq!(record.exit_code, Some(0), "{case}");
                assert_eq!(record.state, AgentState::Ready, "{case}");
                assert!(!record.warnings.is_empty(), "{case}");
                let _ = fs::remove_file(&trap);
                let outside = outside(&fixture, &record, folder);
                let printed = status(&fixture, &outside);
                assert!(!trap.exists(), "{printed:?} {case}");
                // The control: the same by the user's hand is obeyed.
                fs::create_dir_all(&outside).unwrap();
                let set_up = format!("R={}; V={}; {PLANT}", outside.display(), program.display());
                let set_up =
                    set_up.replace("git init -q $R", "rm -rf $R/.git* $R/HEAD* $R/config; git init -q $R");
                let mut shell = Command::new("sh");
                shell
                    .args(["-c", &set_up])
                    .current_dir(&record.worktree)
                    .env("HOME", fixture.root.join("home"));
                let planted = if folder == "worktrees/7-a" { None } else { Some(shell.output().unwrap()) };
                let printed = status(&fixture, &outside);
                assert!(trap.exists() || planted.is_none(), "the control: {planted:?} {printed:?} {case}");
            }
        }
    }
}

#[test]
fn files_that_are_not_gits_own_are_removed_from_a_git_folder() {
    for level in ALL {
        for is_check in [false, true] {
            let fixture = Fixture::at_level(*level);
            let script = "W=$(git rev-parse --absolute-git-dir); mkdir -p $W/foo/.vscode $W/info; echo 1 > $W/foo/.vscode/tasks.json; \
                          echo 1 > $W/.envrc; echo 1 > $W/rebase-merge.sh; echo 1 > $W/info/sparse-checkout; echo 1 > $W/FETCH_HEAD";
            let definition = match is_check {
                true => AgentDefinition { check: Some(script.to_owned()), ..agent("a", MARKED) },
                false => agent("a", &format!("{MARKED}; {script}")),
            };
            let record = fixture.run_agent(definition);
            assert_eq!(record.state, AgentState::Ready, "{level} {record:?}");
            let folder = record.git_folder.clone().unwrap();
            let is_there = |name: &str| folder.join(name).exists();
            assert!(
                !is_there("foo") && !is_there(".envrc") && !is_there("rebase-merge.sh"),
                "{level} {record:?}"
            );
            // Git's own stay.
            assert!(is_there("info/sparse-checkout") && is_there("FETCH_HEAD"), "{level} {record:?}");
            let warning = record.warnings.iter().find(|warning| warning.contains("not git's own"));
            assert!(warning.is_some_and(|one| one.contains("foo/.vscode/tasks.json")), "{level} {record:?}");
        }
    }
}

/// Returns whether a command of the user's ends by itself.
fn ends(fixture: &Fixture, folder: &Path, arguments: &[&str]) -> bool {
    let mut git = Command::new("git");
    git.args(arguments).current_dir(folder).env("HOME", fixture.root.join("home"));
    let mut child = git.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let began = Instant::now();
    // Long enough for a control that waits for ever, on any machine.
    while began.elapsed() < Duration::from_secs(30) {
        if child.try_wait().unwrap().is_some() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    false
}

#[test]
fn no_pipe_of_an_agent_makes_git_wait() {
    // The pipe, the level, and a command of the user, in the repository or in the worktree.
    let cases: [(&str, Level, bool, &[&str]); 6] = [
        ("$W/HEAD", Level::Full, false, &["branch"]),
        ("$W/HEAD", Level::Process, false, &["branch"]),
        ("$W/ORIG_HEAD", Level::Full, true, &["rev-parse", "ORIG_HEAD"]),
        (".gitattributes", Level::Full, true, &["check-attr", "-a", "a.txt"]),
        ("sub/.gitignore", Level::Landlock, true, &["status", "--porcelain"]),
        ("$C/refs/heads/cocode/x", Level::Process, false, &["branch", "--all"]),
    ];
    for (pipe, level, is_in_worktree, command) in cases {
        let fixture = Fixture::at_level(level);
        let make = format!("mkdir -p sub; rm -f {pipe}; mkfifo {pipe}");
        let script = format!(
            "W=$(git rev-parse --absolute-git-dir); C=$(git rev-parse --path-format=absolute --git-common-dir); {MARKED}; {make}"
        );
        let record = fixture.run(&script);
        let case = format!("{pipe} {level}: {record:?}");
        assert_eq!((record.exit_code, record.state), (Some(0), AgentState::Ready), "{case}");
        assert!(
            record.warnings.iter().any(|warning| warning.contains("pipes") || warning.contains("cocode/x")),
            "{case}"
        );
        let folder = if is_in_worktree { record.worktree.clone() } else { fixture.repository() };
        assert!(ends(&fixture, &folder, command), "{case}");
        assert_eq!(
            fixture.git_in(&record.worktree, &["symbolic-ref", "HEAD"]),
            "refs/heads/cocode/7-a",
            "{case}"
        );
        assert!(fixture.runner().clean(true, true).is_ok(), "{case}");
        // The control: git waits at the same pipe. One of them is enough, since each takes its time.
        if pipe == "$W/HEAD" && level == Level::Full {
            let mut shell = Command::new("sh");
            let folders = [record.git_folder.as_ref().unwrap(), &fixture.repository().join(".git")];
            let set_up = format!("W={}; C={}; {make}", folders[0].display(), folders[1].display());
            assert!(shell.args(["-c", &set_up]).current_dir(&record.worktree).status().unwrap().success());
            assert!(!ends(&fixture, &folder, command), "the control: {case}");
        }
    }
}
