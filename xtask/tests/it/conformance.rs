//! The conformance cases, and that they can fail.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use xtask::{CrateTests, Outcome, Registry, Tally, TaskError, conformance, root};

fn vectors() -> PathBuf {
    root().join("fixtures/vectors")
}

fn text(file: &str) -> String {
    fs::read_to_string(vectors().join(file)).unwrap()
}

/// Runs one case of a file with another expectation.
fn run_changed(file: &str, name: &str, change: impl FnOnce(&mut Value)) -> Tally {
    let mut vectors: Value = serde_json::from_str(&text(file)).unwrap();
    let cases = vectors["cases"].as_array_mut().unwrap();
    cases.retain(|case| case["name"] == name);
    assert_eq!(cases.len(), 1, "{name}");
    change(&mut cases[0]["expect"]);
    Registry::standard().run_file(file, &vectors.to_string()).unwrap()
}

/// Runs the task on a folder in a process of its own: cases start the program again, which a test binary cannot be.
fn run_task(folder: &Path) -> (bool, Vec<String>) {
    let mut task = Command::new(env!("CARGO_BIN_EXE_xtask"));
    // Or else it builds half of the dependencies once more, with the features that the program alone needs.
    task.env("XTASK_BUILDS_WITH_TESTS", "1").arg("conformance").arg(folder);
    let output = task.output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
    (output.status.success(), lines)
}

#[test]
fn every_case_that_has_a_runner_passes() {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(vectors()).unwrap() {
        let name = entry.unwrap().file_name();
        // Attacks are run by the tests of crates, which are tests of this same run.
        if name != "fs-attacks.json" && name != "exec-attacks.json" {
            fs::copy(vectors().join(&name), folder.path().join(&name)).unwrap();
        }
    }
    let (passed, mut lines) = run_task(folder.path());
    assert!(passed, "{lines:#?}");
    // The program that some cases run is built first.
    lines.retain(|line| !line.starts_with("== "));
    let expected = [
        "ruled otherwise: cocode.json run_env_allowlist: an agent gets the user's PATH (docs/agent-access.md, What it can read and change)",
        "ruled otherwise: cocode.json run_ready_detached_head: a commit without changes is not ready (docs/cocode.md, The verdict)",
        "ruled otherwise: cocode.json run_ready_substring: a commit without changes is not ready (docs/cocode.md, The verdict)",
        "ruled otherwise: codali.json exec/list-ignored-files: what git ignores is left out, whatever the pattern (docs/codali.md, file.list)",
        "ruled otherwise: codali.json extract/blockquoted: quote marks in front of a request are taken off (docs/codali.md, finding a request)",
        "ruled otherwise: codali.json extract/bold-header: a header may be bold (docs/codali.md, finding a request)",
        "ruled otherwise: codali.json extract/fence-inside-value: a fence counts at the start of a line only (docs/codali.md, finding a request)",
        "ruled otherwise: codali.json extract/header-quoted-in-prose: a header without a request after it is none (docs/codali.md, finding a request)",
        "ruled otherwise: codali.json history/summarizer-fails: without a summary the oldest messages are left out (docs/codali.md, history)",
        "ruled otherwise: codali.json history/summary-too-long: a summary is cut, and so makes a history shorter (docs/codali.md, history)",
        "ruled otherwise: tagproto.json flow_no_results_section_when_empty: a reply in which nothing was recognised is answered with a note (docs/tagproto.md)",
        "ruled otherwise: wap.json modify_insert_past_end: an insertion past the end appends (docs/wap.md, modifyFile)",
    ];
    assert_eq!(lines[..lines.len() - 1], expected, "a new kind of case wants a runner");
    let total = lines.last().unwrap();
    let counts = ", 0 failed, 0 cannot run here, 0 have no runner";
    assert!(total.ends_with(counts), "{total}");
}

