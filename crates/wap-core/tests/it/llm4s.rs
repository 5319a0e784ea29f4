//! The llm4s dialect as text.

use proptest::prelude::*;
use serde_json::{Value, json};
use wap_core::llm4s::{
    BadMessage, Command, CommandStory, Incoming, Outgoing, answer_text, decode, decode_command,
    limits_from_config,
};
use wap_core::{
    Denied, ExecuteCommandResponse, LineNumbers, ModifyOperation, OutputStream, Reason, Request, Response,
    WapError,
};

fn command(command: Value) -> Command {
    let message = json!({ "$type": "CommandMessage", "command": command });
    match decode(&message.to_string()) {
        Ok(Incoming::Command(command)) => command,
        other => panic!("{message} is {other:?}"),
    }
}

fn messages(texts: &[String]) -> Vec<Value> {
    texts.iter().map(|text| serde_json::from_str(text).unwrap()).collect()
}

fn names(messages: &[Value]) -> Vec<&str> {
    messages.iter().map(|message| message["$type"].as_str().unwrap()).collect()
}

#[test]
fn both_spellings_of_a_type_are_read_everywhere() {
    let short = r#"{"command": {"path": "a", "commandId": "c", "$type": "ReadFileCommand"}, "$type": "CommandMessage"}"#;
    let long = short
        .replace("\"ReadFile", "\"org.llm4s.shared.ReadFile")
        .replace("\"Comm", "\"org.llm4s.shared.Comm");
    assert!(long.contains("org.llm4s.shared.CommandMessage"));
    assert_eq!(decode(short), decode(&long));
    assert!(matches!(
        decode(short),
        Ok(Incoming::Command(Command { request: Ok(Request::ReadFile(_)), .. }))
    ));
    let foreign = short.replace("CommandMessage", "org.example.CommandMessage");
    assert_eq!(decode(&foreign), Err(BadMessage::Format));
}

/// Returns the refusal of a command.
fn refused(command: Value) -> BadMessage {
    decode(&json!({ "$type": "CommandMessage", "command": command }).to_string()).unwrap_err()
}

#[test]
fn a_timeout_is_in_seconds() {
    for (timeout, milliseconds) in [
        (json!(90), Some(90_000)),
        (json!(0.25), Some(250)),
        (json!(null), None),
        (json!(i64::MAX), Some(i64::MAX)),
        (json!(1e300), Some(i64::MAX)),
        (json!(-1), Some(-1_000)),
    ] {
        let fields = json!({ "$type": "ExecuteCommandCommand", "commandId": "c", "command": "ls", "timeout": timeout });
        let Ok(Request::ExecuteCommand(request)) = command(fields).request else { panic!("{timeout}") };
        assert_eq!(request.timeout, milliseconds, "{timeout}");
    }
    let fields =
        json!({ "$type": "ExecuteCommandCommand", "commandId": "c", "command": "ls", "timeout": "9" });
    assert_eq!(refused(fields), BadMessage::Format);
}

#[test]
fn operations_are_named_by_their_type_and_apply_in_turn() {
    let fields = json!({ "$type": "ModifyFileCommand", "commandId": "c", "path": "p", "lineNumbers": "beforeTheCall",
        "operations": [
            { "$type": "org.llm4s.shared.DeleteOperation", "startLine": 1, "endLine": 2 },
            { "type": "insert", "afterLine": 0, "newContent": "x" },
            { "$type": "ReplaceOperation", "type": "replace", "startLine": 1, "endLine": 1, "newContent": "" },
        ] });
    let Ok(Request::ModifyFile(request)) = command(fields).request else { panic!() };
    assert_eq!(request.line_numbers, Some(LineNumbers::InTurn));
    assert!(matches!(
        request.operations[..],
        [ModifyOperation::Delete { .. }, ModifyOperation::Insert { .. }, ModifyOperation::Replace { .. }]
    ));
    let fields = json!({ "$type": "ModifyFileCommand", "commandId": "c", "path": "p",
        "operations": [{ "$type": "MoveOperation" }] });
    assert_eq!(refused(fields), BadMessage::Format);
}

