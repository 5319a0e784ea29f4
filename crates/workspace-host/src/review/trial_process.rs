//! The folder of a trial, and the process that carries something out on its overlay.

use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use local_workspace::Trial;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use sandbox_exec::KeptHomes;
use tempfile::TempDir;
use wap_core::CancelFlag;

use crate::failure::{Exit, Failure};
use crate::homes;
use crate::review::overlay_process;
use crate::secret_use::SecretMapFile;
use crate::state::{LocalSessions, WorkspacePaths, birth};

/// The prefix of the names of trials' folders in the state folder.
const FOLDER_PREFIX: &str = "trial-";

/// The longest answer of the process that is read, in bytes.
const MOST_ANSWER_BYTES: u64 = 256 << 20;

/// The folder of a trial: the state folder that its process sees, and the list of overlays. Removed when it is dropped.
#[derive(Debug)]
pub struct TrialFolder(TempDir);

impl TrialFolder {
    /// Makes the folder, with a copy of the journal.
    ///
    /// # Errors
    ///
    /// The cause, for the user.
    pub fn make(
        sessions: &LocalSessions,
        paths: &WorkspacePaths,
        trial: &Trial<'_>,
    ) -> Result<TrialFolder, Failure> {
        let failed = |why: String| Failure::new(Exit::Failed, format!("nothing can be tried out: {why}"));
        let describe = |error: std::io::Error| failed(error.to_string());
        let folder =
            tempfile::Builder::new().prefix(FOLDER_PREFIX).tempdir_in(&paths.base).map_err(describe)?;
        let folder = TrialFolder(folder);
        let state = folder.state();
        // It replaces the state folder, so it must be closed to other users as well.
        fs::DirBuilder::new().mode(0o700).create(&state).map_err(describe)?;
        birth::mark(&state).map_err(describe)?;
        // The placeholders of a request mean the same there.
        SecretMapFile::of(paths).copy_to(&state).map_err(describe)?;
        sessions.copy_journal_to(&folder.journal()).map_err(|error| failed(error.to_string()))?;
        overlay_process::Request::new(trial.layers(), vec![(state, paths.base.clone())])
            .write(&folder.layers())
            .map_err(failed)?;
        Ok(folder)
    }

    /// Returns the state folder that the process sees.
    #[must_use]
    pub fn state(&self) -> std::path::PathBuf {
        self.0.path().join("state")
    }

    fn layers(&self) -> std::path::PathBuf {
        self.0.path().join("layers.json")
    }

    /// Returns the folder of the journal that the process writes.
    #[must_use]
    pub fn journal(&self) -> std::path::PathBuf {
        self.state().join("journal")
    }

    /// Returns the folder of the outputs of its commands.
    #[must_use]
    pub fn outputs(&self) -> std::path::PathBuf {
        self.state().join("output")
    }

    /// Starts this program again on the overlay, with these arguments and this standard input, and returns what it prints.
    ///
    /// # Errors
    ///
    /// If it cannot be started, is cancelled, or fails; its standard error is this process's.
    pub fn run(
        &self,
        paths: &WorkspacePaths,
        arguments: &[OsString],
        input: &[u8],
        cancel: &CancelFlag,
    ) -> Result<Vec<u8>, Failure> {
        let failed = |why: String| Failure::new(Exit::Failed, format!("it could not be tried out: {why}"));
        // The running program, even if its file was replaced since.
        let mut command = Command::new("/proc/self/exe");
        command.arg(overlay_process::ARGUMENT).arg(self.layers());
        command.arg("--workspace").arg(&paths.workspace).arg("--base").arg(&paths.base).args(arguments);
        // A working directory within the workspace would still be the folder below the layer.
        command.current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
        let pidfd =
            Pid::from_raw(child.id().cast_signed()).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        // Ctrl-C on a terminal signals the whole process group, but a supervisor signals this process only.
        let _stopped_with_this_one = cancel.on_cancel(Box::new(move || {
            if let Some(pidfd) = &pidfd {
                let _ = pidfd_send_signal(pidfd, Signal::TERM);
            }
        }));
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let mut printed = Vec::new();
        let read = thread::scope(|scope| {
            // On a separate thread: a process that prints before it reads would wait forever.
            scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input)));
            stdout.map_or(Ok(0), |stdout| stdout.take(MOST_ANSWER_BYTES).read_to_end(&mut printed))
        });
        let status = child.wait().map_err(|error| failed(error.to_string()))?;
        // Commands may have left folders there that are closed to this user, too.
        let _ = KeptHomes::remove(&homes::trial_home(&self.state()));
        match status.code() {
            Some(0) => {
                read.map_err(|error| failed(error.to_string()))?;
                Ok(printed)
            }
            Some(130) => Err(Failure::new(Exit::Interrupted, "stopped: nothing was kept")),
            Some(code) if code == Exit::Missing as i32 => {
                Err(Failure::new(Exit::Missing, "it could not be tried out").advise(
                    "`agentd doctor` says what is missing; --dry-run shows what it would do to files",
                ))
            }
            _ => Err(failed(status.to_string())),
        }
    }
}

/// Removes the folders of killed predecessors. Only the owner of the state folder calls this, before its first trial.
pub fn remove_stale_trials(base: &Path) {
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(FOLDER_PREFIX.as_bytes()) {
            let _ = KeptHomes::remove(&homes::trial_home(&entry.path().join("state")));
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
