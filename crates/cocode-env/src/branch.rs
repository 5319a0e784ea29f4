//! The names of branches.

use crate::agent_name::AgentName;
use crate::issue_number::IssueNumber;

/// Returns the name of the branch that an agent works on.
pub fn branch_name(issue: IssueNumber, agent: &AgentName) -> String {
    format!("cocode/{issue}-{agent}")
}

/// Returns the branch name in a remote's symbolic `HEAD`, slashes included, or `None` if `reference` is not a
/// branch of `remote`.
///
/// ```
/// use cocode_env::default_branch_of;
/// assert_eq!(default_branch_of("refs/remotes/origin/rel/1", "origin"), Some("rel/1"));
/// assert_eq!(default_branch_of("refs/heads/main", "origin"), None);
/// ```
pub fn default_branch_of<'a>(reference: &'a str, remote: &str) -> Option<&'a str> {
    let rest = reference.strip_prefix("refs/remotes/")?.strip_prefix(remote)?.strip_prefix('/')?;
    (!rest.is_empty()).then_some(rest)
}
