//! Cases of the first error of syntax after a change.

use code_index::TreeSyntaxCheck;
use serde_json::{Value, json};
use wap_core::SyntaxCheck;

use super::Outcome;

/// Checks the two texts of a case.
pub(crate) fn run(case: &Value) -> Outcome {
    let text = |key: &str| case[key].as_str();
    let (Some(path), Some(before), Some(after)) = (text("path"), text("before"), text("after")) else {
        return Outcome::Failed("the case has no path or no texts".to_owned());
    };
    let error = TreeSyntaxCheck::default().first_new_error(path, before, after);
    let error =
        error.map(|error| json!({ "line": error.line, "column": error.column, "language": error.language }));
    Outcome::compare("the first new error", &case["expect"], &json!(error))
}
