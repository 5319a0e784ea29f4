//! Runs the `git` program; no other module does.
//!
//! Hooks, fsmonitor and filters are off in every call, and the caller names a worktree's folders: files of an agent never
//! select the settings in force, and never run.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use crate::plan::host::Host;
pub use crate::repository::git_error::GitError;
pub(crate) use crate::repository::git_error::reason;
use crate::run::child_output::{self, Bounds, Input, Ran};
use crate::run::orphan_guard::OrphanGuard;

/// The time limit of a call in a worktree: an agent can leave a pipe where git expects a file, and git would block there.
const WORKTREE_LIMIT: Duration = Duration::from_secs(60);

/// The largest single allocation of git: a small object can claim any size. Git streams files above
/// `core.bigFileThreshold`.
const MOST_AT_ONCE: &str = "1g";

/// The memory limit of git where it reads an agent's objects, such as a deep chain of deltas or a tree of millions of
/// entries. Mapped files do not count.
const MOST_MEMORY_BYTES: u64 = 4 << 30;

/// The most output of git that is held in memory.
const MOST_OUTPUT_BYTES: u64 = 64 << 20;

/// The beginning of a line in which git rejects an object.
const OBJECTION: &str = "error: object ";

/// The settings of every call. Without `gc`, which a merge would start: it rewrites the logs of all worktrees, also of
/// those in which agents run and can replace a log by a symlink.
const SETTINGS: [&str; 5] = [
    "core.fsmonitor=false",
    "core.logAllRefUpdates=true",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
];

/// Makes a comparison of commits or indexes show submodules, too. Otherwise git omits those that a `.gitmodules`, which may be
/// an agent's, or the user's settings ignore.
pub(crate) const WITH_SUBMODULES: &str = "--ignore-submodules=none";

/// A difference without colours, in which attributes of an agent select no program that prints it.
pub(crate) const DIFF: [&str; 5] = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", WITH_SUBMODULES];

/// Variables of the user's environment that git needs, three of them for signing a merge. The last four are the user's
/// identity, which in containers is often only there. All others are dropped, in particular other `GIT_*`.
const KEPT: [&str; 12] = [
    "HOME",
    "XDG_CONFIG_HOME",
    "USER",
    "LOGNAME",
    "TMPDIR",
    "GNUPGHOME",
    "GPG_TTY",
    "SSH_AUTH_SOCK",
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
];

