//! An issue's text from the `gh` program, if the user has it.

use std::path::Path;
use std::process::{Command, Stdio};

use cocode_env::{IssueNumber, IssueUrl};
use serde::Deserialize;

use crate::plan::host::Host;

/// An issue as `gh issue view` tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubIssue {
    /// Its title, a blank line and its body.
    pub text: String,
    /// Its address.
    pub url: Option<IssueUrl>,
}

/// Why the text could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HubError {
    /// There is no such program.
    #[error("the program gh is not there to fetch the issue's text")]
    NoProgram,
    /// It could not be started.
    #[error("the program gh could not be started")]
    NotStarted(#[source] std::io::Error),
    /// It failed.
    #[error("gh could not show the issue: {reason}")]
    Failed {
        /// The last line that it printed about it.
        reason: String,
    },
    /// It answered something else.
    #[error("gh gave an answer that cannot be read")]
    Answer(#[source] serde_json::Error),
}

#[derive(Deserialize)]
struct AnswerText {
    #[serde(default)]
    title: String,
    #[serde(default)]
    body: String,
    #[serde(default)]
    url: String,
}

impl HubIssue {
    /// Asks `gh issue view` in the repository's folder. `gh` is the user's own program and runs as such.
    ///
    /// # Errors
    /// Each kind of [`HubError`].
    pub fn fetch(host: &Host, folder: &Path, issue: IssueNumber) -> Result<HubIssue, HubError> {
        let program = host.find_program("gh").ok_or(HubError::NoProgram)?;
        let mut command = Command::new(program);
        command.args(["issue", "view", &issue.to_string(), "--json", "title,body,url"]);
        command.env_clear().envs(&host.variables).current_dir(folder).stdin(Stdio::null());
        let output = command.output().map_err(HubError::NotStarted)?;
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            let reason = errors.lines().rev().find(|line| !line.trim().is_empty());
            return Err(HubError::Failed { reason: reason.unwrap_or("it gave no reason").to_owned() });
        }
        let answer: AnswerText = serde_json::from_slice(&output.stdout).map_err(HubError::Answer)?;
        let text = format!("{}\n\n{}\n", answer.title.trim(), answer.body.trim());
        Ok(HubIssue { text: text.trim_start().to_owned(), url: answer.url.parse().ok() })
    }
}
