//! Cases of the llm4s dialect: messages as text, limits, and what a server answers to one message.

pub(crate) mod flow;
mod server;

use serde_json::{Value, json};
use wap_core::llm4s::{Command, Incoming, Outgoing, answer_text, decode, limits_from_config};
use wap_core::{ExecuteCommandResponse, Limits, OutputStream, Reason, Request, Response, WapError};

use super::Outcome;
use super::expected::{derived, equal, expectations, list, members, text};
use super::fixture::Fixture;
use super::generator::set_up;
use super::llm4s::server::Llm4sServer;
use super::problem::{Problem, ensure};

/// Runs a case of the kind wire.
pub(super) fn wire(case: &Value) -> Outcome {
    let (input, expect) = (&case["input"], &case["expect"]);
    let checked = match members(input).next() {
        Some(("text", message)) => replied(text(message), expect),
        Some(("decode", message)) if members(expect).any(|(key, _)| key.starts_with("reply")) => {
            replied(&message.to_string(), expect)
        }
        Some(("decode", message)) => decoded(message, expect),
        Some(("decode_native", request)) => native(request, expect),
        Some(("encode", message)) => encoded(message, expect),
        Some(("http" | "body", _)) => over_http(input, expect),
        other => Err(Problem::new(format!("no runner is known for {other:?}"))),
    };
    checked.into()
}

/// Runs a case of the kind config.
pub(super) fn config(case: &Value) -> Outcome {
    let read = limits_from_config(&case["input"]);
    let checked = expectations(&case["expect"]).and_then(|mut keys| {
        keys.try_for_each(|(key, expected)| match key {
            "valid" => equal(key, expected, &json!(read.is_ok())),
            other => Err(Problem::unknown_key(other)),
        })
    });
    // A refusal names one of the fields that the case has set.
    let names_field = || match &read {
        Ok(_) => true,
        Err(error) => members(&case["input"]).any(|(name, _)| error.detail("field") == Some(&json!(name))),
    };
    checked.and_then(|()| ensure(names_field(), || format!("{read:?} names no field of the case"))).into()
}

/// Carries a modification out as a client of the dialect sends it, and compares the files.
pub(super) fn modified(case: &Value) -> Result<(), Problem> {
    let fixture = Fixture::new()?;
    for (name, content) in members(&case["input"]["files"]) {
        fixture.put(name, text(content))?;
    }
    let mut command = case["input"]["request"].clone();
    command["$type"] = "ModifyFileCommand".into();
    command["commandId"] = "c".into();
    let request = command_of(&json!({ "$type": "CommandMessage", "command": command }))?.request?;
    let Request::ModifyFile(request) = request else {
        return Err(Problem::new("the command is read as something else"));
    };
    let (engine, _) = fixture.engine(Limits::default())?;
    let _ = super::wap::answer("modifyFile", &serde_json::to_value(request)?, &engine, &fixture)?;
    expectations(&case["llm4s_expect"])?.try_for_each(|(key, expected)| match key {
        "after" => members(expected)
            .try_for_each(|(path, content)| equal(path, content, &json!(fixture.text(path)?))),
        other => Err(Problem::unknown_key(other)),
    })
}

/// Sends a text to a server and compares what it answers; the server has to answer the next message as well.
fn replied(message: &str, expect: &Value) -> Result<(), Problem> {
    let fixture = Fixture::new()?;
    let server = Llm4sServer::start(&fixture, &[])?;
    let mut client = server.connect()?;
    client.send_text(message)?;
    let reply = client.next()?;
    for (key, expected) in expectations(expect)? {
        match key {
            "reply" => members(expected).try_for_each(|(field, expected)| match field {
                "timestamp" => {
                    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?.as_millis();
                    let timestamp = reply[field].as_u64().map(u128::from);
                    ensure(timestamp.is_some_and(|timestamp| timestamp.abs_diff(now) < 600_000), || {
                        format!("the server's time is {reply}, and it is {now}")
                    })
                }
                field => equal(field, expected, &reply[field]),
            })?,
            "reply_code" => equal(key, expected, &reply["code"])?,
            "connection_stays_open" => equal(key, expected, &json!(client.heartbeat().is_ok()))?,
            other => return Err(Problem::unknown_key(other)),
        }
    }
    // Nothing more than what is expected is said.
    let more =
        members(&reply).find(|(field, _)| expect["reply"].is_object() && expect["reply"][field].is_null());
    ensure(more.is_none(), || format!("the reply {reply} has more than is expected"))
}

fn command_of(message: &Value) -> Result<Command, Problem> {
    match decode(&message.to_string()) {
        Ok(Incoming::Command(command)) => Ok(command),
        other => Err(Problem::new(format!("the message is {other:?}"))),
    }
}

