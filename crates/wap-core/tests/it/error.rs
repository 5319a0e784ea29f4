//! Errors on the wire.

use std::collections::HashSet;

use serde_json::json;
use wap_core::{ErrorCode, Reason, WapError};

#[test]
fn every_reason_survives_a_round_trip_with_its_code() {
    let mut names = HashSet::new();
    for reason in Reason::ALL.iter().copied() {
        assert!(names.insert(reason.name()), "{} is there once", reason.name());
        let error = WapError::new(reason, "it failed").with("totalLines", 5);
        let wire = serde_json::to_value(&error).unwrap();
        assert_eq!(wire["details"], json!({ "reason": reason.name(), "totalLines": 5 }));
        assert_eq!(wire["code"], serde_json::to_value(reason.code()).unwrap());
        assert_eq!(serde_json::from_value::<WapError>(wire).unwrap(), error);
    }
}

#[test]
fn reasons_belong_to_the_codes_of_the_ruling() {
    let table: Vec<String> = [
        ErrorCode::FileNotFound,
        ErrorCode::PermissionDenied,
        ErrorCode::SizeLimitExceeded,
        ErrorCode::InvalidArgument,
        ErrorCode::ExecutionFailed,
        ErrorCode::Timeout,
    ]
    .into_iter()
    .map(|code| {
        let reasons = Reason::ALL.iter().filter(|reason| reason.code() == code);
        let names: Vec<&str> = reasons.map(|reason| reason.name()).collect();
        format!("{}: {}", serde_json::to_value(code).unwrap().as_str().unwrap(), names.join(" "))
    })
    .collect();
    insta::assert_snapshot!(table.join("\n"), @r"
    FILE_NOT_FOUND: FILE_NOT_FOUND PATH_NOT_FOUND DIRECTORY_NOT_FOUND
    PERMISSION_DENIED: PATH_ESCAPE_ATTEMPT PROTECTED READ_ONLY OS_PERMISSION UNAUTHORIZED ENVIRONMENT_NOT_ALLOWED
    SIZE_LIMIT_EXCEEDED: FILE_TOO_LARGE REQUEST_TOO_LARGE
    INVALID_ARGUMENT: INVALID_FIELD NOT_A_FILE NOT_A_DIRECTORY IS_SYMLINK FILE_EXISTS BINARY_FILE INVALID_RANGE INVALID_REGEX INVALID_GLOB INVALID_NAME CONFLICT EMPTY_QUERY EMPTY_COMMAND UNKNOWN_TOOL
    EXECUTION_FAILED: READ_ERROR WRITE_ERROR NO_SPACE SANDBOX_UNAVAILABLE SPAWN_FAILED KILLED_FOR_MEMORY LEFT_OUT PENDING_REVIEW CANCELLED BUSY OUTCOME_UNKNOWN
    TIMEOUT: TIMEOUT
    ");
}

#[test]
fn an_error_of_a_plain_peer_is_read() {
    let read = |wire| serde_json::from_value::<WapError>(wire).unwrap();
    let bare = read(json!({ "error": "gone", "code": "FILE_NOT_FOUND" }));
    assert_eq!((bare.message(), bare.reason()), ("gone", Reason::PathNotFound));

    let text =
        read(json!({ "error": "no", "code": "PERMISSION_DENIED", "details": "as the administrator said" }));
    assert_eq!(text.reason(), Reason::OsPermission);
    assert_eq!(text.detail("details"), Some(&json!("as the administrator said")));

    let null = read(json!({ "error": "no", "code": "TIMEOUT", "details": null }));
    assert_eq!(null.reason(), Reason::Timeout);
}

#[test]
fn an_unknown_or_mismatched_reason_is_replaced_by_that_of_the_code() {
    for reason in [json!("DISK_ON_FIRE"), json!("TIMEOUT"), json!(7), json!(null)] {
        let wire =
            json!({ "error": "e", "code": "INVALID_ARGUMENT", "details": { "reason": reason, "n": 1 } });
        let error: WapError = serde_json::from_value(wire).unwrap();
        assert_eq!(error.code(), ErrorCode::InvalidArgument);
        assert_eq!(error.detail("n"), Some(&json!(1)));
    }
}

#[test]
fn a_detail_cannot_pose_as_the_reason() {
    let error = WapError::new(Reason::Busy, "busy").with("reason", "CANCELLED");
    let text = serde_json::to_string(&error).unwrap();
    assert_eq!(text, r#"{"error":"busy","code":"EXECUTION_FAILED","details":{"reason":"BUSY"}}"#);
}

#[test]
fn quotes_in_an_error_are_truncated() {
    let long = "é".repeat(100_000);
    let error =
        WapError::new(Reason::PathNotFound, format!("'{long}' is missing")).with("path", long.as_str());
    assert_eq!(error.message().chars().count(), 8_193);
    let path = error.detail("path").unwrap().as_str().unwrap().to_owned();
    assert_eq!((path.chars().count(), path.chars().last()), (4_097, Some('…')));
    // The output of a command and the text of a file have their own bounds.
    let error = WapError::new(Reason::Timeout, "out of time").with("stdout", long.as_str());
    assert_eq!(error.detail("stdout").unwrap().as_str(), Some(&*long));
    let whole = WapError::new(Reason::PathNotFound, "x".repeat(8_192)).with("path", "y".repeat(4_096));
    assert_eq!(
        (whole.message().len(), whole.detail("path").unwrap().as_str().unwrap().len()),
        (8_192, 4_096)
    );
}
