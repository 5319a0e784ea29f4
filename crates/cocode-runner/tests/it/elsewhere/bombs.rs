//! Small bundles of many or large files. Each case has a control that is as large as the limit.

use std::fs;
use std::time::{Duration, Instant};

use cocode_env::AgentState;
use cocode_runner::{AgentRecord, Delivery, DeliveryError, DeliveryLimits, Runner, RunnerError};

use crate::elsewhere::machines::{Machines, judge};
use crate::fixture::{MARKED, agent, refused};

/// A script that makes a commit with the marker and a tree of `levels` levels, each of which has the one below it twice. It
/// has 2^`levels` files, in less than three kilobytes.
fn nested(levels: u32) -> String {
    format!(
        "T=$(printf '100644 blob %s\\tf\\n' $(echo new | git hash-object -w --stdin) | git mktree); \
         for i in $(seq {levels}); do \
         T=$(printf '040000 tree %s\\ta\\n040000 tree %s\\tb\\n' $T $T | git mktree); done; \
         git update-ref HEAD $(printf 'x\\n\\ncocode ready for check\\n' | git commit-tree -p HEAD $T)"
    )
}

/// Returns a delivery with another limit for its files, and checks that its bundle is small.
fn limited(delivery: &Delivery, checkout_bytes: u64) -> Delivery {
    let bytes = fs::metadata(delivery.bundle.as_ref().unwrap()).unwrap().len();
    assert!(bytes < 1 << 20, "{bytes}");
    let limits = DeliveryLimits { checkout_bytes, ..DeliveryLimits::default() };
    Delivery { limits, ..delivery.clone() }
}

/// Checks that a delivery is refused in less than half of git's time limit and leaves nothing, and returns why.
fn refusal(machines: &Machines, runner: &Runner, record: &AgentRecord, delivery: &Delivery) -> DeliveryError {
    let before = machines.references();
    let began = Instant::now();
    let error = refused(judge(runner, record, delivery));
    assert!(began.elapsed() < Duration::from_secs(150), "{:?}", began.elapsed());
    assert_eq!(machines.references(), before);
    assert!(!machines.has(delivery.head.as_ref().unwrap()));
    assert!(!record.worktree.exists());
    match error {
        RunnerError::Delivery { source, .. } => source,
        other => panic!("it should be refused: {other}"),
    }
}

fn is_too_large(error: &DeliveryError) -> bool {
    matches!(error, DeliveryError::Files { .. })
}

#[test]
fn a_tree_that_nests_itself_is_refused() {
    let machines = Machines::new();
    let runner = machines.home.runner();
    let record = machines.begin(&runner, agent("a", MARKED));
    let bomb = machines.forge(&nested(30));
    // With any limit: a thousand million files are never listed to their end.
    for checkout_bytes in [0, DeliveryLimits::default().checkout_bytes, u64::MAX] {
        let why = refusal(&machines, &runner, &record, &limited(&bomb, checkout_bytes));
        assert!(is_too_large(&why), "{why:?}");
    }
    // The control: 64 files of 4 bytes each in 126 folders, which count 1 KiB each in addition.
    let small = machines.forge(&nested(6));
    let bytes = 64 * 4 + (64 + 126) * 1024;
    let why = refusal(&machines, &runner, &record, &limited(&small, bytes - 1));
    assert!(is_too_large(&why), "{why:?}");
    let judged = judge(&runner, &record, &limited(&small, bytes)).unwrap();
    assert_eq!(judged.state, AgentState::Ready, "{judged:?}");
    assert!(judged.worktree.join("a/a/a/b/b/b/f").exists());
}

#[test]
fn files_of_zeros_are_refused() {
    let machines = Machines::new();
    let runner = machines.home.runner();
    let record = machines.begin(&runner, agent("a", MARKED));
    // One object, which three files have. The marked commit has a file of two bytes as well.
    let zeros = "head -c 24M /dev/zero > a; cp a b; cp a c; git add a b c";
    let work = machines.forge(&format!("{zeros}; {MARKED}"));
    let bytes = 3 * (24 << 20) + 2 + 4 * 1024;
    let why = refusal(&machines, &runner, &record, &limited(&work, bytes - 1));
    assert!(is_too_large(&why), "{why:?}");
    let judged = judge(&runner, &record, &limited(&work, bytes)).unwrap();
    assert_eq!(judged.state, AgentState::Ready, "{judged:?}");
    assert_eq!(fs::metadata(judged.worktree.join("c")).unwrap().len(), 24 << 20);
}

#[test]
fn the_files_of_the_start_do_not_count() {
    let machines = Machines::new();
    let home = &machines.home;
    for number in 0..40 {
        fs::write(home.repository().join(format!("f{number}")), "x").unwrap();
    }
    home.git(&["add", "."]);
    home.git(&["commit", "-q", "-m", "many"]);
    let runner = home.runner();
    let record = machines.begin(&runner, agent("a", MARKED));
    let work = machines.forge(&format!("printf 12345 > f7; git add f7; {MARKED}"));
    // A changed file and a new one, fewer than the start has.
    let bytes = 5 + 2 + 2 * 1024;
    let why = refusal(&machines, &runner, &record, &limited(&work, bytes - 1));
    assert!(is_too_large(&why), "{why:?}");
    let judged = judge(&runner, &record, &limited(&work, bytes)).unwrap();
    assert_eq!(judged.state, AgentState::Ready, "{judged:?}");
}
