//! The JSON Schemas of the tools, in full and as short as a client's list of tools wants them.

use schemars::schema_for;
use serde_json::{Map, Value, json};

use crate::{
    DeleteFile, DeleteFileResponse, ExecuteCommand, ExecuteCommandResponse, ExploreFiles,
    ExploreFilesResponse, ModifyFile, ModifyFileResponse, ReadFile, ReadFileResponse, SearchFiles,
    SearchFilesResponse, Tool, WorkspaceInfo, WriteFile, WriteFileResponse,
};

impl Tool {
    /// Returns the JSON Schema (draft 2020-12) of the tool's arguments, an object.
    #[must_use]
    pub fn request_schema(self) -> Value {
        let schema = match self {
            Tool::ExploreFiles => schema_for!(ExploreFiles),
            Tool::ReadFile => schema_for!(ReadFile),
            Tool::WriteFile => schema_for!(WriteFile),
            Tool::ModifyFile => schema_for!(ModifyFile),
            Tool::DeleteFile => schema_for!(DeleteFile),
            Tool::SearchFiles => schema_for!(SearchFiles),
            Tool::ExecuteCommand => schema_for!(ExecuteCommand),
            Tool::GetWorkspaceInfo => return json!({ "type": "object", "properties": {} }),
        };
        schema.into()
    }

    /// Returns the JSON Schema (draft 2020-12) of the tool's response, an object.
    #[must_use]
    pub fn response_schema(self) -> Value {
        let schema = match self {
            Tool::ExploreFiles => schema_for!(ExploreFilesResponse),
            Tool::ReadFile => schema_for!(ReadFileResponse),
            Tool::WriteFile => schema_for!(WriteFileResponse),
            Tool::ModifyFile => schema_for!(ModifyFileResponse),
            Tool::DeleteFile => schema_for!(DeleteFileResponse),
            Tool::SearchFiles => schema_for!(SearchFilesResponse),
            Tool::ExecuteCommand => schema_for!(ExecuteCommandResponse),
            Tool::GetWorkspaceInfo => schema_for!(WorkspaceInfo),
        };
        schema.into()
    }
}

/// Shortens a schema of [`Tool::request_schema`] or [`Tool::response_schema`] for a list that a model reads.
///
/// Titles, formats and the schema's own address go, an optional field is no longer said to take `null`, and what was
/// defined once and referred to stands where it is used. With `descriptions` off, those go as well. Every value that
/// fits the short schema fits the full one.
#[must_use]
pub fn compact_schema(schema: &Value, descriptions: bool) -> Value {
    let definitions = schema.get("$defs").and_then(Value::as_object).cloned().unwrap_or_default();
    Compactor { definitions, descriptions }.schema(schema)
}

struct Compactor {
    definitions: Map<String, Value>,
    descriptions: bool,
}

impl Compactor {
    fn schema(&self, schema: &Value) -> Value {
        let Some(schema) = schema.as_object() else { return schema.clone() };
        if let Some(meant) = self.meant(schema) {
            let mut short = self.schema(meant);
            // What is said where it is used is more to the point than what is said where it is defined.
            if let (Some(said), Value::Object(short)) = (schema.get("description"), &mut short)
                && self.descriptions
            {
                short.insert("description".to_owned(), said.clone());
            }
            return short;
        }
        let mut short = Map::new();
        for (keyword, rule) in schema {
            let rule = match keyword.as_str() {
                "$schema" | "$defs" | "title" | "format" | "default" | "minimum" => continue,
                "description" if !self.descriptions => continue,
                "type" => self.without_null(rule),
                "properties" => self.properties(rule),
                "items" | "additionalProperties" => self.schema(rule),
                "oneOf" | "anyOf" => match (rule.as_array(), self.constants(rule)) {
                    (_, Some(constants)) => {
                        short.insert("type".to_owned(), json!("string"));
                        short.insert("enum".to_owned(), constants);
                        continue;
                    }
                    (Some(variants), None) => variants.iter().map(|variant| self.schema(variant)).collect(),
                    (None, None) => rule.clone(),
                },
                _ => rule.clone(),
            };
            short.insert(keyword.clone(), rule);
        }
        Value::Object(short)
    }

    /// What a schema stands for that only refers, or that only adds `null`.
    fn meant<'a>(&'a self, schema: &'a Map<String, Value>) -> Option<&'a Value> {
        if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
            return self.definitions.get(name.strip_prefix("#/$defs/")?);
        }
        match schema.get("anyOf")?.as_array()?.as_slice() {
            [one, null] if null["type"] == "null" => Some(one),
            _ => None,
        }
    }

    fn properties(&self, properties: &Value) -> Value {
        let properties = properties.as_object().into_iter().flatten();
        Value::Object(properties.map(|(name, schema)| (name.clone(), self.schema(schema))).collect())
    }

    fn without_null(&self, types: &Value) -> Value {
        match types.as_array().map(Vec::as_slice) {
            Some([one, null]) if null == "null" => one.clone(),
            _ => types.clone(),
        }
    }

    /// The texts of variants that are nothing but texts.
    fn constants(&self, variants: &Value) -> Option<Value> {
        variants.as_array()?.iter().map(|variant| variant.get("const").cloned()).collect()
    }
}
