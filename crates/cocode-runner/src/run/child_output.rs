//! Runs a command to its end, or to its time limit.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, prlimit, waitid,
};

use crate::run::orphan_guard::OrphanGuard;

/// The time that a command has to end after `SIGTERM`.
const PARTING: Duration = Duration::from_secs(2);

/// The most bytes of standard error that are kept. The rest is read and dropped.
const MOST_ERROR_BYTES: u64 = 1 << 20;

/// The limits of a command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// The time limit; `None` for no limit.
    pub(crate) limit: Option<Duration>,
    /// The most bytes of its standard output that are read.
    pub(crate) output_bytes: u64,
    /// The most private memory of each of its processes, in bytes.
    pub(crate) memory_bytes: Option<u64>,
    /// The most bytes of a file that they write: a process that writes more is killed.
    pub(crate) file_bytes: Option<u64>,
}

/// The end of a command.
#[derive(Debug)]
pub(crate) enum Ran {
    /// By itself.
    Ended(Output),
    /// It was killed, because it took too long.
    TooSlow,
    /// It was killed, because it printed more than the limit. The bytes up to the limit.
    TooLong(Vec<u8>),
}

/// The standard input of a command.
#[derive(Debug)]
pub(crate) enum Input<'a> {
    Nothing,
    Text(&'a str),
    Bytes(&'a [u8]),
    /// A file, from its current position.
    File(File),
}

/// Runs a command, and kills it with all its children if it exceeds `bounds`. With a time limit and a guard, it is also killed
/// when this process is.
///
/// An output that the caller has not piped is empty.
pub(crate) fn output(
    mut command: Command,
    input: Input<'_>,
    bounds: Bounds,
    guard: Option<&OrphanGuard>,
) -> io::Result<Ran> {
    let limit = bounds.limit;
    let bytes = match input {
        Input::Text(text) => text.as_bytes(),
        Input::Bytes(bytes) => bytes,
        Input::File(_) | Input::Nothing => b"",
    };
    match input {
        Input::File(file) => command.stdin(file),
        _ if bytes.is_empty() => command.stdin(Stdio::null()),
        _ => command.stdin(Stdio::piped()),
    };
    if limit.is_some() {
        // A group of its own, so that its children can be killed with it.
        command.process_group(0);
    }
    let mut child = command.spawn()?;
    let group = Pid::from_child(&child);
    let held = match guard.filter(|_| limit.is_some()).map(|guard| guard.hold(group)).transpose() {
        Ok(held) => held,
        Err(error) => {
            let _ = kill_process_group(group, Signal::KILL);
            let _ = child.wait();
            return Err(error);
        }
    };
    let limits = [(Resource::Data, bounds.memory_bytes), (Resource::Fsize, bounds.file_bytes)];
    for (resource, bytes) in limits {
        // Fails only if the child has ended already.
        let _ = bytes.map(|bytes| {
            prlimit(Some(group), resource, Rlimit { current: Some(bytes), maximum: Some(bytes) })
        });
    }
    let (done, is_done) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let killer = limit.map(|limit| {
            scope.spawn(move || {
                let is_late = is_done.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
                // The child is not awaited before this thread has ended, so the id cannot belong to another process.
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
            // A write fails only if the child no longer reads, and its own exit code and errors explain that.
            scope.spawn(move || stdin.write_all(bytes));
        }
        // Both outputs are read at the same time, because a child blocks on a full pipe.
        let mut errors = child.stderr.take();
        let stderr = scope.spawn(move || read_errors(errors.as_mut()));
        let (stdout, is_too_long) = read(child.stdout.take().as_mut(), bounds.output_bytes);
        if is_too_long {
            // Not awaited yet, so the id cannot belong to another process.
            let _ = if limit.is_some() {
                kill_process_group(group, Signal::KILL)
            } else {
                kill_process(group, Signal::KILL)
            };
        }
        let stderr = stderr.join().unwrap_or_default();
        // The killer must not end before the child, which may run on after it has closed its output.
        if killer.is_some() {
            wait_until_over(&child);
        }
        drop(done);
        let was_killed = killer.is_some_and(|killer| killer.join().unwrap_or(false));
        drop(held);
        let status = child.wait()?;
        Ok(match (is_too_long, was_killed) {
            (true, _) => {
                let mut stdout = stdout;
                stdout.truncate(usize::try_from(bounds.output_bytes).unwrap_or(usize::MAX));
                Ran::TooLong(stdout)
            }
            (false, true) => Ran::TooSlow,
            (false, false) => Ran::Ended(Output { status, stdout, stderr }),
        })
    })
}

/// Waits until a child has ended, but does not reap it. The end of its output is not enough: a child can close its
/// output and run on.
fn wait_until_over(child: &Child) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while let Err(Errno::INTR) = waitid(WaitId::Pid(Pid::from_child(child)), options) {}
}

/// Reads a pipe up to one byte more than `most_bytes`, and returns whether it is longer. A read error ends the output.
fn read(pipe: Option<&mut impl Read>, most_bytes: u64) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    let _ = pipe.map(|pipe| pipe.take(most_bytes.saturating_add(1)).read_to_end(&mut bytes));
    let is_too_long = bytes.len() as u64 > most_bytes;
    (bytes, is_too_long)
}

