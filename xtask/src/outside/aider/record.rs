//! The calls of aider's coders in its tests, with their results.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use serde::Deserialize;
use serde_json::Value;

use super::super::suite_error::SuiteError;
use crate::TaskError;
use crate::setup::client_packages::ReplayPeers;

/// One record.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct Record {
    /// The name of the test, with its module and class.
    pub(super) test: String,
    /// The call.
    #[serde(flatten)]
    pub(super) call: Call,
}

/// A call of one of aider's functions, or the end of a test.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Call {
    /// SEARCH/REPLACE blocks are read: path, search text and new text of each.
    Blocks {
        /// The reply.
        reply: String,
        /// The edits; `None` if the reply was refused.
        result: Option<Vec<Value>>,
    },
    /// A unified diff is read: path and lines of each hunk.
    Diffs {
        /// The reply.
        reply: String,
        /// The hunks; `None` if the reply was refused.
        result: Option<Vec<Value>>,
    },
    /// One passage of a text is replaced.
    Replace {
        /// The text.
        whole: String,
        /// The passage as the model quotes it.
        part: String,
        /// The new passage.
        replacement: String,
        /// The new text; `None` if the passage was not found.
        result: Option<String>,
    },
    /// A reply is applied to files.
    Reply {
        /// The name of the format.
        format: String,
        /// The reply.
        reply: String,
        /// The files before.
        before: BTreeMap<String, String>,
        /// The files after.
        after: BTreeMap<String, String>,
        /// True if nothing was to be written.
        is_dry_run: bool,
    },
    /// The end of a test.
    End {
        /// The reason of a failure; `None` if the test passed.
        why: Option<String>,
    },
}

/// Runs the tests of a checkout and returns all records.
///
/// # Errors
///
/// [`SuiteError::NoProgram`] if aider's packages are not installed, and those of starting a program and of its output.
pub(super) fn record(checkout: &Path) -> Result<Vec<Record>, TaskError> {
    let advice = "cargo xtask setup outside installs them";
    let python = ReplayPeers::installed()
        .aider
        .ok_or(SuiteError::NoProgram { program: "the Python packages that aider's coders need", advice })?;
    let folder =
        tempfile::tempdir().map_err(|source| TaskError::Unwritable { path: "scratch".into(), source })?;
    let script = folder.path().join("record_tests.py");
    std::fs::write(&script, include_str!("record_tests.py"))
        .map_err(|source| TaskError::Unwritable { path: script.clone(), source })?;
    let mut command = Command::new(&python);
    command.arg("-B").arg(&script).arg(checkout).env_clear().env("HOME", folder.path());
    let output = command.env("TMPDIR", folder.path()).stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let output =
        output.map_err(|source| TaskError::NotStarted { program: python.display().to_string(), source })?;
    if !output.status.success() {
        return Err(TaskError::StepFailed { step: "recording aider's tests".to_owned() });
    }
    parse(&String::from_utf8_lossy(&output.stdout))
}

/// Reads records, one on each line.
fn parse(text: &str) -> Result<Vec<Record>, TaskError> {
    let not_json = |source| TaskError::NotJson { what: "a record of aider's tests".to_owned(), source };
    text.lines().map(|line| serde_json::from_str(line).map_err(not_json)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Call, parse};

    #[test]
    fn every_kind_of_record_is_read() {
        let text = r#"{"test":"a.B.c","kind":"blocks","reply":"x","result":[["f","a\n","b\n"],[null,"ls\n"]],"error":null}
{"test":"a.B.c","kind":"diffs","reply":"x","result":null,"error":"ValueError"}
{"test":"a.B.c","kind":"replace","whole":"a\n","part":"a\n","replacement":"b\n","result":null,"error":null}
{"test":"a.B.c","kind":"reply","format":"diff","reply":"x","chat":[],"fence":"```","before":{},"after":{"a":"b"},"is_dry_run":false,"error":null}
{"test":"a.B.c","kind":"end","why":null}"#;
        let records = parse(text).unwrap();
        let calls: Vec<&Call> = records.iter().map(|record| &record.call).collect();
        assert!(matches!(calls[0], Call::Blocks { result: Some(edits), .. } if edits.len() == 2));
        assert!(matches!(calls[1], Call::Diffs { result: None, .. }));
        assert!(matches!(calls[2], Call::Replace { result: None, .. }));
        assert!(matches!(calls[3], Call::Reply { after, .. } if after["a"] == "b"));
        assert_eq!(calls[4], &Call::End { why: None });
        assert!(parse("{\"test\":\"a\",\"kind\":\"other\"}").is_err());
    }
}