/// The folder in which git works.
#[derive(Clone, Copy, Debug)]
pub(crate) enum GitLocation<'a> {
    /// A folder of the user's repository, in which git finds the repository itself.
    Folder(&'a Path),
    /// A worktree with explicit folders, whatever its `.git` file names.
    Worktree { common_folder: &'a Path, git_folder: &'a Path, work_tree: &'a Path },
    /// A bare repository, regardless of the user's settings for these.
    Bare(&'a Path),
}

/// Starts `git`.
#[derive(Clone, Debug)]
pub(crate) struct Git {
    environment: Vec<(OsString, OsString)>,
    hooks: PathBuf,
    filters: Vec<OsString>,
    /// The time limit everywhere; `None` for a limit in worktrees only.
    limit: Option<Duration>,
    /// The memory limit of each process, if any.
    memory_bytes: Option<u64>,
    /// The most bytes of a file that it writes, if any.
    file_bytes: Option<u64>,
    /// The most bytes of output that are read.
    output_bytes: u64,
    /// Ends the calls with a time limit when this process is killed.
    guard: Arc<OrphanGuard>,
}

impl Git {
    /// Returns a `Git` that uses `hooks`, an empty folder, instead of every repository's hooks.
    pub(crate) fn new(host: &Host, hooks: PathBuf) -> Git {
        let kept = KEPT.iter().filter_map(|name| Some(((*name).into(), host.variable(name)?.to_owned())));
        let kept = kept.chain([("PATH".into(), host.own_path.clone())]);
        let fixed = [
            ("LC_ALL", "C"),
            ("GIT_TERMINAL_PROMPT", "0"),
            // A lock taken by a mere `status` would make the agent's own git fail.
            ("GIT_OPTIONAL_LOCKS", "0"),
            // An agent can leave references that replace one object by another.
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            ("GIT_PAGER", "cat"),
            ("GIT_EDITOR", "true"),
        ];
        let environment =
            kept.chain(fixed.map(|(name, value)| (name.into(), OsString::from(value)))).collect();
        Git {
            environment,
            hooks,
            filters: Vec::new(),
            limit: None,
            memory_bytes: None,
            file_bytes: None,
            output_bytes: MOST_OUTPUT_BYTES,
            guard: Arc::new(OrphanGuard::new(host.own_path.clone())),
        }
    }

    /// Reads all settings in force in a folder, including the user's. The last of several values counts.
    pub(crate) fn settings(&self, folder: &Path) -> Result<BTreeMap<String, String>, GitError> {
        let text = self.run(GitLocation::Folder(folder), &["config", "--null", "--list"])?;
        let pairs = text.split('\0').filter(|pair| !pair.is_empty());
        // A setting without a value has no line break before it.
        let pairs = pairs.map(|pair| pair.split_once('\n').unwrap_or((pair, "")));
        Ok(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    /// Disables the filters that these settings define.
    pub(crate) fn without_filters<'a>(mut self, settings: impl Iterator<Item = &'a String>) -> Git {
        let mut names: Vec<&str> = settings
            .filter(|name| name.starts_with("filter."))
            // The name of a filter may contain dots: the key is the part after the last one.
            .filter_map(|name| Some(name.rsplit_once('.')?.0))
            .collect();
        names.sort_unstable();
        names.dedup();
        let off = |name: &str| {
            // A required filter without a program would make git fail instead of passing the content through.
            ["clean=", "smudge=", "process=", "required=false"].map(|key| format!("{name}.{key}"))
        };
        self.filters = names.into_iter().flat_map(off).map(OsString::from).collect();
        self
    }

    /// Returns whether it disables filters that the user has set.
    pub(crate) fn leaves_out_filters(&self) -> bool {
        !self.filters.is_empty()
    }

    /// Returns a copy with a time and memory limit, for reading an agent's objects.
    pub(crate) fn within(&self, limit: Duration) -> Git {
        let mut git = Git { limit: Some(limit), memory_bytes: Some(MOST_MEMORY_BYTES), ..self.clone() };
        git.environment.push(("GIT_ALLOC_LIMIT".into(), MOST_AT_ONCE.into()));
        git
    }

    /// Returns a copy that is killed when a file that it writes reaches this size.
    pub(crate) fn with_file_limit(&self, bytes: u64) -> Git {
        Git { file_bytes: Some(bytes), ..self.clone() }
    }

    /// Returns a copy that reads objects in `folder`, and in `others` with its alternates, and fetches none.
    pub(crate) fn with_objects(&self, folder: &Path, others: Option<&Path>) -> Git {
        let mut git = self.clone();
        let alternates = others.map(quoted).unwrap_or_default();
        git.environment.extend([
            ("GIT_OBJECT_DIRECTORY".into(), folder.into()),
            ("GIT_ALTERNATE_OBJECT_DIRECTORIES".into(), alternates),
            ("GIT_NO_LAZY_FETCH".into(), "1".into()),
            // For versions of git that ignore that variable.
            ("GIT_ALLOW_PROTOCOL".into(), "none".into()),
        ]);
        git
    }

    /// Returns a copy that uses the index file `index` instead of the repository's.
    pub(crate) fn with_index(&self, index: &Path) -> Git {
        let mut git = self.clone();
        git.environment.push(("GIT_INDEX_FILE".into(), index.into()));
        git
    }

    /// Runs git and returns its output, without the final newline.
    pub(crate) fn run<S: AsRef<OsStr>>(
        &self,
        location: GitLocation<'_>,
        arguments: &[S],
    ) -> Result<String, GitError> {
        self.run_for_bytes(location, arguments).map(text)
    }

    /// Runs git and returns its output as bytes: names of files need not be UTF-8.
    pub(crate) fn run_for_bytes<S: AsRef<OsStr>>(
        &self,
        location: GitLocation<'_>,
        arguments: &[S],
    ) -> Result<Vec<u8>, GitError> {
        self.start(location, arguments, Input::Nothing, None)?.success(arguments)
    }

    /// Runs git with a text on its standard input.
    pub(crate) fn feed<S: AsRef<OsStr>>(
        &self,
        folder: &Path,
        arguments: &[S],
        input: &str,
    ) -> Result<(), GitError> {
        let location = GitLocation::Folder(folder);
        self.start(location, arguments, Input::Text(input), None)?.success(arguments).map(drop)
    }

    /// Runs git with a text on its standard input, and returns its output as bytes.
    pub(crate) fn exchange(
        &self,
        location: GitLocation<'_>,
        arguments: &[&str],
        input: &str,
    ) -> Result<Vec<u8>, GitError> {
        self.start(location, arguments, Input::Text(input), None)?.success(arguments)
    }

    /// Runs git with bytes on its standard input, such as names of files, and returns its output as bytes.
    pub(crate) fn exchange_bytes(
        &self,
        location: GitLocation<'_>,
        arguments: &[&str],
        input: &[u8],
    ) -> Result<Vec<u8>, GitError> {
        self.start(location, arguments, Input::Bytes(input), None)?.success(arguments)
    }

    /// Runs git with a text on its standard input and a file as its standard output.
    pub(crate) fn write_to(
        &self,
        location: GitLocation<'_>,
        arguments: &[&str],
        input: &str,
        output: File,
    ) -> Result<(), GitError> {
        self.start(location, arguments, Input::Text(input), Some(output))?.success(arguments).map(drop)
    }

    /// Runs git with a file on its standard input, from the file's current position.
    pub(crate) fn read_from(
        &self,
        location: GitLocation<'_>,
        arguments: &[&str],
        input: File,
    ) -> Result<(), GitError> {
        self.start(location, arguments, Input::File(input), None)?.success(arguments).map(drop)
    }

    /// Runs git and returns up to `most_bytes` of its output, and whether that is all of it.
    pub(crate) fn run_for_start<S: AsRef<OsStr>>(
        &self,
        location: GitLocation<'_>,
        arguments: &[S],
        most_bytes: u64,
    ) -> Result<(Vec<u8>, bool), GitError> {
        let git = Git { output_bytes: most_bytes, ..self.clone() };
        let answer = git.start(location, arguments, Input::Nothing, None)?;
        match answer.longer_than {
            Some(_) => Ok((answer.output, false)),
            None => answer.success(arguments).map(|output| (output, true)),
        }
    }

    /// Runs git with a file on its standard input, from the file's current position. Returns whether it succeeded, and its
    /// error output. A failure of this machine is an error, unless git also objects to an object: it then prints text by the
    /// object's author, which may look like such a failure.
    pub(crate) fn judge_from(
        &self,
        location: GitLocation<'_>,
        arguments: &[&str],
        input: File,
    ) -> Result<(bool, String), GitError> {
        let answer = self.start(location, arguments, Input::File(input), None)?;
        let (is_accepted, errors) = (answer.code == Some(0), answer.errors.clone());
        let is_objection = errors.lines().any(|line| line.starts_with(OBJECTION));
        match answer.success(arguments) {
            Err(error) if error.is_of_this_machine() && !is_objection => Err(error),
            _ => Ok((is_accepted, errors)),
        }
    }

    /// Runs git and returns its output; `None` for exit code 1, which means "no".
    pub(crate) fn ask<S: AsRef<OsStr>>(
        &self,
        location: GitLocation<'_>,
        arguments: &[S],
    ) -> Result<Option<String>, GitError> {
        let output = self.ask_for_bytes(location, arguments)?;
        Ok(output.ok().map(text))
    }

    /// Runs git and returns its output as bytes; as `Err` for exit code 1, which means "no".
    pub(crate) fn ask_for_bytes<S: AsRef<OsStr>>(
        &self,
        location: GitLocation<'_>,
        arguments: &[S],
    ) -> Result<Result<Vec<u8>, Vec<u8>>, GitError> {
        let answer = self.start(location, arguments, Input::Nothing, None)?;
        match answer.code {
            Some(1) => Ok(Err(answer.output)),
            _ => answer.success(arguments).map(Ok),
        }
    }

    fn start<S: AsRef<OsStr>>(
        &self,
        location: GitLocation<'_>,
        arguments: &[S],
        input: Input<'_>,
        output: Option<File>,
    ) -> Result<Answer, GitError> {
        let mut command = Command::new("git");
        command.env_clear().envs(self.environment.iter().map(|(name, value)| (name, value)));
        match location {
            GitLocation::Folder(folder) => {
                command.current_dir(folder);
            }
            GitLocation::Bare(folder) => {
                command.current_dir(folder).env("GIT_DIR", folder);
            }
            GitLocation::Worktree { common_folder, git_folder, work_tree } => {
                // An agent may have removed its worktree, and a process cannot start in a missing folder.
                let folder = if work_tree.is_dir() { work_tree } else { common_folder };
                command.current_dir(folder);
                command.env("GIT_DIR", git_folder).env("GIT_COMMON_DIR", common_folder);
                command.env("GIT_WORK_TREE", work_tree);
            }
        }
        // On the command line, which overrides every file of settings.
        let mut hooks = OsString::from("core.hooksPath=");
        hooks.push(&self.hooks);
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command.arg("-c").arg(hooks);
        for filter in &self.filters {
            command.arg("-c").arg(filter);
        }
        command.args(arguments);
        command.stdout(output.map_or_else(Stdio::piped, Stdio::from)).stderr(Stdio::piped());
        let is_worktree = matches!(location, GitLocation::Worktree { .. });
        let bounds = Bounds {
            limit: self.limit.or(is_worktree.then_some(WORKTREE_LIMIT)),
            output_bytes: self.output_bytes,
            memory_bytes: self.memory_bytes.or(is_worktree.then_some(MOST_MEMORY_BYTES)),
            file_bytes: self.file_bytes,
        };
        let ran = child_output::output(command, input, bounds, Some(&self.guard));
        let output = match ran.map_err(GitError::NotStarted)? {
            Ran::Ended(output) => output,
            Ran::TooSlow => return Err(GitError::TooSlow { command: first_of(arguments) }),
            Ran::TooLong(start) => {
                let (errors, longer_than) = (String::new(), Some(self.output_bytes));
                return Ok(Answer { code: None, output: start, errors, longer_than });
            }
        };
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        Ok(Answer { code: output.status.code(), output: output.stdout, errors, longer_than: None })
    }
}

/// The result of a call.
struct Answer {
    code: Option<i32>,
    output: Vec<u8>,
    /// The error output.
    errors: String,
    /// The limit at which the output was cut; `None` if it is complete.
    longer_than: Option<u64>,
}

impl Answer {
    /// Returns the output, if the call succeeded.
    fn success<S: AsRef<OsStr>>(self, arguments: &[S]) -> Result<Vec<u8>, GitError> {
        match (self.code, self.longer_than) {
            // Before the exit code: git was killed at the limit, and has no exit code.
            (_, Some(limit_bytes)) => Err(GitError::TooLong { command: first_of(arguments), limit_bytes }),
            (Some(0), None) => Ok(self.output),
            (exit_code, None) => {
                let is_killed = exit_code.is_none() && self.errors.trim().is_empty();
                let reason = if is_killed { "it was killed".to_owned() } else { reason(&self.errors) };
                Err(GitError::Failed { command: first_of(arguments), reason, exit_code })
            }
        }
    }
}

/// Quotes a folder for a list of folders, in which a colon is the separator.
fn quoted(folder: &Path) -> OsString {
    let folder = folder.as_os_str();
    match folder.to_str() {
        Some(text) if text.contains([':', '"', '\\']) => {
            format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")).into()
        }
        _ => folder.to_owned(),
    }
}

/// Returns a pattern that matches exactly a path from the top. A bare path is a pattern, too: git would take `:/a` for `a`.
pub(crate) fn literal_pattern(path: &OsStr) -> OsString {
    let mut pattern = OsString::from(":(top,literal)");
    pattern.push(path);
    pattern
}

/// Decodes git's output, and removes the final newline.
fn text(output: Vec<u8>) -> String {
    let mut text = String::from_utf8_lossy(&output).into_owned();
    if text.ends_with('\n') {
        text.pop();
    }
    text
}

fn first_of<S: AsRef<OsStr>>(arguments: &[S]) -> String {
    let command = arguments.first().map(|first| first.as_ref().to_string_lossy().into_owned());
    command.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_a_list_is_quoted_where_it_has_to_be() {
        for (folder, expected) in [("/a b", "/a b"), ("/a:b", "\"/a:b\""), ("/a\"\\", "\"/a\\\"\\\\\"")] {
            assert_eq!(quoted(Path::new(folder)), expected);
        }
    }
}
