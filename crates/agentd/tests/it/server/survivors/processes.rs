//! The processes of the machine that belong to one round.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The longest wait for processes that were killed. A guard against hanging: the table has what it took.
const PATIENCE: Duration = Duration::from_secs(60);

fn all() -> impl Iterator<Item = PathBuf> {
    fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path()).filter(|path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()))
    })
}

fn has(process: &Path, file: &str, text: &str) -> bool {
    fs::read(process.join(file)).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(text))
}

/// Returns the processes of a command, zombies apart: they have its marker in their environment or their arguments.
pub(super) fn with_marker(marker: &str) -> Vec<PathBuf> {
    all().filter(|process| has(process, "environ", marker) || has(process, "cmdline", marker)).collect()
}

/// Returns the processes in whose mounts a folder is: inits and forwarders of sandboxes, with everything in them.
pub(super) fn with_mount(folder: &Path) -> Vec<PathBuf> {
    let folder = folder.to_string_lossy().into_owned();
    all().filter(|process| has(process, "mountinfo", &folder)).collect()
}

/// Returns the spawners of a process among its children. An ordinary user cannot read which program they run.
pub(super) fn spawners_of(process_id: u32) -> BTreeSet<u32> {
    let is_spawner = |process: &PathBuf| {
        has(process, "cmdline", "--sandbox-exec-spawner") && parent_of(process) == Some(process_id)
    };
    let number = |process: PathBuf| process.file_name()?.to_str()?.parse().ok();
    all().filter(is_spawner).filter_map(number).collect()
}

fn parent_of(process: &Path) -> Option<u32> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()
}

/// Checks whether a process runs; a zombie does not.
pub(super) fn is_running(process_id: u32) -> bool {
    fs::read(format!("/proc/{process_id}/cmdline")).is_ok_and(|line| !line.is_empty())
}

/// Waits until a search finds nothing, and returns how long that took.
#[track_caller]
pub(super) fn until_none<T: std::fmt::Debug>(context: &str, search: impl Fn() -> Vec<T>) -> Duration {
    let started = Instant::now();
    loop {
        let left = search();
        if left.is_empty() {
            return started.elapsed();
        }
        assert!(started.elapsed() < PATIENCE, "{context}: {} survivors: {left:?}", left.len());
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Waits until there is a process with a marker.
#[track_caller]
pub(super) fn until_at_work(context: &str, marker: &str) {
    let started = Instant::now();
    while with_marker(marker).is_empty() {
        assert!(started.elapsed() < PATIENCE, "{context}: it does not start");
        std::thread::sleep(Duration::from_millis(2));
    }
}