/// Reads a pipe to its end, so that the child never blocks on it, and keeps the beginning.
fn read_errors(mut pipe: Option<&mut impl Read>) -> Vec<u8> {
    let (bytes, is_too_long) = read(pipe.as_mut(), MOST_ERROR_BYTES);
    if is_too_long {
        let _ = pipe.map(|pipe| io::copy(pipe, &mut io::sink()));
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: u64 = 2 << 20;

    fn ran(script: &str, input: Input<'_>, limit_ms: Option<u64>, memory_bytes: Option<u64>) -> Ran {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let limit = limit_ms.map(Duration::from_millis);
        output(command, input, Bounds { limit, output_bytes: MOST, memory_bytes, file_bytes: None }, None)
            .unwrap()
    }

    fn run(script: &str, input: Input<'_>, limit_ms: Option<u64>) -> Option<Output> {
        match ran(script, input, limit_ms, None) {
            Ran::Ended(output) => Some(output),
            _ => None,
        }
    }

    #[test]
    fn endless_output_is_killed_and_not_kept() {
        for limit in [None, Some(60_000)] {
            let ended = ran("exec yes", Input::Nothing, limit, None);
            assert!(matches!(ended, Ran::TooLong(start) if start.len() as u64 == MOST));
            let all = run(&format!("head -c {MOST} /dev/zero"), Input::Nothing, limit).unwrap();
            assert_eq!(all.stdout.len() as u64, MOST);
            let errors = run("yes | head -c 9000000 >&2; echo out", Input::Nothing, limit).unwrap();
            assert_eq!(
                (errors.stderr.len() as u64, errors.stdout),
                (MOST_ERROR_BYTES + 1, b"out\n".to_vec())
            );
        }
    }

    #[test]
    fn a_command_above_its_memory_limit_fails() {
        // The limit is set when the child runs already, so the script waits until the limit is in force.
        let script = "until grep -q 'Max data size *[0-9]' /proc/self/limits; do sleep 0.05; done; \
                      head -c 200000000 /dev/zero | tail -c 150000000 >/dev/null";
        let ended = |memory| match ran(script, Input::Nothing, Some(60_000), Some(memory)) {
            Ran::Ended(output) => output.status.success(),
            _ => false,
        };
        assert!(!ended(64 << 20) && ended(1 << 30));
    }

    #[test]
    fn a_command_that_does_not_end_is_killed_with_its_children() {
        let deaf = "trap '' TERM; while :; do sleep 600; done";
        for script in ["sleep 600 & sleep 600", "exec >&- 2>&-; sleep 600", deaf] {
            assert!(run(script, Input::Nothing, Some(200)).is_none(), "{script}");
        }
        let output = run("echo out; echo err >&2; exit 3", Input::Nothing, Some(60_000)).unwrap();
        assert_eq!((output.stdout.as_slice(), output.stderr.as_slice()), (&b"out\n"[..], &b"err\n"[..]));
        assert_eq!(output.status.code(), Some(3));
    }

    #[test]
    fn a_child_may_read_its_input_or_ignore_it() {
        for limit in [None, Some(60_000)] {
            assert_eq!(run("cat", Input::Text("text"), limit).unwrap().stdout, b"text");
            assert_eq!(run("cat", Input::Text(""), limit).unwrap().stdout, b"");
            let long = "x".repeat(1 << 20);
            assert!(run("exec <&-; true", Input::Text(&long), limit).unwrap().status.success());
        }
    }
}
