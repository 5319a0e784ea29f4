//! The JSON Schemas of requests and responses.

use schemars::schema_for;
use serde_json::{Value, json};
use wap_core::*;

use crate::document::{examples, responses};

fn request_schema(tool: Tool) -> Value {
    tool.request_schema()
}

fn response_schema(response: &Response) -> Value {
    match response {
        Response::ExploreFiles(_) => Tool::ExploreFiles,
        Response::ReadFile(_) => Tool::ReadFile,
        Response::WriteFile(_) => Tool::WriteFile,
        Response::ModifyFile(_) => Tool::ModifyFile,
        Response::DeleteFile(_) => Tool::DeleteFile,
        Response::SearchFiles(_) => Tool::SearchFiles,
        Response::ExecuteCommand(_) => Tool::ExecuteCommand,
        Response::StopProcess(_) => Tool::StopProcess,
        Response::GetWorkspaceInfo(_) => Tool::GetWorkspaceInfo,
    }
    .response_schema()
}

/// A checker for the part of JSON Schema that the derived schemas use; it panics on any other keyword.
struct Checker<'a> {
    root: &'a Value,
}

impl Checker<'_> {
    /// Returns the first location at which a value does not fit.
    fn misfit(&self, schema: &Value, value: &Value, at: &str) -> Option<String> {
        let Some(schema) = schema.as_object() else {
            return (schema == &json!(false)).then(|| at.to_owned());
        };
        schema.iter().find_map(|(keyword, rule)| self.breaks(keyword, rule, value, at))
    }

    fn fits(&self, schema: &Value, value: &Value) -> bool {
        self.misfit(schema, value, "").is_none()
    }

    fn breaks(&self, keyword: &str, rule: &Value, value: &Value, at: &str) -> Option<String> {
        let holds = match keyword {
            "$schema" | "$defs" | "title" | "description" | "format" | "default" => true,
            "$ref" => {
                let name = rule.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                return self.misfit(&self.root["$defs"][name], value, at);
            }
            "type" => match rule {
                Value::Array(types) => types.iter().any(|one| has_type(value, one.as_str().unwrap())),
                one => has_type(value, one.as_str().unwrap()),
            },
            "properties" => {
                let object = value.as_object()?;
                return rule.as_object().unwrap().iter().find_map(|(name, schema)| {
                    self.misfit(schema, object.get(name)?, &format!("{at}.{name}"))
                });
            }
            "additionalProperties" if rule.is_object() => {
                let object = value.as_object()?;
                return object
                    .iter()
                    .find_map(|(name, value)| self.misfit(rule, value, &format!("{at}.{name}")));
            }
            "additionalProperties" => *rule == json!(true),
            "required" => {
                rule.as_array().unwrap().iter().all(|name| value.get(name.as_str().unwrap()).is_some())
            }
            "items" => {
                let items = value.as_array()?;
                return items.iter().find_map(|item| self.misfit(rule, item, &format!("{at}[]")));
            }
            "enum" => rule.as_array().unwrap().contains(value),
            "const" => rule == value,
            "oneOf" => rule.as_array().unwrap().iter().filter(|one| self.fits(one, value)).count() == 1,
            "anyOf" => rule.as_array().unwrap().iter().any(|one| self.fits(one, value)),
            // Bounds are for numbers only: an optional field may also be null.
            "minimum" => value.as_f64().is_none_or(|number| number >= rule.as_f64().unwrap()),
            "maximum" => value.as_f64().is_none_or(|number| number <= rule.as_f64().unwrap()),
            "minLength" => {
                value.as_str().is_none_or(|text| text.chars().count() as u64 >= rule.as_u64().unwrap())
            }
            "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= rule.as_u64().unwrap()),
            other => panic!("unknown keyword {other}"),
        };
        (!holds).then(|| format!("{at}: {keyword}"))
    }
}

fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "null" => value.is_null(),
        other => panic!("unknown type {other}"),
    }
}

fn misfit(schema: &Value, value: &Value) -> Option<String> {
    Checker { root: schema }.misfit(schema, value, "")
}

#[test]
fn every_example_fits_the_schema_of_its_tool() {
    for (tool, example) in examples() {
        assert_eq!(misfit(&request_schema(tool.parse().unwrap()), &example), None, "{tool} {example}");
    }
}

#[test]
fn refused_arguments_do_not_fit_either() {
    let cases = [
        (Tool::ReadFile, json!({})),
        (Tool::ReadFile, json!({ "path": "a", "startLine": "1" })),
        (Tool::WriteFile, json!({ "path": "a", "content": "", "mode": "truncate" })),
        (Tool::ModifyFile, json!({ "path": "a", "operations": [{ "type": "move" }] })),
        (Tool::ModifyFile, json!({ "path": "a", "operations": [{ "type": "delete", "startLine": 1 }] })),
        (Tool::SearchFiles, json!({ "paths": ["a"], "query": "x", "type": "glob" })),
        (Tool::ExecuteCommand, json!({ "command": "ls", "environment": { "A": 1 } })),
    ];
    for (tool, arguments) in cases {
        assert!(Request::parse(tool.name(), arguments.clone()).is_err(), "{arguments}");
        assert!(misfit(&request_schema(tool), &arguments).is_some(), "{arguments}");
    }
}

#[test]
fn arguments_that_no_engine_accepts_do_not_fit() {
    let replace = |first: i64| json!({ "type": "delete", "startLine": first, "endLine": 1 });
    let cases = [
        (Tool::ReadFile, json!({ "path": "" }), json!({ "path": "a" })),
        (Tool::ReadFile, json!({ "path": "a", "startLine": 0 }), json!({ "path": "a", "startLine": 1 })),
        (Tool::ExploreFiles, json!({ "path": "", "maxDepth": 0 }), json!({ "path": "", "maxDepth": 1 })),
        (
            Tool::ModifyFile,
            json!({ "path": "a", "operations": [] }),
            json!({ "path": "a", "operations": [replace(1)] }),
        ),
        (
            Tool::ModifyFile,
            json!({ "path": "a", "operations": [replace(0)] }),
            json!({ "path": "a", "operations": [{ "type": "insert", "afterLine": 0, "newContent": "" }] }),
        ),
        (
            Tool::SearchFiles,
            json!({ "paths": ["."], "query": "x", "type": "literal", "contextLines": -1 }),
            json!({ "paths": ["."], "query": "x", "type": "literal", "contextLines": 20 }),
        ),
        (Tool::ExecuteCommand, json!({ "command": "" }), json!({ "command": "ls" })),
        (
            Tool::ExecuteCommand,
            json!({ "command": "ls", "timeout": 0 }),
            json!({ "command": "ls", "timeout": 1 }),
        ),
    ];
    for (tool, refused, taken) in cases {
        for schema in [request_schema(tool), compact_schema(&request_schema(tool))] {
            assert!(misfit(&schema, &refused).is_some(), "{refused}");
            assert_eq!(misfit(&schema, &taken), None, "{taken}");
        }
    }
}

#[test]
fn null_fits_where_a_field_may_be_absent() {
    let arguments = json!({ "path": "a", "startLine": null, "endLine": null });
    assert_eq!(misfit(&request_schema(Tool::ReadFile), &arguments), None);
}

#[test]
fn every_response_fits_its_schema() {
    for response in responses() {
        let schema = response_schema(&response);
        assert_eq!(misfit(&schema, &serde_json::to_value(&response).unwrap()), None, "{response:?}");
    }
}

#[test]
fn an_error_fits_its_schema() {
    let schema = Value::from(schema_for!(WapError));
    for reason in Reason::ALL {
        let error = WapError::new(*reason, "it failed").with("totalLines", 3);
        assert_eq!(misfit(&schema, &serde_json::to_value(error).unwrap()), None, "{reason:?}");
    }
}

