//! The input of an agent, read from and written to the five variables.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;

use crate::issue_number::{IssueNumber, IssueNumberError};
use crate::issue_url::{IssueUrl, IssueUrlError};
use crate::marker::{MarkerError, ReadyMarker};
use crate::variable::Variable;

/// The input of an agent. Both paths are absolute.
///
/// Source: cocode ADR-003, "Input Protocol".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentContext {
    repo_path: PathBuf,
    issue_body_file: PathBuf,
    /// The issue's number.
    pub issue: IssueNumber,
    /// The issue's address.
    pub issue_url: IssueUrl,
    /// The text that the last commit's message must contain.
    pub marker: ReadyMarker,
}

/// The invalid variables, in the order of [`Variable::ALL`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", Joined(.problems))]
pub struct ContextError {
    /// At least one problem, at most one for each variable.
    pub problems: Vec<Problem>,
}

/// One invalid variable. The value is never included, because it may be a secret put into the wrong variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{variable} {kind}")]
pub struct Problem {
    /// The variable.
    pub variable: Variable,
    /// The rule that the value breaks.
    pub kind: ProblemKind,
}

/// The rule that a variable's value breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemKind {
    /// The variable is not set.
    #[error("is not set")]
    Missing,
    /// The value is not valid UTF-8.
    #[error("is not valid UTF-8")]
    NotText,
    /// The value is a relative path.
    #[error("must be an absolute path")]
    NotAbsolute,
    /// The value contains a NUL byte, which an environment cannot hold.
    #[error("must not hold a NUL byte")]
    Nul,
    /// The value is not an issue number.
    #[error(transparent)]
    IssueNumber(IssueNumberError),
    /// The value is not an issue address.
    #[error(transparent)]
    IssueUrl(IssueUrlError),
    /// The value is not a valid marker.
    #[error(transparent)]
    Marker(MarkerError),
}

struct Joined<'a>(&'a [Problem]);

impl fmt::Display for Joined<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            write!(f, "{}{problem}", if index == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}

impl AgentContext {
    /// Creates a context.
    ///
    /// # Errors
    /// One problem for each path that is relative or contains a NUL byte.
    pub fn new(
        repo_path: PathBuf,
        issue: IssueNumber,
        issue_url: IssueUrl,
        issue_body_file: PathBuf,
        marker: ReadyMarker,
    ) -> Result<AgentContext, ContextError> {
        let paths = [(Variable::RepoPath, &repo_path), (Variable::IssueBodyFile, &issue_body_file)];
        let problems: Vec<Problem> = paths
            .into_iter()
            .filter_map(|(variable, path)| {
                path_problem(path.as_os_str()).map(|kind| Problem { variable, kind })
            })
            .collect();
        if !problems.is_empty() {
            return Err(ContextError { problems });
        }
        Ok(AgentContext { repo_path, issue_body_file, issue, issue_url, marker })
    }

    /// Reads the variables through `value_of`; an agent passes a closure over its environment.
    ///
    /// # Errors
    /// One problem for each invalid variable, all in one error.
    pub fn from_variables(
        value_of: impl Fn(Variable) -> Option<OsString>,
    ) -> Result<AgentContext, ContextError> {
        // Every variable is read before the first error is returned, so that one run reports all of them.
        let mut problems = Vec::new();
        let repo_path = path(Variable::RepoPath, &value_of, &mut problems);
        let issue = parsed(Variable::IssueNumber, &value_of, ProblemKind::IssueNumber, &mut problems);
        let issue_url = parsed(Variable::IssueUrl, &value_of, ProblemKind::IssueUrl, &mut problems);
        let issue_body_file = path(Variable::IssueBodyFile, &value_of, &mut problems);
        let marker = parsed(Variable::ReadyMarker, &value_of, ProblemKind::Marker, &mut problems);
        match (repo_path, issue, issue_url, issue_body_file, marker) {
            (Some(repo_path), Some(issue), Some(issue_url), Some(issue_body_file), Some(marker)) => {
                Ok(AgentContext { repo_path, issue_body_file, issue, issue_url, marker })
            }
            _ => Err(ContextError { problems }),
        }
    }

    /// Returns the agent's worktree, which is also its working directory.
    pub fn repo_path(&self) -> &PathBuf {
        &self.repo_path
    }

    /// Returns the file with the issue's text.
    pub fn issue_body_file(&self) -> &PathBuf {
        &self.issue_body_file
    }

    /// Returns the five variables and their values, in the order of [`Variable::ALL`].
    pub fn variables(&self) -> [(Variable, OsString); 5] {
        [
            (Variable::RepoPath, self.repo_path.clone().into()),
            (Variable::IssueNumber, self.issue.to_string().into()),
            (Variable::IssueUrl, self.issue_url.as_str().into()),
            (Variable::IssueBodyFile, self.issue_body_file.clone().into()),
            (Variable::ReadyMarker, self.marker.as_str().into()),
        ]
    }
}

fn path_problem(path: &OsStr) -> Option<ProblemKind> {
    // Checked as bytes: a path need not be UTF-8.
    let bytes = path.as_encoded_bytes();
    if bytes.contains(&0) {
        Some(ProblemKind::Nul)
    } else if !bytes.starts_with(b"/") {
        Some(ProblemKind::NotAbsolute)
    } else {
        None
    }
}

fn path(
    variable: Variable,
    value_of: &impl Fn(Variable) -> Option<OsString>,
    problems: &mut Vec<Problem>,
) -> Option<PathBuf> {
    let value = value_of(variable);
    let kind = match &value {
        None => Some(ProblemKind::Missing),
        Some(value) => path_problem(value),
    };
    problems.extend(kind.map(|kind| Problem { variable, kind }));
    if kind.is_none() { value.map(PathBuf::from) } else { None }
}

fn parsed<T: std::str::FromStr>(
    variable: Variable,
    value_of: &impl Fn(Variable) -> Option<OsString>,
    kind: impl Fn(T::Err) -> ProblemKind,
    problems: &mut Vec<Problem>,
) -> Option<T> {
    let value = value_of(variable).ok_or(ProblemKind::Missing);
    let text = value.and_then(|value| value.into_string().map_err(|_| ProblemKind::NotText));
    match text.and_then(|text| text.parse().map_err(kind)) {
        Ok(value) => Some(value),
        Err(kind) => {
            problems.push(Problem { variable, kind });
            None
        }
    }
}
