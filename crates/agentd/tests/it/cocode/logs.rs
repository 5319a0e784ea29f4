//! An agent that prints without end.
//!
//! `LOG_MEGABYTES` says how much; `cargo xtask soak cocode` sets it.

use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::cocode::desk::{Desk, MARKED};
use crate::session::choices::on_a_terminal;
use test_support::skip;

/// The most bytes of all files of a log together.
const MOST_KEPT: u64 = 12 << 20;

/// The most memory of the process that runs the agent, in KiB, for any amount of output.
const MOST_RESIDENT_KIB: u64 = 100 << 10;

fn resident_kib(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[test]
fn a_log_without_end_is_kept_small_and_its_agent_is_judged() {
    let megabytes: u64 = std::env::var("LOG_MEGABYTES").ok().and_then(|text| text.parse().ok()).unwrap_or(32);
    let desk = Desk::new();
    let script = format!(
        "a=yes 'a line of a long log, with the same text each time, to be repeated' | head -c {megabytes}M; echo; \
         echo the end; {MARKED}"
    );
    let mut command = desk.command(&["run", "--issue", "5", "--issue-body", "x", "--agent-cmd", &script]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut most = 0;
    let status = loop {
        most = most.max(resident_kib(child.id()).unwrap_or(0));
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(status.code(), Some(0));
    assert!(most > 0 && most < MOST_RESIDENT_KIB, "{most} KiB");
    let logs = fs::read_dir(desk.project.base().join("cocode/logs")).unwrap();
    let kept: u64 = logs.map(|entry| entry.unwrap().metadata().unwrap().len()).sum();
    assert!((MOST_KEPT / 2..=MOST_KEPT).contains(&kept), "{kept} bytes");
    assert!(desk.cocode(&["logs", "a"]).stdout.contains("\nthe end\n"));
    assert_eq!(desk.status()["agents"][0]["state"], "ready");
}

#[test]
fn what_an_agent_prints_and_commits_does_not_control_the_terminal() {
    let desk = Desk::new();
    let script = "printf 'said \\033]0;title\\007 \\302\\2332J\\n'; printf 'wrote \\033[1;touch CSI\\n' > b.txt; git add b.txt; \
        git commit -q -m 'cocode ready for check'";
    assert_eq!(desk.agent(script).code, 0);
    for (command, word) in [("logs", "said"), ("diff", "wrote")] {
        let Some(printed) = on_a_terminal(&desk.command(&[command, "a"]), true) else {
            skip(
                "what_an_agent_prints_and_commits_does_not_control_the_terminal",
                "there is no program `script`",
            );
            return;
        };
        assert!(printed.contains(word), "{printed:?}");
        // Colours of an output are left out. In a difference they would be executed with the file.
        assert!(command != "diff" || printed.contains("[1;touch CSI"), "{printed:?}");
        let controls = |text: &str| text.contains(['\u{1b}', '\u{7}', '\u{9b}']);
        assert!(!controls(&printed), "{printed:?}");
        // The control: a program that reads it gets the exact bytes.
        let piped = desk.cocode(&[command, "a"]);
        assert!(controls(&piped.stdout), "{piped}");
    }
}
