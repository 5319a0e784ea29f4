//! One case of the corpus, as it stands in the file.

use serde_json::Value;

use super::Sandbox;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/vectors/fs-attacks.json");

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
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Expectation {
    Accepted,
    Rejected,
    Either,
}

pub(super) fn load() -> Vec<Case> {
    let file: Value = serde_json::from_slice(&std::fs::read(CORPUS).unwrap()).unwrap();
    file["cases"].as_array().unwrap().iter().map(parse).collect()
}

fn parse(value: &Value) -> Case {
    let text = |key: &str| value[key].as_str().map(str::to_owned);
    Case {
        name: text("name").unwrap(),
        setup: value["setup"]
            .as_array()
            .unwrap()
            .iter()
            .map(|step| step.as_array().unwrap().clone())
            .collect(),
        operation: text("op").unwrap(),
        path: text("path").unwrap(),
        arguments: value["args"].clone(),
        expect: match value["expect"].as_str().unwrap() {
            "ok" => Expectation::Accepted,
            "rejected" => Expectation::Rejected,
            "rejected-or-ok" => Expectation::Either,
            other => panic!("unknown expectation {other}"),
        },
        code: text("code"),
        platform: text("platform").unwrap(),
        policy: text("policy"),
    }
}

impl Case {
    pub(crate) fn path(&self, sandbox: &Sandbox) -> String {
        expand(&self.path, sandbox)
    }

    /// How often the operation is carried out: `race_rounds` times while somebody interferes, `SOAK_FACTOR` times that
    /// in a long run, and once otherwise.
    pub(super) fn rounds(&self, race_rounds: u32) -> u32 {
        if !self.setup.iter().any(|step| step[0] == "racer") {
            return 1;
        }
        let factor = std::env::var("SOAK_FACTOR").ok().and_then(|text| text.parse().ok());
        race_rounds.saturating_mul(factor.unwrap_or(1))
    }
}

/// `$ROOT` is the workspace, `$T` the folder above it.
pub(super) fn expand(text: &str, sandbox: &Sandbox) -> String {
    text.replace("$ROOT", sandbox.workspace().to_str().unwrap())
        .replace("$T", sandbox.top().to_str().unwrap())
}
