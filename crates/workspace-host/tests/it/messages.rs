//! Malformed messages and their answers.

use std::fmt::Write as _;

use workspace_host::json_rpc::{Message, error};

#[test]
fn malformed_messages_are_answered_with_what_is_wrong() {
    let lines = [
        "",
        "{",
        "[]",
        "1",
        r#"{"jsonrpc":"2.0"}"#,
        r#"{"jsonrpc":"1.0","id":1,"method":"readFile"}"#,
        r#"{"jsonrpc":"2.0","id":{},"method":"readFile"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":2}"#,
        r#"{"jsonrpc":"2.0","id":"a","method":"readFile","params":3}"#,
        r#"{"jsonrpc":"2.0","method":"readFile"}"#,
    ];
    let mut text = String::new();
    for line in lines {
        match Message::parse(line.as_bytes()) {
            Ok(message) => writeln!(text, "{line}\n  {message:?}").unwrap(),
            Err(malformed) => {
                let answer = error(&malformed.id, malformed.code, &malformed.text, None);
                let answer = String::from_utf8(answer).unwrap();
                writeln!(text, "{line}\n  {}", answer.trim_end()).unwrap();
            }
        }
    }
    insta::assert_snapshot!(text);
}
