//! The failures of a long test run.

use xtask::{Step, TestFailures};

const OUTPUT: &str = "\
running 2 tests
test fine ... ok
test broken ... FAILED

failures:

---- broken stdout ----
left: 1, right: 2


failures:
    broken

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

running 1 test
test other ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
";

#[test]
fn reasons_are_kept_and_the_rest_is_not() {
    let mut failures = TestFailures::default();
    OUTPUT.lines().for_each(|line| failures.see(line));
    let start = OUTPUT.find("failures:").unwrap();
    let end = OUTPUT.find("\nrunning 1 test").unwrap();
    assert_eq!(failures.text(), &OUTPUT[start..end]);
}

#[test]
fn a_step_shows_every_line_and_still_fails() {
    let mut lines = Vec::new();
    let step = Step::new("lines", "printf", &["one\ntwo\\377\nthree"]);
    step.run_seen(|line| lines.push(line.to_owned())).unwrap();
    assert_eq!(lines, ["one", "two\u{fffd}", "three"]);
    assert!(Step::new("false", "false", &[""]).run_seen(|_| ()).is_err());
}
