//! The refusals that the answer to a command names: scripted ones are named with their cause, and ordinary commands have none.
//!
//! The cases are the files of `fixtures/denied/refused` and `fixtures/denied/ordinary`.

mod case;
mod tally;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use test_support::skip;

use self::case::{Case, cases};
use self::tally::Tally;

/// The number of cases of each kind that the full run must have.
const LEAST_CASES: usize = 200;

/// The share of refusals that must be named with the right cause, in percent.
const LEAST_NAMED_PERCENT: usize = 95;

/// The number of commands that run at a time.
const WORKERS: usize = 4;

/// The short run takes one of this many cases.
const SHORT_RUN_STRIDE: usize = 13;

/// Runs the cases concurrently and counts.
fn tally(test: &str, cases: &[Case]) -> Tally {
    let (next, tally) = (AtomicUsize::new(0), Mutex::new(Tally::default()));
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match case.missing_program() {
                        Some(program) => skip(test, &format!("{}: {program} is not installed", case.name)),
                        None => {
                            let said = case.run();
                            tally.lock().unwrap().add(case, said.as_ref());
                        }
                    }
                }
            });
        }
    });
    tally.into_inner().unwrap()
}

fn judge(test: &str, cases: &[Case]) {
    let tally = tally(test, cases);
    println!("{tally}");
    assert!(tally.ran() > 0, "nothing ran");
    assert!(tally.named_percent() >= LEAST_NAMED_PERCENT, "{tally}");
    assert_eq!(tally.false_receipts(), 0, "{tally}");
}

#[test]
fn a_selection_of_refusals_is_named_and_ordinary_commands_have_none() {
    // The full run wants the programs of all cases; here those count that this machine has.
    let present = cases().into_iter().filter(|case| case.missing_program().is_none());
    let chosen: Vec<Case> = present.step_by(SHORT_RUN_STRIDE).collect();
    judge("command::receipts::a_selection_of_refusals_is_named_and_ordinary_commands_have_none", &chosen);
}

#[test]
#[ignore = "550 commands: `cargo xtask soak denied`"]
fn every_refusal_is_named_and_ordinary_commands_have_none() {
    // A part of the names of those that are to run, for work on them.
    if let Ok(part) = std::env::var("DENIED_CASES") {
        let chosen: Vec<Case> = cases().into_iter().filter(|case| case.name.contains(&part)).collect();
        return judge("command::receipts::every_refusal_is_named_and_ordinary_commands_have_none", &chosen);
    }
    let cases = cases();
    let refused = cases.iter().filter(|case| case.is_refused()).count();
    assert!(refused >= LEAST_CASES && cases.len() - refused >= LEAST_CASES, "{refused} of {}", cases.len());
    judge("command::receipts::every_refusal_is_named_and_ordinary_commands_have_none", &cases);
}