#[test]
fn a_field_that_is_missing_or_of_the_wrong_type_makes_the_message_unreadable() {
    for fields in [
        json!({ "$type": "ReadFileCommand", "commandId": "c7" }),
        json!({ "$type": "ReadFileCommand", "commandId": "c7", "path": 7 }),
        json!({ "$type": "WriteFileCommand", "commandId": "c7", "path": "a" }),
        json!({ "$type": "ExecuteCommandCommand", "commandId": "c7" }),
        json!({ "$type": "SearchFilesCommand", "commandId": "c7", "paths": "a", "query": "x", "type": "literal" }),
    ] {
        assert_eq!(refused(fields.clone()), BadMessage::Format, "{fields}");
    }
    // The control: optional fields may be missing.
    assert!(command(json!({ "$type": "ReadFileCommand", "commandId": "c7", "path": "a" })).request.is_ok());
}

#[test]
fn a_command_that_does_not_exist_is_refused_under_its_name() {
    let unknown = command(json!({ "$type": "FormatDiskCommand", "commandId": "c8" }));
    assert_eq!((unknown.id.as_str(), unknown.request.unwrap_err().reason()), ("c8", Reason::UnknownTool));
}

#[test]
fn a_text_that_is_not_a_message_is_refused() {
    let format = [
        "",
        "{nope",
        "[]",
        "7",
        "null",
        "{}",
        r#"{"$type": 7}"#,
        r#"{"$type": "Nonsense"}"#,
        r#"{"$type": "CommandMessage"}"#,
        r#"{"$type": "CommandMessage", "command": []}"#,
        r#"{"$type": "CommandMessage", "command": {"$type": "ReadFileCommand", "path": "a"}}"#,
        r#"{"$type": "CommandMessage", "command": {"commandId": "c", "path": "a"}}"#,
        r#"{"$type": "CommandMessage", "command": {"$type": "ReadFileCommand", "commandId": 7, "path": "a"}}"#,
        r#"{"$type": "CancelCommandMessage"}"#,
        r#"{"$type": "CancelCommandMessage", "commandId": null}"#,
        r#"{"$type": "HeartbeatMessage"} {"$type": "HeartbeatMessage"}"#,
    ];
    for text in format {
        assert_eq!(decode(text), Err(BadMessage::Format), "{text}");
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(decode(&deep), Err(BadMessage::Format));
    for name in ["ResponseMessage", "ErrorMessage", "org.llm4s.shared.StreamingOutputMessage"] {
        let error = decode(&json!({ "$type": name }).to_string()).unwrap_err();
        assert_eq!(error.code(), "INVALID_MESSAGE_TYPE");
        assert!(name.ends_with(error.to_string().rsplit(' ').next().unwrap()));
    }
    assert_eq!(decode(r#"{"$type": "HeartbeatMessage", "timestamp": -5}"#), Ok(Incoming::Heartbeat));
    assert_eq!(decode(r#"{"$type": "HeartbeatMessage"}"#), Ok(Incoming::Heartbeat));
    assert_eq!(decode_command("{nope"), Err(BadMessage::Format));
    assert!(
        decode_command(r#"{"$type": "GetWorkspaceInfoCommand", "commandId": "c"}"#).unwrap().request.is_ok()
    );
}

#[test]
fn a_failure_has_the_finer_reason_as_its_code_and_a_text_as_its_details() {
    let error = WapError::new(Reason::PathEscapeAttempt, "no").with("path", "../x");
    let text: Value = serde_json::from_str(&answer_text("c", &Err(error))).unwrap();
    assert_eq!(
        text,
        json!({ "$type": "WorkspaceAgentErrorResponse", "commandId": "c", "error": "no", "code": "PATH_ESCAPE_ATTEMPT",
            "details": r#"{"path":"../x"}"# })
    );
    let bare = WapError::new(Reason::FileNotFound, "gone");
    let text: Value = serde_json::from_str(&answer_text("c", &Err(bare))).unwrap();
    assert_eq!(text.get("details"), None);
}

#[test]
fn a_message_leaves_out_empty_fields() {
    let error = Outgoing::Error { error: "e", code: "C", command_id: None }.encode();
    assert_eq!(error, r#"{"$type":"ErrorMessage","error":"e","code":"C"}"#);
    let beat = Outgoing::Heartbeat { timestamp_ms: 5 }.encode();
    assert_eq!(beat, r#"{"$type":"HeartbeatResponseMessage","timestamp":5}"#);
}

fn ran(exit_code: i32) -> ExecuteCommandResponse {
    ExecuteCommandResponse {
        stdout: "out".into(),
        stderr: String::new(),
        exit_code,
        is_output_truncated: false,
        duration_ms: 12,
        signal: None,
        background: None,
        whole_output: None,
        sandbox: "none".into(),
        warnings: Vec::new(),
        denied: Vec::new(),
    }
}

#[test]
fn a_story_has_one_start_two_ends_of_output_one_response_and_one_end() {
    let mut story = CommandStory::new("c", "make");
    let mut texts = Vec::new();
    texts.extend(story.started());
    assert_eq!(story.started(), None);
    texts.extend(story.printed(OutputStream::Stdout, b"a\xc3"));
    texts.extend(story.printed(OutputStream::Stderr, b"e"));
    texts.extend(story.printed(OutputStream::Stdout, b"\xa9"));
    texts.extend(story.ended(&Ok(Response::ExecuteCommand(ran(3))), 99));
    let sent = messages(&texts);
    let stream = "StreamingOutputMessage";
    assert_eq!(
        names(&sent),
        [
            "CommandStartedMessage",
            stream,
            stream,
            stream,
            stream,
            stream,
            "ResponseMessage",
            "CommandCompletedMessage"
        ]
    );
    let contents: Vec<_> = sent[1..6].iter().map(|message| message["content"].as_str().unwrap()).collect();
    assert_eq!(contents, ["a", "e", "é", "", ""]);
    assert_eq!(
        sent[7],
        json!({ "$type": "CommandCompletedMessage", "commandId": "c", "exitCode": 3, "durationMs": 12 })
    );
}

#[test]
fn denials_of_a_command_are_in_its_response_for_every_ending() {
    let denied = vec![Denied {
        what: "connect 192.0.2.1:443".into(),
        why: "network is off".into(),
        allow: Some("--network on".into()),
        count: 2,
    }];
    let expected = json!([
        { "what": "connect 192.0.2.1:443", "why": "network is off", "allow": "--network on", "count": 2 }
    ]);
    let timeout =
        WapError::new(Reason::Timeout, "late").with("stdout", "").with(Denied::DETAIL, json!(denied));
    let response = ExecuteCommandResponse { denied, ..ran(1) };
    for answer in [Ok(Response::ExecuteCommand(response)), Err(timeout)] {
        let sent = messages(&CommandStory::new("c", "make").ended(&answer, 9));
        assert_eq!(sent[sent.len() - 2]["response"]["denied"], expected);
    }
    let sent = messages(&CommandStory::new("c", "make").ended(&Ok(Response::ExecuteCommand(ran(1))), 9));
    assert_eq!(sent[sent.len() - 2]["response"].get("denied"), None);
}

#[test]
fn a_timeout_and_a_cancellation_are_responses_once_the_command_has_run() {
    for (reason, exit_code) in
        [(Reason::Timeout, -1), (Reason::Cancelled, 143), (Reason::KilledForMemory, 137)]
    {
        let error = WapError::new(reason, "ended").with("stdout", "so far").with("durationMs", 7);
        // The start may not have been seen, where another process runs the command.
        let sent = messages(&CommandStory::new("c", "make").ended(&Err(error), 99));
        assert_eq!(sent[0]["$type"], "CommandStartedMessage");
        let response = &sent[sent.len() - 2]["response"];
        assert_eq!((&response["exitCode"], &response["stdout"]), (&json!(exit_code), &json!("so far")));
        assert_eq!(sent.last().unwrap()["exitCode"], exit_code);
        assert_eq!(sent.last().unwrap()["durationMs"], 7);
    }
}

#[test]
fn a_command_that_did_not_run_has_a_failure_and_an_end() {
    for (reason, exit_code) in [(Reason::ReadOnly, 1), (Reason::Cancelled, 143), (Reason::SpawnFailed, 1)] {
        let sent = messages(&CommandStory::new("c", "rm -rf /").ended(&Err(WapError::new(reason, "no")), 4));
        assert_eq!(names(&sent), ["ResponseMessage", "CommandCompletedMessage"]);
        assert_eq!(sent[0]["response"]["code"], reason.name());
        assert_eq!((&sent[1]["exitCode"], &sent[1]["durationMs"]), (&json!(exit_code), &json!(4)));
    }
}

#[test]
fn omitted_output_is_counted_in_the_next_piece() {
    let mut story = CommandStory::new("c", "yes");
    let _ = story.started();
    story.left_out(OutputStream::Stdout, &[b'y'; 1_000]);
    story.left_out(OutputStream::Stdout, b"yy");
    let piece = story.printed(OutputStream::Stdout, b"z").unwrap();
    assert!(piece.contains("1002 bytes left out") && piece.contains('z'), "{piece}");
    story.left_out(OutputStream::Stderr, b"1234");
    let sent = story.ended(&Ok(Response::ExecuteCommand(ran(0))), 0);
    assert!(sent.iter().any(|text| text.contains("4 bytes left out") && text.contains("stderr")), "{sent:?}");
}

#[test]
fn limits_of_a_configuration_are_positive() {
    let limits =
        limits_from_config(&json!({ "maxFileSize": 10, "defaultCommandTimeoutMs": 3_600_000, "x": [] }));
    let limits = limits.unwrap();
    assert_eq!(
        (limits.max_file_size, limits.max_execution_time, limits.max_search_results),
        (10, 3_600_000, 100)
    );
    for bad in [
        json!({ "maxFileSize": 0 }),
        json!({ "maxOutputSize": -1 }),
        json!({ "maxSearchResults": 0 }),
        json!({ "maxDirectoryEntries": 4_294_967_296_u64 }),
        json!({ "defaultCommandTimeoutMs": 3_600_001 }),
        json!({ "maxFileSize": "1" }),
    ] {
        let error = limits_from_config(&bad).unwrap_err();
        assert_eq!(error.detail("field").unwrap(), bad.as_object().unwrap().keys().next().unwrap());
    }
}

proptest! {
    #[test]
    fn no_text_panics(text in ".{0,200}", name in "[A-Za-z]{0,30}", value in any::<i64>()) {
        let _ = decode(&text);
        let _ = decode_command(&text);
        let _ = decode(&json!({ "$type": name, "command": { "$type": name, "commandId": text, "timeout": value } }).to_string());
    }

    #[test]
    fn pieces_give_the_text_of_the_whole(bytes in proptest::collection::vec(any::<u8>(), 0..60), cut in 1_usize..9) {
        let mut story = CommandStory::new("c", "x");
        let mut texts: Vec<String> = bytes.chunks(cut).filter_map(|piece| story.printed(OutputStream::Stdout, piece)).collect();
        let _ = story.started();
        texts.extend(story.ended(&Ok(Response::ExecuteCommand(ran(0))), 0));
        let sent: String = messages(&texts).iter().filter_map(|message| message["content"].as_str()).collect();
        prop_assert_eq!(sent, String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn an_id_is_short_because_it_is_kept_and_repeated() {
    let long = "x".repeat(1025);
    let run = |id: &str| json!({ "$type": "ExecuteCommandCommand", "commandId": id, "command": "true" });
    let message = |id: &str| json!({ "$type": "CommandMessage", "command": run(id) }).to_string();
    let cancel = |id: &str| json!({ "$type": "CancelCommandMessage", "commandId": id }).to_string();
    assert_eq!(decode(&message(&long)), Err(BadMessage::LongId));
    assert_eq!(decode(&cancel(&long)), Err(BadMessage::LongId));
    assert_eq!(decode_command(&run(&long).to_string()), Err(BadMessage::LongId));
    // The control: one byte less.
    assert!(decode(&message(&long[1..])).is_ok() && decode(&cancel(&long[1..])).is_ok());
}
