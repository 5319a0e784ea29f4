//! The address of an issue.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The address of an issue: `http://` or `https://` and a host, on one line and without whitespace.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct IssueUrl(String);

/// The error for a text that is not an issue address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be an http or https address")]
pub struct IssueUrlError;

impl IssueUrl {
    /// Returns the address verbatim.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for IssueUrl {
    type Err = IssueUrlError;

    fn from_str(text: &str) -> Result<IssueUrl, IssueUrlError> {
        IssueUrl::try_from(text.to_owned())
    }
}

impl TryFrom<String> for IssueUrl {
    type Error = IssueUrlError;

    fn try_from(text: String) -> Result<IssueUrl, IssueUrlError> {
        let (scheme, rest) = text.split_once("://").ok_or(IssueUrlError)?;
        let is_web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        // The address ends up in prompts and commit messages, where a line break would start a new line of text.
        let is_clean = !text.contains(|character: char| character.is_control() || character.is_whitespace());
        if is_web && !host.is_empty() && is_clean { Ok(IssueUrl(text)) } else { Err(IssueUrlError) }
    }
}

impl From<IssueUrl> for String {
    fn from(url: IssueUrl) -> String {
        url.0
    }
}

impl fmt::Display for IssueUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
