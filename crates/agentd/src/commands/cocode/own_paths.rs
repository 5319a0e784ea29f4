//! Paths that mean something to the user's shell and nothing, or something else, to an agent.

use crate::exit::{Exit, Failure};

/// The names in a process's folder in `/proc` that lead to its private resources.
const OF_ONE_PROCESS: [&str; 4] = ["fd", "exe", "root", "cwd"];

/// Refuses a word of an agent's command that leads through a process of the user: an agent has its own processes, and
/// none of the open files. A shell writes such a word for `<(…)`.
pub(super) fn check(word: &str) -> Result<(), Failure> {
    if !is_of_a_process(word) {
        return Ok(());
    }
    let text = format!("'{word}' belongs to a process of yours, and an agent cannot reach it");
    Err(Failure::new(Exit::Usage, text).advise(
        "give the path of a program or a file on the disk; what <(…) prints has to be written into a file first",
    ))
}

fn is_of_a_process(word: &str) -> bool {
    let standard = ["0", "1", "2"];
    if let Some(number) = word.strip_prefix("/dev/fd/") {
        return !standard.contains(&number);
    }
    let Some((process, rest)) = word.strip_prefix("/proc/").and_then(|rest| rest.split_once('/')) else {
        return false;
    };
    let mut names = rest.split('/');
    let is_own = names.next().is_some_and(|name| OF_ONE_PROCESS.contains(&name));
    match process {
        "self" | "thread-self" => is_own && !(rest.starts_with("fd/") && standard.contains(&&rest[3..])),
        number => !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()),
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn only_what_an_agent_cannot_reach_is_refused() {
        for word in ["/dev/fd/63", "/proc/self/fd/11", "/proc/self/exe", "/proc/1234/cwd/tool", "/proc/1/exe"]
        {
            let failure = check(word).unwrap_err();
            assert!(failure.message.contains(word) && failure.advice.is_some(), "{failure:?}");
        }
        for word in [
            "/dev/fd/0",
            "/proc/self/fd/2",
            "/proc/self/status",
            "/proc/meminfo",
            "/proc/cpuinfo",
            "proc/1/exe",
            "/proc/",
            "/usr/bin/env",
            "sh",
            "",
        ] {
            assert!(check(word).is_ok(), "{word}");
        }
    }
}
