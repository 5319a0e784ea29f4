//! One case of the corpus, as in its file.

use std::time::Duration;

use serde_json::Value;

use super::Sandbox;
use super::phrase::{phrases, time_limit};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/vectors/fs-attacks.json");

/// The variable that names another file of cases in the same format.
const VARIABLE: &str = "CONFORMANCE_CASES";

/// The time limit of a reply in a case without one, from the description of the corpus.
const REPLY: Duration = Duration::from_secs(2);

#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(super) setup: Vec<Vec<Value>>,
    pub(crate) operation: String,
    path: String,
    pub(crate) arguments: Value,
    pub(super) expect: Expectation,
    pub(super) code: Option<String>,
    pub(super) platform: String,
    pub(super) policy: Option<String>,
    /// The phrases to check afterwards.
    pub(crate) check: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expectation {
    Accepted,
    Rejected,
    Either,
    /// An unknown word, which fails the case.
    Unknown(String),
}

/// Reads the corpus, or the file that replaces it.
pub(super) fn load() -> Vec<Case> {
    let path = std::env::var_os(VARIABLE).unwrap_or_else(|| CORPUS.into());
    read(&std::fs::read(path).unwrap())
}

/// Reads a file of cases.
pub(super) fn read(text: &[u8]) -> Vec<Case> {
    let file: Value = serde_json::from_slice(text).unwrap();
    file["cases"].as_array().unwrap().iter().map(parse).collect()
}

fn parse(value: &Value) -> Case {
    let text = |key: &str| value[key].as_str().map(str::to_owned);
    Case {
        name: text("name").unwrap_or_else(|| panic!("a case without a name: {value}")),
        setup: list(&value["setup"]).iter().map(|step| list(step).to_vec()).collect(),
        operation: text("op").unwrap_or_else(|| panic!("a case without an operation: {value}")),
        path: text("path").unwrap_or_else(|| panic!("a case without a path: {value}")),
        arguments: value["args"].clone(),
        expect: match value["expect"].as_str().unwrap_or_default() {
            "ok" => Expectation::Accepted,
            "rejected" => Expectation::Rejected,
            "rejected-or-ok" | "ok-or-rejected" => Expectation::Either,
            _ => Expectation::Unknown(value["expect"].to_string()),
        },
        code: text("code"),
        platform: text("platform").unwrap_or_else(|| "all".to_owned()),
        policy: text("policy"),
        check: text("check").unwrap_or_default(),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The factor of time limits alongside other tests. The faults that the limits guard against take far longer.
const SHARED_FACTOR: u32 = 5;

impl Case {
    pub(crate) fn path(&self, sandbox: &Sandbox) -> String {
        expand(&self.path, sandbox)
    }

    /// Returns the set-up steps with this verb.
    pub(crate) fn steps<'a>(&'a self, verb: &'a str) -> impl Iterator<Item = &'a [Value]> {
        self.setup.iter().filter(move |step| step.first().is_some_and(|word| word == verb)).map(Vec::as_slice)
    }

    /// Returns the time limit of a reply. It is for an idle machine, as in a soak; alongside other tests, which
    /// take caches and the other half of a core, several times as much is allowed.
    pub(super) fn time_limit(&self) -> Duration {
        let limit = phrases(&self.check).find_map(time_limit).unwrap_or(REPLY);
        if std::env::var_os("SOAK_FACTOR").is_some() { limit } else { limit * SHARED_FACTOR }
    }

    /// Returns whether the set-up takes long.
    pub(super) fn is_heavy(&self) -> bool {
        let is_large = |verb, least| {
            self.steps(verb)
                .any(|step| step.get(2).and_then(Value::as_u64).is_some_and(|number| number >= least))
        };
        is_large("many_files", 20_000)
            || is_large("one_line", 1 << 26)
            || self.steps("deep_dirs").next().is_some()
    }

    /// Returns whether a racer changes the workspace in this way meanwhile.
    pub(crate) fn has_racer(&self, kind: &str) -> bool {
        self.steps("racer").any(|step| step.get(1).is_some_and(|word| word == kind))
    }

    /// Returns the number of repetitions of the operation: `race_rounds` with a racer, `SOAK_FACTOR` times that in a long run,
    /// and 1 without a racer.
    pub(super) fn rounds(&self, race_rounds: u32) -> u32 {
        if self.steps("racer").next().is_none() {
            return 1;
        }
        let factor = std::env::var("SOAK_FACTOR").ok().and_then(|text| text.parse().ok());
        race_rounds.saturating_mul(factor.unwrap_or(1))
    }
}

/// Replaces `$ROOT` by the workspace and `$T` by the folder above it.
pub(super) fn expand(text: &str, sandbox: &Sandbox) -> String {
    text.replace("$ROOT", sandbox.workspace().to_str().unwrap())
        .replace("$T", sandbox.top().to_str().unwrap())
}
