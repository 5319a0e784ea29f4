//! The errors of the `git` program.

/// An error of a call of git.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GitError {
    /// There is no `git` program, or it could not be started.
    #[error("the program git could not be started")]
    NotStarted(#[source] std::io::Error),
    /// It failed.
    #[error("git {command} failed: {reason}")]
    Failed {
        /// Its first argument.
        command: String,
        /// Its error output, on one line.
        reason: String,
        /// Its exit code, if it exited.
        exit_code: Option<i32>,
    },
    /// It was killed at its time limit.
    #[error("git {command} took too long and was killed")]
    TooSlow {
        /// Its first argument.
        command: String,
    },
    /// It was killed, because it printed more than the limit.
    #[error("git {command} prints more than {limit_bytes} bytes, which is the limit")]
    TooLong {
        /// Its first argument.
        command: String,
        /// The limit.
        limit_bytes: u64,
    },
    /// Its output is not in the expected format.
    #[error("the output of git {command} cannot be parsed")]
    Answer {
        /// Its first argument.
        command: &'static str,
    },
}

/// Texts in git's reason if this machine has failed: it could not write, another process held a lock, or it had run out of
/// a resource.
const OF_MACHINE: [&str; 8] = [
    "No space left on device",
    "Disk quota exceeded",
    "Read-only file system",
    "Too many open files",
    "Input/output error",
    "Resource temporarily unavailable",
    "insufficient permission for adding an object",
    ".lock': File exists",
];

impl GitError {
    /// Returns whether the fault is on this machine, where the same call may succeed later: git was killed, could not
    /// write, or found a lock. If not, git's input may be damaged.
    #[must_use]
    pub fn is_of_this_machine(&self) -> bool {
        match self {
            GitError::NotStarted(_) => true,
            GitError::Failed { reason, exit_code, .. } => {
                exit_code.is_none() || OF_MACHINE.iter().any(|text| reason.contains(text))
            }
            _ => false,
        }
    }
}

/// The most bytes of a reason.
const REASON_BYTES: usize = 400;

/// Summarises git's error output on one line: every line that git marks as an error, with the indented lines below it;
/// without any, the last line.
pub(crate) fn reason(errors: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for line in errors.lines().filter(|line| !line.trim().is_empty()) {
        let error = ["fatal: ", "error: "].iter().find_map(|prefix| line.strip_prefix(prefix));
        match error {
            Some(error) => parts.push(error.trim()),
            None if line.starts_with(['\t', ' ']) && !parts.is_empty() => parts.push(line.trim()),
            None => {}
        }
    }
    if parts.is_empty() {
        parts.extend(errors.lines().rev().map(str::trim).find(|line| !line.is_empty()));
    }
    let mut reason = parts.join("; ");
    if reason.len() > REASON_BYTES {
        reason.truncate(reason.floor_char_boundary(REASON_BYTES));
        reason.push('…');
    }
    if reason.is_empty() { "it gave no reason".to_owned() } else { reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_all_that_git_calls_an_error() {
        let cases = [
            ("fatal: bad object HEAD\n", "bad object HEAD"),
            (
                "error: gpg failed to sign the data:\n(no gpg)\nfatal: failed to write commit object\n",
                "gpg failed to sign the data:; failed to write commit object",
            ),
            (
                "error: files would be overwritten:\n\tnew\nPlease move them.\nAborting\n",
                "files would be overwritten:; new",
            ),
            ("Aborting\n\n", "Aborting"),
            ("", "it gave no reason"),
        ];
        for (errors, expected) in cases {
            assert_eq!(reason(errors), expected);
        }
        assert_eq!(reason(&format!("fatal: {}", "ö".repeat(900))).len(), REASON_BYTES + '…'.len_utf8());
    }
}
