//! The JSON Schemas of the tools, in full and shortened for a client's list of tools.

use schemars::schema_for;
use serde_json::{Map, Value, json};

use crate::{
    DeleteFile, DeleteFileResponse, ExecuteCommand, ExecuteCommandResponse, ExploreFiles,
    ExploreFilesResponse, ModifyFile, ModifyFileResponse, ReadFile, ReadFileResponse, SearchFiles,
    SearchFilesResponse, StopProcess, StopProcessResponse, Tool, WorkspaceInfo, WriteFile, WriteFileResponse,
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
            Tool::StopProcess => schema_for!(StopProcess),
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
            Tool::StopProcess => schema_for!(StopProcessResponse),
            Tool::GetWorkspaceInfo => schema_for!(WorkspaceInfo),
        };
        schema.into()
    }
}

/// Returns the JSON Schema (draft 2020-12) of any type of this crate, such as the error object.
#[must_use]
pub fn schema_of<T: schemars::JsonSchema>() -> Value {
    schema_for!(T).into()
}

/// Shortens the schema of a tool's arguments for a list that a model reads.
///
/// Titles, formats, the schema's own address and description are removed, optional fields no longer accept `null`, and references
/// are replaced by definitions. Of two forms of a value, an object with arbitrary names is left out: strict validators of the
/// large model APIs only accept objects with listed properties. Every value that fits the short schema fits the full one.
#[must_use]
pub fn compact_schema(schema: &Value) -> Value {
    let mut short = Compactor::of(schema).schema(schema);
    if let Value::Object(short) = &mut short {
        short.remove("description");
    }
    short
}

/// Reduces the schema of a response to its required fields, one level deep. Every response that fits the full schema fits
/// this one.
#[must_use]
pub fn outline_schema(schema: &Value) -> Value {
    let compactor = Compactor::of(schema);
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let outline = |name: &Value| {
        let name = name.as_str()?;
        let field = compactor.schema(&schema["properties"][name]);
        Some((name.to_owned(), json!({ "type": field["type"] })))
    };
    let properties: Map<String, Value> = required.iter().filter_map(outline).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

struct Compactor {
    definitions: Map<String, Value>,
}

impl Compactor {
    fn of(schema: &Value) -> Compactor {
        let definitions = schema.get("$defs").and_then(Value::as_object);
        Compactor { definitions: definitions.cloned().unwrap_or_default() }
    }

    fn schema(&self, schema: &Value) -> Value {
        let Some(schema) = schema.as_object() else { return schema.clone() };
        if let Some(meant) = self.meant(schema) {
            let mut short = self.schema(meant);
            // The description of the field is more specific than that of its type.
            if let (Some(description), Value::Object(short)) = (schema.get("description"), &mut short) {
                short.insert("description".to_owned(), without_extension(description));
            }
            return short;
        }
        let mut short = Map::new();
        for (keyword, rule) in schema {
            let rule = match keyword.as_str() {
                "$schema" | "$defs" | "title" | "format" | "default" => continue,
                // The value of a constant already determines its type.
                "type" if schema.contains_key("const") => continue,
                "type" => without_null(rule),
                "description" => without_extension(rule),
                "properties" => self.properties(rule),
                "items" | "additionalProperties" => self.schema(rule),
                "oneOf" | "anyOf" => match (rule.as_array(), constants(rule)) {
                    (_, Some(constants)) => {
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

    /// Returns the target of a schema that only refers to another or adds `null`.
    fn meant<'a>(&'a self, schema: &'a Map<String, Value>) -> Option<&'a Value> {
        if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
            return self.definitions.get(name.strip_prefix("#/$defs/")?);
        }
        let variants = schema.get("anyOf")?.as_array()?;
        // If two forms are left, neither can represent both, and the schema keeps them.
        let mut strict =
            variants.iter().filter(|one| one["type"] != "null" && !one["additionalProperties"].is_object());
        let meant = strict.next()?;
        strict.next().is_none().then_some(meant)
    }

    fn properties(&self, properties: &Value) -> Value {
        let properties = properties.as_object().into_iter().flatten();
        Value::Object(properties.map(|(name, schema)| (name.clone(), self.schema(schema))).collect())
    }
}

/// Returns a description without the marker of extensions, which is of no use to a model.
fn without_extension(description: &Value) -> Value {
    match description.as_str().and_then(|text| text.strip_prefix("Extension: ")) {
        Some(text) => {
            let mut characters = text.chars();
            let first = characters.next().into_iter().flat_map(char::to_uppercase);
            first.chain(characters).collect::<String>().into()
        }
        None => description.clone(),
    }
}

fn without_null(types: &Value) -> Value {
    match types.as_array().map(Vec::as_slice) {
        Some([one, null]) if null == "null" => one.clone(),
        _ => types.clone(),
    }
}

/// Returns the constants if all variants are constants; `None` otherwise.
fn constants(variants: &Value) -> Option<Value> {
    variants.as_array()?.iter().map(|variant| variant.get("const").cloned()).collect()
}
