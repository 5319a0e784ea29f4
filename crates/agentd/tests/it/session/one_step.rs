//! Commands that do one thing and return: what they print and how they exit.

use std::fs;

use serde_json::{Value, json};

use crate::fixture::daemon::{Daemon, PATIENCE};
use crate::fixture::project::{Project, Ran, agentd};

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<_> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

const LOG: &str = "[RUN_COMMAND]\necho ran >> ran.log\n[/RUN_COMMAND]\n";

#[test]
fn new_without_waiting_prints_where_the_outbox_is() {
    let project = Project::new();
    let started = project.run(&["new", "--no-wait", "--json", "do", "this"]).ok().json();
    assert_eq!(keys(&started), ["outbox", "sequence", "session"]);
    assert_eq!(started["sequence"], 1);
    let id = started["session"].as_str().unwrap();
    let outbox = project.outbox_file(id, 1).canonicalize().unwrap();
    assert_eq!(started["outbox"], outbox.to_str().unwrap());
    let text = fs::read_to_string(outbox).unwrap();
    assert!(text.contains("Task: do this\n") && text.contains(&format!("Reply-To: {id}-1\n")), "{text}");
    // Options may come before the command too.
    assert_eq!(project.run(&["--json", "new", "--no-wait", "more"]).ok().json()["sequence"], 1);
}

#[test]
fn new_keeps_its_state_to_itself() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new();
    let id = project.begin("keep");
    assert_eq!(fs::read_to_string(project.base().join(".gitignore")).unwrap(), "*\n");
    assert_eq!(fs::metadata(project.base()).unwrap().permissions().mode() & 0o777, 0o700);
    let outbox = project.outbox(&id, 1);
    assert!(outbox.contains("(empty workspace)"), "{outbox}");
    assert!(!outbox.contains(project.folder().to_str().unwrap()), "{outbox}");
}

#[test]
fn a_task_that_is_empty_is_refused() {
    let project = Project::new();
    project
        .run(&["new", "--no-wait", "  "])
        .exits(2)
        .says("the task is empty")
        .says("say what the model should do");
    project.run(&["new"]).exits(2);
    assert!(!project.base().exists());
}

#[test]
fn apply_prints_results_and_the_next_outbox() {
    let project = Project::new();
    let id = project.begin("apply");
    let reply = format!(
        "[CREATE_FILE path=\"a.txt\"]\na\n[/CREATE_FILE]\n{LOG}[DELETE_FILE path=\"missing\"]\n[RUN_COMMAND]\nexit 3\n[/RUN_COMMAND]\n"
    );
    let applied = project.apply(&reply, &["--json"]).ok().json();
    assert_eq!(keys(&applied), ["complete", "done", "outbox", "results", "sequence", "session"]);
    assert_eq!((&applied["session"], &applied["sequence"]), (&json!(id), &json!(1)));
    assert_eq!((&applied["complete"], &applied["done"]), (&json!(false), &Value::Null));
    assert_eq!(applied["outbox"], project.outbox_file(&id, 2).canonicalize().unwrap().to_str().unwrap());
    let results = applied["results"].as_array().unwrap();
    assert_eq!(keys(&results[0]), ["commandType", "output", "success", "summary"]);
    let said: Vec<_> = results.iter().map(|result| (&result["commandType"], &result["success"])).collect();
    let expected =
        [("CREATE_FILE", true), ("RUN_COMMAND", true), ("DELETE_FILE", false), ("RUN_COMMAND", false)];
    assert_eq!(
        said,
        expected
            .map(|(name, success)| (json!(name), json!(success)))
            .iter()
            .map(|(name, success)| (name, success))
            .collect::<Vec<_>>()
    );
    assert_eq!(results[0]["summary"], "Created 'a.txt'");
    assert_eq!(results[3]["summary"], "Ran 'exit 3' (exit code 3)");

    let done = project.apply("[DONE]\nall done\n[/DONE]\n", &["--json"]).ok().json();
    assert_eq!(
        (&done["complete"], &done["done"], &done["outbox"]),
        (&json!(true), &json!("all done"), &Value::Null)
    );
    project.apply(LOG, &["--session", &id]).exits(4).says("is complete").says("agentd new TASK");
    project.apply(LOG, &[]).exits(2).says("there is no unfinished session here");
    project.run(&["resume", &id]).exits(4).says("is complete");
    project.run(&["outbox", "--session", &id]).exits(1).says("no message is pending");
}

