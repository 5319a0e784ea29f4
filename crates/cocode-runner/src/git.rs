//! The `git` program. This module alone starts it.
//!
//! Hooks, fsmonitor and filters are off in every call, and a worktree's folders are named by the caller: what an agent
//! wrote into its worktree never decides which settings are in force, and never runs.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::host::Host;

/// Variables of the user's environment that git needs; all others, `GIT_*` above all, are dropped.
const KEPT: [&str; 6] = ["PATH", "HOME", "XDG_CONFIG_HOME", "USER", "LOGNAME", "TMPDIR"];

/// Why git did not do what it was asked.
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
        /// The last line that it printed about it.
        reason: String,
        /// Its exit code, if it exited.
        exit_code: Option<i32>,
    },
    /// It answered something that cannot be read.
    #[error("git {command} gave an answer that cannot be read")]
    Answer {
        /// Its first argument.
        command: &'static str,
    },
}

/// Where git works.
#[derive(Clone, Copy, Debug)]
pub(crate) enum GitPlace<'a> {
    /// In the folder of a person's own repository, which git finds by itself.
    Folder(&'a Path),
    /// In a worktree whose folders are known, whatever its `.git` says.
    Worktree { common_folder: &'a Path, git_folder: &'a Path, work_tree: &'a Path },
}

/// Starts `git`.
#[derive(Clone, Debug)]
pub(crate) struct Git {
    environment: Vec<(OsString, OsString)>,
    hooks: PathBuf,
    filters: Vec<OsString>,
}

impl Git {
    /// Uses `hooks`, an empty folder, in place of every repository's hooks.
    pub(crate) fn new(host: &Host, hooks: PathBuf) -> Git {
        let kept = KEPT.iter().filter_map(|name| Some(((*name).into(), host.variable(name)?.to_owned())));
        let fixed = [
            ("LC_ALL", "C"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            ("GIT_PAGER", "cat"),
            ("GIT_EDITOR", "true"),
        ];
        let environment =
            kept.chain(fixed.map(|(name, value)| (name.into(), OsString::from(value)))).collect();
        Git { environment, hooks, filters: Vec::new() }
    }

    /// Switches off the filters that are set in a repository, the user's included.
    pub(crate) fn without_filters_of(mut self, folder: &Path) -> Result<Git, GitError> {
        let names = ["config", "--null", "--name-only", "--get-regexp", "^filter\\."];
        let Some(found) = self.ask(GitPlace::Folder(folder), &names)? else { return Ok(self) };
        let mut names: Vec<&str> =
            found.split('\0').filter_map(|key| Some(key.rsplit_once('.')?.0)).collect();
        names.sort_unstable();
        names.dedup();
        let off = |name: &str| {
            ["clean=", "smudge=", "process=", "required=false"].map(|key| format!("{name}.{key}"))
        };
        self.filters = names.into_iter().flat_map(off).map(OsString::from).collect();
        Ok(self)
    }

    /// Runs git and returns what it printed, without the newline at its end.
    pub(crate) fn run<S: AsRef<OsStr>>(
        &self,
        place: GitPlace<'_>,
        arguments: &[S],
    ) -> Result<String, GitError> {
        let (code, output, reason) = self.start(place, arguments)?;
        if code == Some(0) { Ok(output) } else { Err(failed(arguments, reason, code)) }
    }

    /// Runs git and takes exit code 1 for "no".
    pub(crate) fn ask<S: AsRef<OsStr>>(
        &self,
        place: GitPlace<'_>,
        arguments: &[S],
    ) -> Result<Option<String>, GitError> {
        let (code, output, reason) = self.start(place, arguments)?;
        match code {
            Some(0) => Ok(Some(output)),
            Some(1) => Ok(None),
            _ => Err(failed(arguments, reason, code)),
        }
    }

    fn start<S: AsRef<OsStr>>(
        &self,
        place: GitPlace<'_>,
        arguments: &[S],
    ) -> Result<(Option<i32>, String, String), GitError> {
        let mut command = Command::new("git");
        command.env_clear().envs(self.environment.iter().map(|(name, value)| (name, value)));
        match place {
            GitPlace::Folder(folder) => {
                command.current_dir(folder);
            }
            GitPlace::Worktree { common_folder, git_folder, work_tree } => {
                let folder = if work_tree.is_dir() { work_tree } else { common_folder };
                command.current_dir(folder);
                command.env("GIT_DIR", git_folder).env("GIT_COMMON_DIR", common_folder);
                command.env("GIT_WORK_TREE", work_tree);
            }
        }
        let mut hooks = OsString::from("core.hooksPath=");
        hooks.push(&self.hooks);
        for setting in ["core.fsmonitor=false", "core.logAllRefUpdates=true", "submodule.recurse=false"] {
            command.args(["-c", setting]);
        }
        command.arg("-c").arg(hooks);
        for filter in &self.filters {
            command.arg("-c").arg(filter);
        }
        command.args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = command.output().map_err(GitError::NotStarted)?;
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        if text.ends_with('\n') {
            text.pop();
        }
        let errors = String::from_utf8_lossy(&output.stderr);
        let reason = errors.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it gave no reason");
        Ok((output.status.code(), text, reason.trim_start_matches("fatal: ").to_owned()))
    }
}

fn failed<S: AsRef<OsStr>>(arguments: &[S], reason: String, exit_code: Option<i32>) -> GitError {
    let command = arguments.first().map(|first| first.as_ref().to_string_lossy().into_owned());
    GitError::Failed { command: command.unwrap_or_default(), reason, exit_code }
}