fn decoded(message: &Value, expect: &Value) -> Result<(), Problem> {
    let Command { id, request, .. } = command_of(message)?;
    let request = request?;
    let fields = fields_of(&request)?;
    expectations(expect)?.try_for_each(|(key, expected)| match key {
        "op" => equal(key, expected, &json!(request.tool().name())),
        "commandId" => equal(key, expected, &json!(id)),
        "ops" => {
            let names: Vec<_> = list(&fields["operations"]).iter().map(|one| one["type"].clone()).collect();
            equal(key, expected, &json!(names))
        }
        field => equal(field, expected, &fields[field]),
    })
}

/// The fields of a request by their names on the wire; those that were left out are missing.
fn fields_of(request: &Request) -> Result<Value, Problem> {
    Ok(match request {
        Request::ExploreFiles(request) => serde_json::to_value(request)?,
        Request::ReadFile(request) => serde_json::to_value(request)?,
        Request::WriteFile(request) => serde_json::to_value(request)?,
        Request::ModifyFile(request) => serde_json::to_value(request)?,
        Request::DeleteFile(request) => serde_json::to_value(request)?,
        Request::SearchFiles(request) => serde_json::to_value(request)?,
        Request::ExecuteCommand(request) => serde_json::to_value(request)?,
        Request::StopProcess(request) => serde_json::to_value(request)?,
        Request::GetWorkspaceInfo => json!({}),
    })
}

fn native(request: &Value, expect: &Value) -> Result<(), Problem> {
    let Request::ExecuteCommand(request) = Request::parse("executeCommand", request.clone())? else {
        return Err(Problem::new("it is read as something else"));
    };
    expectations(expect)?.try_for_each(|(key, expected)| match key {
        "timeout_ms" => equal(key, expected, &json!(request.timeout)),
        other => Err(Problem::unknown_key(other)),
    })
}

fn encoded(message: &Value, expect: &Value) -> Result<(), Problem> {
    let id = text(&message["commandId"]);
    let rendered = match text(&message["op"]) {
        "error" => {
            let reason: Reason = serde_json::from_value(message["code"].clone())?;
            let error = WapError::new(reason, text(&message["error"]));
            Outgoing::Answer { command_id: id, answer: Err(&error) }.encode()
        }
        "executeCommand" => {
            let response: ExecuteCommandResponse = serde_json::from_value(message.clone())?;
            answer_text(id, &Ok(Response::ExecuteCommand(response)))
        }
        "stream" => {
            let stream = match text(&message["outputType"]) {
                "stdout" => OutputStream::Stdout,
                _ => OutputStream::Stderr,
            };
            let is_complete = message["isComplete"] == true;
            let content = text(&message["content"]);
            Outgoing::Output { command_id: id, stream, content, is_complete }.encode()
        }
        other => return Err(Problem::new(format!("nothing is known to render {other}"))),
    };
    let rendered: Value = serde_json::from_str(&rendered)?;
    // What was to be said is said, under the same names.
    for (field, value) in members(message).filter(|(field, value)| *field != "op" && !value.is_null()) {
        let said = if rendered["response"].is_object() { &rendered["response"] } else { &rendered };
        let left_out = field == "isComplete" && *value == false;
        equal(field, if left_out { &Value::Null } else { value }, &said[field])?;
    }
    expectations(expect)?.try_for_each(|(key, expected)| match key {
        "must_equal_modulo_null" => equal(key, expected, &without_nulls(&rendered)),
        "durationMs_is_number" => equal(key, expected, &json!(rendered["durationMs"].is_u64())),
        "isComplete" if expected == "absent or false" => {
            let said = &rendered[key];
            ensure(said.is_null() || *said == false, || format!("isComplete is {said}"))
        }
        field => equal(field, expected, &rendered[field]),
    })
}

fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(_) => {
            let kept = members(value).filter(|(_, member)| !member.is_null());
            kept.map(|(name, member)| (name.to_owned(), without_nulls(member))).collect()
        }
        other => other.clone(),
    }
}

fn over_http(input: &Value, expect: &Value) -> Result<(), Problem> {
    let fixture = Fixture::new()?;
    let server = Llm4sServer::start(&fixture, &[])?;
    let request = text(&input["http"]).split_once(' ');
    let (method, path) = request.ok_or_else(|| Problem::new("the case has no method and path"))?;
    for (name, content) in members(&input["files"]) {
        set_up(&fixture, name, content)?;
    }
    let body = match &input["body"] {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    let (status, body) = server.request(method, path, &body)?;
    expectations(expect)?.try_for_each(|(key, expected)| match key {
        "status" => equal(key, expected, &json!(status)),
        field => match derived(field, expected, |field| body.get(field).cloned()) {
            Some(holds) => ensure(holds, || format!("{field} should be {expected}, and the body is {body}")),
            None => equal(field, expected, &body[field]),
        },
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::config;
    use crate::conformance::Outcome;

    #[test]
    fn limits_that_are_not_as_the_case_says_fail_it() {
        let case = |valid| json!({ "input": { "maxFileSize": 1 }, "expect": { "valid": valid } });
        assert_eq!(config(&case(true)), Outcome::Passed);
        assert!(matches!(config(&case(false)), Outcome::Failed(_)));
    }
}
