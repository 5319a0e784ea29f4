//! The checks and scenarios that do not apply to a server, in groups with one reason.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use super::checks::Check;
use crate::server::real_clients::fixture;

/// The exceptions of one server.
pub(super) struct Exceptions(Vec<Value>);

impl Exceptions {
    /// Reads a list of `fixtures/clients/`.
    pub(super) fn read(name: &str) -> Exceptions {
        let text = fs::read_to_string(fixture(name)).unwrap();
        let groups: Vec<Value> = serde_json::from_str(&text).unwrap();
        for group in &groups {
            assert!(group["reason"].as_str().is_some_and(|reason| reason.ends_with('.')), "{group}");
        }
        Exceptions(groups)
    }

    /// Returns the names of all checks and scenarios.
    pub(super) fn names(&self) -> BTreeSet<String> {
        let lists = self.0.iter().flat_map(|group| [&group["checks"], &group["scenarios"]]);
        lists.flat_map(words).map(str::to_owned).collect()
    }

    /// Reports whether a check fails for the reason of its group. Messages on the wire have to be valid in every scenario.
    pub(super) fn cover(&self, check: &Check) -> bool {
        self.0.iter().any(|group| {
            let has = |list: &Value, name: &str| words(list).any(|word| word == name);
            let is_listed = has(&group["checks"], &check.id)
                || has(&group["scenarios"], &check.scenario) && check.id != "wire-schema-valid";
            is_listed && words(&group["messages"]).any(|message| check.message.contains(message))
        })
    }
}

fn words(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}