/// A change of one case's expectation, and what the report then says.
type Broken = (&'static str, &'static str, &'static str, Value, &'static str);

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn a_case_about_a_real_folder_that_does_not_hold_fails() {
    // File, case, key, another value for it, and what is reported.
    let broken: [Broken; 33] = [
        (
            "tagproto",
            "exec_run_ok",
            "results",
            json!([{ "output": "ho\n" }]),
            "output of result 0 is \"hi\\n\"",
        ),
        (
            "tagproto",
            "exec_read_missing",
            "results",
            json!([{ "summary": "File 'yes" }]),
            "summary of result 0",
        ),
        ("tagproto", "exec_create_dot_path", "results", json!([]), "the number of results is 1"),
        (
            "text-edits",
            "empty_search_text_over_a_file",
            "results",
            json!([["OK"]]),
            "is not in the result FAILED",
        ),
        ("text-edits", "empty_search_text_of_a_new_file", "files", json!({}), "the files are {\"a.py\""),
        ("tagproto", "exec_create_on_directory", "results_types_ok", json!([]), "results_types_ok is"),
        ("tagproto", "exec_create_makes_parents", "after", json!({}), "the files are {\"x/y/z.txt\": \"n\"}"),
        ("tagproto", "exec_done_empty", "complete", json!(false), "complete is true"),
        ("tagproto", "exec_done_and_after", "done", json!("bye"), "done is \"second\""),
        ("tagproto", "exec_edit_keeps_bom", "after", json!({ "a.txt": "l1\nX\n" }), "the files are"),
        (
            "tagproto",
            "exec_edit_two_edits_line_shift",
            "second_summary_contains",
            json!("+3"),
            "the second summary",
        ),
        (
            "tagproto",
            "exec_read_same_twice",
            "requested_section_count",
            json!(2),
            "the number of files shown is 1",
        ),
        (
            "tagproto",
            "exec_read_then_delete",
            "next_outbox_line_starts_in_order",
            json!(["=== PROMPT", "=== HEADER"]),
            "the outbox has no line \"=== HEADER\"",
        ),
        (
            "tagproto",
            "exec_symlink_dir_write_escape",
            "outside_untouched",
            json!(false),
            "outside_untouched is true",
        ),
        (
            "tagproto",
            "exec_run_background_child_holds_pipe",
            "background_process_killed",
            json!(false),
            "background_process_killed is true",
        ),
        ("tagproto", "exec_run_timeout_while_stdout_open", "wall_s_max", json!(1), "it took "),
        (
            "tagproto",
            "exec_run_ok",
            "exit",
            json!(0),
            "the case expects exit, which its runner does not know",
        ),
        (
            "tagproto",
            "flow_crash_after_execute_before_save",
            "re_executed",
            json!(true),
            "re_executed is false",
        ),
        ("tagproto", "flow_done_stops", "next_outbox_written", json!(true), "next_outbox_written is false"),
        ("tagproto", "flow_inbox_only_txt", "processed", json!(["x.md"]), "processed is []"),
        ("tagproto", "flow_resume_pending_outbox", "after_resume_seq", json!(4), "after_resume_seq is 3"),
        (
            "tagproto",
            "flow_section_order",
            "order",
            json!(["=== PROMPT ==="]),
            "the number of sections and headings is 5",
        ),
        (
            "wap",
            "exec_timeout_kills_grandchildren",
            "descendants_alive",
            json!(1),
            "descendants_alive should be 1",
        ),
        (
            "wap",
            "modify_insert_past_end",
            "after",
            json!({ "a": "l1\nl2\nl3\nl4\nl5\nx\n" }),
            "holds as it stands, but is in the table of rulings",
        ),
        ("wap", "write_atomic", "mode_bits_kept", json!(false), "mode_bits_kept is true"),
        ("wap", "info_defaults", "limits", json!({ "maxFileSize": 1 }), "limits should be"),
        ("wap", "flow_cancel", "completed_exitCode", json!(0), "completed_exitCode is 143"),
        ("wap", "flow_cancel", "process_alive", json!(true), "process_alive is false"),
        ("wap", "flow_execute_ok", "order", json!(["CommandStartedMessage"]), "order is"),
        ("wap", "flow_execute_refused", "no", json!(["ResponseMessage"]), "ResponseMessage was sent"),
        ("wap", "wire_heartbeat", "reply", json!({ "$type": "ErrorMessage" }), "$type is"),
        ("wap", "wire_http_era_bad_request", "status", json!(200), "status is 400"),
        ("wap", "config_zero_file", "valid", json!(true), "valid is false"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let mut expected = Vec::new();
    for file in ["tagproto", "wap"] {
        let vectors: Value = serde_json::from_str(&text(&format!("{file}.json"))).unwrap();
        let of_file = broken.iter().filter(|(of_file, ..)| *of_file == file);
        let cases: Vec<Value> = of_file
            .map(|(_, name, key, value, said)| {
                expected.push((format!("FAILED {file}.json {name}: "), *said));
                let cases = vectors["cases"].as_array().unwrap();
                let mut case = cases.iter().find(|case| case["name"] == *name).unwrap().clone();
                if case["expect"]["code"].is_string() && *key == "after" {
                    case["expect"] = json!({});
                }
                case["expect"][key] = value.clone();
                case
            })
            .collect();
        fs::write(folder.path().join(format!("{file}.json")), json!({ "cases": cases }).to_string()).unwrap();
    }
    let (passed, lines) = run_task(folder.path());
    assert!(!passed);
    let failures: Vec<&String> = lines.iter().filter(|line| line.starts_with("FAILED ")).collect();
    assert_eq!(failures.len(), expected.len(), "{lines:#?}");
    for (line, (case, said)) in failures.into_iter().zip(&expected) {
        assert!(
            line.starts_with(case) && line.contains(said),
            "{line}\nshould begin with {case} and say {said}"
        );
    }
}

#[test]
fn a_process_that_is_to_be_killed_says_so_when_it_was_not() {
    let folder = tempfile::tempdir().unwrap();
    let output =
        Command::new(env!("CARGO_BIN_EXE_xtask")).args(["crash", "unknown"]).arg(folder.path()).output();
    let output = output.unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("there is no victim of kind unknown"), "{said}");
}

#[test]
fn a_case_that_does_not_hold_fails() {
    type Change = fn(&mut Value);
    let changes: [(&str, &str, Change); 7] = [
        ("tagproto.json", "parse_edit_basic", |expect| expect[0]["start"] = json!(7)),
        ("tagproto.json", "parse_edit_basic", |expect| expect[0]["t"] = json!("CREATE_FILE")),
        ("tagproto.json", "parse_edit_nonint", |expect| expect[0]["error"] = json!("no such error")),
        ("tagproto.json", "parse_two_done", |expect| drop(expect.as_array_mut().unwrap().pop())),
        ("paste.json", "keep_clean_reply", |expect| expect["commands"][0]["body"] = json!("x")),
        ("paste.json", "keep_clean_reply", |expect| expect["repairs"] = json!(["fence"])),
        ("paste.json", "keep_clean_reply", |expect| expect["refused"] = json!("tabs_lost")),
    ];
    for (file, name, change) in changes {
        let held = run_changed(file, name, |_| ());
        assert_eq!((held.passed(), held.failed()), (1, 0), "{name}");
        let broken = run_changed(file, name, change);
        assert_eq!((broken.passed(), broken.failed()), (0, 1), "{name}");
        assert!(broken.lines()[0].starts_with(&format!("FAILED {file} {name}: ")), "{:?}", broken.lines());
    }
}

#[test]
fn a_case_that_changes_the_expected_fields_only_is_not_compared_further() {
    let passed = run_changed("tagproto.json", "parse_edit_basic", |expect| {
        expect[0].as_object_mut().unwrap().remove("body");
    });
    assert_eq!(passed.passed(), 1);
}

#[test]
fn what_is_not_run_is_named_and_counted() {
    let registry = Registry::of(&[
        ("a.json", Some("able"), |_| Outcome::Passed),
        ("a.json", Some("unable"), |_| Outcome::Unable("no namespaces here".to_owned())),
        ("a.json", Some("broken"), |_| panic!("out of cheese")),
    ]);
    let case = |name: &str, kind: &str| json!({ "name": name, "kind": kind });
    let cases =
        [case("1", "able"), case("2", "unable"), case("3", "broken"), case("4", "new"), case("5", "new")];
    let tally = registry.run_file("a.json", &json!({ "cases": cases }).to_string()).unwrap();
    let expected = [
        "FAILED a.json 3: panicked: out of cheese",
        "UNABLE a.json 2: no namespaces here",
        "no runner: a.json kind new (2 cases)",
    ];
    assert_eq!(tally.lines(), expected);
    let total = "5 cases: 1 passed, 1 failed, 1 cannot run here, 2 have no runner";
    assert_eq!(tally.to_string(), total);

    let unknown = registry.run_file("b.json", &json!({ "cases": [{ "name": "x" }] }).to_string()).unwrap();
    assert_eq!(unknown.lines(), ["no runner: b.json (1 cases)"]);
}

#[test]
fn a_folder_with_a_failing_case_fails() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, value: Value| fs::write(folder.path().join(name), value.to_string()).unwrap();
    let case = |expect: Value| json!({ "name": "n", "kind": "parse", "input": { "inbox": "[DONE]\nx\n[/DONE]" }, "expect": expect });

    write("tagproto.json", json!({ "cases": [case(json!([{ "t": "DONE", "body": "x" }]))] }));
    conformance(folder.path()).unwrap();
    write("tagproto.json", json!({ "cases": [case(json!([{ "t": "DONE", "body": "y" }]))] }));
    assert!(matches!(conformance(folder.path()), Err(TaskError::CasesFailed { failed: 1 })));
    // A kind that is not understood is not taken for one that holds, and further files have the name in front.
    fs::remove_file(folder.path().join("tagproto.json")).unwrap();
    write("tagproto-more.json", json!({ "cases": [case(json!([{ "t": "DONE", "body": "x" }]))] }));
    conformance(folder.path()).unwrap();
    write("tagproto-more.json", json!({ "cases": [{ "name": "n", "kind": "song" }] }));
    assert!(matches!(conformance(folder.path()), Err(TaskError::CasesFailed { failed: 1 })));
}

