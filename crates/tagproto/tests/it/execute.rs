//! The effects of a reply's blocks, and their results.

use std::time::Duration;

use memory_workspace::MemoryWorkspace;
use serde_json::{Value, json};
use tagproto::{
    CommandResult, Dialect, Execution, ExecutionObserver, Item, UnobservedExecution, base_versions, execute,
    parse,
};
use wap_core::{
    Denied, ExecuteCommandResponse, FileChanged, Limits, ModifyFileResponse, OutputStream, Reason, WapError,
};

use crate::fixture::call_frame::Frame;
use crate::fixture::recording::Recording;
use crate::fixture::round_trip::{answer, ended, outbox, run, session};

fn create(path: &str, body: &str) -> String {
    format!("[CREATE_FILE path=\"{path}\"]\n{body}[/CREATE_FILE]\n")
}

fn command(text: &str) -> String {
    format!("[RUN_COMMAND]\n{text}\n[/RUN_COMMAND]\n")
}

/// Returns the result of a single command with a given outcome in the workspace.
fn run_one(outcome: Result<ExecuteCommandResponse, WapError>, dialect: Dialect) -> CommandResult {
    let workspace = MemoryWorkspace::new();
    workspace.on_command("make", outcome);
    run(&command("make"), &session("T", dialect), &workspace).results.remove(0)
}

#[test]
fn created_file_ends_with_a_newline_in_the_default_dialect_only() {
    for (body, agentd, codingagent) in
        [("", "", ""), ("\n", "\n", ""), ("a\n", "a\n", "a"), ("a\n\n", "a\n\n", "a\n")]
    {
        for (dialect, expected) in [(Dialect::Agentd, agentd), (Dialect::CodingAgent, codingagent)] {
            let workspace = MemoryWorkspace::new();
            run(&create("f", body), &session("T", dialect), &workspace);
            assert_eq!(workspace.text("f").as_deref(), Some(expected), "{body:?} in {dialect}");
        }
    }
}

#[test]
fn body_of_an_edit_keeps_its_blank_lines_and_none_deletes() {
    for (body, expected) in [("", "a\nc\n"), ("\n", "a\n\nc\n"), ("x\n\n\n", "a\nx\n\n\nc\n")] {
        let workspace = MemoryWorkspace::with_files([("f", "a\nb\nc\n")]);
        let reply = format!("[EDIT_FILE path=\"f\" start_line=\"2\" end_line=\"2\"]\n{body}[/EDIT_FILE]");
        run(&reply, &session("T", Dialect::Agentd), &workspace);
        assert_eq!(workspace.text("f").as_deref(), Some(expected), "{body:?}");
    }
}

#[test]
fn one_reply_may_add_the_same_lines_at_two_places() {
    let both = "begin_transaction();\ncommit_transaction();\n";
    let edit = |line: u32, text: &str| {
        format!(
            "[EDIT_FILE path=\"f\" start_line=\"{line}\" end_line=\"{line}\"]\n{text}\n{both}[/EDIT_FILE]\n"
        )
    };
    // A block that is not batched divides the reply into several calls.
    for between in ["", "[READ_FILE path=\"f\"]\n"] {
        let workspace = MemoryWorkspace::with_files([("f", "one\nthree\nfour\n")]);
        let reply = edit(1, "one") + between + &edit(3, "four");
        run(&reply, &session("T", Dialect::Agentd), &workspace);
        assert_eq!(workspace.text("f"), Some(format!("one\n{both}three\nfour\n{both}")), "{between}");
    }
}

