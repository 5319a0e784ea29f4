//! The schemas of arguments in a list of tools: strict, and no longer than a model needs.

use serde_json::{Map, Value, json};

/// Bounds that a model respects anyway, since it does not ask for line -1. The refusal of a call names them.
const SELF_EVIDENT: [&str; 3] = ["minLength", "minimum", "minItems"];

/// Declares that no object has other properties, which strict validators of the large model APIs require, and leaves out bounds
/// of 0 and 1. A call with another property is still carried out, and its answer names the property.
pub(crate) fn strict(schema: Value) -> Value {
    match schema {
        Value::Object(schema) => Value::Object(of_object(schema)),
        other => other,
    }
}

fn of_object(mut schema: Map<String, Value>) -> Map<String, Value> {
    for bound in SELF_EVIDENT {
        if schema.get(bound).and_then(Value::as_u64).is_some_and(|bound| bound <= 1) {
            schema.remove(bound);
        }
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for property in properties.values_mut() {
            *property = strict(property.take());
        }
        schema.entry("additionalProperties").or_insert(json!(false));
    }
    if let Some(items) = schema.get_mut("items") {
        *items = strict(items.take());
    }
    for variants in ["oneOf", "anyOf"] {
        for variant in schema.get_mut(variants).and_then(Value::as_array_mut).into_iter().flatten() {
            *variant = strict(variant.take());
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::strict;

    #[test]
    fn every_object_is_closed_at_any_depth() {
        let schema = json!({
            "type": "object",
            "properties": {
                "minimum": { "type": "integer", "minimum": 1 },
                "many": { "type": "integer", "minimum": 2 },
                "list": { "type": "array", "minItems": 1, "items": { "oneOf": [{ "type": "object", "properties": {} }] } }
            }
        });
        insta::assert_json_snapshot!(strict(schema), @r#"
        {
          "additionalProperties": false,
          "properties": {
            "list": {
              "items": {
                "oneOf": [
                  {
                    "additionalProperties": false,
                    "properties": {},
                    "type": "object"
                  }
                ]
              },
              "type": "array"
            },
            "many": {
              "minimum": 2,
              "type": "integer"
            },
            "minimum": {
              "type": "integer"
            }
          },
          "type": "object"
        }
        "#);
    }
}