#[test]
fn a_case_counts_for_what_the_tests_of_crates_say_everywhere() {
    let tests =
        CrateTests { file: "a.json", packages: &["a"], filter: "", circumstances: &["here", "there"] };
    let report = [
        "good\there\tpassed\t",
        "good\tthere\tpassed\t",
        "half\there\tpassed\t",
        "half\tthere\tnot meant\tno root",
        "none\there\tnot meant\tno Windows",
        "none\tthere\tnot meant\tno Windows",
        "bad\there\tpassed\t",
        "bad\tthere\tfailed\tit leaks",
        "unable\there\tpassed\t",
        "unable\tthere\tunable\tno mounts",
        "silent\there\tpassed\t",
        "twice\there\tpassed\t",
        "twice\there\tpassed\t",
        "twice\tthere\tpassed\t",
    ];
    let mut report: String = report.iter().map(|line| format!("a.json\t{line}\n")).collect();
    report += "b.json\tsilent\tthere\tpassed\t\n";
    let names = ["good", "half", "none", "bad", "unable", "silent", "twice"].map(str::to_owned);
    let tally = tests.tally(&names, &report);
    let expected = [
        "FAILED a.json bad: it leaks (there)",
        "FAILED a.json silent: the report does not mention it (there)",
        "FAILED a.json twice: the report mentions it several times (here)",
        "UNABLE a.json none: no Windows (here, there)",
        "UNABLE a.json unable: no mounts (there)",
    ];
    assert_eq!(tally.lines(), expected);
    assert_eq!(tally.passed(), 2);
}

