//! Running a command to its end, or to the end of its time.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// How long a command may take to end when it is asked to.
const PARTING: Duration = Duration::from_secs(2);

/// What a command reads.
#[derive(Debug)]
pub(crate) enum Input<'a> {
    Nothing,
    Text(&'a str),
    /// From where the file stands.
    File(File),
}

/// Runs a command that is killed, with all that it has started, when it takes longer than `limit`. `None` if it was.
///
/// A pipe of its output that was not asked for is empty.
pub(crate) fn output(
    mut command: Command,
    input: Input<'_>,
    limit: Option<Duration>,
) -> io::Result<Option<Output>> {
    let text = match input {
        Input::Text(text) if !text.is_empty() => {
            command.stdin(Stdio::piped());
            text
        }
        Input::File(file) => {
            command.stdin(file);
            ""
        }
        Input::Nothing | Input::Text(_) => {
            command.stdin(Stdio::null());
            ""
        }
    };
    if limit.is_some() {
        command.process_group(0);
    }
    let mut child = command.spawn()?;
    let group = Pid::from_child(&child);
    let (done, is_done) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let killer = limit.map(|limit| {
            scope.spawn(move || {
                let is_late = is_done.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
                // The child is awaited only after this, so the number is still its own.
                if is_late {
                    // Git removes its temporary files when it is asked to end.
                    let _ = kill_process_group(group, Signal::TERM);
                    if is_done.recv_timeout(PARTING) == Err(RecvTimeoutError::Timeout) {
                        let _ = kill_process_group(group, Signal::KILL);
                    }
                }
                is_late
            })
        });
        if let Some(mut stdin) = child.stdin.take() {
            // One that reads no more has ended, and says why itself.
            scope.spawn(move || stdin.write_all(text.as_bytes()));
        }
        let mut errors = child.stderr.take();
        let stderr = scope.spawn(move || read(errors.as_mut()));
        let stdout = read(child.stdout.take().as_mut());
        let stderr = stderr.join().unwrap_or_default();
        if killer.is_some() {
            wait_until_over(&child);
        }
        drop(done);
        let was_killed = killer.is_some_and(|killer| killer.join().unwrap_or(false));
        let status = child.wait()?;
        Ok((!was_killed).then_some(Output { status, stdout, stderr }))
    })
}

/// Waits until a child has ended, and leaves it to be awaited: one that has closed its output can go on for ever.
fn wait_until_over(child: &Child) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while let Err(Errno::INTR) = waitid(WaitId::Pid(Pid::from_child(child)), options) {}
}

/// Reads what there is; a pipe that breaks has said all it had to.
fn read(pipe: Option<&mut impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = pipe.map(|pipe| pipe.read_to_end(&mut bytes));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(script: &str, input: Input<'_>, limit_ms: Option<u64>) -> Option<Output> {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdout(Stdio::piped()).stderr(Stdio::piped());
        output(command, input, limit_ms.map(Duration::from_millis)).unwrap()
    }

    #[test]
    fn what_does_not_end_is_killed_with_what_it_has_started() {
        let deaf = "trap '' TERM; while :; do sleep 600; done";
        for script in ["sleep 600 & sleep 600", "exec >&- 2>&-; sleep 600", deaf] {
            assert!(run(script, Input::Nothing, Some(200)).is_none(), "{script}");
        }
        let output = run("echo out; echo err >&2; exit 3", Input::Nothing, Some(60_000)).unwrap();
        assert_eq!((output.stdout.as_slice(), output.stderr.as_slice()), (&b"out\n"[..], &b"err\n"[..]));
        assert_eq!(output.status.code(), Some(3));
    }

    #[test]
    fn what_is_to_be_read_is_read_or_left() {
        for limit in [None, Some(60_000)] {
            assert_eq!(run("cat", Input::Text("text"), limit).unwrap().stdout, b"text");
            assert_eq!(run("cat", Input::Text(""), limit).unwrap().stdout, b"");
            let long = "x".repeat(1 << 20);
            assert!(run("exec <&-; true", Input::Text(&long), limit).unwrap().status.success());
        }
    }
}
