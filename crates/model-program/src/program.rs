//! Running the program once.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use wap_core::CancelFlag;

use crate::orphan_guard::OrphanGuard;
use crate::process_group::ProcessGroup;
use crate::relayed_errors::RelayedErrors;

/// The polling interval for a running program.
const PAUSE: Duration = Duration::from_millis(5);

/// The initial interval after its output has ended, which then doubles: usually, the program ends immediately.
const PAUSE_AT_END: Duration = Duration::from_micros(500);

/// The time without output after the program has ended, after which no more is expected: a process that it left behind may keep
/// its output open, and may even print the reply.
const DRAIN: Duration = Duration::from_secs(1);

/// The same for its standard error, which only affects the order on the screen.
const DRAIN_OF_ERRORS: Duration = Duration::from_millis(100);

/// A program of the user that reads a prompt on standard input and prints a reply on standard output.
///
/// It runs unconfined as the user who configured it, in the current folder and with the user's environment, like any program
/// started from a shell. Its standard error is forwarded to the user's as it arrives; the reason of a failure quotes the last
/// lines.
#[derive(Clone, Debug)]
pub struct ModelProgram {
    command: String,
    timeout: Duration,
    most_bytes: usize,
    is_cut: bool,
    shell: OsString,
    variables: Vec<(String, String)>,
}

