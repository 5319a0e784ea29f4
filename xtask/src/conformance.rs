//! The conformance cases: data in JSON files, run against the crates.

mod case;
mod cocode;
mod codali;
mod crash;
mod crate_tests;
mod envelope_replies;
mod expected;
mod fixture;
mod generator;
mod llm4s;
mod mortal;
mod problem;
mod registry;
mod ruling;
mod survivors;
mod syntax_errors;
mod tag;
mod tally;
mod text_edits;
mod wap;

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::{TaskError, root};

pub use case::{Outcome, Run};
pub use crash::crash;
pub use crate_tests::CrateTests;
pub(crate) use fixture::Fixture;
pub(crate) use problem::Problem;
pub use registry::Registry;
pub use tally::Tally;

/// Runs every vector file of a folder; prints a line for each case that fails or cannot run here and for each kind of
/// case that has no runner, and a total. Files that are for the tests of crates are run by these.
///
/// # Errors
///
/// [`TaskError::CasesFailed`], also for cases without a runner, or a folder or file that cannot be read as vectors.
pub fn conformance(folder: &Path) -> Result<(), TaskError> {
    let registry = Registry::standard();
    let mut total = Tally::default();
    for (name, text) in vector_files(folder)? {
        let tally = match crate_tests::find(&name) {
            Some(tests) => tests.run(&root(), &folder.join(&name), &case_names(&name, &text)?)?,
            None => registry.run_file(&name, &text)?,
        };
        for line in tally.lines() {
            println!("{line}");
        }
        total.add(tally);
    }
    println!("{total}");
    // A kind of case that nothing here understands has not been shown to hold.
    let failed = total.failed() + total.without_runner();
    if failed == 0 { Ok(()) } else { Err(TaskError::CasesFailed { failed }) }
}

/// The vector files of a folder with their names, sorted.
fn vector_files(folder: &Path) -> Result<Vec<(String, String)>, TaskError> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        |source| TaskError::Unreadable { path, source }
    };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable(folder))? {
        let path = entry.map_err(unreadable(folder))?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            files.push((name, fs::read_to_string(&path).map_err(unreadable(&path))?));
        }
    }
    if files.is_empty() {
        return Err(TaskError::NoVectors { folder: folder.to_owned() });
    }
    files.sort();
    Ok(files)
}

fn case_names(name: &str, text: &str) -> Result<Vec<String>, TaskError> {
    let cases = cases(name, text)?;
    let name = |case: &Value| case["name"].as_str().unwrap_or("(a case without a name)").to_owned();
    Ok(cases.iter().map(name).collect())
}

/// Checks whether a file holds cases in the form of a vector file: it has the same name, or begins with it (`wap-more.json`).
fn is_of_form(vector_file: &str, file: &str) -> bool {
    let rest = file.strip_prefix(vector_file.trim_end_matches(".json"));
    rest.is_some_and(|rest| rest.starts_with(['.', '-', '_']) && rest.ends_with(".json"))
}

/// Returns the cases of a vector file.
fn cases(name: &str, text: &str) -> Result<Vec<Value>, TaskError> {
    let file: Value =
        serde_json::from_str(text).map_err(|source| TaskError::NotJson { what: name.to_owned(), source })?;
    let cases = file["cases"].as_array().filter(|cases| !cases.is_empty());
    cases.cloned().ok_or_else(|| TaskError::NoCases { file: name.to_owned() })
}
