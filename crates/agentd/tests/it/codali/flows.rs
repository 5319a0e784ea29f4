//! `agentd codali run`: programs plan, edit and judge until the result passes.

use std::fs;
use std::time::Instant;

use super::flow_project::{ASKS, EDIT, FlowProject, LONG, PLAN, SUMMARY, events};
use crate::fixture::daemon::{Daemon, PATIENCE, eventually};
use crate::fixture::project::Project;

const SHORT: [(&str, &str); 4] =
    [("architect-1", PLAN), ("builder-1", EDIT), ("critic-1", "PASS\n"), ("architect-2", SUMMARY)];

#[test]
fn a_flow_comes_to_pass_and_is_one_session_in_the_journal() {
    let flow = FlowProject::new(&LONG);
    let ran =
        flow.run(&["--test", "cat greet.txt"]).ok().prints("PASS after 2 rounds").prints(SUMMARY.trim());
    ran.prints("changed: greet.txt\nchanged: log.txt\n")
        .says("asked, 2 results given")
        .says("1 command; the last test: cat greet.txt: Ran 'cat greet.txt' (exit code 0); ")
        .says("the log is missing");
    let project = &flow.project;
    assert_eq!((project.read("greet.txt"), project.read("log.txt")), ("bonjour\n".into(), "once\n".into()));
    // The architect got the file, and later the result of the critic; the critic the output of the command.
    assert!(
        flow.prompt("architect-2").contains("content: |\n      hello\n"),
        "{}",
        flow.prompt("architect-2")
    );
    assert!(flow.prompt("architect-3").contains("status: FAIL"));
    assert!(flow.prompt("architect-4").contains("status: PASS"));
    assert!(flow.prompt("critic-2").contains("type: command.output"));
    assert!(flow.prompt("builder-2").contains("FAILED: Failed to edit 'greet.txt'"));
    let id = flow.id();
    project.run(&["sessions"]).ok().prints("done").prints("greet in French");
    let log = project.run(&["log"]).ok();
    assert!(log.stdout.contains("greet.txt") && log.stdout.contains("log.txt"), "{log}");
    project.run(&["diff"]).ok().prints("-hello").prints("+bonjour");
    project.run(&["undo", "--session", &id]).ok();
    assert_eq!(project.read("greet.txt"), "hello\n");
    assert!(!project.has("log.txt"));
}

#[test]
fn each_role_may_have_a_program_of_its_own() {
    let flow = FlowProject::new(&SHORT);
    fs::write(flow.agents().join("librarian-1"), "greet.txt has the greeting.\n").unwrap();
    let command = flow.command();
    let roles = ["--architect", &command, "--builder", &command, "--librarian", &command];
    let run = [&["codali", "run", "greet", "in", "French"], roles.as_slice()].concat();
    flow.project.run(&run).ok().prints("PASS after 1 round\n");
    assert_eq!(flow.calls(), "librarian 1\narchitect 1\nbuilder 1\narchitect 2\n", "no critic was named");
    assert!(flow.prompt("architect-1").contains("role: librarian\n\ngreet.txt has the greeting."));
}

#[test]
fn events_are_lines_of_json() {
    let flow = FlowProject::new(&SHORT);
    let ran = flow.run(&["--json"]).ok();
    let events = events(&ran);
    let names: Vec<_> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    let calls = |count: usize| ["called", "replied"].repeat(count);
    let mut expected = vec!["round"];
    expected.extend(calls(1));
    expected.push("planned");
    expected.extend(calls(1));
    expected.push("applied");
    expected.extend(calls(1));
    expected.push("judged");
    expected.extend(calls(1));
    expected.push("end");
    assert_eq!(names, expected, "{ran}");
    let end = events.last().unwrap();
    assert_eq!((&end["result"]["status"], &end["session"]), (&"PASS".into(), &flow.id().into()));
    let applied = events.iter().find(|event| event["event"] == "applied").unwrap();
    assert_eq!(applied["touched"], serde_json::json!(["greet.txt"]));
}

