//! Requests that are answered in a real repository, without an index.

use std::time::Duration;

use codali_envelope::{
    AnswerOptions, Budget, Form, ReadErrorKind, ReadOptions, Reading, Sources, Stopwatch, answer,
    extract_request, render_response,
};
use regex::Regex;
use serde_json::{Value, json};
use wap_core::{
    Call, CancelFlag, ConversationId, ExecuteCommand, Limits, Origin, Retention, RunKey, Unobserved,
    Workspace,
};

use super::{ours, repository};
use crate::conformance::Outcome;
use crate::conformance::expected::{equal, expectations, holds, list, members, text};
use crate::conformance::fixture::Fixture;
use crate::conformance::problem::Problem;

/// The placeholder of the workspace in the texts of the cases.
const WORKSPACE: &str = "<ws>";

/// Answers a request as far as the case allows.
pub(super) fn exec(case: &Value) -> Outcome {
    in_repository(case, |repository| {
        let input = &case["input"];
        let needs = input["max_tool_calls"].as_u64().map(usize::try_from).transpose()?;
        let needs = needs.unwrap_or(Budget::default().needs);
        let request = repository.filled(text(&input["request"]));
        let reading = extract_request(&request, &ReadOptions::default())?;
        let (_, response) = repository.answer(&reading, Budget { needs, ..Budget::default() })?;
        let warnings = response["meta"].get("warnings").cloned().unwrap_or_else(|| json!([]));
        for (key, expected) in expectations(ours(case))? {
            match key {
                "results" => holds(key, &repository.filled_in(expected), &response[key])?,
                "warnings" => equal(key, expected, &warnings)?,
                "warning_codes" => {
                    let codes =
                        list(&warnings).iter().map(|one| text(one).split(": ").next().unwrap_or_default());
                    equal(key, expected, &codes.collect())?;
                }
                _ => return Err(Problem::unknown_key(key)),
            }
        }
        Ok(())
    })
}

/// Takes a model's reply through the whole pipe.
pub(super) fn extract(case: &Value) -> Outcome {
    in_repository(case, |repository| {
        let read = extract_request(text(&case["input"]), &ReadOptions::default());
        let expected = ours(case);
        let (treated_as, answered) = match read {
            Ok(reading) => ("request", Ok(repository.answer(&reading, Budget::default())?)),
            Err(error) if error.kind == ReadErrorKind::NoRequest => ("final answer", Err(error)),
            Err(error) => ("refused", Err(error)),
        };
        for (key, expected) in expectations(expected)? {
            match (key, &answered) {
                ("treated_as", _) => equal(key, expected, &treated_as.into())?,
                ("error", Err(error)) => equal(key, expected, &error.code().name().into())?,
                (_, Err(error)) => return Err(Problem::new(error.to_string())),
                ("first_line", Ok((written, _))) => {
                    equal(key, expected, &written.lines().next().unwrap_or_default().into())?;
                }
                ("response", Ok((_, response))) => {
                    let mut expected = repository.filled_in(expected);
                    if text(&expected["meta"]["repo_root"]) == repository.root {
                        expected["meta"]["repo_root"] = "workspace".into();
                    }
                    holds(key, &expected, response)?;
                }
                _ => return Err(Problem::unknown_key(key)),
            }
        }
        Ok(())
    })
}

/// Compares several listings of one small workspace.
pub(super) fn listings(case: &Value) -> Outcome {
    let list_all = || -> Result<(), Problem> {
        let repository = CaseRepository::new()?;
        for (name, content) in members(&case["input"]["workspace"]["files"]) {
            repository.fixture.put(name, text(content))?;
        }
        let mut listed = Vec::new();
        for need in list(&case["input"]["cases"]) {
            let mut need = need.clone();
            need["type"] = "file.list".into();
            let reading = extract_request(
                &json!({ "request_id": "q1", "needs": [need] }).to_string(),
                &ReadOptions::default(),
            )?;
            let (_, response) = repository.answer(&reading, Budget::default())?;
            listed.push(response["results"][0]["files"].clone());
        }
        for (key, expected) in expectations(&case["expect"])? {
            match key {
                "files" => equal(key, expected, &json!(listed))?,
                _ => return Err(Problem::unknown_key(key)),
            }
        }
        Ok(())
    };
    list_all().into()
}

/// Runs a check in the repository of the cases. A diff needs a git that commands can start.
fn in_repository(case: &Value, check: impl FnOnce(&CaseRepository) -> Result<(), Problem>) -> Outcome {
    let repository = match CaseRepository::new() {
        Ok(repository) => repository,
        Err(problem) => return Outcome::Failed(problem.to_string()),
    };
    if let Err(problem) = repository::make(&repository.fixture) {
        return Outcome::Unable(format!("the repository cannot be made: {problem}"));
    }
    let needs_git = text(&case["input"]["request"]).contains("file.diff");
    match repository.has_git() {
        Ok(false) if needs_git => Outcome::Unable("confined commands find no git".to_owned()),
        Err(problem) if needs_git => Outcome::Unable(problem.to_string()),
        _ => check(&repository).into(),
    }
}

/// The workspace of one case.
struct CaseRepository {
    fixture: Fixture,
    root: String,
}

/// A stopwatch that stands still, so that no case depends on time.
struct Standing;

impl Stopwatch for Standing {
    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
}

impl CaseRepository {
    fn new() -> Result<CaseRepository, Problem> {
        let fixture = Fixture::new()?;
        let root = fixture.workspace().to_string_lossy().into_owned();
        Ok(CaseRepository { fixture, root })
    }

    fn filled(&self, text: &str) -> String {
        text.replace(WORKSPACE, &self.root)
    }

    fn filled_in(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.filled(text).into(),
            Value::Array(items) => items.iter().map(|item| self.filled_in(item)).collect(),
            Value::Object(members) => {
                members.iter().map(|(key, member)| (key.clone(), self.filled_in(member))).collect()
            }
            other => other.clone(),
        }
    }

    fn has_git(&self) -> Result<bool, Problem> {
        let (engine, _) = self.fixture.engine(Limits::default())?;
        let request = ExecuteCommand { command: "git --version".to_owned(), ..ExecuteCommand::default() };
        let origin = origin();
        let call = Call { origin: &origin, cancel: &CancelFlag::new(), time_left: None };
        Ok(engine.execute_command(&call, &request, &mut Unobserved)?.exit_code == 0)
    }

    /// Answers a request; returns the response as text and as JSON, with the ids of contents in diffs left open.
    fn answer(&self, reading: &Reading, budget: Budget) -> Result<(String, Value), Problem> {
        let (engine, _) = self.fixture.engine(Limits::default())?;
        let sources = Sources { workspace: &engine, index: None, web: None, command: None, withholds: None };
        let options = AnswerOptions { budget, ..AnswerOptions::default() };
        let origin = origin();
        let call = Call { origin: &origin, cancel: &CancelFlag::new(), time_left: None };
        let response = answer(reading, &sources, &options, &call, &Standing);
        let written = render_response(&response, Form::JsonBody);
        let ids = Regex::new(r"index [0-9a-f]+\.\.[0-9a-f]+")?;
        let written = ids.replace_all(&written, "index <a>..<b>").into_owned();
        let json = serde_json::from_str(written.split_once('\n').map_or("", |(_, body)| body))?;
        Ok((written, json))
    }
}

/// Every command is one of its own.
fn origin() -> Origin {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    Origin {
        conversation: ConversationId("conformance".to_owned()),
        run: RunKey::unnumbered(number.to_string()),
        step: 0,
        retention: Retention::Process,
    }
}
