//! `agentd cocode` through the built program.

mod crashes;
pub(crate) mod desk;
mod disk;
mod logs;
mod options;
mod paste;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cocode::desk::{Desk, MARKED};
use crate::fixture::project::Ran;
use test_support::is_alive;

fn repository_file(path: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
        .canonicalize()
        .unwrap()
        .display()
        .to_string()
}

#[test]
fn a_run_ends_with_the_truth_about_its_agents() {
    let desk = Desk::new();
    let ran = desk.run(&["--agent-cmd", &format!("good={MARKED}"), "--agent-cmd", "bad=exit 3"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains("good") && ran.stdout.contains(" ready "), "{ran:?}");
    assert!(ran.stdout.contains("agentd cocode doctor"), "{ran:?}");
    let status = desk.status();
    let agents = status["agents"].as_array().unwrap();
    assert_eq!(agents.len(), 2);
    for field in ["agent", "state", "verdict", "branch", "worktree", "commits", "exit_code"] {
        assert!(agents[0].get(field).is_some(), "{field}");
    }
    let states: Vec<_> = agents.iter().map(|one| one["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["failed", "ready"]);
    let strict =
        desk.cocode(&["run", "--issue", "6", "--issue-body", "x", "--all", "--agent-cmd", "c=exit 0"]);
    assert_eq!(strict.code, 1, "{strict:?}");
}

#[test]
fn agents_are_compared_by_what_they_did() {
    let desk = Desk::new();
    let script = |lines: u32| {
        let text = format!(
            "seq {lines} > made.txt; rm a.txt; git add -A; git commit -q -m 'cocode ready for check'"
        );
        serde_json::to_string(&text).unwrap()
    };
    let agent = |name: &str, script: &str, check: &str| {
        format!("[agents.{name}]\ncommand = 'sh'\nargs = ['-c', {script}]\ncheck = '{check}'\n")
    };
    let text = [
        agent("long", &script(40), "test -s made.txt"),
        agent("short", &script(3), "test -s made.txt"),
        agent("wrong", &script(2), "false"),
        agent("idle", "'exit 0'", "true"),
    ];
    desk.define(&text.concat());
    let agents = ["--agent", "long", "short", "wrong", "idle"];
    let ran = desk.run(&[&agents[..], &["--compare"]].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    let (_, table) = ran.stdout.split_once("agent        verdict").unwrap();
    let rows: Vec<Vec<&str>> =
        table.lines().skip(1).take(4).map(|row| row.split_whitespace().collect()).collect();
    assert_eq!(rows[0][..7], ["short", "ready", "1", "2", "+3", "-1", "passed"], "{table}");
    assert_eq!(rows[1][..7], ["long", "ready", "1", "2", "+40", "-1", "passed"], "{table}");
    assert_eq!(rows[2][0], "idle", "{table}");
    assert_eq!(rows[3][..7], ["wrong", "completed", "1", "2", "+2", "-1", "failed"], "{table}");
    assert!(table.contains("agentd cocode pick short"), "{table}");
    desk.cocode(&["clean", "--all"]);
    let ran = desk.cocode(
        &[&["run", "--issue", "6", "--issue-body", "x", "--json", "--compare"][..], &agents[..2]].concat(),
    );
    let compared: Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(compared["event"], "compared");
    let row = &compared["agents"][0];
    assert_eq!(
        (&row["lines_added"], &row["files"], &row["check_passed"]),
        (&40.into(), &2.into(), &true.into())
    );
}

#[test]
fn definitions_come_from_the_users_folder_and_never_from_the_repository() {
    let desk = Desk::new();
    desk.project.write("agents.toml", "[agents.a]\ncommand = 'true'\n");
    assert_eq!(desk.run(&["--agent", "a"]).code, 2);
    desk.define("[agents.a]\ncommand = 'no-such-program-here'\n");
    assert_eq!(desk.run(&["--agent", "a"]).code, 3);
    assert_eq!(desk.cocode(&["doctor"]).code, 3);
    desk.define("[agents.a]\ncommand = 'sh'\nargs = ['-c', 'echo $0 $MODEL', '${COCODE_ISSUE_NUMBER}']\nenv = { MODEL = 'x' }\n");
    assert_eq!(desk.cocode(&["doctor"]).code, 0);
    // What a run refuses is not called right by `doctor` either.
    for (more, says) in [
        ("sandbox = 'off'\nnetwork = 'off'\n", "without confinement nothing enforces that"),
        ("args = ['${NO_SUCH_VARIABLE}']\n", "names the variable NO_SUCH_VARIABLE"),
        ("writable = ['~/.ssh']\n", "programs keep credentials there"),
    ] {
        let plain = "[agents.a]\ncommand = 'sh'\n".to_owned();
        desk.define(&(plain.clone() + more));
        desk.cocode(&["doctor"]).exits(3).prints(says);
        desk.run(&["--agent", "a"]).exits(2).says(says);
        desk.define(&plain);
        desk.cocode(&["doctor"]).ok();
    }
    desk.define("[agents.a]\ncommand = 'sh'\nargs = ['-c', 'echo $0 $MODEL', '${COCODE_ISSUE_NUMBER}']\nenv = { MODEL = 'x' }\n");
    let ran = desk.run(&["--agent", "a"]);
    assert!(ran.stderr.contains("a: 5 x"), "{ran:?}");
    desk.define("[agents.a\n");
    assert_eq!(desk.run(&["--agent", "a"]).code, 2);
}

#[test]
fn a_dry_run_starts_nothing() {
    let desk = Desk::new();
    let ran = desk.run(&["--agent-cmd", "a=touch /tmp/x", "--dry-run"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains("cocode/5-a"));
    assert_eq!(desk.git(&["branch", "--list", "cocode/*"]), "");
    assert_eq!(desk.status()["agents"].as_array().unwrap().len(), 0);
}

#[test]
fn bad_input_is_refused_with_what_to_do() {
    let desk = Desk::new();
    for arguments in [
        &["run", "--issue", "0", "--agent", "a", "--issue-body", "x"][..],
        &["run", "--issue", "5", "--agent", "a b", "--issue-body", "x"],
        &["run", "--issue", "5", "--agent-cmd", "a", "--issue-body", "x"],
        &["run", "--issue", "5", "--agent-cmd", "a=true", "--issue-body", " "],
        &["run", "--issue", "5", "--agent-cmd", "a=true", "--issue-body", "x", "--marker", "a\nb"],
        &["run", "--issue", "5", "--agent-cmd", "a=true", "--issue-body", "x", "--timeout", "3601"],
        &["run", "--issue", "5", "--agent-cmd", "a=true", "--issue-body", "x", "--parallel", "21"],
        &["run", "--issue", "5", "--agent-cmd", "a=true", "--issue-url", "ftp://x", "--issue-body", "x"],
        &["run", "--issue", "5", "--issue-body", "x"],
        &["logs", "stranger"],
    ] {
        assert_eq!(desk.cocode(arguments).code, 2, "{arguments:?}");
    }
}

#[test]
fn the_issue_comes_from_gh_when_there_is_no_other_text() {
    let desk = Desk::new();
    let stub = desk.home().join("bin/gh");
    fs::create_dir(desk.home().join("bin")).unwrap();
    let answer = r#"{"title":"Broken","body":"It fails.","url":"https://example.org/o/r/issues/5"}"#;
    fs::write(&stub, format!("#!/bin/sh\ntest \"$1 $2 $3\" = 'issue view 5' && echo '{answer}'\n")).unwrap();
    Command::new("chmod").arg("+x").arg(&stub).status().unwrap();
    let path = format!("{}:{}", desk.home().join("bin").display(), std::env::var("PATH").unwrap());
    let script = format!("a=cat $COCODE_ISSUE_BODY_FILE; echo $COCODE_ISSUE_URL; {MARKED}");
    let mut command = desk.command(&["run", "--issue", "5", "--agent-cmd", &script]);
    let ran = Ran::of(command.env("PATH", path).output().unwrap());
    assert_eq!(ran.code, 0, "{ran:?}");
    for text in ["a: Broken", "a: It fails.", "a: https://example.org/o/r/issues/5"] {
        assert!(ran.stderr.contains(text), "{ran:?}");
    }
}

#[test]
fn events_are_lines_of_json() {
    let desk = Desk::new();
    let ran = desk.run(&["--json", "--agent-cmd", &format!("a=echo '[WARN] hm'; {MARKED}")]);
    let events: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let has = |key: &str, value: &str| events.iter().any(|event| event[key] == value);
    for name in ["started", "log", "commit", "ended", "finished"] {
        assert!(has("event", name), "{name}: {ran:?}");
    }
    assert!(has("level", "warn") && has("message", "hm") && has("state", "ready"));
}

#[test]
fn work_is_looked_at_picked_and_cleaned() {
    let desk = Desk::new();
    let ran = desk.agent(&format!("echo two > b.txt; git add .; echo hello; {MARKED}"));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(desk.cocode(&["logs", "a"]).stdout.contains("hello\n"));
    assert!(desk.cocode(&["diff", "a"]).stdout.contains("+two"));
    desk.cocode(&["clean", "--dry-run"]).ok().prints("unmerged commits").says("clean --force NAME");
    assert!(desk.cocode(&["pick", "a", "--dry-run"]).stdout.contains("would be taken"));
    assert!(!desk.project.has("b.txt"));
    assert_eq!(desk.cocode(&["pick", "a"]).code, 0);
    assert_eq!(desk.project.read("b.txt"), "two\n");
    assert!(desk.cocode(&["clean"]).stdout.contains("removed"));
    assert_eq!(desk.git(&["branch", "--list", "cocode/*"]), "");
    assert_eq!(desk.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn names_of_files_forge_no_line_of_what_is_cleaned() {
    let desk = Desk::new();
    desk.agent("touch \"$(printf 'un\\nb #5: removed \\033[2J\\342\\200\\256x')\" plain");
    let ran = desk.cocode(&["clean"]);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    let kept = "a #5: kept: it holds files that are not committed: plain, un␊b #5: removed ␛[2J⟨202E⟩x";
    assert_eq!((lines.len(), lines[0]), (2, kept), "{ran:?}");
    assert!(!ran.stdout.contains(['\u{1b}', '\u{202e}']), "{ran:?}");
}

#[test]
fn cleaning_where_nothing_is_asks_nothing() {
    let desk = Desk::new();
    let mut command = desk.command(&["clean", "--all", "--dry-run"]);
    let ran = Ran::of(command.stdin(Stdio::null()).output().unwrap());
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "there is nothing to clean\n"));
}

#[test]
fn a_killed_daemon_leaves_no_process_and_no_doubt() {
    let desk = Desk::new();
    let script = format!("a={MARKED}; setsid sleep 31.4161 & echo go; sleep 31.4162");
    let mut command =
        desk.command(&["run", "--json", "--issue", "5", "--issue-body", "x", "--agent-cmd", &script]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let output = std::io::BufReader::new(child.stdout.take().unwrap());
    let said = std::io::BufRead::lines(output).map(Result::unwrap).find(|line| line.contains("\"go\""));
    assert!(said.is_some());
    let state = desk.status();
    assert_eq!(state["agents"][0]["state"], "running");
    child.kill().unwrap();
    child.wait().unwrap();
    let began = Instant::now();
    while is_alive("sleep 31.416") {
        assert!(began.elapsed() < Duration::from_secs(20), "an agent outlived its daemon");
        std::thread::sleep(Duration::from_millis(50));
    }
    let agent = &desk.status()["agents"][0];
    assert_eq!((&agent["state"], &agent["commits"]), (&"lost".into(), &1.into()));
    assert_eq!(agent["verdict"]["marker_present"], true);
    assert_eq!(agent["verdict"]["ready"], false);
    assert_eq!(desk.git(&["log", "-1", "--format=%s", "cocode/5-a"]), "cocode ready for check");
    assert!(Path::new(agent["worktree"].as_str().unwrap()).exists());
    // Its body file is gone, and another run is possible.
    assert!(!Path::new(&format!("{}.issue.txt", agent["worktree"].as_str().unwrap())).exists());
    assert_eq!(desk.run(&["--agent-cmd", &format!("b={MARKED}")]).code, 0);
}

#[test]
fn cancelling_from_elsewhere_ends_an_agent() {
    let desk = Desk::new();
    let mut command = desk.command(&[
        "run",
        "--json",
        "--issue",
        "5",
        "--issue-body",
        "x",
        "--agent-cmd",
        "a=echo go; sleep 60",
    ]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut output = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    assert!(output.any(|line| line.unwrap().contains("\"go\"")));
    desk.cocode(&["cancel", "a"]).ok().says("a is asked to end");
    assert!(output.any(|line| line.unwrap().contains("\"cancelled\"")));
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert_eq!(desk.status()["agents"][0]["exit_code"], 130);
}

#[test]
fn nothing_but_state_worktrees_and_branches_of_agents_changes() {
    let desk = Desk::new();
    let git = desk.project.workspace().join(".git").display().to_string();
    let script = format!(
        "echo x > b; git add .; {MARKED}; git branch -f main HEAD; git tag evil; git config user.name evil; \
         git stash -q; git worktree add -q ../evil; for f in ../evil ~/evil {git}/evil {git}/../a.txt; do echo x > $f; done"
    );
    let before = desk.digests();
    let refs = desk.git(&["for-each-ref"]);
    desk.run(&["--agent-cmd", &format!("a={script}"), "--agent-cmd", "b=exit 1"]);
    desk.cocode(&["clean"]);
    desk.assert_untouched(&before);
    let after = desk.git(&["for-each-ref"]);
    let others: Vec<&str> = after.lines().filter(|line| !line.contains("refs/heads/cocode/")).collect();
    assert_eq!(others.join("\n"), refs);
    // The control: what is not confined leaves its traces.
    let text = serde_json::to_string(&script).unwrap();
    desk.define(&format!("[agents.c]\ncommand = 'sh'\nargs = ['-c', {text}]\nsandbox = 'off'\n"));
    let before = desk.digests();
    desk.run(&["--agent", "c"]);
    assert_ne!(desk.digests(), before);
}

#[test]
fn repositories_that_cannot_be_used_are_refused_with_what_to_do() {
    let desk = Desk::new();
    let run = |folder: &str, more: &[&str]| {
        let folder = desk.project.folder().join(folder);
        fs::create_dir_all(&folder).unwrap();
        let mut command = desk.command(&[&["run", "--issue", "5", "--issue-body", "x"], more].concat());
        Ran::of(command.current_dir(folder).output().unwrap())
    };
    let init = |name: &str, more: &[&str]| {
        let folder = desk.project.folder().join(name).display().to_string();
        desk.git(&[&["init", "-q"], more, &[&folder]].concat());
    };
    init("empty", &[]);
    init("bare", &["--bare"]);
    let agent = ["--agent-cmd", "a=true"];
    run("none", &agent).exits(2).says("belongs to no git repository").says("name one with --workspace DIR");
    run("bare", &agent).exits(2).says("the repository is bare").says("git worktree add");
    run("empty", &agent).exits(2).says("no commits yet").says("make a first commit");
    let nowhere = ["--agent-cmd", "a=true", "--from", "nowhere"];
    run("code", &nowhere).exits(2).says("there is no branch 'nowhere'");
    let inside = ["--agent-cmd", "a=true", "--worktrees", "trees"];
    run("code", &inside).exits(2).says("is in a repository").says("--worktrees DIR");
    let program = desk.home().join("not-executable");
    fs::write(&program, "#!/bin/sh\n").unwrap();
    desk.define(&format!("[agents.a]\ncommand = '{}'\n", program.display()));
    run("code", &["--agent", "a"]).exits(3).says("missing or not executable").says("agents.toml");
    desk.git(&["branch", "cocode"]);
    run("code", &agent).exits(2).says("the branch cocode already exists").says("git branch -m cocode");
    desk.git(&["branch", "-D", "cocode"]);
    desk.git(&["branch", "cocode/5-a"]);
    run("code", &agent).exits(2).says("the branch cocode/5-a already exists").says("cocode clean");
    assert_eq!(desk.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(desk.status()["agents"].as_array().unwrap().len(), 0);
}

#[test]
fn changes_that_are_not_committed_stay_the_users() {
    let desk = Desk::new();
    desk.project.write("a.txt", "mine\n").write("new.txt", "mine\n");
    let before = desk.digests();
    let ran = desk.agent(&format!("cat a.txt; test ! -e new.txt; echo two > a.txt; git add .; {MARKED}"));
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.stderr.contains("a: one"), "agents see what is committed: {ran}");
    desk.cocode(&["pick", "a"]).exits(1).says("changes that are not committed").says("commit or stash");
    desk.assert_untouched(&before);
}

#[test]
fn the_examples_keep_the_contract() {
    for name in ["minimal.sh", "minimal.py", "minimal.js"] {
        let ran = Desk::new().cocode(&["check", "--", &repository_file(&format!("examples/agents/{name}"))]);
        assert_eq!(ran.code, 0, "{name}: {ran:?}");
    }
}

#[test]
fn the_documents_samples_are_judged_rightly() {
    let desk = Desk::new();
    let bash = repository_file("fixtures/cocode/document-sample.sh");
    let ran = desk.cocode(&["check", "--", "bash", &bash]);
    assert_eq!(ran.code, 0, "{ran:?}");
    // It changes nothing, so that its commit fails.
    let python = repository_file("fixtures/cocode/document-sample.py");
    let ran = desk.cocode(&["check", "--", "python3", &python]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stdout.contains("failed  exit_code"), "{ran:?}");
}
