//! The messages of llm4s.

use serde_json::Value;
use wap_core::llm4s::{Incoming, decode, decode_command, limits_from_config};
use wap_core::{JsonValues, check_json_size};

/// Checks that messages are parsed or refused with a text, that a single command is the same within a message, and that the count
/// of values agrees with that of the parsed text.
pub fn llm4s_messages(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match decode(&text) {
        Ok(message) => check_wrapped(&message),
        Err(error) => assert!(!error.to_string().is_empty() && !error.code().is_empty()),
    }
    if let Ok(command) = decode_command(&text) {
        let message = format!(r#"{{"$type":"CommandMessage","command":{text}}}"#);
        assert_eq!(decode(&message), Ok(Incoming::Command(command)), "a command within a message");
    }
    if let Ok(value) = serde_json::from_str::<Value>(&text) {
        let _ = limits_from_config(&value);
        check_count(&text, &value);
    }
}

fn check_wrapped(message: &Incoming) {
    if let Incoming::Command(command) = message
        && let Err(error) = &command.request
    {
        assert!(!error.message().is_empty(), "an error says something");
    }
}

/// The byte scanner may count too many values, but never too few: it guards memory.
fn check_count(text: &str, value: &Value) {
    if check_json_size(text.as_bytes()).is_err() {
        return;
    }
    let mut scanner = JsonValues::default();
    assert!(text.bytes().all(|byte| scanner.take(byte)), "both ways of counting agree");
    assert!(count(value) <= 2_000_000, "{} values passed", count(value));
}

fn count(value: &Value) -> usize {
    match value {
        Value::Array(values) => 1 + values.iter().map(count).sum::<usize>(),
        Value::Object(fields) => 1 + fields.values().map(count).sum::<usize>(),
        _ => 1,
    }
}
