//! The message that describes a task.

use serde::{Deserialize, Serialize};

use super::Confinement;
use crate::digest::BundleName;
use crate::names::{AgentName, ClassName, TaskName};

/// The version of this crate's messages. A host takes a task only if the version is within the task's range.
pub const PROTOCOL_VERSION: u32 = 1;

/// One task in the form sent to a host.
///
/// It contains no secret, program or command: a host has its own definition of the agent, and only home checks the
/// work. As a message it is JSON; unknown fields are ignored, and every known one has a limit ([`TaskLimits`]).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Run and agent.
    pub name: TaskName,
    /// The name of the definition that the host must have.
    pub definition: AgentName,
    /// The class under which the task is queued: a label that the host must have, or `any`.
    pub class: ClassName,
    /// The number of the issue, at least 1.
    pub issue_number: u64,
    /// The address of the issue; `http` or `https`.
    pub issue_url: String,
    /// The text of the issue.
    pub issue_body: String,
    /// The text with which the agent's commit declares that it is finished: one line.
    pub marker: String,
    /// The commit from which the agent starts: 40 or 64 hexadecimal digits.
    pub base_commit: String,
    /// From a full bundle to the newest thin one; the tip of the last is the base commit.
    #[serde(default)]
    pub bases: Vec<BaseBundle>,
    /// The agent's deadline in seconds, 1 to 3600; none for that of the host's definition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u32>,
    /// True if the host has to report whether the agent left anything uncommitted, even if its own definition does not
    /// ask.
    #[serde(default)]
    pub clean_tree: bool,
    /// Further labels that the host must have.
    #[serde(default)]
    pub labels: Vec<ClassName>,
    /// The weakest acceptable confinement.
    #[serde(default)]
    pub least_confinement: Confinement,
    /// Starts before it is given up, 1 to 100.
    #[serde(default = "usual_attempts")]
    pub attempts: usize,
    /// The acceptable message versions: first and last, inclusive.
    pub protocol: (u32, u32),
    /// A random number that distinguishes this submission from others under the same name.
    pub generation: String,
}

/// A bundle of the chain that leads to the base commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BaseBundle {
    /// Its content.
    #[serde(flatten)]
    pub bundle: BundleName,
    /// The commit that it ends with: 40 or 64 hexadecimal digits.
    pub tip: String,
}

/// The limits of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskLimits {
    /// The whole message, in bytes.
    pub message_bytes: usize,
    /// A text of one line, in bytes.
    pub line_bytes: usize,
    /// Bundles in the chain.
    pub bases: usize,
    /// Further labels.
    pub labels: usize,
    /// One bundle, in bytes.
    pub bundle_bytes: u64,
}

impl Default for TaskLimits {
    fn default() -> TaskLimits {
        TaskLimits {
            message_bytes: 5 << 20,
            line_bytes: 8 << 10,
            bases: 8,
            labels: 16,
            bundle_bytes: crate::BUNDLE_LIMIT_BYTES,
        }
    }
}

/// A task that cannot be sent or taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// The message is not the JSON of a task.
    #[error("not the JSON of a task")]
    NotJson(#[source] serde_json::Error),
    /// The message is too long.
    #[error("the message has {length} bytes, more than {limit}")]
    MessageTooLong {
        /// Its bytes.
        length: usize,
        /// The greatest number of bytes.
        limit: usize,
    },
    /// A field has a value that is not allowed.
    #[error("{field}: {rule}")]
    Field {
        /// The field's name in the message.
        field: &'static str,
        /// The rule that it breaks.
        rule: &'static str,
    },
}

impl Task {
    /// The usual number of starts before a task is given up.
    pub const ATTEMPTS: usize = 3;

    /// Reads a message.
    ///
    /// # Errors
    ///
    /// Every kind of [`TaskError`].
    pub fn parse(bytes: &[u8], limits: &TaskLimits) -> Result<Task, TaskError> {
        check_length(bytes.len(), limits)?;
        let task: Task = serde_json::from_slice(bytes).map_err(TaskError::NotJson)?;
        task.check(limits)?;
        Ok(task)
    }

    /// Writes the message.
    ///
    /// # Errors
    ///
    /// Every kind of [`TaskError`].
    pub fn render(&self, limits: &TaskLimits) -> Result<Vec<u8>, TaskError> {
        self.check(limits)?;
        let bytes = serde_json::to_vec(self).map_err(TaskError::NotJson)?;
        check_length(bytes.len(), limits)?;
        Ok(bytes)
    }

    fn check(&self, limits: &TaskLimits) -> Result<(), TaskError> {
        let is_line = |text: &str| text.len() <= limits.line_bytes && !text.contains(['\n', '\r', '\0']);
        let is_url = self.issue_url.starts_with("http://") || self.issue_url.starts_with("https://");
        let tips_are_commits = self.bases.iter().all(|base| is_commit(&base.tip));
        let sizes_fit = self.bases.iter().all(|base| base.bundle.size_bytes <= limits.bundle_bytes);
        let rules = [
            ("issue_number", "is at least 1", self.issue_number >= 1),
            ("issue_url", "is an address of http or https on one line", is_url && is_line(&self.issue_url)),
            (
                "marker",
                "is one line that is not empty",
                !self.marker.trim().is_empty() && is_line(&self.marker),
            ),
            ("base_commit", "is a commit in hexadecimal digits", is_commit(&self.base_commit)),
            ("bases", "has too many bundles", self.bases.len() <= limits.bases),
            ("bases.tip", "is a commit in hexadecimal digits", tips_are_commits),
            ("bases.size_bytes", "is more than a bundle may have", sizes_fit),
            (
                "timeout_seconds",
                "is 1 to 3600",
                self.timeout_seconds.is_none_or(|it| (1..=3600).contains(&it)),
            ),
            ("labels", "has too many labels", self.labels.len() <= limits.labels),
            ("attempts", "is 1 to 100", (1..=100).contains(&self.attempts)),
            ("protocol", "ends before it begins", self.protocol.0 <= self.protocol.1),
            (
                "generation",
                "is 1 to 64 letters and digits",
                (1..=64).contains(&self.generation.len())
                    && self.generation.bytes().all(|byte| byte.is_ascii_alphanumeric()),
            ),
        ];
        match rules.into_iter().find(|(.., is_kept)| !is_kept) {
            Some((field, rule, _)) => Err(TaskError::Field { field, rule }),
            None => Ok(()),
        }
    }
}

fn usual_attempts() -> usize {
    Task::ATTEMPTS
}

fn check_length(length: usize, limits: &TaskLimits) -> Result<(), TaskError> {
    let limit = limits.message_bytes;
    if length > limit { Err(TaskError::MessageTooLong { length, limit }) } else { Ok(()) }
}

fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
