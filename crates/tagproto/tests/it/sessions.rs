//! Stored sessions, and the tokens that tie replies to them.

use tagproto::{BlockKind, CommandResult, CommandType, Dialect, Execution, ReplyTo, Session, SessionId};

use crate::fixture::round_trip::session;

#[test]
fn session_is_stored_under_the_names_of_the_seed() {
    let mut session = session("Create a calculator app", Dialect::Agentd);
    let result = CommandResult {
        command_type: BlockKind::CreateFile.into(),
        summary: "Created 'a'".into(),
        success: true,
        output: String::new(),
        notes: Vec::new(),
        denied: Vec::new(),
    };
    let execution =
        Execution { results: vec![result], read_file_requests: vec!["a".into()], ..Execution::default() };
    session.advance(execution, "2025-01-15T10:35:00Z");
    insta::assert_json_snapshot!(session, @r#"
    {
      "sessionId": "a1b2c3d4",
      "task": "Create a calculator app",
      "sequenceNumber": 2,
      "isComplete": false,
      "createdAt": "2025-01-15T10:30:00Z",
      "updatedAt": "2025-01-15T10:35:00Z",
      "lastResults": [
        {
          "commandType": "CREATE_FILE",
          "summary": "Created 'a'",
          "success": true,
          "output": ""
        }
      ],
      "readFileRequests": [
        "a"
      ],
      "dialect": "agentd",
      "shownVersions": {}
    }
    "#);
    let stored = serde_json::to_string(&session).unwrap();
    assert_eq!(serde_json::from_str::<Session>(&stored).unwrap(), session);
}

#[test]
fn session_of_the_original_is_read_and_unknown_members_are_passed_over() {
    let stored = r#"{
        "sessionId": "a1b2c3d4", "task": "T", "sequenceNumber": 3, "isComplete": false,
        "createdAt": "2025-01-15T10:30:00Z", "updatedAt": "2025-01-15T10:35:00Z",
        "lastResults": [{"commandType": "PARSE_ERROR", "summary": "x", "success": false, "output": "", "more": 1}],
        "readFileRequests": ["src/Calculator.cs"], "somethingElse": {}
    }"#;
    let session: Session = serde_json::from_str(stored).unwrap();
    assert_eq!(session.last_results[0].command_type, CommandType::ParseError);
    assert_eq!((session.dialect, session.token_budget, &session.done), (Dialect::Agentd, None, &None));
    assert_eq!(session.outbox_file_name(), "a1b2c3d4_seq0003.txt");
    assert_eq!(session.session_file_name(), "a1b2c3d4.json");
    assert!(serde_json::from_str::<Session>(&stored.replace("a1b2c3d4", "A1B2C3D4")).is_err());
    assert!(serde_json::from_str::<Session>(&stored.replace("PARSE_ERROR", "ERROR")).is_err());
}

#[test]
fn done_completes_the_session_at_its_number() {
    let mut session = session("T", Dialect::Agentd);
    session.advance(Execution { done: Some(String::new()), ..Execution::default() }, "later");
    assert!(session.is_complete);
    assert_eq!(
        (session.sequence_number, session.done.as_deref(), session.updated_at.as_str()),
        (1, Some(""), "later")
    );
}

fn done_with_a_failure() -> Execution {
    let failed = CommandResult {
        command_type: BlockKind::EditFile.into(),
        summary: "File 'a' not found".into(),
        success: false,
        output: String::new(),
        notes: Vec::new(),
        denied: Vec::new(),
    };
    Execution { results: vec![failed], done: Some("all is well".into()), ..Execution::default() }
}

#[test]
fn done_with_a_failed_block_keeps_the_session_open() {
    let mut session = session("T", Dialect::Agentd);
    session.advance(done_with_a_failure(), "later");
    assert_eq!((session.is_complete, session.sequence_number, &session.done), (false, 2, &None));
    assert!(session.notes[0].contains("[DONE] did not end the session, because 1 block of it failed"));
    // A reply without a failure ends it.
    session.advance(Execution { done: Some("now".into()), ..Execution::default() }, "later");
    assert_eq!(
        (session.is_complete, session.sequence_number, session.done.as_deref()),
        (true, 2, Some("now"))
    );
}

#[test]
fn a_reply_without_blocks_adds_a_note_about_blocks() {
    let mut session = session("T", Dialect::Agentd);
    session.advance(Execution::default(), "later");
    assert_eq!((session.sequence_number, session.notes.len()), (2, 1));
    let note = &session.notes[0];
    assert!(note.starts_with("nothing in your last reply was recognised as a block"), "{note}");
    assert!(note.contains("[READ_FILE path=") && note.chars().count() <= 400, "{}", note.chars().count());
    // The next reply has a block, and the original dialect has no such note.
    session.advance(done_with_a_failure(), "later");
    assert!(!session.notes.contains(&"nothing".to_owned()) && session.notes.len() == 1);
    let mut original = self::session("T", Dialect::CodingAgent);
    original.advance(Execution::default(), "later");
    assert!(original.notes.is_empty());
}