#[test]
fn effects_are_numbered_in_order_and_neighbouring_files_go_together() {
    let workspace = Recording::of(MemoryWorkspace::with_files([("old", "x\n")]));
    workspace.inner.on_command("make", Ok(ended("", "", 0)));
    let reply = [
        create("a", "1\n"),
        "[MESSAGE]\nm\n[/MESSAGE]\n[READ_FILE]\n".into(),
        "[DELETE_FILE path=\"old\"]\n[READ_FILE path=\"a\"]\n".into(),
        create("b", "1\n"),
        command("make"),
        create("c", "1\n"),
        "[EDIT_FILE path=\"./c\" start_line=\"1\" end_line=\"1\"]\n2\n[/EDIT_FILE]\n".into(),
        create("d", "1\n"),
    ];
    let expected = [
        "0: write a, delete old",
        "2: write b",
        "3: run make (30000 ms)",
        "4: write c",
        "5: modify ./c, write d",
    ];
    let session = session("T", Dialect::Agentd);
    let first = run(&reply.concat(), &session, &workspace);
    assert_eq!(workspace.take_effects(), expected);
    assert_eq!(first.failed_blocks(), 1, "the block without a path");
    // A resumed run makes the same calls and gets the same answers, and nothing happens twice.
    workspace.inner.set_file("b", "the user's\n");
    let second = run(&reply.concat(), &session, &workspace);
    assert_eq!((workspace.take_effects(), second), (expected.map(String::from).to_vec(), first));
    assert_eq!(workspace.inner.text("b").unwrap(), "the user's\n");
    assert_eq!(workspace.inner.commands_run(), ["make"]);
}

#[test]
fn error_of_the_whole_workspace_leaves_the_run_unfinished() {
    let workspace = Recording::of(MemoryWorkspace::new());
    *workspace.next_batch_fails.lock().unwrap() =
        Some(WapError::new(Reason::NoSpace, "the journal's disk is full"));
    let reply = create("a", "1\n");
    let frame = Frame::new(&reply);
    let attempt = || {
        let base =
            base_versions(&parse(&reply), &session("T", Dialect::Agentd), &workspace, &frame.call()).unwrap();
        let timeout = Duration::from_secs(30);
        let observer = &mut UnobservedExecution;
        execute(&parse(&reply), Dialect::Agentd, base, timeout, &workspace, &frame.call(), observer)
    };
    assert_eq!(attempt().unwrap_err().reason(), Reason::NoSpace);
    assert_eq!(attempt().unwrap().failed_blocks(), 0);
    assert_eq!(workspace.inner.text("a").unwrap(), "1\n");
}

#[test]
fn stopped_reply_begins_no_further_block_and_keeps_the_numbering() {
    let workspace = Recording::of(MemoryWorkspace::new());
    let reply = format!("{}{}[DONE]\nd\n[/DONE]\n", create("a", "1\n"), command("make"));
    let frame = Frame::new(&reply);
    frame.cancel.cancel();
    let (items, timeout) = (parse(&reply), Duration::from_secs(30));
    let observer = &mut UnobservedExecution;
    let execution =
        execute(&items, Dialect::Agentd, Default::default(), timeout, &workspace, &frame.call(), observer)
            .unwrap();
    assert!(workspace.inner.files().is_empty() && workspace.inner.commands_run().is_empty());
    assert_eq!(execution.not_begun, [0, 1]);
    let stopped = "CANCELLED: not carried out, because the user stopped this reply";
    let summaries: Vec<&str> = execution.results.iter().map(|result| result.summary.as_str()).collect();
    assert_eq!(summaries, [stopped, stopped, "d"]);
}

