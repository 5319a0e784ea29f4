//! Counts the processes of a user.

use std::fs;

/// Counts a user's threads in all processes; the kernel counts each as a process.
pub(crate) fn count_of_user(user: u32) -> u64 {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_process = |name: &[u8]| name.iter().all(u8::is_ascii_digit);
    entries
        .filter(|entry| is_process(entry.file_name().as_encoded_bytes()))
        .filter_map(|entry| fs::read_to_string(entry.path().join("status")).ok())
        .filter_map(|status| threads_if_of(&status, user))
        .sum()
}

/// Returns a process's number of threads, if this is its real user.
fn threads_if_of(status: &str, user: u32) -> Option<u64> {
    let field = |name| status.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next());
    let owner: u32 = field("Uid:")?.parse().ok()?;
    (owner == user).then(|| field("Threads:")?.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_count_for_their_real_user_only() {
        let status = "Name:\tUid: 7\nUid:\t1000\t0\t0\t0\nThreads:\t3\n";
        assert_eq!((threads_if_of(status, 1000), threads_if_of(status, 0)), (Some(3), None));
        assert!(count_of_user(rustix::process::getuid().as_raw()) >= 1);
    }
}
