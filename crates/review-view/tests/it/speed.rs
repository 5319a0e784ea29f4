//! Large proposals.

use std::time::{Duration, Instant};

use crate::fixture::{Host, file_step, proposal};

/// A proposal of 30 files with ten hunks each.
fn three_hundred_hunks() -> Vec<change_review::ProposedStep> {
    let before: String = (1..=2_000).map(|line| format!("fn line_{line}() {{ call({line}); }}\n")).collect();
    let mut after = before.clone();
    for line in (1..=2_000).step_by(200) {
        after = after.replace(&format!("call({line});"), &format!("changed({line});"));
    }
    (0..30).map(|step| file_step(step, &format!("src/file_{step}.rs"), Some(&before), Some(&after))).collect()
}

#[test]
fn three_hundred_hunks_open_and_answer_keys_at_once() {
    let steps = three_hundred_hunks();
    let started = Instant::now();
    let mut host = Host::new(vec![proposal(1, "large", steps)]);
    host.screen(140, 40);
    let opened = started.elapsed();
    let started = Instant::now();
    for _ in 0..100 {
        host.keys("j ");
        host.screen(140, 40);
    }
    let each = started.elapsed() / 100;
    // This build is not optimized; the bound of 200 ms is one of a release build.
    eprintln!("opened in {opened:?}, {each:?} for each verdict and frame");
    assert!(opened < Duration::from_secs(2) && each < Duration::from_millis(500), "{opened:?}, {each:?}");
    let hunks = host.proposals[0].draft.selection.0.len();
    assert!(hunks > 0);
}
