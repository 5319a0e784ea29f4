//! Cases of the llm4s dialect that take several messages, with the built program as the server.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::conformance::Outcome;
use crate::conformance::expected::{equal, expectations, list, text};
use crate::conformance::ground::Ground;
use crate::conformance::llm4s::server::{Llm4sClient, Llm4sServer};
use crate::conformance::problem::{Problem, ensure};
use crate::conformance::survivors::survivors;

/// How long the processes of a command that is over may take to be gone.
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
    let (input, ground) = (&case["input"], Ground::new()?);
    ground.put("notes.txt", "a note\n")?;
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
    let server = Llm4sServer::start(&ground, &options)?;
    let mut client = server.connect()?;
    let before = survivors(ground.path());
    client.execute("c", &input["command"])?;
    let mut told = Vec::new();
    match text(&input["then"]) {
        "" => {}
        "cancel" => {
            told.extend(until_output(&mut client)?);
            ensure(survivors(ground.path()) > before, || "the command cannot be seen".to_owned())?;
            client.cancel("c")?;
        }
        other => return Err(Problem::new(format!("nothing is known to do as {other}"))),
    }
    told.extend(client.until_completed(1)?);
    let completed: Vec<_> = of_type(&told, "CommandCompletedMessage").collect();
    let responses: Vec<_> = of_type(&told, "ResponseMessage").map(|message| &message["response"]).collect();
    ensure(responses.len() == 1, || format!("there are {} responses: {told:?}", responses.len()))?;
    let last = told.last().unwrap_or(&Value::Null);
    expectations(&case["expect"])?.try_for_each(|(key, expected)| match key {
        "completed_exitCode" => equal(key, expected, &last["exitCode"]),
        "response_exitCode" => equal(key, expected, &responses[0]["exitCode"]),
        "completed_count" => equal(key, expected, &json!(completed.len())),
        "process_alive" => {
            let began = Instant::now();
            while survivors(ground.path()) > before && began.elapsed() < GONE {
                std::thread::sleep(Duration::from_millis(20));
            }
            equal(key, expected, &json!(survivors(ground.path()) > before))
        }
        "order" => in_order(expected, &told),
        "messages" => {
            let shown: Vec<_> = told.iter().map(|message| shown(message, true)).collect();
            equal(key, expected, &json!(shown))
        }
        "no" => list(expected).iter().try_for_each(|name| {
            let is_said = told.iter().any(|one| one["$type"] == *name || one["response"]["$type"] == *name);
            ensure(!is_said, || format!("{} was sent: {told:?}", text(name)))
        }),
        "note" => Ok(()),
        other => Err(Problem::unknown_key(other)),
    })
}

/// A client that cancels what another one has begun.
fn other_client(case: &Value) -> Result<(), Problem> {
    let ground = Ground::new()?;
    let server = Llm4sServer::start(&ground, &[])?;
    let (mut one, mut other) = (server.connect()?, server.connect()?);
    one.execute("c", &json!("echo begun; sleep 600"))?;
    let mut told = until_output(&mut one)?;
    other.cancel("c")?;
    let reply = other.next()?;
    expectations(&case["expect"])?.try_for_each(|(key, expected)| match key {
        "code" => equal(key, expected, &reply["code"]),
        unknown => Err(Problem::unknown_key(unknown)),
    })?;
    // It goes on, and its own client can still end it.
    one.cancel("c")?;
    told.extend(one.until_completed(1)?);
    equal("exitCode", &json!(143), &told.last().unwrap_or(&Value::Null)["exitCode"])
}

/// Commands that are begun before the first is over.
fn parallel(case: &Value) -> Result<(), Problem> {
    let ground = Ground::new()?;
    let server = Llm4sServer::start(&ground, &[])?;
    let mut client = server.connect()?;
    let commands = list(&case["input"]["commands"]);
    for (index, command) in commands.iter().enumerate() {
        client.execute(&format!("c{index}"), command)?;
    }
    let told = client.until_completed(commands.len())?;
    for (key, expected) in expectations(&case["expect"])? {
        match key {
            // Either order is right, so there is nothing to compare.
            "responses_may_be_out_of_order" => {}
            "matched_by" => {
                for (index, command) in commands.iter().enumerate() {
                    let id = json!(format!("c{index}"));
                    let response = of_type(&told, "ResponseMessage").map(|message| &message["response"]);
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

/// The messages up to the first piece of output.
fn until_output(client: &mut Llm4sClient) -> Result<Vec<Value>, Problem> {
    let mut told = Vec::new();
    while told.last().is_none_or(|last: &Value| last["$type"] != "StreamingOutputMessage") {
        told.push(client.next()?);
    }
    Ok(told)
}

fn of_type<'a>(told: &'a [Value], name: &'a str) -> impl Iterator<Item = &'a Value> {
    told.iter().filter(move |message| message["$type"] == name)
}

/// A message as the cases name it.
fn shown(message: &Value, with_exit_code: bool) -> String {
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
fn in_order(expected: &Value, told: &[Value]) -> Result<(), Problem> {
    let mut seen: Vec<_> = told.iter().map(|message| shown(message, false)).collect();
    seen.dedup();
    for pair in 1..seen.len() {
        let are_ends = [pair - 1, pair].iter().all(|index| seen[*index].ends_with("isComplete"));
        if are_ends && seen[pair - 1].contains("stderr") {
            seen.swap(pair - 1, pair);
        }
    }
    equal("order", expected, &json!(seen))
}
