//! Cases of Codali envelopes. Their kind is the part of the name in front of the slash.

mod answering;
mod history;
mod reading;
mod repository;

use serde_json::Value;

use super::Outcome;
use super::expected::text;
use super::problem::Problem;

/// Runs a case of any kind.
pub(super) fn run(case: &Value) -> Outcome {
    let kind = text(&case["name"]).split('/').next().unwrap_or_default();
    let checked = match kind {
        "workspace" => repository::is_as_described(case),
        "parse" => reading::parse(case),
        "critic" => reading::critic(case),
        "response" => reading::response(case),
        "history" => history::history(case),
        "exec" if !case["input"]["cases"].is_null() => return answering::listings(case),
        "exec" => return answering::exec(case),
        "extract" => return answering::extract(case),
        kind => Err(Problem::new(format!("no runner is known for kind {kind}"))),
    };
    checked.into()
}

/// Returns the expectation for this implementation: the recommended one, else that of the public implementation.
fn ours(case: &Value) -> &Value {
    let expect = &case["expect"];
    let recommended = &expect["recommended"];
    // A recommendation that is only a sentence cannot be compared.
    let is_data = recommended.as_object().is_some_and(|keys| keys.keys().any(|key| key != "note"));
    let peers = ["peer", "peer_assembler", "peer_loop"].map(|name| &expect[name]);
    if is_data { recommended } else { peers.into_iter().find(|peer| !peer.is_null()).unwrap_or(&Value::Null) }
}
