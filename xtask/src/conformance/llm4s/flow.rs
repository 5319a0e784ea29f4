//! Cases of the llm4s dialect that take several messages, with the built program as the server.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::conformance::Outcome;
use crate::conformance::expected::{equal, expectations, list, text};
use crate::conformance::fixture::Fixture;
use crate::conformance::llm4s::server::{Llm4sClient, Llm4sServer};
use crate::conformance::problem::{Problem, ensure};
use crate::conformance::survivors::survivors;

/// The time within which the processes of a finished command have to be gone.
const GONE: Duration = Duration::from_secs(10);

/// Runs a case of the kind flow.
pub(crate) fn run(case: &Value) -> Outcome {
    let input = &case["input"];
    let checked = if !input["cancel"].is_null() {
        other_client(case)
    } else if !input["commands"].is_null() {
        parallel(case)
    } else {
        one_command(case)
    };
    checked.into()
}

/// A command on a server, from beginning to end.
fn one_command(case: &Value) -> Result<(), Problem> {
    let (input, fixture) = (&case["input"], Fixture::new()?);
    fixture.put("notes.txt", "a note\n")?;
    let timeout = input["default_timeout_s"].to_string();
    let mut options = Vec::new();
    if !input["default_timeout_s"].is_null() {
        options.extend(["--timeout", &timeout]);
    }
    match text(&input["profile"]) {
        "" => {}
        "read-only" => options.push("--read-only"),
        other => return Err(Problem::new(format!("no profile is known by the name {other}"))),
    }
    let server = Llm4sServer::start(&fixture, &options)?;
    let mut client = server.connect()?;
    let before = survivors(fixture.path());
    client.execute("c", &input["command"])?;
    let mut messages = Vec::new();
    match text(&input["then"]) {
        "" => {}
        "cancel" => {
            messages.extend(until_output(&mut client)?);
            ensure(survivors(fixture.path()) > before, || "the command cannot be descriptions".to_owned())?;
            client.cancel("c")?;
        }
        other => return Err(Problem::new(format!("nothing is known to do as {other}"))),
    }
    messages.extend(client.until_completed(1)?);
    let completed: Vec<_> = of_type(&messages, "CommandCompletedMessage").collect();
    let responses: Vec<_> =
        of_type(&messages, "ResponseMessage").map(|message| &message["response"]).collect();
    ensure(responses.len() == 1, || format!("there are {} responses: {messages:?}", responses.len()))?;
    let last = messages.last().unwrap_or(&Value::Null);
    expectations(&case["expect"])?.try_for_each(|(key, expected)| match key {
        "completed_exitCode" => equal(key, expected, &last["exitCode"]),
        "response_exitCode" => equal(key, expected, &responses[0]["exitCode"]),
        "completed_count" => equal(key, expected, &json!(completed.len())),
        "process_alive" => {
            let began = Instant::now();
            while survivors(fixture.path()) > before && began.elapsed() < GONE {
                std::thread::sleep(Duration::from_millis(20));
            }
            equal(key, expected, &json!(survivors(fixture.path()) > before))
        }
        "order" => in_order(expected, &messages),
        "messages" => {
            let descriptions: Vec<_> = messages.iter().map(|message| describe(message, true)).collect();
            equal(key, expected, &json!(descriptions))
        }
        "no" => list(expected).iter().try_for_each(|name| {
            let is_said =
                messages.iter().any(|one| one["$type"] == *name || one["response"]["$type"] == *name);
            ensure(!is_said, || format!("{} was sent: {messages:?}", text(name)))
        }),
        "note" => Ok(()),
        other => Err(Problem::unknown_key(other)),
    })
}

/// A client that cancels what another one has begun.
fn other_client(case: &Value) -> Result<(), Problem> {
    let fixture = Fixture::new()?;
    let server = Llm4sServer::start(&fixture, &[])?;
    let (mut one, mut other) = (server.connect()?, server.connect()?);
    one.execute("c", &json!("echo begun; sleep 600"))?;
    let mut messages = until_output(&mut one)?;
    other.cancel("c")?;
    let reply = other.next()?;
    expectations(&case["expect"])?.try_for_each(|(key, expected)| match key {
        "code" => equal(key, expected, &reply["code"]),
        unknown => Err(Problem::unknown_key(unknown)),
    })?;
    // The command still runs, and its own client can still end it.
    one.cancel("c")?;
    messages.extend(one.until_completed(1)?);
    equal("exitCode", &json!(143), &messages.last().unwrap_or(&Value::Null)["exitCode"])
}

/// Commands that are begun before the first is over.
fn parallel(case: &Value) -> Result<(), Problem> {
    let fixture = Fixture::new()?;
    let server = Llm4sServer::start(&fixture, &[])?;
    let mut client = server.connect()?;
    let commands = list(&case["input"]["commands"]);
    for (index, command) in commands.iter().enumerate() {
        client.execute(&format!("c{index}"), command)?;
    }
    let messages = client.until_completed(commands.len())?;
    for (key, expected) in expectations(&case["expect"])? {
        match key {
            // Either order is right, so there is nothing to compare.
            "responses_may_be_out_of_order" => {}
            "matched_by" => {
                for (index, command) in commands.iter().enumerate() {
                    let id = json!(format!("c{index}"));
                    let response = of_type(&messages, "ResponseMessage").map(|message| &message["response"]);
                    let own: Vec<_> = response.filter(|one| one[text(expected)] == id).collect();
                    let echoed = text(command).strip_prefix("echo ").map(|rest| format!("{rest}\n"));
                    ensure(own.len() == 1, || format!("{id} has {} responses", own.len()))?;
                    equal("stdout", &json!(echoed.unwrap_or_default()), &own[0]["stdout"])?;
                }
            }
            other => return Err(Problem::unknown_key(other)),
        }
    }
    Ok(())
}

/// Returns the messages up to the first piece of output.
fn until_output(client: &mut Llm4sClient) -> Result<Vec<Value>, Problem> {
    let mut messages = Vec::new();
    while messages.last().is_none_or(|last: &Value| last["$type"] != "StreamingOutputMessage") {
        messages.push(client.next()?);
    }
    Ok(messages)
}

fn of_type<'a>(messages: &'a [Value], name: &'a str) -> impl Iterator<Item = &'a Value> {
    messages.iter().filter(move |message| message["$type"] == name)
}

/// Returns a message in the notation of the cases.
fn describe(message: &Value, with_exit_code: bool) -> String {
    let name = text(&message["$type"]);
    match name {
        "ResponseMessage" => format!("{name}({})", text(&message["response"]["$type"])),
        "StreamingOutputMessage" if message["isComplete"] == true => {
            format!("{name} {} isComplete", text(&message["outputType"]))
        }
        "StreamingOutputMessage" => format!("{name}* (stdout/stderr chunks)"),
        "CommandCompletedMessage" if with_exit_code => format!("{name} exitCode {}", message["exitCode"]),
        _ => name.to_owned(),
    }
}

/// Compares the order; pieces of output are one entry, and the ends of both outputs come in either order.
fn in_order(expected: &Value, messages: &[Value]) -> Result<(), Problem> {
    let mut descriptions: Vec<_> = messages.iter().map(|message| describe(message, false)).collect();
    descriptions.dedup();
    for pair in 1..descriptions.len() {
        let are_ends = [pair - 1, pair].iter().all(|index| descriptions[*index].ends_with("isComplete"));
        if are_ends && descriptions[pair - 1].contains("stderr") {
            descriptions.swap(pair - 1, pair);
        }
    }
    equal("order", expected, &json!(descriptions))
}
