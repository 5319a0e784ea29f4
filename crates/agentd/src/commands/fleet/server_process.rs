//! The process of a fleet's server: started here, or left by an `agentd fleet up` that was killed.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use change_journal::ContentHash;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};
use workspace_host::OwnPrograms;

use crate::commands::fleet::own_files;
use crate::exit::{Exit, Failure};

/// The program of the server.
pub(super) const PROGRAM: &str = "nats-server";

/// The variable of the server's environment with the digest of the configuration that it was started with.
const DIGEST: &str = "AGENTD_FLEET_CONFIGURATION";

/// The most characters of a server's message about its configuration.
const FAULT_CHARACTERS: usize = 400;

/// The time limit for a server to end after a request.
const END: Duration = Duration::from_secs(10);

/// The unit of times in `/proc`, the same on every Linux.
const TICKS_PER_SECOND: u64 = 100;

/// The lock of a server's folder, which one `agentd fleet up` has. The kernel frees it when that one is killed.
pub(super) struct FolderLock {
    _file: File,
}

impl FolderLock {
    /// Takes the lock.
    pub(super) fn take(folder: &Path) -> Result<FolderLock, Failure> {
        let path = folder.join("lock");
        let failed =
            |error: std::io::Error| Failure::new(Exit::Failed, format!("{}: {error}", path.display()));
        let file = own_files::open(&path, OFlags::RDWR | OFlags::CREATE).map_err(failed)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(FolderLock { _file: file }),
            Err(rustix::io::Errno::WOULDBLOCK) => {
                let failure = Failure::new(
                    Exit::Held,
                    format!("another `agentd fleet up` runs the server in {}", folder.display()),
                );
                Err(failure.advise("give this one another folder with --folder DIR"))
            }
            Err(errno) => Err(failed(errno.into())),
        }
    }
}

/// Returns the installed server: on the search path, or in the folders of servers, which are often not on it.
fn program() -> Option<PathBuf> {
    let folders = ["/usr/local/sbin", "/usr/sbin"].map(|folder| Path::new(folder).join(PROGRAM));
    // Not from a folder that a model can write: it runs unconfined.
    let on_path = OwnPrograms::of_no_workspace().find(PROGRAM);
    on_path.or_else(|| folders.into_iter().find(|file| file.is_file()))
}

/// Returns the version line of the installed server; `None` if there is none.
pub(super) fn version() -> Option<String> {
    let output = Command::new(program()?).arg("--version").stdin(Stdio::null()).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The files with which a server is started, and later located.
pub(super) struct ServerFiles {
    /// Its configuration.
    pub(super) configuration: PathBuf,
    /// The file with the number of its process.
    pub(super) process: PathBuf,
}

impl ServerFiles {
    /// Returns the files in a server's folder.
    pub(super) fn of(folder: &Path) -> ServerFiles {
        ServerFiles {
            configuration: folder.join("nats-server.conf"),
            process: folder.join("nats-server.pid"),
        }
    }

    /// Has the installed server try its configuration, and returns the last line that it prints if it refuses it.
    pub(super) fn fault(&self) -> Option<String> {
        let mut trial = Command::new(program()?);
        trial.arg("-t").arg("-c").arg(&self.configuration).stdin(Stdio::null());
        let output = trial.output().ok().filter(|output| !output.status.success())?;
        let text = String::from_utf8_lossy(&output.stderr);
        let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
        let fault = line.strip_prefix(PROGRAM).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(line);
        Some(fault.chars().take(FAULT_CHARACTERS).collect())
    }

    /// Looks for a server of this folder that an earlier `agentd fleet up` has left, with the configuration `text`.
    ///
    /// # Errors
    /// A failure if it was started with another configuration, or if the file with its number is not a regular one:
    /// the server would write through a link.
    pub(super) fn left_server(&self, text: &str) -> Result<Option<Server>, Failure> {
        let file = match own_files::open(&self.process, OFlags::RDONLY) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(Failure::new(Exit::Failed, format!("{}: {error}", self.process.display())));
            }
        };
        let Some((id, process)) = self.left_process(file) else { return Ok(None) };
        let location = format!("/proc/{id}");
        let environment = fs::read(format!("{location}/environ")).unwrap_or_default();
        let wanted = format!("{DIGEST}={}", digest(text));
        if environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes()) {
            return Ok(Some(Server::Left { id, process }));
        }
        let failure = Failure::new(
            Exit::Held,
            format!("process {id} is a server of this folder with another configuration"),
        );
        Err(failure
            .advise(format!("end it with `kill {id}`, or start with the options that it was started with")))
    }

    /// Returns the process whose number the server has written, if it is still that server.
    fn left_process(&self, file: File) -> Option<(u32, OwnedFd)> {
        let mut text = String::new();
        let written = file.metadata().and_then(|data| data.modified()).ok()?;
        file.take(32).read_to_string(&mut text).ok()?;
        let id: u32 = text.trim().parse().ok()?;
        // From here on it is the same process, also if its number is used again.
        let process = pidfd_open(Pid::from_raw(i32::try_from(id).ok()?)?, PidfdFlags::empty()).ok()?;
        let line = fs::read(format!("/proc/{id}/cmdline")).ok()?;
        let mut words = line.split(|byte| *byte == 0);
        let is_server = words.next()?.ends_with(PROGRAM.as_bytes());
        let is_configured = words.any(|word| word == self.configuration.as_os_str().as_encoded_bytes());
        // The server writes the file after it has started; a later process has another right to the number.
        let is_as_old = started(id).is_some_and(|started| started <= written + Duration::from_secs(1));
        (is_server && is_configured && is_as_old && !has_ended(&process)).then_some((id, process))
    }
}

