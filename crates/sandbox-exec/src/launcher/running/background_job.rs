//! A background job that outlived the shell.

use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};

use crate::init::background_jobs::{ARGUMENTS_LIMIT_BYTES, MARK, ProcessState};
use crate::report::denial::Denied;

/// The longest arguments in a receipt, in characters.
const SHOWN_CHARACTERS: usize = 60;

/// Daemons that programs start on demand: a command loses nothing when they end.
const HELPERS: [&str; 8] = [
    "dirmngr",
    "git credential-cache--daemon",
    "git fsmonitor--daemon",
    "git maintenance",
    "gpg-agent",
    "keyboxd",
    "scdaemon",
    "sccache",
];

/// A process that outlived the shell.
#[derive(Debug)]
pub(crate) struct BackgroundJob {
    arguments: Vec<String>,
    process: OwnedFd,
}

impl BackgroundJob {
    /// Decodes a job from a packet of the command's init.
    pub(crate) fn receive(bytes: &[u8], descriptors: Vec<OwnedFd>) -> Option<BackgroundJob> {
        let [MARK, arguments @ ..] = bytes else { return None };
        let process = descriptors.into_iter().next()?;
        Some(BackgroundJob { arguments: split(arguments), process })
    }

    /// Checks that the process has not begun to end by itself, and updates its arguments to the program that it now executes.
    pub(crate) fn is_alive(&mut self) -> bool {
        let about = fs::read_to_string(format!("/proc/self/fdinfo/{}", self.process.as_raw_fd()));
        let number = about.ok().and_then(|text| {
            let number = text.lines().find_map(|line| line.strip_prefix("Pid:"))?;
            number.trim().parse::<i32>().ok().filter(|number| *number > 0)
        });
        let Some(number) = number else { return false };
        match ProcessState::read(number) {
            Some(state) if state.is_ending => return false,
            Some(state) => self.arguments = split(&state.arguments(number)),
            // Where other users' processes are hidden, the packet's arguments count.
            None => {}
        }
        true
    }

    fn is_helper(&self) -> bool {
        let program = self.arguments[0].rsplit('/').next().unwrap_or_default();
        let line = [&[program.to_owned()], &self.arguments[1..]].concat().join(" ");
        HELPERS.iter().any(|helper| {
            line.strip_prefix(helper).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        })
    }

    fn excerpt(&self) -> String {
        let line = self.arguments.join(" ").replace(char::is_control, " ");
        match line.char_indices().nth(SHOWN_CHARACTERS) {
            Some((cut, _)) => format!("{}…", &line[..cut]),
            None => line,
        }
    }
}

/// Splits arguments as the kernel stores them. There is at least one.
fn split(arguments: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(&arguments[..arguments.len().min(ARGUMENTS_LIMIT_BYTES)]);
    text.trim_end_matches('\0').split('\0').map(str::to_owned).collect()
}

/// Describes ended jobs, merging equal ones with a count.
pub(crate) fn describe(jobs: &[BackgroundJob]) -> Vec<Denied> {
    let mut described: Vec<Denied> = Vec::new();
    for job in jobs.iter().filter(|job| !job.is_helper()) {
        let denied = Denied::of_background_job(&job.excerpt());
        match described.iter_mut().find(|earlier| earlier.what == denied.what) {
            Some(earlier) => earlier.count += 1,
            None => described.push(denied),
        }
    }
    described
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(arguments: &[&str]) -> BackgroundJob {
        let text: Vec<u8> = arguments.iter().flat_map(|text| [text.as_bytes(), b"\0"].concat()).collect();
        let process =
            rustix::process::pidfd_open(rustix::process::getpid(), rustix::process::PidfdFlags::empty());
        BackgroundJob::receive(&[&[MARK], text.as_slice()].concat(), vec![process.unwrap()]).unwrap()
    }

    #[test]
    fn equal_jobs_are_one_entry_and_helpers_none() {
        let long = "x".repeat(100);
        let jobs = [
            job(&["sleep", "5"]),
            job(&["/usr/bin/gpg-agent", "--daemon"]),
            job(&["sleep", "5"]),
            job(&["git", "maintenance", "run", "--auto"]),
            job(&["gpg-agents"]),
            job(&["a\nb", &long]),
        ];
        let lines: Vec<String> = describe(&jobs).iter().map(Denied::to_string).collect();
        insta::assert_snapshot!(lines.join("\n"), @r#"
        kill background job "sleep 5" · ended with the command · background="NAME" · 2 times
        kill background job "gpg-agents" · ended with the command · background="NAME"
        kill background job "a b xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…" · ended with the command · background="NAME"
        "#);
    }

    #[test]
    fn a_job_is_alive_until_it_ends() {
        assert!(job(&["a"]).is_alive());
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = rustix::process::Pid::from_child(&child);
        let process = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).unwrap();
        child.wait().unwrap();
        let mut ended = BackgroundJob::receive(b"Jtrue\0", vec![process]).unwrap();
        assert!(!ended.is_alive());
        assert!(BackgroundJob::receive(b"Jtrue\0", Vec::new()).is_none());
        assert!(BackgroundJob::receive(b"Dtrue\0", Vec::new()).is_none());
    }
}