/// A reason why there is no reply.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// The shell cannot be started.
    #[error("the program cannot be started: {0}")]
    NotStarted(#[source] io::Error),
    /// The shell did not find it: exit code 127.
    #[error("the program was not found (exit code 127): check its name, and that it is on PATH")]
    NotFound,
    /// The shell cannot execute it: exit code 126.
    #[error("the program cannot be executed (exit code 126): it is not a program, or not marked as one")]
    NotExecutable,
    /// It ended with an exit code other than 0. Its output is not used.
    #[error("the program has failed: {status}; {}", end_of_errors(.errors))]
    Failed {
        /// Its exit status.
        status: ExitStatus,
        /// The last lines that it wrote to standard error, joined into one; empty if there are none.
        errors: String,
    },
    /// It did not end in time, and was killed.
    #[error("the program takes longer than {} s: allow it more time, or use a faster model", .0.as_secs_f64())]
    TimedOut(Duration),
    /// It printed more than the limit of a reply, and was killed.
    #[error("the program has printed more than {0} bytes: that cannot be a reply")]
    TooLong(usize),
    /// It printed nothing but whitespace.
    #[error("the program has printed nothing")]
    Empty,
    /// It printed something other than UTF-8 text.
    #[error("the program has printed something that is not UTF-8 text")]
    NotText,
    /// The user cancelled it.
    #[error("the program was cancelled")]
    Cancelled,
    /// The system failed to read its output.
    #[error("the output of the program cannot be read: {0}")]
    Output(#[source] io::Error),
}

impl ModelProgram {
    /// Creates a program from a command for `/bin/sh -c`, the time limit of one reply, and its limit in bytes.
    #[must_use]
    pub fn new(command: impl Into<String>, timeout: Duration, most_bytes: usize) -> ModelProgram {
        let shell = OsString::from("/bin/sh");
        ModelProgram {
            command: command.into(),
            timeout,
            most_bytes,
            is_cut: false,
            shell,
            variables: Vec::new(),
        }
    }

    /// Runs the command in another shell with its option `-c`; one without an absolute path is ignored.
    #[must_use]
    pub fn in_shell(mut self, shell: OsString) -> ModelProgram {
        if Path::new(&shell).is_absolute() {
            self.shell = shell;
        }
        self
    }

    /// Truncates a reply that is too long instead of refusing it, and replaces bytes that are not UTF-8. The exit code is then
    /// meaningless: a program fails if it writes more than is read.
    #[must_use]
    pub fn with_cut_reply(mut self) -> ModelProgram {
        self.is_cut = true;
        self
    }

    /// Sets an environment variable of the program.
    #[must_use]
    pub fn with_variable(mut self, name: impl Into<String>, value: impl Into<String>) -> ModelProgram {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Runs it once and returns its reply, without trailing blank lines.
    ///
    /// The program and its whole process group have ended when this returns. If it is killed, because of its time, its output or
    /// the user, so are its descendants in other groups; and so is everything if this process is killed in the meantime.
    ///
    /// A process that it leaves behind may continue to print as long as it never pauses for more than a second.
    ///
    /// # Errors
    ///
    /// Each kind of [`ProgramError`].
    pub fn ask(&self, prompt: &str, cancel: &CancelFlag) -> Result<String, ProgramError> {
        let mut command = Command::new(&self.shell);
        command.arg("-c").arg(&self.command).envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Create a process group, so that its children end with it.
        command.process_group(0);
        let mut child = ProcessGroup(command.spawn().map_err(ProgramError::NotStarted)?);
        let guard = OrphanGuard::start(child.0.id()).map_err(ProgramError::NotStarted)?;
        let missing = || ProgramError::NotStarted(io::ErrorKind::BrokenPipe.into());
        let mut stdin = child.0.stdin.take().ok_or_else(missing)?;
        let reading = Reading::start(child.0.stdout.take().ok_or_else(missing)?, self.most_bytes);
        let errors = RelayedErrors::start(child.0.stderr.take().ok_or_else(missing)?);
        let prompt = prompt.to_owned();
        // Do not join the threads: a process that the program leaves behind may keep its end of a pipe open. A program that does
        // not read its input breaks the pipe, which is harmless.
        thread::spawn(move || stdin.write_all(prompt.as_bytes()));
        let status = self.wait(&mut child, &reading, cancel)?;
        drop(guard);
        drop(child);
        if status.is_some() {
            // On a busy machine the reading thread may lag; nothing in the group can print more.
            reading.has_ended(DRAIN)?;
        }
        // Wait, so that it appears before the next report.
        errors.wait(DRAIN_OF_ERRORS);
        let mut bytes = reading.bytes();
        if bytes.len() > self.most_bytes {
            if !self.is_cut {
                return Err(ProgramError::TooLong(self.most_bytes));
            }
            bytes.truncate(self.most_bytes);
            drop_split_character(&mut bytes);
        } else if let Some(status) = status.filter(|status| !status.success()) {
            // Every shell ends with these codes in these two cases.
            return Err(match status.code() {
                Some(127) => ProgramError::NotFound,
                Some(126) => ProgramError::NotExecutable,
                _ => {
                    errors.wait(DRAIN);
                    ProgramError::Failed { status, errors: errors.last_lines() }
                }
            });
        }
        let reply = match self.is_cut {
            true => String::from_utf8_lossy(&bytes).into_owned(),
            false => String::from_utf8(bytes).map_err(|_| ProgramError::NotText)?,
        };
        match reply.trim_end() {
            "" => Err(ProgramError::Empty),
            reply => Ok(reply.to_owned()),
        }
    }

    /// Waits for the end of the program and of its output; `None` if it has printed more than is read.
    fn wait(
        &self,
        child: &mut ProcessGroup,
        reading: &Reading,
        cancel: &CancelFlag,
    ) -> Result<Option<ExitStatus>, ProgramError> {
        // A timeout that no clock can represent sets no deadline.
        let deadline = Instant::now().checked_add(self.timeout);
        let mut status: Option<(ExitStatus, Instant)> = None;
        let mut pause_at_end = PAUSE_AT_END;
        loop {
            // Poll the program, since neither a cancellation nor the deadline could end a blocking wait for it.
            let is_read = reading.has_ended(PAUSE)?;
            let (length, printed_at) = reading.progress();
            if length > self.most_bytes {
                return Ok(None);
            }
            if status.is_none() {
                let ended = child.0.try_wait().map_err(ProgramError::Output)?;
                status = ended.map(|status| (status, Instant::now()));
            }
            if let Some((status, ended_at)) = status
                && (is_read || ended_at.max(printed_at).elapsed() >= DRAIN)
            {
                return Ok(Some(status));
            }
            if cancel.is_cancelled() {
                return Err(ProgramError::Cancelled);
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Err(ProgramError::TimedOut(self.timeout));
            }
            if is_read {
                thread::sleep(pause_at_end);
                pause_at_end = (pause_at_end * 2).min(PAUSE);
            }
        }
    }
}

/// Returns what a failed program wrote to standard error, for the reason of its failure.
fn end_of_errors(errors: &str) -> String {
    match errors {
        "" => "it printed nothing on standard error".to_owned(),
        errors => format!("its standard error ends with: {errors}"),
    }
}

/// Removes an incomplete character at the end.
fn drop_split_character(bytes: &mut Vec<u8>) {
    // A character has at most four bytes.
    let starts = (1..=bytes.len().min(3)).map(|count| bytes.len() - count);
    let is_split = |start: &usize| {
        std::str::from_utf8(&bytes[*start..])
            .is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    };
    if let Some(start) = starts.into_iter().find(is_split) {
        bytes.truncate(start);
    }
}

/// The output of a program, read by a thread.
struct Reading {
    /// The output so far, and the time of its last part.
    output: Arc<Mutex<(Vec<u8>, Instant)>>,
    /// Receives the result once; then the sender is dropped.
    end: Receiver<io::Result<()>>,
}

impl Reading {
    /// Reads to the end, or one byte more than the limit.
    fn start(mut output: ChildStdout, limit: usize) -> Reading {
        let read = Arc::new(Mutex::new((Vec::new(), Instant::now())));
        let (sender, end) = mpsc::channel();
        let reading = Reading { output: Arc::clone(&read), end };
        thread::spawn(move || {
            let mut chunk = [0; 1 << 14];
            let result = loop {
                match output.read(&mut chunk) {
                    Ok(0) => break Ok(()),
                    Ok(count) => {
                        let mut read = read.lock().unwrap_or_else(PoisonError::into_inner);
                        let (bytes, printed_at) = &mut *read;
                        *printed_at = Instant::now();
                        let room = limit.saturating_add(1).saturating_sub(bytes.len());
                        bytes.extend_from_slice(&chunk[..count.min(room)]);
                        if count >= room {
                            break Ok(());
                        }
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => break Err(error),
                }
            };
            let _ = sender.send(result);
        });
        reading
    }

    /// Waits for the end for at most `moment`; true if it was reached.
    fn has_ended(&self, moment: Duration) -> Result<bool, ProgramError> {
        match self.end.recv_timeout(moment) {
            Ok(result) => result.map(|()| true).map_err(ProgramError::Output),
            Err(RecvTimeoutError::Disconnected) => Ok(true),
            Err(RecvTimeoutError::Timeout) => Ok(false),
        }
    }

    /// Returns the number of bytes so far, and the time of the last.
    fn progress(&self) -> (usize, Instant) {
        let output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        (output.0.len(), output.1)
    }

    fn bytes(&self) -> Vec<u8> {
        self.output.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
    }
}