#[test]
fn a_flow_that_was_killed_resumes_at_the_interrupted_step() {
    let wait = "[RUN_COMMAND]\ntouch begun; while [ ! -e go ]; do sleep 0.05; done; echo once >> log.txt\n[/RUN_COMMAND]\n";
    let flow = FlowProject::new(&LONG);
    fs::write(flow.agents().join("builder-3"), format!("{wait}{EDIT}")).unwrap();
    let project = &flow.project;
    let command = flow.command();
    let run = ["--layer", "off", "codali", "run", "greet in French", "--model", &command];
    let mut daemon = Daemon::start(project.command(&run));
    eventually("the command of the second round runs", || project.has("begun"));
    daemon.kill();
    drop(daemon);
    project.write("go", "");
    // The interrupted command is not run twice, so its edit fails, and the builder is told.
    fs::write(flow.agents().join("builder-4"), "[RUN_COMMAND]\necho once >> log.txt\n[/RUN_COMMAND]\n")
        .unwrap();
    let resumed = project.run(&["--layer", "off", "codali", "run", "--resume", "--model", &command]).ok();
    resumed.says("resumed after ").prints("PASS after 2 rounds");
    assert_eq!(project.read("log.txt"), "once\n");
    let calls = flow.calls();
    let mut once: Vec<_> = calls.lines().collect();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), calls.lines().count(), "no agent was asked twice:\n{calls}");
    flow.resume(&[]).exits(2).says("there is no flow to resume");
    let id = flow.id();
    // By its id, the end is reported once more.
    let again = project.run(&["codali", "run", "--resume", &id, "--model", &command]).ok();
    again.prints("PASS after 2 rounds");
    assert_eq!(flow.calls(), calls);
}

#[test]
fn the_result_fails_when_the_rounds_are_used_up_and_more_rounds_continue() {
    let other = "[CREATE_FILE path=\"other.txt\"]\nx\n[/CREATE_FILE]\n";
    let flow = FlowProject::new(&[("architect-1", PLAN), ("builder-1", other), ("critic-1", "PASS\n")]);
    let ran = flow.run(&["--rounds", "1", "--allowed", "greet.txt,docs"]).exits(1);
    ran.says("touched files outside allowed paths: other.txt")
        .says("the critic agent said PASS: the check wins");
    let delete = format!("[DELETE_FILE path=\"other.txt\"]\n{EDIT}");
    for (name, reply) in [
        ("architect-2", PLAN),
        ("builder-2", delete.as_str()),
        ("critic-2", "PASS\n"),
        ("architect-3", SUMMARY),
    ] {
        fs::write(flow.agents().join(name), reply).unwrap();
    }
    flow.resume(&["--rounds", "2"]).ok().prints("PASS after 2 rounds").prints("changed: greet.txt\n");
    assert!(
        flow.prompt("architect-1").contains("Only these files and folders may be changed: greet.txt, docs")
    );
}

#[test]
fn a_command_that_touches_what_must_stay_fails_the_check() {
    let sneaky = format!("{EDIT}[RUN_COMMAND]\necho x >> kept.txt\n[/RUN_COMMAND]\n");
    let flow = FlowProject::new(&[("architect-1", PLAN), ("builder-1", &sneaky), ("critic-1", "PASS\n")]);
    flow.project.write("kept.txt", "kept\n");
    let ran = flow.run(&["--rounds", "1", "--untouched", "kept.txt,kpet.txt"]).exits(1);
    let ran =
        ran.says("touched read-only paths: kept.txt").says("--untouched kpet.txt: there is no such file");
    assert!(!ran.stderr.contains("--untouched kept.txt"), "only of what is missing:\n{ran}");
}