#[test]
fn a_folder_without_cases_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(conformance(folder.path()), Err(TaskError::NoVectors { .. })));
    assert!(matches!(conformance(&folder.path().join("nope")), Err(TaskError::Unreadable { .. })));
    fs::write(folder.path().join("a.json"), "{}").unwrap();
    assert!(matches!(conformance(folder.path()), Err(TaskError::NoCases { .. })));
    fs::write(folder.path().join("a.json"), "{").unwrap();
    assert!(matches!(conformance(folder.path()), Err(TaskError::NotJson { .. })));
}

#[test]
fn only_a_case_that_was_too_slow_is_run_again() {
    static SLOW_ONCE: AtomicU32 = AtomicU32::new(0);
    static WRONG: AtomicU32 = AtomicU32::new(0);
    let registry = Registry::of(&[
        ("a.json", Some("slow once"), |case| {
            let is_first = SLOW_ONCE.fetch_add(1, Ordering::Relaxed) == 0;
            late(case, is_first)
        }),
        ("a.json", Some("always slow"), |case| late(case, true)),
        ("a.json", Some("wrong"), |_| match WRONG.fetch_add(1, Ordering::Relaxed) {
            0 | 1 => Outcome::Failed("wrong".to_owned()),
            _ => Outcome::Passed,
        }),
    ]);
    let case = |name: &str| json!({ "name": name, "kind": name, "expect": { "wall_s_max": 1 } });
    let cases = [case("slow once"), case("always slow"), case("wrong")];
    let tally = registry.run_file("a.json", &json!({ "cases": cases }).to_string()).unwrap();
    assert_eq!(tally.lines(), ["FAILED a.json always slow: too slow", "FAILED a.json wrong: wrong"]);
}

/// Runs a case that is too slow for any limit, or for none.
fn late(case: &Value, is_slow: bool) -> Outcome {
    match is_slow && !case["expect"]["wall_s_max"].is_null() {
        true => Outcome::Failed("too slow".to_owned()),
        false => Outcome::Passed,
    }
}