#[test]
fn results_of_an_interrupted_reply_are_still_reported() {
    let workspace = MemoryWorkspace::with_files([("f", "1\n")]);
    workspace.on_command("make", Ok(ended("made\n", "", 0)));
    let killed = WapError::new(Reason::Cancelled, "killed").with("stdout", "half\n");
    workspace.on_command("make test", Err(killed));
    workspace.on_command("make install", Ok(ended("", "", 0)));
    let reply = [
        create("a", "1\n"),
        command("make"),
        command("make test"),
        "[READ_FILE path=\"f\"]\n".into(),
        create("b", "1\n"),
        command("make install"),
    ];
    let carry_out = |frame: &Frame, blocks: usize| {
        let text = reply[..blocks].concat();
        let (items, timeout) = (parse(&text), Duration::from_secs(30));
        let observer = &mut UnobservedExecution;
        execute(&items, Dialect::Agentd, Default::default(), timeout, &workspace, &frame.call(), observer)
            .unwrap()
    };
    let frame = Frame::new("reply");
    let done = carry_out(&frame, 3);
    frame.cancel.cancel();
    let recalled = carry_out(&frame, 6);
    assert_eq!(recalled.results[..3], done.results);
    assert_eq!(recalled.results[2].summary, "Command cancelled by the user: make test");
    assert_eq!(recalled.not_begun, [3, 4, 5]);
    assert_eq!(workspace.commands_run(), ["make", "make test"]);
    assert_eq!(workspace.text("b"), None);
}

#[test]
fn batch_that_can_never_be_carried_out_fails_and_the_rest_goes_on() {
    let workspace = Recording::of(MemoryWorkspace::with_files([("f", "1\n")]));
    workspace.inner.on_command("make", Ok(ended("", "", 0)));
    *workspace.next_batch_fails.lock().unwrap() =
        Some(WapError::new(Reason::Conflict, "step 0 of this run was another one, so nothing was done"));
    let reply = [
        create("a", "1\n"),
        "[EDIT_FILE path=\"f\" start_line=\"1\" end_line=\"1\"]\n2\n[/EDIT_FILE]\n".into(),
        "[DELETE_FILE path=\"f\"]\n".into(),
        command("make"),
    ];
    let execution = run(&reply.concat(), &session("T", Dialect::Agentd), &workspace);
    let lines: Vec<&str> = execution.results.iter().map(|result| result.summary.as_str()).collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    Failed to create 'a': step 0 of this run was another one, so nothing was done; look at the file with READ_FILE before you change it
    Failed to edit 'f': step 0 of this run was another one, so nothing was done; ask for the file with READ_FILE and edit it then
    Failed to delete 'f': step 0 of this run was another one, so nothing was done; look at the file with READ_FILE before you change it
    Ran 'make' (exit code 0)
    ");
    assert_eq!(workspace.inner.commands_run(), ["make"]);
}

#[test]
fn failures_advise_the_next_step() {
    let workspace = MemoryWorkspace::with_files([("d/f", "x\n"), ("bin", "\0")]);
    let reply = [
        create("../x", ""),
        create(".git/config", ""),
        create("d", ""),
        create("d/f/g", ""),
        "[DELETE_FILE path=\"d\"]\n[DELETE_FILE path=\"no\"]\n[READ_FILE path=\"d/f/g\"]\n[READ_FILE path=\"bin\"]\n".into(),
        "[EDIT_FILE path=\"no\" start_line=\"1\" end_line=\"1\"]\n[/EDIT_FILE]\n".into(),
        "[EDIT_FILE path=\"bin\" start_line=\"1\" end_line=\"1\"]\n[/EDIT_FILE]\n".into(),
        command("make"),
    ];
    let execution = run(&reply.concat(), &session("T", Dialect::Agentd), &workspace);
    assert_eq!(execution.failed_blocks(), execution.results.len());
    let lines: Vec<String> = execution
        .results
        .iter()
        .map(|result| format!("{}: {}", result.command_type, result.summary))
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    CREATE_FILE: REJECTED: Path '../x' is outside workspace; use a path relative to the root of the workspace
    CREATE_FILE: REJECTED: Path '.git/config' is protected: its name is on the list of protected names; leave it as it is, or ask the user with MESSAGE
    CREATE_FILE: Failed to create 'd': 'd' is a folder; use another path
    CREATE_FILE: Failed to create 'd/f/g': 'd/f' is not a folder; use another path
    DELETE_FILE: File 'd' not found; the path leads to a folder, or to something else that is not a regular file
    DELETE_FILE: File 'no' not found; see Workspace Files for what there is
    READ_FILE: File 'd/f/g' not found; see Workspace Files for what there is
    READ_FILE: Failed to read 'bin': 'bin' is a binary file; use RUN_COMMAND to look at it or to replace it
    EDIT_FILE: File 'no' not found; see Workspace Files for what there is
    EDIT_FILE: Failed to edit 'bin': 'bin' is a binary file; use RUN_COMMAND to look at it or to replace it
    RUN_COMMAND: Failed to run 'make': the workspace in memory has no script for this command; go on without commands, and tell the user with MESSAGE what to run
    "#);
}