#[test]
fn a_program_that_fails_ends_the_flow_with_the_way_to_resume_it() {
    let flow = FlowProject::new(&[("architect-1", ASKS)]);
    let ran = flow.run(&[]).exits(1);
    ran.says("the architect gave no reply: the program has failed: exit status: 1")
        .says("codali run --resume");
    for (name, reply) in
        [("architect-2", PLAN), ("builder-1", EDIT), ("critic-1", "PASS"), ("architect-3", SUMMARY)]
    {
        fs::write(flow.agents().join(name), reply).unwrap();
    }
    flow.resume(&[]).ok().prints("PASS after 1 round\n");
    // An endless program, and one that is missing.
    let project = &flow.project;
    let run =
        |command: &str| project.run(&["codali", "run", "x", "--model", command, "--model-timeout", "1"]);
    run("sleep 600").exits(1).says("the program takes longer than 1 s");
    run("no-such-program").exits(1).says("the architect gave no reply: the program was not found");
    project.run(&["codali", "run", "x"]).exits(2);
    project.run(&["codali", "run", " ", "--model", "cat"]).exits(2).says("the task is empty");
    project
        .run(&["codali", "run", "--resume", "00000000", "--model", "cat"])
        .exits(2)
        .says("there is no flow 00000000");
}

#[test]
fn the_last_run_is_judged_alone() {
    let flow = FlowProject::new(&SHORT);
    let project = &flow.project;
    let critic = |more: &[&str]| project.run(&[&["codali", "critic", "--targets"], more].concat());
    critic(&["greet.txt"])
        .exits(1)
        .prints("status: FAIL")
        .prints("no files were touched for planned targets");
    flow.run(&[]).ok();
    critic(&["greet.txt"])
        .ok()
        .prints("CODALI_RESPONSE v1")
        .prints("type: critic.result")
        .prints("status: PASS");
    critic(&["greet.txt", "--untouched", "greet.txt"]).exits(1).prints("touched read-only paths: greet.txt");
    critic(&["greet.txt", "--allowed", "src,docs"]).exits(1).prints("outside allowed paths: greet.txt");
    critic(&["other.txt"]).exits(1).prints("touched files do not match plan targets");
    let json = critic(&["greet.txt", "--json"]).ok().json();
    assert_eq!(json["results"][0]["touched_files"], serde_json::json!(["greet.txt"]));
    // The last run, and not all of the session.
    project.run(&["call", "writeFile", "{\"path\": \"b.txt\", \"content\": \"b\\n\"}"]).ok();
    critic(&["b.txt"]).ok().prints("- b.txt");
}

#[test]
fn limits_hold_in_every_spelling_or_are_refused() {
    let files = "[CREATE_FILE path=\"tests/a.txt\"]\na\n[/CREATE_FILE]\n[CREATE_FILE path=\"app/[id].txt\"]\nb\n[/CREATE_FILE]\n";
    let flow = FlowProject::new(&[
        ("architect-1", PLAN),
        ("builder-1", &format!("{EDIT}{files}")),
        ("critic-1", "PASS\n"),
        ("architect-2", SUMMARY),
    ]);
    let project = &flow.project;
    std::os::unix::fs::symlink("tests", project.workspace().join("linked")).unwrap();
    flow.run(&["--rounds", "1"]).ok();
    let judged = |option: &str, rules: &str| {
        project.run(&["codali", "critic", "--targets", "./greet.txt", option, rules])
    };
    let whole = project.workspace().join("tests");
    for rules in
        ["tests", "./tests", "tests/", "app/../tests", "docs,tests,", "linked", whole.to_str().unwrap(), "."]
    {
        judged("--untouched", rules).exits(1).prints("touched read-only paths: ").prints("tests/a.txt");
    }
    judged("--untouched", "app/[id].txt").exits(1).prints("touched read-only paths: app/[id].txt");
    // The control: what was not touched, or is only like a folder that was.
    for rules in ["docs", "test", "linked-too", "tests/b.txt"] {
        judged("--untouched", rules).ok();
    }
    judged("--allowed", "greet.txt,app,./linked/").ok();
    for (rules, why) in [
        ("tests/*", "--untouched tests/*: it is not expanded"),
        ("~/tests", "--untouched ~/tests: it is not expanded"),
        ("docs,app/[no].txt", "--untouched app/[no].txt: it is not expanded"),
        ("../tests", "--untouched ../tests: "),
        ("/elsewhere/tests", "--untouched /elsewhere/tests: it is outside of the workspace"),
        ("", "--untouched names no file"),
        (" ,", "--untouched names no file"),
    ] {
        judged("--untouched", rules).exits(2).says(why);
        judged("--allowed", rules).exits(2).says(&why.replace("untouched", "allowed"));
        flow.run(&["--untouched", rules]).exits(2).says(why);
    }
    project
        .run(&["codali", "critic", "--targets", "*.txt"])
        .exits(2)
        .says("--targets *.txt: it is not expanded");
}

