//! The definitions of tools under the rules of `fixtures/mcp/strict-schemas.json`.

use std::collections::BTreeSet;

use rmcp::ServerHandler;
use serde_json::{Map, Value, json};
use wap_mcp::ExtraTool;

use crate::{names, server};

fn rules() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/mcp/strict-schemas.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn words(list: &Value) -> BTreeSet<&str> {
    list.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
}

/// Returns the violations of the rules in a schema.
fn refused(rules: &Value, schema: &Map<String, Value>) -> Vec<String> {
    let mut refusals = Vec::new();
    if schema.get("type") != Some(&rules["top"]["type"]) || !schema.contains_key("properties") {
        refusals.push("the top is not an object with properties".to_owned());
    }
    let forbidden = words(&rules["top"]["forbidden"]);
    refusals.extend(
        schema.keys().filter(|key| forbidden.contains(key.as_str())).map(|key| format!("{key} at the top")),
    );
    look_into(rules, &Value::Object(schema.clone()), 1, &mut refusals);
    refusals
}

fn look_into(rules: &Value, schema: &Value, depth: u64, refusals: &mut Vec<String>) {
    let Some(schema) = schema.as_object() else { return };
    if depth > rules["depth"].as_u64().unwrap() {
        refusals.push(format!("objects {depth} deep"));
    }
    let forbidden = words(&rules["forbiddenAnywhere"]);
    refusals.extend(schema.keys().filter(|key| forbidden.contains(key.as_str())).cloned());
    let more = schema.get("additionalProperties").unwrap_or(&Value::Null);
    if !rules["additionalProperties"].as_array().unwrap().contains(more) {
        refusals.push(format!("additionalProperties {more}"));
    }
    if schema.contains_key("properties") && rules["closed"] == true && more != false {
        refusals.push("an object that is not closed".to_owned());
    }
    for field in schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::values) {
        look_into(rules, field, depth + 1, refusals);
    }
    for (key, rule) in schema {
        match (key.as_str(), rule) {
            ("items", rule) => look_into(rules, rule, depth, refusals),
            ("oneOf" | "anyOf", Value::Array(all)) => {
                all.iter().for_each(|one| look_into(rules, one, depth, refusals));
            }
            _ => {}
        }
    }
}

#[test]
fn every_tool_is_acceptable_to_the_strictest_validator() {
    let rules = rules();
    let server = server(ExtraTool::ALL.to_vec());
    let characters = rules["name"]["characters"].as_str().unwrap();
    for name in names() {
        let tool = server.get_tool(name).unwrap();
        assert!(name.chars().all(|character| characters.contains(character)), "{name}");
        assert!(name.len() as u64 <= rules["name"]["most"].as_u64().unwrap(), "{name}");
        let length = tool.description.as_deref().unwrap_or_default().chars().count() as u64;
        assert!((1..=rules["descriptionCharacters"].as_u64().unwrap()).contains(&length), "{name}: {length}");
        assert_eq!(refused(&rules, &tool.input_schema), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn violations_are_found() {
    let rules = rules();
    let object = |mut schema: Value| {
        schema["type"] = json!("object");
        schema["additionalProperties"] = json!(false);
        refused(&rules, schema.as_object().unwrap())
    };
    assert_eq!(object(json!({ "properties": {} })), Vec::<String>::new());
    for bad in [
        json!({ "properties": {}, "oneOf": [] }),
        json!({ "properties": { "a": { "$ref": "#/$defs/a" } } }),
        json!({ "properties": { "a": { "items": { "additionalProperties": { "type": "string" } } } } }),
        json!({ "properties": { "a": { "oneOf": [{ "patternProperties": {} }] } } }),
        json!({ "properties": { "a": { "properties": {} } } }),
    ] {
        assert_eq!(object(bad.clone()).len(), 1, "{bad}");
    }
}
