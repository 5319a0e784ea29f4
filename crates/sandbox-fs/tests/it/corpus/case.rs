//! One case of the corpus, as it stands in the file.

use serde_json::Value;

use crate::fixture::Sandbox;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/vectors/fs-attacks.json");

/// How often a raced operation is repeated in an ordinary run; `SANDBOX_FS_RACE_ROUNDS` sets another number.
const RACE_ROUNDS: u32 = 2_000;

#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) name: String,
    pub(super) setup: Vec<Vec<Value>>,
    pub(super) operation: String,
    path: String,
    pub(super) arguments: Value,
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
    pub(super) fn path(&self, sandbox: &Sandbox) -> String {
        expand(&self.path, sandbox)
    }

    pub(super) fn rounds(&self) -> u32 {
        if !self.setup.iter().any(|step| step[0] == "racer") {
            return 1;
        }
        let wanted = std::env::var("SANDBOX_FS_RACE_ROUNDS").ok().and_then(|text| text.parse().ok());
        wanted.unwrap_or(RACE_ROUNDS)
    }
}

/// `$ROOT` is the workspace, `$T` the folder above it.
pub(super) fn expand(text: &str, sandbox: &Sandbox) -> String {
    text.replace("$ROOT", sandbox.workspace().to_str().unwrap())
        .replace("$T", sandbox.top().to_str().unwrap())
}