#[test]
fn in_the_dialect_of_the_original_done_ends_the_session_whatever_failed() {
    let mut session = session("T", Dialect::CodingAgent);
    session.advance(done_with_a_failure(), "later");
    assert_eq!((session.is_complete, session.done.as_deref()), (true, Some("all is well")));
    assert!(session.notes.is_empty());
}

#[test]
fn a_reopened_session_waits_for_a_reply_to_its_next_message() {
    let mut session = session("T", Dialect::Agentd);
    let open = session.clone();
    session.reopen("later");
    assert_eq!(session, open, "it was not complete");
    session.advance(Execution { done: Some("x".into()), ..Execution::default() }, "later");
    session.reopen("last");
    assert_eq!((session.is_complete, session.sequence_number, &session.done), (false, 2, &None));
    assert_eq!((session.reopened.as_slice(), session.updated_at.as_str()), ([1].as_slice(), "last"));
    assert!(session.notes[0].starts_with("the user has reopened the session"));
    let stored = serde_json::to_string(&session).unwrap();
    assert_eq!(serde_json::from_str::<Session>(&stored).unwrap(), session);
}

#[test]
fn session_id_is_eight_digits_in_lower_case() {
    let id = SessionId::from_random([0x0a, 0, 0xff, 1]);
    assert_eq!(id.to_string(), "0a00ff01");
    assert_eq!("0a00ff01".parse(), Ok(id));
    for text in ["", "0a00ff0", "0a00ff011", "0A00FF01", "0a00fg01", "+a00ff01", "0a00ff0é"] {
        assert!(text.parse::<SessionId>().is_err(), "{text}");
    }
}

#[test]
fn dialects_have_names() {
    for dialect in Dialect::ALL {
        assert_eq!(dialect.to_string().parse(), Ok(dialect));
        assert_eq!(serde_json::to_value(dialect).unwrap(), dialect.name());
    }
    assert!("Agentd".parse::<Dialect>().is_err());
}

#[test]
fn token_reads_back_and_nothing_else_does() {
    let token = ReplyTo { session: SessionId::from_random([0xa1, 0xb2, 0xc3, 0xd4]), sequence: 30 };
    assert_eq!(token.to_string(), "a1b2c3d4-30");
    assert_eq!("a1b2c3d4-30".parse(), Ok(token));
    for text in [
        "a1b2c3d4",
        "a1b2c3d4-",
        "a1b2c3d4-0",
        "a1b2c3d4-03",
        "a1b2c3d4-+3",
        "a1b2c3d4-3x",
        "a1b2c3d4-99999999999",
    ] {
        assert!(text.parse::<ReplyTo>().is_err(), "{text}");
    }
}

#[test]
fn token_is_found_on_a_line_of_its_own_outside_of_blocks() {
    let in_block = "[CREATE_FILE path=\"a\"]\nReply-To: a1b2c3d4-3\n[/CREATE_FILE]\n";
    for (reply, expected) in [
        ("Reply-To: a1b2c3d4-3\n[DONE]\n[/DONE]", Some(3)),
        ("Sure!\n\n  reply-to:a1b2c3d4-3  \r\n", Some(3)),
        ("**Reply-To:** a1b2c3d4-3", Some(3)),
        ("**Reply-To: a1b2c3d4-3**", Some(3)),
        ("`Reply-To: a1b2c3d4-3`", Some(3)),
        ("> Reply-To: `a1b2c3d4-3`.", Some(3)),
        ("\u{feff}Reply-To: A1B2C3D4-3", Some(3)),
        ("Reply-To: a1b2c3d4-3\nReply-To: a1b2c3d4-4", Some(3)),
        ("Reply-To: the header\nReply-To: a1b2c3d4-4", Some(4)),
        ("I reply to a1b2c3d4-3", None),
        ("Reply-To: a1b2c3d4-3 and more", None),
        ("The line Reply-To: a1b2c3d4-3", None),
        ("Reply-To a1b2c3d4-3", None),
        ("Réply-To: a1b2c3d4-3", None),
        (in_block, None),
        (&format!("{in_block}Reply-To: a1b2c3d4-5"), Some(5)),
        ("[RUN_COMMAND]\nnever closed\nReply-To: a1b2c3d4-3", None),
    ] {
        assert_eq!(ReplyTo::find(reply).map(|token| token.sequence), expected, "{reply}");
    }
}
