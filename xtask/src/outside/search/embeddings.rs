//! A peer of the search: embeddings of a small model, as far as its packages are installed.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use serde::Deserialize;
use serde_json::json;

use crate::setup::client_packages::search_peer;

/// The time, memory and disk that the peer takes.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Cost {
    /// The processor time of all functions.
    pub(super) function_seconds: f64,
    /// The processor time of all questions.
    pub(super) question_seconds: f64,
    /// The most memory at a time.
    pub(super) peak_bytes: u64,
    /// The size of the packages, without Python.
    pub(super) package_bytes: u64,
    /// The size of the model, which one of the packages carries.
    pub(super) model_bytes: u64,
}

/// The nearest functions of each question.
#[derive(Debug)]
pub(super) struct Embeddings {
    nearest: HashMap<String, Vec<usize>>,
    pub(super) cost: Cost,
}

/// The script's answer.
#[derive(Deserialize)]
struct Answer {
    /// The numbers of functions by question, nearest first.
    nearest: Vec<Vec<usize>>,
    cost: Cost,
}

impl Embeddings {
    /// Asks the peer for the nearest `limit` functions of each question; the error is the reason why there are none.
    pub(super) fn of(functions: &[String], questions: &[&str], limit: u32) -> Result<Embeddings, String> {
        let python = search_peer().ok_or("not installed: cargo xtask setup outside")?;
        let request = json!({ "functions": functions, "questions": questions, "limit": limit });
        let answer = run(&python, &request.to_string()).map_err(|error| error.to_string())?;
        parse(&answer, functions.len(), questions)
    }

    /// Returns the numbers of the nearest functions of a question, nearest first.
    pub(super) fn nearest(&self, question: &str) -> &[usize] {
        self.nearest.get(question).map_or(&[], Vec::as_slice)
    }
}

/// Runs the script, which sees neither the user's settings nor the network's.
fn run(python: &Path, request: &str) -> std::io::Result<Vec<u8>> {
    let folder = tempfile::tempdir()?;
    let (script, input) = (folder.path().join("embeddings.py"), folder.path().join("request.json"));
    fs::write(&script, include_str!("embeddings.py"))?;
    // A file rather than a pipe: a script that ends early then reports its own fault.
    fs::write(&input, request)?;
    let mut command = Command::new(python);
    command.arg("-B").arg(&script).env_clear().env("HOME", folder.path()).env("TMPDIR", folder.path());
    let output = command.stdin(File::open(&input)?).output()?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let fault = String::from_utf8_lossy(&output.stderr);
    Err(std::io::Error::other(fault.lines().last().unwrap_or("it ended without a reason").to_owned()))
}

/// Parses the script's answer, which has one ranking for each question.
fn parse(answer: &[u8], functions: usize, questions: &[&str]) -> Result<Embeddings, String> {
    let Answer { nearest, cost } = serde_json::from_slice(answer).map_err(|error| error.to_string())?;
    if nearest.len() != questions.len() {
        return Err(format!("{} rankings for {} questions", nearest.len(), questions.len()));
    }
    if let Some(number) = nearest.iter().flatten().find(|number| **number >= functions) {
        return Err(format!("function {number} of {functions}"));
    }
    let nearest = questions.iter().map(|&question| question.to_owned()).zip(nearest).collect();
    Ok(Embeddings { nearest, cost })
}

#[cfg(test)]
mod tests {
    use super::parse;

    /// Renders an answer as the script does.
    fn answer(nearest: &str) -> Vec<u8> {
        let cost = r#"{"function_seconds": 2.5, "question_seconds": 0.5, "peak_bytes": 3,
            "package_bytes": 2, "model_bytes": 1}"#;
        format!(r#"{{"nearest": {nearest}, "cost": {cost}}}"#).into_bytes()
    }

    #[test]
    fn rankings_are_found_by_their_question() {
        let parsed = parse(&answer("[[1, 0], [0, 1]]"), 2, &["a", "b"]).unwrap();
        assert_eq!((parsed.nearest("a"), parsed.nearest("b")), ([1, 0].as_slice(), [0, 1].as_slice()));
        assert!(parsed.nearest("c").is_empty());
        assert_eq!((parsed.cost.peak_bytes, parsed.cost.package_bytes, parsed.cost.model_bytes), (3, 2, 1));
    }

    #[test]
    fn an_answer_that_does_not_fit_the_request_is_refused() {
        let refusal = |nearest: &str| parse(&answer(nearest), 2, &["a", "b"]).unwrap_err();
        assert_eq!(refusal("[[1, 0]]"), "1 rankings for 2 questions");
        assert_eq!(refusal("[[1, 2], []]"), "function 2 of 2");
        assert!(refusal("[[1], [-1]]").contains("invalid value"));
        assert!(parse(b"Traceback", 2, &[]).is_err());
    }
}
