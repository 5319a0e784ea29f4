//! One shell command as requested by a caller, checked before anything starts.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::policy::refused_variables;

/// The longest command text in bytes: Linux takes one argument of 128 KiB, the final NUL included.
pub const COMMAND_LIMIT_BYTES: usize = 128 * 1024 - 1;

/// The most bytes of one request's variables, each counted as `NAME=VALUE` and a NUL.
pub const ENVIRONMENT_LIMIT_BYTES: usize = 128 * 1024;

/// The reason that a command is refused before anything starts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// The text is empty or blank.
    #[error("the command is empty")]
    Empty,
    /// The text holds a NUL byte.
    #[error("the command holds a NUL byte")]
    Nul,
    /// The text is longer than [`COMMAND_LIMIT_BYTES`].
    #[error("the command has {length_bytes} bytes, the limit is {limit_bytes}; put it into a script file")]
    TooLong {
        /// The text's length.
        length_bytes: usize,
        /// The limit.
        limit_bytes: usize,
    },
    /// The timeout is zero or negative.
    #[error("the timeout must be more than 0 seconds")]
    Timeout,
    /// A request may not set this variable, because programs load code or find programs through it.
    #[error("the environment variable {name} may not be set by a request")]
    VariableRefused {
        /// The variable's name.
        name: String,
    },
    /// A variable's name is empty or holds `=`, or its name or value holds a NUL byte.
    #[error("the environment variable {name:?} is malformed")]
    VariableMalformed {
        /// The variable's name, invalid UTF-8 replaced.
        name: String,
    },
    /// The request's variables together are longer than [`ENVIRONMENT_LIMIT_BYTES`].
    #[error("the environment has {length_bytes} bytes, the limit is {limit_bytes}")]
    EnvironmentTooLong {
        /// The variables' length.
        length_bytes: usize,
        /// The limit.
        limit_bytes: usize,
    },
}

/// The time that a command may take, including all its descendants and pipes: more than zero, at most an hour.
///
/// Time is measured on the monotonic clock: a changed wall clock does not matter, and time during which the
/// machine is suspended does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeout {
    duration: Duration,
    clamped: bool,
}

impl Timeout {
    /// The longest timeout.
    pub const LIMIT: Duration = Duration::from_secs(3600);

    /// Takes a duration, clamped to [`Timeout::LIMIT`]; see [`Timeout::was_clamped`].
    ///
    /// # Errors
    /// [`CommandError::Timeout`] for zero.
    pub fn new(duration: Duration) -> Result<Timeout, CommandError> {
        if duration.is_zero() {
            return Err(CommandError::Timeout);
        }
        Ok(Timeout { duration: duration.min(Timeout::LIMIT), clamped: duration > Timeout::LIMIT })
    }

    /// Allows longer than any program runs.
    pub(crate) fn never() -> Timeout {
        const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
        Timeout { duration: CENTURY, clamped: false }
    }

    /// Takes whole seconds, as protocols pass them.
    ///
    /// # Errors
    /// [`CommandError::Timeout`] for zero and for negative numbers.
    pub fn from_seconds(seconds: i64) -> Result<Timeout, CommandError> {
        Timeout::new(Duration::from_secs(u64::try_from(seconds).map_err(|_| CommandError::Timeout)?))
    }

    /// Returns the time allowed.
    pub fn duration(self) -> Duration {
        self.duration
    }

    /// Checks whether more than [`Timeout::LIMIT`] was requested; the caller should then warn its user.
    pub fn was_clamped(self) -> bool {
        self.clamped
    }
}

impl Default for Timeout {
    /// 30 seconds.
    fn default() -> Timeout {
        Timeout { duration: Duration::from_secs(30), clamped: false }
    }
}

/// A command for `/bin/sh -c`, whose text is never parsed here to decide anything.
///
/// # Example
/// ```
/// use sandbox_exec::{ShellCommand, Timeout};
/// let command = ShellCommand::new("echo a\r\necho b\r\n")?.with_timeout(Timeout::from_seconds(5)?);
/// assert_eq!(command.text(), "echo a\necho b\n");
/// # Ok::<(), sandbox_exec::CommandError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ShellCommand {
    text: String,
    working_directory: Option<PathBuf>,
    environment: BTreeMap<OsString, OsString>,
    timeout: Timeout,
}

impl ShellCommand {
    /// Takes the command's text; CRLF becomes LF.
    ///
    /// # Errors
    /// [`CommandError::Empty`], [`CommandError::Nul`], [`CommandError::TooLong`].
    pub fn new(text: &str) -> Result<ShellCommand, CommandError> {
        let text = text.replace("\r\n", "\n");
        if text.trim().is_empty() {
            return Err(CommandError::Empty);
        }
        if text.contains('\0') {
            return Err(CommandError::Nul);
        }
        if text.len() > COMMAND_LIMIT_BYTES {
            return Err(CommandError::TooLong { length_bytes: text.len(), limit_bytes: COMMAND_LIMIT_BYTES });
        }
        Ok(ShellCommand {
            text,
            working_directory: None,
            environment: BTreeMap::new(),
            timeout: Timeout::default(),
        })
    }

    /// Runs the command in this absolute folder instead of the workspace's root.
    #[must_use]
    pub fn in_directory(mut self, directory: PathBuf) -> ShellCommand {
        self.working_directory = Some(directory);
        self
    }

    /// Allows this much time instead of 30 seconds.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Timeout) -> ShellCommand {
        self.timeout = timeout;
        self
    }

    /// Adds the request's environment variables.
    ///
    /// # Errors
    /// [`CommandError::VariableRefused`] with the first refused name, [`CommandError::VariableMalformed`],
    /// [`CommandError::EnvironmentTooLong`].
    pub fn with_environment(
        mut self,
        variables: BTreeMap<OsString, OsString>,
    ) -> Result<ShellCommand, CommandError> {
        let mut length_bytes = 0;
        for (name, value) in &variables {
            let text = || name.to_string_lossy().into_owned();
            if is_malformed(name, value) {
                return Err(CommandError::VariableMalformed { name: text() });
            }
            if refused_variables::is_refused(name) {
                return Err(CommandError::VariableRefused { name: text() });
            }
            length_bytes += name.len() + value.len() + 2;
        }
        if length_bytes > ENVIRONMENT_LIMIT_BYTES {
            return Err(CommandError::EnvironmentTooLong {
                length_bytes,
                limit_bytes: ENVIRONMENT_LIMIT_BYTES,
            });
        }
        self.environment = variables;
        Ok(self)
    }

    /// Returns the text for the shell.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the folder to run in, if not the workspace's root.
    pub fn working_directory(&self) -> Option<&Path> {
        self.working_directory.as_deref()
    }

    /// Returns the request's variables.
    pub fn environment(&self) -> &BTreeMap<OsString, OsString> {
        &self.environment
    }

    /// Returns the time allowed.
    pub fn timeout(&self) -> Timeout {
        self.timeout
    }
}

fn is_malformed(name: &OsStr, value: &OsStr) -> bool {
    let name = name.as_bytes();
    name.is_empty() || name.contains(&b'=') || name.contains(&0) || value.as_bytes().contains(&0)
}