#[test]
fn apply_reads_standard_input_and_refuses_what_is_no_reply() {
    let project = Project::new();
    let id = project.begin("apply");
    project.run_with_input(&["apply", "-"], "").exits(2).says("the reply is empty").says("paste the reply");
    let damaged = format!("{}\n{LOG}", project.outbox(&id, 1));
    project.run_with_input(&["apply", "-"], &damaged).exits(4).says("nothing was executed");
    project.run(&["apply", "/nonexistent/reply"]).exits(2).says("cannot read /nonexistent/reply");
    let file = project.reply_file([0xff, 0xff, 0xfe]);
    project.run(&["apply".as_ref(), file.as_os_str()]).exits(2).says("not text");
    let file = project.reply_file(vec![b' '; (16 << 20) + 1]);
    project.run(&["apply".as_ref(), file.as_os_str()]).exits(2).says("at most 16777216 bytes");
    assert!(!project.has("ran.log"));
    project.run_with_input(&["apply", "-"], LOG).ok();
    assert_eq!(project.read("ran.log"), "ran\n");
    assert_eq!(project.session_file(&id)["sequenceNumber"], 2);
}

#[test]
fn the_same_text_is_applied_once_until_again_is_said() {
    let project = Project::new();
    let id = project.begin("apply");
    let reply = format!("Reply-To: {id}-1\n{LOG}");
    project.apply(&reply, &[]).ok();
    let again = project.apply(&reply, &["--json"]).ok().says("executed before; nothing was done");
    assert_eq!(again.json()["sequence"], 1);
    project.apply(&format!("{LOG}\n"), &[]).ok();
    project.apply(&format!("{LOG}\n"), &[]).exits(4).says("agentd apply FILE --again");
    assert_eq!(project.read("ran.log"), "ran\nran\n");
    project.apply(&format!("{LOG}\n"), &["--again"]).ok();
    project.apply(&reply, &["--again"]).ok();
    assert_eq!(project.read("ran.log"), "ran\nran\nran\nran\n");
    assert_eq!(project.session_file(&id)["sequenceNumber"], 5);
}

#[test]
fn a_reply_begun_in_one_session_does_not_run_in_another() {
    let project = Project::new();
    let first = project.begin("first");
    let reply = "[RUN_COMMAND]\necho ran >> ran.log; sleep 30\n[/RUN_COMMAND]\n[RUN_COMMAND]\necho on\n[/RUN_COMMAND]\n";
    let file = project.reply_file(reply);
    let arguments = ["apply".as_ref(), file.as_os_str()];
    let daemon = crate::fixture::daemon::Daemon::start(project.command(&arguments));
    crate::fixture::daemon::eventually("it runs", || {
        project.written("ran.log").is_some_and(|text| !text.is_empty())
    });
    daemon.interrupt().exits(130);
    project.begin("second");
    let ran = project.run(&arguments).exits(4).says(&format!("session {first} has begun this reply"));
    ran.says(&format!("agentd apply FILE --session {first}"));
    let ran = project.run(&["apply".as_ref(), file.as_os_str(), "--session".as_ref(), first.as_ref()]).ok();
    ran.prints("[FAILED] RUN_COMMAND: Command cancelled by the user");
    assert_eq!(project.read("ran.log"), "ran\n");
}

