//! The end of git when this process is killed.
//!
//! Git reads an agent's files, which may take arbitrarily long. This process enforces git's time limit, but may be killed
//! meanwhile. A small guard process waits for that: its input ends then, however this process has ended.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::Pid;

/// Keeps a list of process groups, by lines `+ GROUP` and `- GROUP`, and ends those on it when its input ends, as a time limit
/// would.
const SCRIPT: &str = r#"trap '' HUP INT TERM QUIT
groups=' '
while read -r change group; do
    case $change in
    +) groups="$groups$group " ;;
    -) groups="${groups%% "$group" *} ${groups#* "$group" }" ;;
    esac
done
[ "$groups" = ' ' ] && exit
for signal in TERM KILL; do
    for group in $groups; do kill -s $signal -- "-$group"; done
    [ $signal = KILL ] || sleep 2
done"#;

/// Ends process groups of this process if it is killed. Shared by all copies of its `Git`.
#[derive(Debug)]
pub(crate) struct OrphanGuard {
    path: OsString,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The process and its input; `None` before it is needed.
    process: Option<(Child, ChildStdin)>,
    groups: BTreeSet<i32>,
}

impl OrphanGuard {
    /// Makes a guard, which is started at the first use. `path` are the folders of its programs.
    pub(crate) fn new(path: OsString) -> OrphanGuard {
        OrphanGuard { path, state: Mutex::default() }
    }

    /// Guards a group until the result is dropped, which must happen before its first process is awaited.
    pub(crate) fn hold(&self, group: Pid) -> io::Result<Held<'_>> {
        let group = group.as_raw_nonzero().get();
        let mut state = self.lock();
        state.groups.insert(group);
        let held = Held { guard: self, group };
        let is_noted = match &mut state.process {
            Some((_, input)) => writeln!(input, "+ {group}").is_ok(),
            None => false,
        };
        // At first, or because another process has ended the guard.
        let started = if is_noted { Ok(()) } else { self.start(&mut state) };
        drop(state);
        started.map(|()| held)
    }

    fn start(&self, state: &mut State) -> io::Result<()> {
        end(state.process.take());
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT]).env_clear().current_dir("/");
        command.env("PATH", &self.path);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // Signals to this process's group must not reach the guard.
        command.process_group(0);
        let mut child = command.spawn()?;
        let Some(mut input) = child.stdin.take() else { return Err(io::ErrorKind::BrokenPipe.into()) };
        let list: String = state.groups.iter().map(|group| format!("+ {group}\n")).collect();
        let written = input.write_all(list.as_bytes());
        state.process = Some((child, input));
        written
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OrphanGuard {
    fn drop(&mut self) {
        end(self.lock().process.take());
    }
}

/// Closes the input of the process, and waits for its end.
fn end(process: Option<(Child, ChildStdin)>) {
    if let Some((mut child, input)) = process {
        drop(input);
        let _ = child.wait();
    }
}

/// A process group that is guarded.
#[derive(Debug)]
pub(crate) struct Held<'a> {
    guard: &'a OrphanGuard,
    group: i32,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let mut state = self.guard.lock();
        state.groups.remove(&self.group);
        if let Some((_, input)) = &mut state.process {
            // If that fails, the guard has ended, and is restarted when it is needed.
            let _ = writeln!(input, "- {}", self.group);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    fn sleeper() -> Child {
        Command::new("sleep").arg("600").process_group(0).spawn().unwrap()
    }

    #[test]
    fn guarded_groups_end_with_the_guards_input_and_others_stay() {
        let guard = OrphanGuard::new(std::env::var_os("PATH").unwrap());
        let mut children = [sleeper(), sleeper(), sleeper(), sleeper()];
        let [first, released, second, _] = children.each_ref().map(Pid::from_child);
        // As after a kill: these are not released, and the input ends.
        std::mem::forget(guard.hold(first).unwrap());
        let held = guard.hold(released).unwrap();
        std::mem::forget(guard.hold(second).unwrap());
        drop(held);
        drop(guard);
        for index in [0, 2] {
            assert_eq!(children[index].wait().unwrap().signal(), Some(15));
        }
        // The control: released, and never guarded.
        for index in [1, 3] {
            assert!(children[index].try_wait().unwrap().is_none());
            children[index].kill().unwrap();
            children[index].wait().unwrap();
        }
    }

    #[test]
    fn a_guard_that_was_killed_is_replaced() {
        let guard = OrphanGuard::new(std::env::var_os("PATH").unwrap());
        let mut children = [sleeper(), sleeper()];
        let [first, second] = children.each_ref().map(Pid::from_child);
        std::mem::forget(guard.hold(first).unwrap());
        if let Some((child, _)) = &mut guard.lock().process {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        std::mem::forget(guard.hold(second).unwrap());
        drop(guard);
        assert!(children.iter_mut().all(|child| child.wait().unwrap().signal() == Some(15)));
    }
}
