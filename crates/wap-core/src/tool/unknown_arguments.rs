//! Arguments that a tool does not know: they are ignored, and the answer names them.

use std::sync::OnceLock;

use serde_json::Value;

use crate::{Response, Tool, WapError, compact_schema, visible_text};

/// The most names in a note.
const MOST_NAMES: usize = 10;

/// The most characters of a name in a note.
const NAME_CHARACTERS: usize = 60;

/// An accepted argument that is not in any schema, because a model should learn one rule about line numbers.
const UNLISTED: (Tool, &str) = (Tool::ModifyFile, "lineNumbers");

/// The arguments of one call that its tool ignores.
///
/// Otherwise a misspelt option would appear to have an effect. Arguments that are `null` count as absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnknownArguments {
    names: Vec<String>,
    /// The number of further names.
    more: usize,
}

impl UnknownArguments {
    /// Finds the arguments that a tool does not know. The cost is one walk over the arguments.
    #[must_use]
    pub fn of(tool: Tool, arguments: &Value) -> UnknownArguments {
        static SCHEMAS: OnceLock<[Value; Tool::ALL.len()]> = OnceLock::new();
        let schemas = SCHEMAS.get_or_init(|| Tool::ALL.map(|tool| compact_schema(&tool.request_schema())));
        let schema = Tool::ALL.iter().zip(schemas).find(|(entry, _)| **entry == tool);
        let Some((_, schema)) = schema else { return UnknownArguments::default() };
        let mut unknown = UnknownArguments::default();
        unknown.walk(schema, arguments, "", &|name| (tool, name) == UNLISTED);
        unknown
    }

    /// Finds the arguments that are not among the properties of a schema without references.
    #[must_use]
    pub fn outside_of(schema: &Value, arguments: &Value) -> UnknownArguments {
        let mut unknown = UnknownArguments::default();
        unknown.walk(schema, arguments, "", &|_| false);
        unknown
    }

    /// Checks whether the tool knows all arguments.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns the note for the caller, one line; `None` if every argument is in the schema.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let names: Vec<String> = self.names.iter().map(|name| format!("'{name}'")).collect();
        let names = names.join(", ");
        match (self.names.len(), self.more) {
            (0, _) => None,
            (1, 0) => Some(format!("unknown argument {names} was ignored")),
            (_, 0) => Some(format!("unknown arguments {names} were ignored")),
            (_, more) => Some(format!("unknown arguments {names} and {more} more were ignored")),
        }
    }

    /// Adds the note to an answer: to the warnings of a response, to the details of an error.
    ///
    /// # Errors
    ///
    /// The given error, with `details.unknownArguments`.
    pub fn annotate(&self, answer: Result<Response, WapError>) -> Result<Response, WapError> {
        let Some(note) = self.note() else { return answer };
        match answer {
            Ok(mut response) => {
                response.warnings_mut().push(note);
                Ok(response)
            }
            Err(error) => Err(self.annotate_error(error)),
        }
    }

    /// Adds the names to an error: a missing argument was often given by another name.
    #[must_use]
    pub fn annotate_error(&self, error: WapError) -> WapError {
        if self.is_empty() { error } else { error.with("unknownArguments", self.names.clone()) }
    }

    fn walk(&mut self, schema: &Value, value: &Value, parent: &str, is_known: &dyn Fn(&str) -> bool) {
        match value {
            Value::Object(fields) => {
                // Operations have variants: an argument of another variant counts as unknown.
                let schema = variant(schema, value).unwrap_or(schema);
                let Some(properties) = schema["properties"].as_object() else { return };
                for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
                    match properties.get(name) {
                        Some(schema) => self.walk(schema, value, &format!("{parent}{name}."), &|_| false),
                        None if is_known(name) => {}
                        None => self.add(parent, name),
                    }
                }
            }
            Value::Array(items) if schema["items"].is_object() => {
                let parent = parent.trim_end_matches('.');
                for (index, item) in items.iter().enumerate() {
                    self.walk(&schema["items"], item, &format!("{parent}[{index}]."), &|_| false);
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, parent: &str, name: &str) {
        if self.names.len() == MOST_NAMES {
            self.more += 1;
            return;
        }
        let mut text: String = name.chars().take(NAME_CHARACTERS).collect();
        if text.len() < name.len() {
            text.push('…');
        }
        // The note is one line, and a name comes from the caller: a line break in it could fake another warning.
        self.names.push(format!("{parent}{}", visible_text(&text).replace(['\n', '\r', '\t'], " ")));
    }
}

/// Returns the variant that the `type` of an object chooses, if the schema has variants.
fn variant<'a>(schema: &'a Value, value: &Value) -> Option<&'a Value> {
    let variants = schema["oneOf"].as_array()?;
    variants.iter().find(|variant| variant["properties"]["type"]["const"] == value["type"])
}