/// Returns the start time of a process, to a second.
fn started(id: u32) -> Option<SystemTime> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // After the name in parentheses, which may contain anything, the start is the twentieth field.
    let ticks: u64 = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()?;
    let system = fs::read_to_string("/proc/stat").ok()?;
    let boot: u64 = system.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
    let since_boot = Duration::from_secs(ticks / TICKS_PER_SECOND);
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(boot) + since_boot)
}

fn digest(text: &str) -> String {
    ContentHash::of(text.as_bytes()).to_string()
}

fn has_ended(process: &OwnedFd) -> bool {
    let mut polled = [PollFd::new(process, PollFlags::IN)];
    matches!(poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })), Ok(count) if count > 0)
}

/// The server's process; it is ended and waited for when it is dropped.
pub(super) enum Server {
    /// One that this process has started.
    Started(Child),
    /// One that an earlier process has left.
    Left {
        /// Its number.
        id: u32,
        /// The process itself.
        process: OwnedFd,
    },
}

impl Server {
    /// Starts the server with a configuration that is in its file already.
    pub(super) fn start(files: &ServerFiles, text: &str) -> Result<Server, Failure> {
        let missing = || Failure::new(Exit::Missing, format!("{PROGRAM} is not installed"));
        let mut command = Command::new(program().ok_or_else(missing)?);
        command.arg("-c").arg(&files.configuration).env(DIGEST, digest(text));
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        child
            .map(Server::Started)
            .map_err(|error| Failure::new(Exit::Missing, format!("{PROGRAM} cannot be started: {error}")))
    }

    /// Returns the number of the process.
    pub(super) fn id(&self) -> u32 {
        match self {
            Server::Started(child) => child.id(),
            Server::Left { id, .. } => *id,
        }
    }

    /// Returns the status of a server that has ended, which is unknown, and shown as 0, of one that another process started.
    pub(super) fn ended(&mut self) -> Option<ExitStatus> {
        match self {
            Server::Started(child) => child.try_wait().ok().flatten(),
            Server::Left { process, .. } => has_ended(process).then(|| ExitStatus::from_raw(0)),
        }
    }

    fn signal(&self, signal: Signal) {
        let _ = match self {
            Server::Started(child) => i32::try_from(child.id())
                .ok()
                .and_then(Pid::from_raw)
                .map_or(Ok(()), |process| kill_process(process, signal)),
            Server::Left { process, .. } => pidfd_send_signal(process, signal),
        };
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.ended().is_some() {
            return;
        }
        // Not killed at once: it first writes its data to the disk.
        self.signal(Signal::TERM);
        let deadline = Instant::now() + END;
        while self.ended().is_none() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(20));
        }
        if self.ended().is_none() {
            self.signal(Signal::KILL);
        }
        if let Server::Started(child) = self {
            let _ = child.wait();
        }
    }
}