#[test]
fn no_command_hides_a_change_behind_rules_of_git() {
    // The command, the protected path, and what the verdict names; nothing where it passes.
    let cases = [
        ("echo x > .env", ".env", ".env"),
        ("echo '*' > tests/.gitignore; echo x > tests/a.txt", "tests", "tests/.gitignore, tests/a.txt"),
        ("echo /tests >> .gitignore; echo x > tests/a.txt", "tests", "tests/a.txt"),
        ("echo /tests >> .gitignore; echo x > tests/new.txt", "tests", "tests/new.txt"),
        ("rm .gitignore; echo x > tests/a.txt", "tests", "tests/a.txt"),
        // Git follows no link to rules, whose target reads like one here.
        (
            "rm linked/.gitignore; echo f.txt > linked/.gitignore; echo x > linked/f.txt",
            "linked",
            "linked/.gitignore, linked/f.txt",
        ),
        // The controls: what git ignored before, and a cache that ignores itself, such as that of a test run.
        ("echo x > .env", "tests", ""),
        ("echo x > tests/old.cache; echo x > tests/new.cache", "tests", ""),
        ("mkdir tests/c; echo '*' > tests/c/.gitignore; echo x > tests/c/file", "tests", ""),
        ("rm .gitignore; echo x > .env", "tests", ""),
    ];
    for (command, untouched, named) in cases {
        let project = Project::new();
        for (path, content) in [
            (".gitignore", ".env\n*.cache\n"),
            (".env", "KEY=1\n"),
            ("tests/a.txt", "a\n"),
            ("tests/old.cache", "1\n"),
            ("greet.txt", "hello\n"),
            ("linked/f.txt", "f\n"),
        ] {
            project.write(path, content);
        }
        std::os::unix::fs::symlink("f.txt", project.workspace().join("linked/.gitignore")).unwrap();
        let command = serde_json::json!({ "command": format!("echo hi > greet.txt; {command}") }).to_string();
        project.run(&["call", "executeCommand", &command]).ok();
        let judged = ["codali", "critic", "--targets", "greet.txt", "--untouched", untouched];
        let judged = project.run(&judged);
        if named.is_empty() {
            judged.ok();
        } else {
            judged.exits(1).prints(&format!("touched read-only paths: {named}\""));
        }
    }
}

#[test]
fn a_resumed_flow_refuses_limits_and_judges_that_it_was_begun_without() {
    let flow = FlowProject::new(&[("architect-1", ASKS)]);
    let command = flow.command();
    let project = &flow.project;
    project.run(&["codali", "run", "x", "--architect", &command, "--builder", &command]).exits(1);
    let resume = |more: &[&str]| {
        project.run(
            &[&["codali", "run", "--resume", "--architect", &command, "--builder", &command], more].concat(),
        )
    };
    let calls = flow.calls();
    resume(&["--untouched", "tests"]).exits(2).says("not those of --untouched").says("--protect holds");
    resume(&["--allowed", "src"]).exits(2).says("not those of --allowed");
    resume(&["--critic", &command]).exits(2).says("this flow was begun without a critic");
    assert_eq!(flow.calls(), calls);
}

#[test]
fn the_demo_plays_a_whole_flow_and_leaves_nothing() {
    let project = Project::new();
    let begun = Instant::now();
    let ran = project.run(&["demo", "--codali"]).ok();
    let took = begun.elapsed();
    let ran = ran.prints("PASS after 2 rounds").prints("changed: roman.sh").prints("The result has passed.");
    let ran = ran.prints("request_id: roman-1").prints("FAILED  1994 should be MCMXCIV").says("round 2 of 3");
    assert!(took < PATIENCE, "{took:?}\n{ran}");
    assert_eq!(fs::read_dir(project.folder().join("tmp")).unwrap().count(), 0);
    assert!(!project.base().exists());
}
