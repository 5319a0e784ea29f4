//! The five variables of the contract.

use std::fmt;

/// One of the five environment variables of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variable {
    /// `COCODE_REPO_PATH`: the agent's worktree, which is also its working directory.
    RepoPath,
    /// `COCODE_ISSUE_NUMBER`.
    IssueNumber,
    /// `COCODE_ISSUE_URL`.
    IssueUrl,
    /// `COCODE_ISSUE_BODY_FILE`: a file with the issue's text.
    IssueBodyFile,
    /// `COCODE_READY_MARKER`: the text in the last commit's message when the work is done.
    ReadyMarker,
}

impl Variable {
    /// All five, in the order of the contract.
    pub const ALL: [Variable; 5] = [
        Variable::RepoPath,
        Variable::IssueNumber,
        Variable::IssueUrl,
        Variable::IssueBodyFile,
        Variable::ReadyMarker,
    ];

    /// Returns the name in the environment.
    pub const fn name(self) -> &'static str {
        match self {
            Variable::RepoPath => "COCODE_REPO_PATH",
            Variable::IssueNumber => "COCODE_ISSUE_NUMBER",
            Variable::IssueUrl => "COCODE_ISSUE_URL",
            Variable::IssueBodyFile => "COCODE_ISSUE_BODY_FILE",
            Variable::ReadyMarker => "COCODE_READY_MARKER",
        }
    }

    /// Returns the variable with this name.
    ///
    /// ```
    /// use cocode_env::Variable;
    /// assert_eq!(Variable::from_name("COCODE_ISSUE_URL"), Some(Variable::IssueUrl));
    /// assert_eq!(Variable::from_name("COCODE_EXTRA"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<Variable> {
        Variable::ALL.into_iter().find(|variable| variable.name() == name)
    }
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