#[test]
fn a_file_in_a_missing_folder_is_not_found_whatever_the_engine_advises() {
    let workspace = Recording::of(MemoryWorkspace::new());
    let reply = "[EDIT_FILE path=\"no/f\" start_line=\"1\" end_line=\"1\"]\n[/EDIT_FILE]\n[DELETE_FILE path=\"no/f\"]\n";
    let error = WapError::new(Reason::DirectoryNotFound, "no folder").with("hint", "create the folder first");
    *workspace.next_changes_fail.lock().unwrap() = Some(error);
    let execution = run(reply, &session("T", Dialect::Agentd), &workspace);
    let expected = "File 'no/f' not found; see Workspace Files for what there is";
    assert_eq!(
        execution.results.iter().map(|result| result.summary.as_str()).collect::<Vec<_>>(),
        [expected; 2]
    );
}

#[test]
fn advice_of_an_engine_is_reworded_for_a_chat() {
    let workspace = Recording::of(MemoryWorkspace::new());
    let reply =
        "[EDIT_FILE path=\"f\" start_line=\"3\" end_line=\"4\"]\nx\n[/EDIT_FILE]\n[READ_FILE path=\"f\"]\n";
    let hinted = |reason| WapError::new(reason, "text").with("hint", "use readFile with startLine");
    let errors = [
        hinted(Reason::Conflict)
            .with("expectedText", "old")
            .with("movedTo", vec![Value::from(13), Value::from(14)]),
        hinted(Reason::Conflict),
        hinted(Reason::FileTooLarge),
        hinted(Reason::NoSpace),
        hinted(Reason::PathNotFound).with("rootGone", true),
    ];
    let summaries = errors.map(|error| {
        *workspace.next_changes_fail.lock().unwrap() = Some(error);
        run(reply, &session("T", Dialect::Agentd), &workspace).results.remove(0).summary
    });
    insta::assert_snapshot!(summaries.join("\n"), @r"
    Failed to edit 'f': lines 3-4 are not what they were when you saw them; the same lines are now at 13-14
    Failed to edit 'f': text; ask for the file with READ_FILE and edit it then
    Failed to edit 'f': text; use RUN_COMMAND, or smaller blocks
    Failed to edit 'f': text; tell the user with MESSAGE
    Failed to edit 'f': text; nothing can be read or changed any more: tell the user with MESSAGE
    ");
}

#[test]
fn an_engine_that_answers_another_change_causes_no_panic() {
    let workspace = Recording::of(MemoryWorkspace::with_files([("f", "1\n")]));
    *workspace.next_answers.lock().unwrap() = Some(FileChanged::Modified(ModifyFileResponse {
        success: true,
        path: "f".into(),
        version: None,
        previous_version: None,
        shifts: Vec::new(),
        carried: Vec::new(),
        replacements: Vec::new(),
        lines_added: 0,
        lines_removed: 0,
        changed: None,
        warnings: Vec::new(),
    }));
    let result =
        run("[DELETE_FILE path=\"f\"]\n", &session("T", Dialect::Agentd), &workspace).results.remove(0);
    let expected = "the outcome for 'f' is unknown: the workspace answered another kind of change; look at the file with READ_FILE";
    assert_eq!((result.success, &*result.summary), (false, expected));
}

#[test]
fn output_that_was_cut_before_the_command_timed_out_is_more_than_what_is_counted() {
    let error = WapError::new(Reason::Timeout, "text").with("stdout", "x\n".repeat(3_000));
    let output = |error| run_one(Err(error), Dialect::Agentd).output;
    assert!(!output(error.clone()).contains("more than"));
    let output = output(error.with("isOutputTruncated", true));
    assert!(output.contains("[... more than 2"), "{output}");
}

#[test]
fn ends_of_commands_are_distinguished() {
    let error = |reason| WapError::new(reason, "text").with("stdout", "out\n").with("stderr", "err\n");
    let killed = ExecuteCommandResponse { signal: Some("SIGKILL".into()), ..ended("", "", 137) };
    let outcomes = [
        Ok(ended("", "", 1)),
        Ok(killed),
        Err(error(Reason::Timeout)),
        Err(error(Reason::Cancelled)),
        Err(error(Reason::KilledForMemory)),
        Err(WapError::new(Reason::OutcomeUnknown, "text")),
        Err(WapError::new(Reason::SandboxUnavailable, "commands cannot be confined here")),
        Err(WapError::new(Reason::SpawnFailed, "no shell").with("hint", "install one")),
    ];
    let lines = outcomes.map(|outcome| {
        let result = run_one(outcome, Dialect::Agentd);
        assert!(!result.success);
        format!("{} {:?}", result.summary, result.output)
    });
    insta::assert_snapshot!(lines.join("\n"), @r#"
    Ran 'make' (exit code 1) ""
    Ran 'make' (exit code 137), ended by SIGKILL ""
    Command timed out (30s): make "out\n\nerr\n"
    Command cancelled by the user: make "out\n\nerr\n"
    Command killed for using too much memory: make "out\n\nerr\n"
    UNKNOWN: the daemon stopped while this command ran; it was not run again; look at what it left before you run it once more: make ""
    Failed to run 'make': commands cannot be confined here; go on without commands, and tell the user with MESSAGE what to run ""
    Failed to run 'make': no shell ""
    "#);
}

#[test]
fn timeout_is_named_as_it_was_given() {
    let workspace = MemoryWorkspace::new();
    workspace.on_command("x", Err(WapError::new(Reason::Timeout, "text")));
    let (reply, frame) = (command("x"), Frame::new("x"));
    for (timeout, expected) in [(2000, "Command timed out (2s): x"), (1500, "Command timed out (1.5s): x")] {
        let observer = &mut UnobservedExecution;
        let timeout = Duration::from_millis(timeout);
        let execution: Execution = execute(
            &parse(&reply),
            Dialect::Agentd,
            Default::default(),
            timeout,
            &workspace,
            &frame.call(),
            observer,
        )
        .unwrap();
        assert_eq!(
            (execution.results[0].summary.as_str(), execution.results[0].output.as_str()),
            (expected, "")
        );
    }
}

#[test]
fn long_output_keeps_head_and_tail_and_names_the_whole() {
    let lines: String = (0..2_000).map(|number| format!("line {number}\n")).collect();
    let response =
        ExecuteCommandResponse { whole_output: Some("@output/7".into()), ..ended(&lines, "last words\n", 0) };
    let output = run_one(Ok(response), Dialect::Agentd).output;
    let total = lines.chars().count() + "\nlast words\n".len();
    assert!(output.chars().count() <= 4_000, "{}", output.chars().count());
    assert!(output.starts_with("line 0\nline 1\n") && output.ends_with("line 1999\n\nlast words\n"));
    let (head, rest) = output.split_once("[... ").unwrap();
    let (left_out, rest) = rest
        .split_once(" characters left out; [READ_FILE path=\"@output/7\"] shows the whole output ...]\n")
        .unwrap();
    assert_eq!(head.len() + left_out.parse::<usize>().unwrap() + rest.len(), total);
    assert!(head.ends_with('\n') && rest.starts_with("line "));
}

#[test]
fn output_of_exactly_the_limit_is_whole() {
    for dialect in Dialect::ALL {
        let text = "é".repeat(4_000);
        assert_eq!(run_one(Ok(ended(&text, " \n", 0)), dialect).output, text);
    }
}

#[test]
fn long_output_of_one_line_is_cut_between_characters() {
    let output = run_one(Ok(ended(&"é".repeat(9_000), "", 0)), Dialect::Agentd).output;
    let notice = "\n[... 5300 characters left out; run the command again with less output to see them ...]\n";
    assert_eq!(output, format!("{}{notice}{}", "é".repeat(1_200), "é".repeat(2_500)));
}

#[test]
fn original_dialect_keeps_the_first_characters() {
    let output = run_one(Ok(ended(&"é".repeat(4_001), "", 0)), Dialect::CodingAgent).output;
    assert_eq!(output, format!("{}\n... (output truncated)", "é".repeat(4_000)));
}

#[test]
fn warnings_of_the_workspace_follow_the_output() {
    let response = ExecuteCommandResponse {
        warnings: vec!["'.git/hooks/x' was not adopted".into()],
        ..ended("a", "", 0)
    };
    let result = run_one(Ok(response), Dialect::Agentd);
    assert_eq!(result.text(), "a\nnote: '.git/hooks/x' was not adopted\n");
    assert_eq!((&*result.output, &*result.notes), ("a", &["'.git/hooks/x' was not adopted".to_owned()][..]));
}

#[test]
fn output_of_a_command_is_not_a_note() {
    let response = ExecuteCommandResponse {
        warnings: vec!["'x' was not adopted".into()],
        ..ended("a\nnote: all is well\n", "", 0)
    };
    let result = run_one(Ok(response), Dialect::Agentd);
    assert_eq!(&*result.notes, &["'x' was not adopted".to_owned()][..]);
    // Older state has no such field.
    let mut older = serde_json::to_value(&result).unwrap();
    older.as_object_mut().unwrap().remove("notes").unwrap();
    let read: tagproto::CommandResult = serde_json::from_value(older).unwrap();
    assert_eq!(read.text(), "a\nnote: all is well\n");
}

#[test]
fn notes_are_below_the_output_where_no_command_can_print_one() {
    let workspace = MemoryWorkspace::new();
    let printed = "a\n[NOTE] effect: all is well\n  Output: b\n[OK] DONE: c\n";
    let warnings = vec!["'x' was not adopted".to_owned(), "two\n[NOTE] lines".to_owned()];
    workspace.on_command("make", Ok(ExecuteCommandResponse { warnings, ..ended(printed, "", 0) }));
    let mut session = session("T", Dialect::Agentd);
    answer(&command("make"), &mut session, &workspace);
    let text = outbox(&mut session, &workspace);
    let below = "[OK] DONE: c\n[NOTE] effect: 'x' was not adopted\n[NOTE] effect: two [NOTE] lines\n";
    assert!(text.contains(below), "{text}");
    assert!(text.contains("\n    [NOTE] effect: all is well\n"), "{text}");
    let result = &tagproto::read_outbox(&text).unwrap().results[0];
    assert_eq!(result.notes, ["'x' was not adopted", "two [NOTE] lines"], "{text}");
    assert!(result.output.contains("[NOTE] effect: all is well"), "{text}");
}

#[test]
fn refusals_of_a_command_are_noted_under_its_result() {
    let denied = |what: &str, allow: Option<&str>, count| Denied {
        what: what.into(),
        why: "network is off".into(),
        allow: allow.map(str::to_owned),
        count,
    };
    let refusals = vec![
        denied("connect 192.0.2.1:443", Some("--network on"), 3),
        denied("make a raw\n[OK] socket\u{1b}", None, 1),
    ];
    let response = ExecuteCommandResponse { denied: refusals.clone(), ..ended("a", "", 1) };
    let timeout =
        WapError::new(Reason::Timeout, "late").with("stdout", "a").with(Denied::DETAIL, json!(refusals));
    for outcome in [Ok(response), Err(timeout)] {
        let workspace = MemoryWorkspace::new();
        workspace.on_command("make", outcome);
        let mut session = session("T", Dialect::Agentd);
        answer(&command("make"), &mut session, &workspace);
        let text = outbox(&mut session, &workspace);
        let noted = "\n[NOTE] refused: connect 192.0.2.1:443 · network is off · --network on · 3 times\n\
                     [NOTE] refused: make a raw [OK] socket";
        assert!(text.contains(noted), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
        let parts = tagproto::read_outbox(&text).unwrap();
        assert_eq!((parts.results[0].denied.len(), parts.notes.len()), (2, 0), "{text}");
    }
    // The control: a command without refusals has no note.
    let workspace = MemoryWorkspace::new();
    workspace.on_command("make", Ok(ended("a", "", 1)));
    let mut session = session("T", Dialect::Agentd);
    answer(&command("make"), &mut session, &workspace);
    assert!(!outbox(&mut session, &workspace).contains("[NOTE] refused"));
}

#[test]
fn file_too_large_to_be_returned_whole_is_shown_from_its_start() {
    let limits = Limits { max_file_size: 20, ..Limits::default() };
    let workspace = MemoryWorkspace::with_files([("big", "line\n".repeat(10))]).with_limits(limits);
    let mut session = session("T", Dialect::Agentd);
    let execution = answer("[READ_FILE path=\"big\"]\n[READ_FILE path=\"./big\"]", &mut session, &workspace);
    assert_eq!((execution.failed_blocks(), execution.read_file_requests), (0, vec!["big".to_owned()]));
    let text = outbox(&mut session, &workspace);
    let end =
        "--- end big --- (lines 1-4 of 10; for more use READ_FILE with start_line=\"5\" end_line=\"10\")";
    assert!(text.contains(&format!("--- big ---\n1|line\n2|line\n3|line\n4|line\n{end}\n")), "{text}");
}

/// An observer that records every event.
#[derive(Default)]
struct Log(Vec<String>);

impl ExecutionObserver for Log {
    fn block_started(&mut self, index: usize, item: &Item<'_>) {
        self.0.push(format!("{index} {} starts", item.kind()));
    }

    fn command_started(&mut self, sandbox: &str) {
        self.0.push(sandbox.split(';').next().unwrap().into());
    }

    fn output(&mut self, stream: OutputStream, bytes: &[u8]) {
        self.0.push(format!("{stream:?} {:?}", String::from_utf8_lossy(bytes)));
    }

    fn block_finished(
        &mut self,
        index: usize,
        _item: &Item<'_>,
        result: &CommandResult,
        changed: Option<&FileChanged>,
    ) {
        self.0.push(format!("{index} {} {:?}", result.summary, changed.map(FileChanged::path)));
    }
}

#[test]
fn observer_sees_blocks_and_output_in_order() {
    let workspace = MemoryWorkspace::new();
    workspace.on_command("make", Ok(ended("o", "e", 0)));
    let reply = format!("{}[MESSAGE]\nm\n[/MESSAGE]\n{}", create("./a", ""), command("make"));
    let (frame, mut log) = (Frame::new(&reply), Log::default());
    let timeout = Duration::from_secs(1);
    execute(
        &parse(&reply),
        Dialect::Agentd,
        Default::default(),
        timeout,
        &workspace,
        &frame.call(),
        &mut log,
    )
    .unwrap();
    assert_eq!(
        log.0,
        [
            "0 CREATE_FILE starts",
            "1 MESSAGE starts",
            "0 Created './a' Some(\"a\")",
            "1 m None",
            "2 RUN_COMMAND starts",
            "level=none",
            "Stdout \"o\"",
            "Stderr \"e\"",
            "2 Ran 'make' (exit code 0) None",
        ]
    );
}