#[test]
fn a_dry_run_shows_plan_and_differences_and_changes_nothing() {
    let project = Project::new();
    project.write("a.txt", "one\ntwo\nthree\n");
    let id = project.begin("plan");
    let before = project.session_file(&id);
    let reply = format!(
        "[EDIT_FILE path=\"a.txt\" start_line=\"2\" end_line=\"2\"]\nnew two\n[/EDIT_FILE]\n\
         [EDIT_FILE path=\"a.txt\" start_line=\"9\" end_line=\"9\"]\nnine\n[/EDIT_FILE]\n\
         [CREATE_FILE path=\"b.txt\"]\nb\n[/CREATE_FILE]\n{LOG}[DONE]\nplanned\n[/DONE]\n"
    );
    let ran = project.apply(&reply, &["--dry-run"]).ok();
    let ran = ran.prints("not executed").prints("-two\n+new two\n").prints("$ echo ran >> ran.log");
    let ran = ran.prints("would fail: EDIT_FILE: Invalid line range 9-9 for file with 3 lines");
    ran.prints("+++ b/b.txt");
    let plan = project.apply(&reply, &["--dry-run", "--json"]).ok().json();
    let lines = plan["plan"].as_array().unwrap();
    assert_eq!(keys(&lines[0]), ["commandType", "diff", "output", "success", "summary"]);
    let successes: Vec<_> = lines.iter().map(|line| line["success"].as_bool().unwrap()).collect();
    assert_eq!(successes, [true, false, true, true, true]);
    assert!(lines[0]["diff"].as_str().unwrap().contains("+new two"), "{plan}");
    assert_eq!(lines[1]["diff"], "");
    assert!(lines[2]["diff"].as_str().unwrap().contains("+b\n"), "{plan}");
    assert_eq!(lines[3]["summary"], "Would run 'echo ran >> ran.log'");
    assert_eq!(project.tree(), [("a.txt".to_owned(), "one\ntwo\nthree\n".to_owned())]);
    assert_eq!(project.session_file(&id), before);
    assert_eq!(project.run(&["log", "--json"]).ok().json(), json!([]));
    // Then it is executed as if nothing had happened.
    project.apply(&reply, &[]).ok().prints("[OK] CREATE_FILE").prints("[OK] DONE: planned");
    project.apply(&reply, &["--dry-run"]).exits(4).says("already executed");
}

#[test]
fn a_dry_run_plans_background_processes_and_their_end() {
    let project = Project::new();
    project.begin("plan");
    let reply = format!(
        "[RUN_COMMAND background=\"web\"]\n{}\n[/RUN_COMMAND]\n[STOP_PROCESS name=\"web\"]\n",
        "echo x > ran; sleep 60"
    );
    let ran = project.apply(&reply, &["--dry-run"]).ok().prints("STOP_PROCESS  web");
    assert!(!ran.stdout.contains("would fail") && !ran.stdout.contains("CANCELLED"), "{ran}");
    let plan = project.apply(&reply, &["--dry-run", "--json"]).ok().json();
    let line = &plan["plan"][1];
    assert_eq!((&line["summary"], &line["success"]), (&json!("Would stop process 'web'"), &json!(true)));
    assert!(!project.has("ran"));
}

#[test]
fn parse_prints_blocks_repairs_and_refusals() {
    let run = |arguments: &[&str], input: &str| Project::new().run_with_input(arguments, input);
    let reply = "prose\n[CREATE_FILE path=\"a\"]\nx\n[/CREATE_FILE]\n[EDIT_FILE path=\"a\" start_line=\"1\" end_line=\"2\"]\n[/EDIT_FILE]\n[READ_FILE]\n";
    let parsed = run(&["parse", "tag", "--json"], reply).ok().json();
    assert_eq!(keys(&parsed), ["commands", "refused", "repairs"]);
    let commands = parsed["commands"].as_array().unwrap();
    assert_eq!(
        commands[0],
        json!({"type": "CREATE_FILE", "path": "a", "body": "x", "body_lines": 1, "lines": [2, 4]})
    );
    assert_eq!(commands[1]["start_line"], 1);
    assert_eq!(commands[1]["body_lines"], 0);
    assert_eq!((&commands[2]["type"], &commands[2]["lines"]), (&json!("PARSE_ERROR"), &json!([7, 7])));
    assert_eq!(parsed["refused"], Value::Null);

    let twice = format!("=== HEADER ===\nSession: 0123abcd\n=== PROTOCOL ===\n{LOG}");
    let refused = run(&["parse", "tag", "-"], &twice).exits(4).says("agentd: line");
    let refused = refused.json();
    assert_eq!(refused["commands"], json!([]));
    assert!(refused["refused"].is_string(), "{refused}");
    let strict = run(&["parse", "tag", "--strict"], &twice).ok().json();
    assert_eq!(strict["commands"].as_array().unwrap().len(), 1);

    let quoted: String = LOG.lines().map(|line| format!("> {line}\n")).collect();
    let repaired = run(&["parse", "tag"], &quoted).ok().json();
    assert_eq!(repaired["commands"][0]["body"], "echo ran >> ran.log");
    assert_eq!(repaired["repairs"].as_array().unwrap().len(), 1, "{repaired}");
    assert_eq!(run(&["parse", "tag", "--strict"], &quoted).ok().json()["commands"], json!([]));
    run(&["parse", "tag", "/nonexistent"], "").exits(2).says("cannot read");
    let project = Project::new();
    project.run_with_input(&["parse", "tag"], LOG).ok();
    assert!(!project.base().exists(), "parse makes no state folder");
}