#[test]
fn cases_are_run_by_what_they_say_and_not_by_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let mut count = 0;
    for (file, kinds) in
        [("tagproto.json", &["flow"][..]), ("cocode.json", &["worktree", "adapter", "state"])]
    {
        let mut vectors: Value = serde_json::from_str(&text(file)).unwrap();
        let cases = vectors["cases"].as_array_mut().unwrap();
        // A case that is ruled otherwise is known by its name.
        cases.retain(|case| {
            kinds.iter().any(|kind| case["kind"] == *kind)
                && case["name"] != "flow_no_results_section_when_empty"
        });
        for case in cases.iter_mut() {
            if case["kind"] == "adapter" {
                case["input"]["agent"] = case["name"].as_str().unwrap().split('_').next().unwrap().into();
            }
            count += 1;
            case["name"] = format!("renamed {count}").into();
        }
        fs::write(folder.path().join(file), vectors.to_string()).unwrap();
    }
    let (passed, lines) = run_task(folder.path());
    assert!(
        passed && lines.last().unwrap().starts_with(&format!("{count} cases: {count} passed, ")),
        "{lines:#?}"
    );
}

/// Cases of the same form with other names, numbers and words.
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn other_cases() -> Vec<(&'static str, Value, Option<&'static str>)> {
    let wap = |kind: &str, files: Value, request: Value, expect: Value| json!({ "kind": kind, "input": { "files": files, "request": request }, "expect": expect });
    let explore = |files: Value, expect: Value| wap("explore", files, json!({ "path": "." }), expect);
    let flow = |input: Value, expect: Value| json!({ "kind": "flow", "input": input, "expect": expect });
    let exec = |inbox: &str, expect: Value| json!({ "kind": "exec", "dialect": "codingagent", "input": { "files": { "a": "A\n" }, "inbox": inbox }, "expect": expect });
    let cocode =
        |kind: &str, input: Value, expect: Value| json!({ "kind": kind, "input": input, "expect": expect });
    let tagproto = "tagproto.json";
    vec![
        (
            "wap.json",
            explore(
                json!({ "_generate": "501 empty files" }),
                json!({ "totalFound": 501, "isTruncated": true }),
            ),
            None,
        ),
        ("wap.json", explore(json!({ "_generate": "12 empty files" }), json!({ "files_len": 12 })), None),
        (
            "wap.json",
            explore(json!({ "_generate": "12 empty files" }), json!({ "files_len": 13 })),
            Some("files_len should be 13"),
        ),
        (
            "wap.json",
            explore(
                json!({ "_generate": ["7 lines", "big2 of 9 bytes"] }),
                json!({ "paths": ["big", "big2"] }),
            ),
            None,
        ),
        (
            "wap.json",
            explore(json!({ "_dir": "empty", "_mode": "empty 0700" }), json!({ "paths": ["empty"] })),
            None,
        ),
        (
            "wap.json",
            explore(json!({ "_generate": "a symphony" }), json!({ "ok": true })),
            Some("the generator 'a symphony' is not understood"),
        ),
        (
            "wap.json",
            explore(json!({ "_sing": "x" }), json!({ "ok": true })),
            Some("the set-up '_sing' is not understood"),
        ),
        (
            "wap.json",
            wap(
                "read",
                json!({ "_generate": "1 MiB, 1000 lines" }),
                json!({ "path": "big", "startLine": 3, "endLine": 3 }),
                json!({ "totalLines": 1000, "returnedLines": 1, "content_starts": "yyy", "content_not_contains": "z" }),
            ),
            None,
        ),
        (
            "wap.json",
            wap(
                "write",
                json!({}),
                json!({ "path": "n", "content": "abc" }),
                json!({ "exists": "n", "absent": ["m"], "bytesWritten_is": 3 }),
            ),
            None,
        ),
        (
            "wap.json",
            json!({ "kind": "wire", "input": { "http": "POST /v1/tools/readFile", "files": { "a": "A" }, "body": { "path": "a" } },
                "expect": { "status": 200, "content": "A" } }),
            None,
        ),
        (
            tagproto,
            flow(
                json!({ "seq": 3, "results": 2, "reads": 1 }),
                json!({ "order": [
            "=== HEADER ===", "=== PROTOCOL ===", "=== CONTEXT ===", "## Workspace Files", "## Previous Command Results",
            "## Requested File Contents", "=== PROMPT ==="] }),
            ),
            None,
        ),
        (
            tagproto,
            flow(json!({ "seq": 3, "results": 0 }), json!({ "absent": ["## Requested File Contents"] })),
            None,
        ),
        (
            tagproto,
            flow(json!({ "seq": 3, "results": 1 }), json!({ "absent": ["## Previous Command Results"] })),
            Some("the outbox has a line"),
        ),
        (tagproto, flow(json!({}), json!({ "sings": true })), Some("there is no runner for [\"sings\"]")),
        (
            tagproto,
            exec(
                "[RUN_COMMAND]\necho hi\n[/RUN_COMMAND]",
                json!({ "output_is": "hi\n", "success": true, "exists": "a" }),
            ),
            None,
        ),
        (
            tagproto,
            exec("[RUN_COMMAND]\necho hi\n[/RUN_COMMAND]", json!({ "output_is": "ho\n" })),
            Some("output_is should be \"ho\\n\""),
        ),
        (
            "cocode.json",
            cocode("worktree", json!({ "issue": 31, "agent": "zed" }), json!({ "branch": "cocode/31-zed" })),
            None,
        ),
        (
            "cocode.json",
            cocode(
                "worktree",
                json!({ "branch cocode/9-b exists with marker at HEAD": true }),
                json!({ "ready_before_agent_commits": false }),
            ),
            None,
        ),
        (
            "cocode.json",
            cocode(
                "worktree",
                json!({ "x exists and is not a worktree": true, "has": "gold" }),
                json!({ "error": true, "gold_kept": true }),
            ),
            None,
        ),
        (
            "cocode.json",
            cocode("worktree", json!({ "repos": ["a", "b", "c"] }), json!({ "distinct_dirs": false })),
            Some("distinct_dirs is true"),
        ),
        (
            "cocode.json",
            cocode("worktree", json!({ "song": true }), json!({ "error": true })),
            Some("no set-up is known for [\"song\"]"),
        ),
        (
            "cocode.json",
            cocode(
                "agent_run",
                json!({ "agent_bash": "exit 0", "repository": "empty" }),
                json!({ "ready": false, "error": true }),
            ),
            None,
        ),
        (
            "cocode.json",
            cocode(
                "agent_run",
                json!({ "agent_bash": "echo ANTHROPIC_X=$ANTHROPIC_X; exit 7" }),
                json!({ "exit": 7, "kept": ["ANTHROPIC_X"], "dropped": ["any other"], "wall_s_max": 60 }),
            ),
            None,
        ),
        (
            "cocode.json",
            cocode("agent_run", json!({ "agent_bash": "echo x" }), json!({ "kept": ["NOPE"] })),
            Some("kept is []"),
        ),
        (
            "cocode.json",
            cocode("agent_run", json!({ "agent_bash": "exit 3" }), json!({ "advice_contains": "a song" })),
            Some("advice_contains is "),
        ),
        (
            "cocode.json",
            cocode("state", json!({}), json!({ "agent_fields": ["agent", "song"] })),
            Some("agent_fields is [\"agent\"]"),
        ),
        (
            "cocode.json",
            cocode(
                "adapter",
                json!({ "agent": "codex", "issue": 8 }),
                json!({ "argv_contains": ["a song"] }),
            ),
            Some("argv_contains is []"),
        ),
    ]
}

#[test]
fn cases_that_are_written_elsewhere_run_and_name_what_is_not_understood() {
    let folder = tempfile::tempdir().unwrap();
    let cases = other_cases();
    for file in ["wap.json", "tagproto.json", "cocode.json"] {
        let of_file = cases.iter().enumerate().filter(|(_, (of, ..))| *of == file);
        let of_file: Vec<Value> = of_file
            .map(|(index, (_, case, _))| {
                let mut case = case.clone();
                case["name"] = format!("case {index}").into();
                case
            })
            .collect();
        fs::write(folder.path().join(file), json!({ "cases": of_file }).to_string()).unwrap();
    }
    let (_, lines) = run_task(folder.path());
    for (index, (file, case, expected)) in cases.iter().enumerate() {
        let start = format!("FAILED {file} case {index}: ");
        let line = lines.iter().find(|line| line.starts_with(&start));
        match expected {
            None => assert_eq!(line, None, "{case}"),
            Some(part) => assert!(line.is_some_and(|line| line.contains(part)), "{part} in {line:?}, {case}"),
        }
    }
}