#[test]
fn schemas_of_requests_are_stable() {
    for tool in Tool::ALL.into_iter().filter(|tool| *tool != Tool::GetWorkspaceInfo) {
        insta::assert_json_snapshot!(tool.name(), request_schema(tool));
    }
}

#[test]
fn schemas_of_responses_are_stable() {
    let names = Tool::ALL.map(Tool::name);
    let order = [
        "exploreFiles",
        "readFile",
        "writeFile",
        "modifyFile",
        "deleteFile",
        "searchFiles",
        "executeCommand",
        "stopProcess",
        "getWorkspaceInfo",
    ];
    assert_eq!(names, order);
    for (name, response) in names.iter().zip(responses()) {
        insta::assert_json_snapshot!(format!("{name}Response"), response_schema(&response));
    }
    insta::assert_json_snapshot!("error", Value::from(schema_for!(WapError)));
}

/// Checks whether no object within a schema has arbitrary names.
fn is_closed(schema: &Value) -> bool {
    match schema {
        Value::Object(object) => {
            object.get("additionalProperties").is_none_or(|rule| *rule == json!(false))
                && (object.get("type") != Some(&json!("object")) || object.contains_key("properties"))
                && object.values().all(is_closed)
        }
        Value::Array(items) => items.iter().all(is_closed),
        _ => true,
    }
}

#[test]
fn a_short_schema_can_be_made_strict() {
    for tool in Tool::ALL {
        let schema = compact_schema(&tool.request_schema());
        assert!(is_closed(&schema), "{schema}");
        assert!(["anyOf", "oneOf", "allOf"].iter().all(|union| schema.get(union).is_none()), "{schema}");
    }
    // The control: the full schema of a command allows variables by name.
    assert!(!is_closed(&Tool::ExecuteCommand.request_schema()));
    let list = json!({ "command": "ls", "environment": [{ "name": "A", "value": "1" }] });
    let map = json!({ "command": "ls", "environment": { "A": "1" } });
    let full = Tool::ExecuteCommand.request_schema();
    assert_eq!((misfit(&full, &list), misfit(&full, &map)), (None, None));
    assert_eq!(misfit(&compact_schema(&full), &list), None);
    assert!(misfit(&compact_schema(&full), &map).is_some());
}

#[test]
fn values_that_fit_a_short_schema_fit_the_full_one() {
    for (tool, example) in examples() {
        let tool: Tool = tool.parse().unwrap();
        assert_eq!(misfit(&compact_schema(&tool.request_schema()), &example), None, "{example}");
    }
    for response in responses() {
        let schema = outline_schema(&response_schema(&response));
        let value = serde_json::to_value(&response).unwrap();
        assert_eq!(misfit(&schema, &value), None, "{response:?}");
    }
}

#[test]
fn a_short_schema_has_only_texts_that_a_model_needs() {
    for tool in Tool::ALL {
        let text = compact_schema(&tool.request_schema()).to_string();
        for superfluous in ["$schema", "$defs", "$ref", "\"null\"", "\"title\"", "int64"] {
            assert!(!text.contains(superfluous), "{text}");
        }
        assert_eq!(tool.response_schema()["required"], outline_schema(&tool.response_schema())["required"]);
    }
    insta::assert_json_snapshot!("modifyFileShort", compact_schema(&Tool::ModifyFile.request_schema()));
}

#[test]
fn the_documented_tools_are_all_but_two() {
    let rest: Vec<_> = Tool::ALL.into_iter().filter(|tool| !Tool::DOCUMENTED.contains(tool)).collect();
    assert_eq!(rest, [Tool::DeleteFile, Tool::StopProcess]);
    assert!(Tool::ALL.iter().all(|tool| !tool.title().is_empty() && tool.description().ends_with('.')));
}
