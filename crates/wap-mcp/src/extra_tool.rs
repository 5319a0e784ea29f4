//! Tools in addition to the seven of the document, which are only listed if the user asks for them.

use serde::Deserialize;
use serde_json::{Value, json};
use wap_core::{Reason, Request, Tool, WapError};

/// A tool that is only listed if the user asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtraTool {
    /// Reverts changes.
    Undo,
    /// Lists runs with their steps and changes.
    Log,
    /// Reads more of the output of a command.
    ReadOutput,
    /// Deletes a file.
    DeleteFile,
    /// Finds parts of files by words.
    DocdexSearch,
    /// Shows the lines around such a part.
    DocdexSnippet,
    /// Lists the definitions in a file.
    DocdexSymbols,
    /// Shows a syntax tree.
    DocdexAst,
    /// Lists the files that depend on a file, and those on which it depends.
    DocdexImpact,
    /// Lists unresolved imports.
    DocdexImpactDiagnostics,
}

/// The arguments of `log`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct LogArguments {
    pub limit: Option<u32>,
    pub before: Option<u64>,
    pub skip: Option<u64>,
}

/// The arguments of `undo`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct UndoArguments {
    pub change: Option<u64>,
}

impl ExtraTool {
    /// All of them, in the order of the list.
    pub const ALL: [ExtraTool; 10] = [
        ExtraTool::Undo,
        ExtraTool::Log,
        ExtraTool::ReadOutput,
        ExtraTool::DeleteFile,
        ExtraTool::DocdexSearch,
        ExtraTool::DocdexSnippet,
        ExtraTool::DocdexSymbols,
        ExtraTool::DocdexAst,
        ExtraTool::DocdexImpact,
        ExtraTool::DocdexImpactDiagnostics,
    ];

