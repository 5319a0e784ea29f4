//! An issue's text from the `gh` program, if the user has it.

use std::path::Path;
use std::process::{Command, Stdio};

use cocode_env::{IssueNumber, IssueUrl};
use serde::Deserialize;

use crate::plan::host::Host;

/// An issue as `gh issue view` prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubIssue {
    /// Its title, a blank line and its body.
    pub text: String,
    /// Its address.
    pub url: Option<IssueUrl>,
}

/// The reason that the text could not be fetched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HubError {
    /// There is no such program.
    #[error("the program gh, which fetches the issue's text, is not installed")]
    NoProgram,
    /// It could not be started.
    #[error("the program gh could not be started")]
    NotStarted(#[source] std::io::Error),
    /// It failed.
    #[error("gh could not show the issue: {reason}")]
    Failed {
        /// The last line of its error output.
        reason: String,
    },
    /// Its output is not the expected JSON.
    #[error("the output of gh cannot be parsed")]
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
    /// Runs `gh issue view` in the repository's folder. `gh` is the user's own program and runs unconfined.
    ///
    /// # Errors
    /// Each kind of [`HubError`].
    pub fn fetch(host: &Host, folder: &Path, issue: IssueNumber) -> Result<HubIssue, HubError> {
        let program = host.find_own_program("gh").ok_or(HubError::NoProgram)?;
        let mut command = Command::new(program);
        command.args(["issue", "view", &issue.to_string(), "--json", "title,body,url"]);
        command.env_clear().envs(&host.variables).current_dir(folder).stdin(Stdio::null());
        // It starts git.
        command.env("PATH", &host.own_path);
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