#[test]
fn call_exits_with_0_1_or_2_and_prints_an_answer() {
    let project = Project::new();
    project.write("a.txt", "one\ntwo\n");
    let read = project.run(&["call", "readFile", r#"{"path":"a.txt"}"#]).ok().json();
    assert_eq!(read["content"], "one\ntwo\n");
    assert!(!project.base().exists(), "reading makes no state folder");
    let path = project.workspace().canonicalize().unwrap().join("a.txt");
    assert_eq!(read["metadata"]["path"], path.to_str().unwrap());
    let from_input = project.run_with_input(&["call", "readFile", "-"], r#"{"path":"a.txt"}"#).ok().json();
    assert_eq!(from_input["content"], read["content"]);

    let write = r#"{"path":"b/c.txt","content":"made\n","createDirectories":true}"#;
    project.run(&["call", "writeFile", write]).ok();
    assert_eq!(project.read("b/c.txt"), "made\n");
    let failed = project.run(&["call", "executeCommand", r#"{"command":"exit 7"}"#]).ok().json();
    assert_eq!(failed["exitCode"], 7);

    let missing = project.run(&["call", "readFile", r#"{"path":"missing"}"#]).exits(1).json();
    assert_eq!(missing["code"], "FILE_NOT_FOUND");
    let escape = project.run(&["call", "readFile", r#"{"path":"../../etc/passwd"}"#]).exits(1);
    assert!(!escape.stdout.contains("root:"), "{escape}");
    project.run(&["call", "readFile", r#"{"path":".agentd/.gitignore"}"#]).exits(1);
    project.run(&["call", "writeFile", r#"{"path":".agentd/inbox/a.txt","content":""}"#]).exits(1);
    project.run(&["call", "readFile", "{}"]).exits(1);
    project.run(&["call", "readFile", "not json"]).exits(2).says("the arguments are not JSON");
    project
        .run(&["call", "readFile", "a.txt"])
        .exits(2)
        .says(r#"agentd call readFile '{"path":"README.md"}'"#);
    assert!(project.run(&["call", "noSuchTool", "{}"]).exits(2).stdout.contains("noSuchTool"));
    project.run(&["call", "readFile", r#"{"path":"a"}"#, "--workspace", "/nonexistent"]).exits(2);
    project.run(&["call", "writeFile", write, "--read-only"]).exits(1);
}

#[test]
fn sessions_show_and_log_tell_what_was_done() {
    let project = Project::new();
    project.write("a.txt", "a\n");
    let first = project.begin("the first\nof two");
    project.apply(&format!("{LOG}[DELETE_FILE path=\"a.txt\"]\n[DONE]\nfirst done\n[/DONE]\n"), &[]).ok();
    let second = project.begin("the second");
    let sessions = project.run(&["sessions", "--json"]).ok().json();
    let sessions = sessions.as_array().unwrap();
    assert_eq!(sessions.len(), 2);
    let of = |id: &str| sessions.iter().find(|session| session["session"] == id).unwrap();
    assert_eq!(keys(of(&first)), ["complete", "createdAt", "sequence", "session", "task", "updatedAt"]);
    assert_eq!((&of(&first)["complete"], &of(&second)["complete"]), (&json!(true), &json!(false)));
    let listed = project.run(&["sessions"]).ok().prints("the first of two").prints("the second");
    assert_eq!(listed.stdout.lines().count(), 2, "{listed}");

    let report =
        project.run(&["show", &first]).ok().prints("done, message 1").prints("[OK] RUN_COMMAND: Ran 'echo");
    report.prints("[OK] DELETE_FILE: Deleted 'a.txt'").prints("done: first done");
    let report = project.run(&["show", &first, "--json"]).ok().json();
    assert_eq!(report["sessionId"], first.as_str());
    assert_eq!(report["steps"][0]["results"].as_array().unwrap().len(), 3);

    let log =
        project.run(&["log"]).ok().prints(&first).prints("echo ran >> ran.log").prints("deleted  a.txt");
    assert!(!log.stdout.contains("not finished"), "{log}");
    let log = project.run(&["log", "--json", "-n", "1"]).ok().json();
    assert_eq!(log.as_array().unwrap().len(), 1);
    assert_eq!(log[0]["conversation"], first.as_str());
    assert_eq!(project.run(&["outbox"]).ok().stdout, project.outbox(&second, 1));
    assert_eq!(project.run(&["outbox", "--json"]).ok().json(), project.outbox(&second, 1));
}

#[test]
fn a_message_that_no_process_waits_for_names_the_command_for_its_reply() {
    let project = Project::new();
    let begun = project.run(&["new", "--no-wait", "say hi"]).ok().says("agentd apply FILE");
    assert!(!begun.stderr.contains("inbox:") && !begun.stderr.contains("/inbox"), "{begun}");
    // The control: with this command its reply is executed.
    project.apply("[DONE]\nHi.\n[/DONE]\n", &[]).ok();
}

#[test]
fn doctor_says_what_this_machine_can_do_and_makes_nothing() {
    let project = Project::new();
    let findings = project.run(&["doctor", "--json"]).ok().json();
    let findings = findings.as_array().unwrap();
    let mut what: Vec<_> = findings.iter().map(|finding| finding["what"].as_str().unwrap()).collect();
    // Whether there is anything to raise is a matter of the machine and of who asks.
    what.retain(|what| *what != "to raise it");
    assert_eq!(
        what,
        [
            "commands",
            "writing",
            "home",
            "network",
            "configuration",
            "workspace",
            "secrets",
            "files",
            "state folder",
            "owner",
            "git",
            "clipboard"
        ]
    );
    for finding in findings {
        assert!(["good", "limited"].contains(&finding["state"].as_str().unwrap()), "{finding}");
        assert!(!finding["detail"].as_str().unwrap().is_empty());
    }
    project.run(&["doctor"]).ok().prints("commands").prints("sandbox: level=");
    assert!(!project.base().exists());
}

#[test]
fn the_demo_plays_a_whole_session_and_leaves_nothing() {
    let project = Project::new();
    let mut command = project.command(&["demo"]);
    let ran = Ran::of(command.output().unwrap()).ok();
    let ran =
        ran.prints("message 1: what you copy into the chat").prints("[FAILED] RUN_COMMAND: Ran 'sh test.sh'");
    let ran =
        ran.prints("a reply runs once").prints("all passed").prints("The task is done and the tests pass.");
    assert!(!ran.stdout.contains("demonstration failed"), "{ran}");
    assert_eq!(fs::read_dir(project.folder().join("tmp")).unwrap().count(), 0);
    assert!(!project.base().exists());
}

#[test]
fn the_demo_of_a_loop_needs_no_person_and_leaves_nothing() {
    let project = Project::new();
    let begun = std::time::Instant::now();
    let ran = project.run(&["demo", "--loop"]).ok().prints("The session is done and the tests pass.");
    let took = begun.elapsed();
    ran.says("round 4: message 4").says("4 rounds");
    assert!(took < PATIENCE, "{took:?}");
    assert_eq!(fs::read_dir(project.folder().join("tmp")).unwrap().count(), 0);
    assert!(!project.base().exists());
}

#[test]
fn help_and_version_need_no_workspace() {
    for arguments in [&["--help"][..], &["--version"], &["new", "--help"], &["parse", "tag", "--help"]] {
        let ran =
            Ran::of(agentd().args(arguments).args(["--workspace", "/nonexistent"]).output().unwrap()).ok();
        assert!(!ran.stdout.is_empty() && ran.stderr.is_empty(), "{ran}");
    }
}

#[test]
fn a_message_for_a_new_chat_has_everything() {
    let project = Project::new();
    fs::write(project.workspace().join("kept.txt"), "kept\n").unwrap();
    let id = project.begin("a task of\nseveral lines");
    project.apply("[CREATE_FILE path=\"new.txt\"]\nnew\n[/CREATE_FILE]\n", &[]).ok();
    let pending = project.outbox(&id, 2);
    assert!(pending.contains("(as listed before, except for these)\n  new.txt (4 bytes)\n"), "{pending}");
    let whole = project.run(&["outbox", "--full"]).ok().stdout;
    for part in ["HOW TO WORK", "  kept.txt (5 bytes)", "Created 'new.txt'", "\na task of\nseveral lines\n"] {
        assert!(
            whole.contains(part) && !pending.contains(part) || part.starts_with("Created"),
            "{part}: {whole}"
        );
    }
    assert!(whole.contains(&format!("Reply-To: {id}-2")));
    // The pending message stays the one that was written.
    assert_eq!(project.run(&["outbox"]).ok().stdout, pending);
}

#[test]
fn the_user_sees_the_notes_of_a_result_and_the_refusals_of_a_command() {
    let project = Project::new();
    project.begin("write settings");
    let reply = "[CREATE_FILE path=\".envrc\"]\nexport A=1\n[/CREATE_FILE]\n[RUN_COMMAND]\necho 'note: printed first'; echo next; echo layout go > .envrc; echo x > .mcp.json; echo 'note: printed last'\n[/RUN_COMMAND]\n[RUN_COMMAND]\npython3 -c 'import socket; socket.create_connection((\"192.0.2.1\", 443))'\n[/RUN_COMMAND]\n";
    let applied = project.apply(reply, &["--json"]).ok();
    let progress = &applied.stderr;
    assert!(
        progress.contains("\n          note: edits a file that other programs obey: '.envrc' ("),
        "{progress}"
    );
    assert!(progress.contains("\n          note: edits files that other programs obey"), "{progress}");
    assert!(
        progress.contains("\n          note: not kept, because git or an editor would obey it: `.mcp.json`"),
        "{progress}"
    );
    // What a command prints does not become one, also at its end.
    assert!(!progress.contains("          note: printed"), "{progress}");
    let results = applied.json();
    let denied = results["results"][2]["denied"].as_array().cloned().unwrap_or_default();
    if denied.is_empty() {
        test_support::skip(
            "refusals of a command",
            "commands have no python3, or nothing sees what is refused",
        );
    }
    for refusal in &denied {
        let line = format!("\n          refused: {}\n", refusal.as_str().unwrap());
        assert!(progress.contains(&line), "{line}{progress}");
    }
}

#[test]
fn changes_in_a_folder_that_its_user_may_not_list_are_named_with_the_way_out() {
    let project = Project::new().of_an_ordinary_user();
    let script = "mkdir shut; echo old > shut/f; chmod 000 shut";
    let made = project.run(&["call", "executeCommand", &json!({ "command": script }).to_string()]).ok();
    if !made.stdout.contains("layer=overlay") {
        return test_support::skip(
            "changes_in_a_folder_that_its_user_may_not_list",
            "commands have no layer here",
        );
    }
    let script = "chmod 700 shut; echo new > shut/f; echo x > other";
    let ran = project.run(&["call", "executeCommand", &json!({ "command": script }).to_string()]).ok();
    let ran =
        ran.prints("in the workspace this user may not list them").prints("`chmod u+rwx`").prints("`shut`");
    assert!(!ran.stdout.contains("longer names"), "{ran}");
    assert!(project.has("other"), "the control: the rest is kept");
}

#[test]
fn a_process_that_waits_announces_what_another_one_has_executed() {
    let project = Project::new();
    let id = project.begin("both");
    let mut waiting = Daemon::start(project.command(&["resume"]));
    waiting.wait_until_it_waits();
    project.apply(LOG, &[]).ok();
    waiting.wait_for("another process has executed a reply to this session");
    waiting.wait_for("message 2 to copy into the chat:");
    // A reply in the inbox still gets its turn.
    project.put_reply("reply.txt", "[RUN_COMMAND]\necho more >> ran.log\n[/RUN_COMMAND]\n");
    waiting.wait_for("received reply.txt");
    waiting.wait_for("message 3 to copy into the chat:");
    // What changes nothing about the session is not announced.
    project.run(&["new", "--no-wait", "--json", "another task"]).ok();
    project.apply("[DONE]\nenough\n[/DONE]\n", &["--session", &id]).ok();
    let ran = waiting.wait().ok();
    assert_eq!(ran.stderr.matches("another process").count(), 2, "{ran}");
    assert!(ran.stderr.contains("enough"), "{ran}");
    assert_eq!(project.read("ran.log"), "ran\nmore\n");
}
