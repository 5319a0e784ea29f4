//! Histories within a window.

use codali_envelope::history::{
    BytesPerToken, ContextWindow, History, Message, ModelLimits, Speaker, Summarizer, SummaryError,
    TokenCounter,
};
use serde_json::{Value, json};

use super::ours;
use crate::conformance::expected::{equal, expectations, list, members, text};
use crate::conformance::problem::{Problem, ensure};

/// Says what the case is named for, and notes how many messages it was asked about.
struct Scripted {
    answer: Result<String, SummaryError>,
    batches: Vec<usize>,
}

impl Summarizer for Scripted {
    fn summarize(&mut self, messages: &[Message], _: u64) -> Result<String, SummaryError> {
        self.batches.push(messages.len());
        self.answer.clone()
    }
}

pub(super) fn history(case: &Value) -> Result<(), Problem> {
    let input = &case["input"];
    match input {
        _ if input["lookups"].is_array() => {
            let limits = members(&input["limits"]).map(|(name, tokens)| (name, tokens.as_u64().unwrap_or(0)));
            let limits = ModelLimits::new(limits);
            let actual = list(&input["lookups"]).iter().map(|name| limits.tokens(text(name)));
            equal("the limits", ours(case), &actual.collect())
        }
        Value::Array(_) => {
            let actual = list(input).iter().map(|one| Ok(BytesPerToken.count(&sample(one)?)));
            let actual = actual.collect::<Result<Vec<u64>, Problem>>()?;
            equal("the estimates", &case["expect"]["recommended"], &json!(actual))
        }
        _ => fit(answer(case), input, ours(case)),
    }
}

/// The text that a size stands for.
fn sample(size: &Value) -> Result<String, Problem> {
    let (kind, count) = members(size).next().ok_or_else(|| Problem::new("a size is empty"))?;
    let count = usize::try_from(count.as_u64().unwrap_or(0))?;
    match kind {
        "chars" => Ok("x".repeat(count)),
        "cjk_chars" => Ok("語".repeat(count)),
        // Each takes two units.
        "emoji_utf16_units" => Ok("🚀".repeat(count / 2)),
        kind => Err(Problem::unknown_key(kind)),
    }
}

/// Returns the answer of the summariser, by the input or the name of the case.
fn answer(case: &Value) -> Result<String, SummaryError> {
    let said = case["input"]["summarizer"].as_str().unwrap_or_else(|| text(&case["name"]));
    if said.contains("fails") {
        Err(SummaryError { cause: "the agent does not answer".to_owned() })
    } else if said.contains("too-long") || said.contains("too long") {
        Ok("a summary that is far too long ".repeat(100))
    } else {
        Ok("SUMMARY".to_owned())
    }
}

/// Fits numbered messages into a window. The result names them by their numbers, and the summary as such.
fn fit(answer: Result<String, SummaryError>, input: &Value, expected: &Value) -> Result<(), Problem> {
    let number = |key: &str| input[key].as_u64().unwrap_or(0);
    let size = |key: &str| usize::try_from(number(key)).unwrap_or(usize::MAX);
    let window = ContextWindow {
        most_messages: input["maxMessages"].as_u64().map(|most| usize::try_from(most).unwrap_or(usize::MAX)),
        ..ContextWindow::of(number("model_limit_tokens"))
    };
    equal("the threshold", &input["threshold"], &json!(f64::from(window.threshold_percent) / 100.0))?;
    let mut summarizer = Scripted { answer, batches: Vec::new() };
    let mut history = History::new();
    let width = size("chars_each");
    for index in 0..size("messages") {
        history.push(Speaker::User, format!("{:<width$}", format!("m{index}")));
    }
    let system = "s".repeat(size("system_prompt_chars"));
    let fitted = history.fit(&system, "", &window, &BytesPerToken, &mut summarizer);
    ensure(fitted.fits, || format!("{} tokens do not fit", fitted.tokens))?;
    let messages = history.messages().iter().map(|message| match message.speaker {
        Speaker::Summary => "SUMMARY",
        _ => message.text.trim(),
    });
    let messages: Value = messages.collect();
    for (key, expected) in expectations(expected)? {
        match key {
            "summarizer_batches" => equal(key, expected, &json!(summarizer.batches))?,
            "history" => equal(key, expected, &messages)?,
            _ => return Err(Problem::unknown_key(key)),
        }
    }
    Ok(())
}
