//! Processes that a command left behind.

use std::fs;
use std::path::Path;

/// The argument by which the spawner and its forks are recognised; a command is another program.
const SPAWNER: &str = "--sandbox-exec-spawner";

/// Counts the processes that have to do with a case's folder: those that work beneath it, and those of another mount
/// namespace into which its workspace is mounted. The name of the folder must be unique.
///
/// This process and what shares its namespace without working beneath the folder, the spawner for instance, do not
/// count. Neither do zombies, nor the sandbox that waits for the next command: it has the workspace mounted already, and is
/// still the spawner's own program.
pub(super) fn survivors(folder: &Path) -> usize {
    let own_namespace = fs::read_link("/proc/self/ns/mnt").ok();
    let name = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy();
    let workspace = format!("{name}/workspace");
    let concerns_folder = |process: &Path| {
        let works_beneath = fs::read_link(process.join("cwd")).is_ok_and(|at| at.starts_with(folder));
        let is_elsewhere = fs::read_link(process.join("ns/mnt")).ok() != own_namespace;
        let mounts = || fs::read_to_string(process.join("mountinfo")).unwrap_or_default();
        let is_waiting = || {
            let arguments = fs::read(process.join("cmdline")).unwrap_or_default();
            arguments.split(|byte| *byte == 0).any(|argument| argument == SPAWNER.as_bytes())
        };
        works_beneath || (is_elsewhere && !is_waiting() && mounts().contains(&workspace))
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_process = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
    processes
        .filter(|entry| is_process(&entry.file_name().to_string_lossy()) && concerns_folder(&entry.path()))
        .count()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::survivors;

    #[test]
    fn a_process_that_works_in_the_folder_counts_until_it_ends() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        assert_eq!(survivors(&path), 0);
        let mut child = Command::new("sleep").arg("60").current_dir(&path).spawn().unwrap();
        assert_eq!(survivors(&path), 1);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(survivors(&path), 0);
    }
}
