//! The results of needs.

mod failed;
mod lists;
mod other;
mod texts;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::CriticResult;

pub use failed::FailedResult;
pub use lists::{
    AstResult, FileListResult, ImpactDiagnosticsResult, ImpactResult, SearchResult, SymbolsResult, WebResult,
};
pub use other::OtherResult;
pub use texts::{CommandOutputResult, FileDiffResult, FileReadResult, OpenResult, SnippetResult, TreeResult};

/// One result of a response.
///
/// A result of another implementation with a different shape is preserved as [`NeedResult::Other`].
///
/// Source: Codali protocol, `CODALI_RESPONSE`; ruling in docs/codali.md.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum NeedResult {
    /// The result of `docdex.search`.
    Search(SearchResult),
    /// The result of `docdex.snippet`.
    Snippet(SnippetResult),
    /// The result of `docdex.open`.
    Open(OpenResult),
    /// The result of `docdex.symbols`.
    Symbols(SymbolsResult),
    /// The result of `docdex.ast`.
    Ast(AstResult),
    /// The result of `docdex.impact`.
    Impact(ImpactResult),
    /// The result of `docdex.impact_diagnostics`.
    ImpactDiagnostics(ImpactDiagnosticsResult),
    /// The result of `docdex.tree`.
    Tree(TreeResult),
    /// The result of `docdex.web`.
    Web(WebResult),
    /// The result of `file.read`.
    FileRead(FileReadResult),
    /// The result of `file.list`.
    FileList(FileListResult),
    /// The result of `file.diff`.
    FileDiff(FileDiffResult),
    /// The result of `command.output`.
    CommandOutput(CommandOutputResult),
    /// The result of a critic, which answers no need.
    Critic(CriticResult),
    /// A need that failed.
    Failed(FailedResult),
    /// A result of unknown type or shape.
    Other(OtherResult),
}

macro_rules! typed_results {
    ($($variant:ident $name:literal,)+) => {
        impl NeedResult {
            /// Returns the type of the answered need.
            #[must_use]
            pub fn type_name(&self) -> &str {
                match self {
                    $(NeedResult::$variant(_) => $name,)+
                    NeedResult::Failed(failed) => &failed.need_type,
                    NeedResult::Other(other) => &other.result_type,
                }
            }

            /// Reads a result; one of unknown shape is preserved.
            pub(crate) fn from_fields(mut fields: Map<String, Value>) -> NeedResult {
                let result_type = match fields.get("type") {
                    Some(Value::String(name)) => name.clone(),
                    _ => return NeedResult::Other(OtherResult { result_type: String::new(), fields }),
                };
                fields.remove("type");
                let fields = match FailedResult::from_fields(&result_type, fields) {
                    Ok(failed) => return NeedResult::Failed(failed),
                    Err(fields) => fields,
                };
                match result_type.as_str() {
                    $($name => {
                        // Cloned, because a failed conversion would lose the fields.
                        match serde_json::from_value(Value::Object(fields.clone())) {
                            Ok(result) => NeedResult::$variant(result),
                            Err(_) => NeedResult::Other(OtherResult { result_type, fields }),
                        }
                    })+
                    _ => NeedResult::Other(OtherResult { result_type, fields }),
                }
            }
        }

        impl Serialize for NeedResult {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(NeedResult::$variant(fields) => Typed { type_name: $name, fields }.serialize(serializer),)+
                    NeedResult::Failed(failed) => failed.serialize(serializer),
                    NeedResult::Other(other) => other.serialize(serializer),
                }
            }
        }
    };
}

typed_results! {
    Search "docdex.search",
    Snippet "docdex.snippet",
    Open "docdex.open",
    Symbols "docdex.symbols",
    Ast "docdex.ast",
    Impact "docdex.impact",
    ImpactDiagnostics "docdex.impact_diagnostics",
    Tree "docdex.tree",
    Web "docdex.web",
    FileRead "file.read",
    FileList "file.list",
    FileDiff "file.diff",
    CommandOutput "command.output",
    Critic "critic.result",
}

#[derive(Serialize)]
struct Typed<'a, T> {
    #[serde(rename = "type")]
    type_name: &'static str,
    #[serde(flatten)]
    fields: &'a T,
}
