//! Killing a process with all its descendants where no process namespace does it.
//!
//! Descendants are found through `/proc`, stopped so that they can create no more, and killed when the search finds
//! nothing new. Those that lose their parent in between become children of the spawner, which is a subreaper.

use std::collections::HashMap;
use std::fs;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpid, kill_process, pidfd_open, pidfd_send_signal, waitpid,
};

/// The longest search while new processes keep appearing; the listed ones are killed then.
const SEARCH_LIMIT: Duration = Duration::from_secs(5);

/// Kills a process and everything that descends from it. Its own descendants are stopped before.
pub(crate) fn kill_tree(root: Pid) {
    kill_trees(&[root]);
}

fn kill_trees(roots: &[Pid]) {
    let stopped = stop_descendants(roots);
    // The roots first: if one were still alive, it would report the death of a shell that is killed here.
    for root in roots {
        signal_process(*root, None, Signal::KILL);
    }
    for pid in stopped.into_keys() {
        // By now it may have a new parent: the subreaper.
        signal_process(pid, None, Signal::KILL);
    }
}

/// Kills and reaps every descendant of this process, however long that takes.
pub(crate) fn kill_descendants() {
    while !kill_orphans(&[]) {}
}

/// Kills every child of this process that is not `spared`, with its descendants, until none is left. Gives up after some
/// time and returns false if new ones keep appearing.
pub(crate) fn kill_orphans(spared: &[Pid]) -> bool {
    let started = Instant::now();
    loop {
        let orphans: Vec<Pid> = own_children().into_iter().filter(|pid| !spared.contains(pid)).collect();
        // Dead children are reaped at once: there may be thousands, and each search reads all of `/proc`.
        let is_alive = |pid: &Pid| matches!(waitpid(Some(*pid), WaitOptions::NOHANG), Ok(None));
        let found_any = !orphans.is_empty();
        let orphans: Vec<Pid> = orphans.into_iter().filter(is_alive).collect();
        if !found_any {
            return true;
        }
        if started.elapsed() > SEARCH_LIMIT {
            return false;
        }
        if !orphans.is_empty() {
            kill_trees(&orphans);
        }
        std::thread::yield_now();
    }
}

/// Returns the children of this process, which has one thread.
fn own_children() -> Vec<Pid> {
    // Most kernels provide a list, which saves reading the state of every process on the machine.
    let own = getpid();
    match fs::read_to_string(format!("/proc/self/task/{}/children", own.as_raw_nonzero())) {
        Ok(list) => list.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect(),
        Err(_) => children_of(own, &parents()),
    }
}

/// Stops all descendants and returns each with its last observed parent.
fn stop_descendants(roots: &[Pid]) -> HashMap<Pid, Pid> {
    let started = Instant::now();
    let mut stopped = HashMap::new();
    loop {
        let mut children: HashMap<Pid, Vec<Pid>> = HashMap::new();
        for (child, parent) in parents() {
            children.entry(parent).or_default().push(child);
        }
        let mut found_new = false;
        let mut queue = roots.to_vec();
        while let Some(parent) = queue.pop() {
            for child in children.remove(&parent).unwrap_or_default() {
                queue.push(child);
                if stopped.insert(child, parent).is_none() {
                    found_new = true;
                    signal_process(child, Some(parent), Signal::STOP);
                }
            }
        }
        if !found_new || started.elapsed() > SEARCH_LIMIT {
            return stopped;
        }
    }
}

fn children_of(parent: Pid, parents: &HashMap<Pid, Pid>) -> Vec<Pid> {
    parents.iter().filter(|(_, its_parent)| **its_parent == parent).map(|(pid, _)| *pid).collect()
}

/// Sends a signal, if `parent` is given only while the process still has that parent.
///
/// The descriptor is opened before the check, so that a reused number is noticed.
fn signal_process(pid: Pid, parent: Option<Pid>, signal: Signal) {
    let process = match pidfd_open(pid, PidfdFlags::empty()) {
        // Before Linux 5.3 there are only numbers.
        Err(Errno::NOSYS) => {
            if parent.is_none() || parent_of(pid) == parent {
                let _ = kill_process(pid, signal);
            }
            return;
        }
        Err(_) => return,
        Ok(process) => process,
    };
    if parent.is_some() && parent_of(pid) != parent {
        return;
    }
    // The process may have ended by itself.
    let _ = pidfd_send_signal(&process, signal);
}

/// Returns every process's parent.
fn parents() -> HashMap<Pid, Pid> {
    let Ok(entries) = fs::read_dir("/proc") else { return HashMap::new() };
    entries
        .flatten()
        .filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
        .filter_map(|pid| Some((pid, parent_of(pid)?)))
        .collect()
}

fn parent_of(pid: Pid) -> Option<Pid> {
    let stat = fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    // The name in parentheses may itself hold parentheses and whitespace; the fields after it cannot.
    let end_of_name = stat.iter().rposition(|byte| *byte == b')')?;
    let fields = std::str::from_utf8(&stat[end_of_name + 1..]).ok()?;
    Pid::from_raw(fields.split_ascii_whitespace().nth(1)?.parse().ok()?)
}
