//! Entries of any content.

use mcp_client_config::{ConfigError, McpClient, alone, with_entry};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::{ONE_OF_EACH, parsed};

/// Any value that all formats have.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1_000_i32..1_000).prop_map(|number| Value::from(f64::from(number) / 8.0)),
        "[ -~é\\n\\t]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map("[a-z]{1,3}-[a-z]", inner, 0..4).prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn any_entry_is_written_as_it_is(
        client in select(&ONE_OF_EACH[..]),
        fields in btree_map("[a-z]{1,3}-[a-z]", values(), 0..5),
        later in btree_map("[a-z]{1,3}-[a-z]", values(), 0..5),
    ) {
        let entry: Value = fields.into_iter().collect();
        let text = alone(client, "agentd", &entry).unwrap();
        prop_assert_eq!(&parsed(client, &text)[client.table()]["agentd"], &entry, "{}", text);
        prop_assert_eq!(with_entry(client, &text, "agentd", &entry).unwrap(), None);
        // Another entry is merged into it.
        let later: Value = later.into_iter().collect();
        let text = with_entry(client, &text, "agentd", &later).unwrap().unwrap_or(text);
        prop_assert_eq!(&parsed(client, &text)[client.table()]["agentd"], &merged(&entry, &later), "{}", text);
        prop_assert_eq!(with_entry(client, &text, "agentd", &later).unwrap(), None);
    }
}

/// Merges by the documented rule: an object has the keys of both, and of other values the later one counts.
pub(crate) fn merged(before: &Value, later: &Value) -> Value {
    let (Value::Object(before), Value::Object(later)) = (before, later) else { return later.clone() };
    let mut fields = before.clone();
    for (key, value) in later {
        fields.insert(key.clone(), before.get(key).map_or(value.clone(), |before| merged(before, value)));
    }
    Value::Object(fields)
}

#[test]
fn values_that_a_format_lacks_are_refused() {
    let refused = |client, entry: Value| match alone(client, "agentd", &entry) {
        Err(ConfigError::InvalidEntry { why }) => why,
        other => panic!("{client:?} {entry}: {other:?}"),
    };
    for client in ONE_OF_EACH {
        for entry in [json!("agentd"), json!(["agentd"]), json!(null), json!(1)] {
            assert_eq!(refused(client, entry), "it is not an object");
        }
    }
    for entry in [json!({ "a": null }), json!({ "a": [null] }), json!({ "a": { "b": null } })] {
        assert_eq!(refused(McpClient::Codex, entry), "TOML has no null");
    }
    assert!(refused(McpClient::Codex, json!({ "a": u64::MAX })).starts_with("TOML has no integer above "));
    // The other formats have them.
    for client in [McpClient::Vscode, McpClient::Goose] {
        let entry = json!({ "a": null, "b": [null], "c": u64::MAX });
        let text = alone(client, "agentd", &entry).unwrap();
        assert_eq!(parsed(client, &text)[client.table()]["agentd"], entry);
    }
}

#[test]
fn numbers_truth_values_and_tables_of_codex_are_written() {
    let entry = json!({
        "startup_timeout_sec": 20, "enabled": true, "ratio": 0.5, "mixed": ["a", 1, false], "env": { "A": "b" }
    });
    insta::assert_snapshot!(alone(McpClient::Codex, "agentd", &entry).unwrap(), @r#"
    [mcp_servers.agentd]
    enabled = true
    env = { A = "b" }
    mixed = ["a", 1, false]
    ratio = 0.5
    startup_timeout_sec = 20
    "#);
}