    /// Returns the tool's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ExtraTool::Undo => "undo",
            ExtraTool::Log => "log",
            ExtraTool::ReadOutput => "readOutput",
            ExtraTool::DeleteFile => Tool::DeleteFile.name(),
            ExtraTool::DocdexSearch => "docdexSearch",
            ExtraTool::DocdexSnippet => "docdexSnippet",
            ExtraTool::DocdexSymbols => "docdexSymbols",
            ExtraTool::DocdexAst => "docdexAst",
            ExtraTool::DocdexImpact => "docdexImpact",
            ExtraTool::DocdexImpactDiagnostics => "docdexImpactDiagnostics",
        }
    }

    /// Returns true if the code index answers it.
    #[must_use]
    pub fn asks_the_code_index(self) -> bool {
        use ExtraTool::*;
        match self {
            Undo | Log | ReadOutput | DeleteFile => false,
            DocdexSearch
            | DocdexSnippet
            | DocdexSymbols
            | DocdexAst
            | DocdexImpact
            | DocdexImpactDiagnostics => true,
        }
    }

    /// Returns a description of one line, for people.
    #[must_use]
    pub fn summary(self) -> &'static str {
        match self {
            ExtraTool::Undo => "Undoes a change",
            ExtraTool::Log => "Lists the history of runs, steps and changes",
            ExtraTool::ReadOutput => "Reads more of the output of a command",
            ExtraTool::DeleteFile => "Deletes a file",
            ExtraTool::DocdexSearch => "Finds pieces of files by words",
            ExtraTool::DocdexSnippet => "Shows the lines around a search result",
            ExtraTool::DocdexSymbols => "Lists the definitions in a file",
            ExtraTool::DocdexAst => "Shows a syntax tree",
            ExtraTool::DocdexImpact => "Lists the files that depend on a file, and its own dependencies",
            ExtraTool::DocdexImpactDiagnostics => "Lists unresolved imports",
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            ExtraTool::Undo => "Undo",
            ExtraTool::Log => "Log",
            ExtraTool::ReadOutput => "Read output",
            ExtraTool::DeleteFile => Tool::DeleteFile.title(),
            ExtraTool::DocdexSearch => "Search code",
            ExtraTool::DocdexSnippet => "Show a piece of a file",
            ExtraTool::DocdexSymbols => "List definitions",
            ExtraTool::DocdexAst => "Show a syntax tree",
            ExtraTool::DocdexImpact => "List dependencies",
            ExtraTool::DocdexImpactDiagnostics => "List unresolved imports",
        }
    }

    pub(crate) fn description(self) -> &'static str {
        match self {
            ExtraTool::Undo => {
                "Undoes the last change of a file, or the change with a number that log lists; undoing an undo restores the \
                 change. Refused with a diff if the file has changed since."
            }
            ExtraTool::Log => "Lists the history, newest first: runs with their steps and numbered changes.",
            ExtraTool::ReadOutput => {
                "Reads the whole output of a command by the '@output/…' name that executeCommand returned."
            }
            ExtraTool::DeleteFile => Tool::DeleteFile.description(),
            ExtraTool::DocdexSearch => {
                "Finds pieces of files by words, best first: names whole or by their parts, in any form of the word. For \
                 exact text use searchFiles."
            }
            ExtraTool::DocdexSnippet => "Shows the lines around a hit of docdexSearch, by its docId.",
            ExtraTool::DocdexSymbols => "Lists the definitions in a file, with lines and signatures.",
            ExtraTool::DocdexAst => "Shows the nodes of a file's syntax tree.",
            ExtraTool::DocdexImpact => {
                "Lists the files that depend on a file, and those that it depends on, by imports."
            }
            ExtraTool::DocdexImpactDiagnostics => {
                "Lists imports that name a file of the workspace and cannot be resolved."
            }
        }
    }

    pub(crate) fn request_schema(self) -> Value {
        match self {
            ExtraTool::Undo => json!({
                "type": "object",
                "properties": {
                    "change": { "type": "integer", "description": "Number of a change; absent means the last one." }
                }
            }),
            ExtraTool::Log => json!({
                "type": "object",
                "properties": {
                    "limit": { "type": "integer", "description": "Most runs, 1 to 1000; absent means 20." },
                    "before": { "type": "integer", "description": "Only runs before this number." },
                    "skip": { "type": "integer", "description": "Lines of the first run to skip." }
                }
            }),
            ExtraTool::ReadOutput => json!({
                "type": "object",
                "properties": {
                    "name": { "type": "string", "description": "The name, '@output/…'." },
                    "startLine": { "type": "integer", "description": "First line, 1-based; absent means 1." },
                    "endLine": { "type": "integer", "description": "Last line, inclusive; absent means the last." }
                },
                "required": ["name"]
            }),
            ExtraTool::DeleteFile => wap_core::compact_schema(&Tool::DeleteFile.request_schema()),
            ExtraTool::DocdexSearch => json!({
                "type": "object",
                "properties": {
                    "query": { "type": "string", "description": "Words." },
                    "limit": { "type": "integer", "description": "Most hits, 1 to 100; absent means 8." }
                },
                "required": ["query"]
            }),
            ExtraTool::DocdexSnippet => json!({
                "type": "object",
                "properties": {
                    "docId": { "type": "string", "description": "The docId of a hit." },
                    "window": { "type": "integer", "description": "Lines, 10 to 400; absent means 40." }
                },
                "required": ["docId"]
            }),
            ExtraTool::DocdexSymbols => file_schema(&json!({}), &["file"]),
            ExtraTool::DocdexAst => file_schema(
                &json!({ "maxNodes": { "type": "integer", "description": "Most nodes; absent means 500." } }),
                &["file"],
            ),
            ExtraTool::DocdexImpact => file_schema(
                &json!({ "maxDepth": { "type": "integer", "description": "Most steps from the file; absent means 1." } }),
                &["file"],
            ),
            ExtraTool::DocdexImpactDiagnostics => file_schema(
                &json!({
                    "limit": { "type": "integer", "description": "Most imports; absent means 50." },
                    "offset": { "type": "integer", "description": "Imports to skip first." }
                }),
                &[],
            ),
        }
    }

    pub(crate) fn only_reads(self) -> bool {
        // Clients ask the user before calling a tool that does more than read.
        !matches!(self, ExtraTool::Undo | ExtraTool::DeleteFile)
    }
}

/// Returns the schema of a tool that takes a file.
fn file_schema(more: &Value, required: &[&str]) -> Value {
    let mut properties = json!({ "file": { "type": "string", "description": "Path of the file." } });
    if let (Some(properties), Some(more)) = (properties.as_object_mut(), more.as_object()) {
        properties.extend(more.clone());
    }
    json!({ "type": "object", "properties": properties, "required": required })
}

/// Reads the arguments of an extra tool.
pub(crate) fn read<T: serde::de::DeserializeOwned>(arguments: Value) -> Result<T, WapError> {
    serde_json::from_value(arguments)
        .map_err(|error| WapError::new(Reason::InvalidField, format!("cannot read the arguments: {error}")))
}

/// Reads the arguments of `readOutput`, which is `readFile` on a reserved name.
pub(crate) fn read_output(mut arguments: Value) -> Result<Request, WapError> {
    if let Some(arguments) = arguments.as_object_mut() {
        arguments.remove("path");
        let name = arguments.remove("name").unwrap_or_default();
        let is_name = name.as_str().is_some_and(|name| name.starts_with(wap_core::OUTPUT_PREFIX));
        if !is_name {
            let text = format!(
                "'name' is not the name of an output, which begins with '{}'",
                wap_core::OUTPUT_PREFIX
            );
            return Err(WapError::new(Reason::InvalidField, text).with("field", "name"));
        }
        arguments.insert("path".to_owned(), name);
    }
    Request::parse(Tool::ReadFile.name(), arguments)
}
