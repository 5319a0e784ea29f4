//! The corpus of attacks, `fixtures/vectors/fs-attacks.json`, and the harness that runs it against a [`Subject`].
//!
//! This is the only reader of the corpus. A crate's tests include this module and implement [`Subject`]: the code under
//! attack, and its way of carrying out the operations of the corpus. The test asserts the outcomes, and records them case
//! by case for `cargo xtask conformance` ([`report`]).

mod case;
mod check;
mod effort;
mod phrase;
mod racer;
mod report;
mod sandbox;
mod setup;
mod subject;
mod tree;

use std::sync::mpsc;
use std::time::Duration;

use rustix::process::{Gid, Uid};
use sandbox_fs::ResolveMethod;

use self::case::Expectation;
use self::check::Failure;
use self::effort::Effort;
use self::phrase::Scene;
use self::report::{Outcome, Report};
use self::setup::Unable;
use self::tree::Tree;

pub(crate) use self::case::Case;
pub(crate) use self::sandbox::{CANARY, Sandbox};
pub(crate) use self::subject::{NEW_TEXT, Reply, Subject};

/// A guard against hangs, not a measure of speed.
const HANG: Duration = Duration::from_secs(120);

/// The addition to it for each round of a race.
const HANG_PER_ROUND: Duration = Duration::from_millis(100);

/// The number of attempts at a case that only exceeds its time: a machine may pause for a second.
const TRIES: usize = 4;

/// The user that carries out the operations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum User {
    /// Root, if the tests are run by root.
    Root,
    /// A user without privileges: the one of the tests, or a thread of root's that has dropped them.
    Ordinary,
}

impl User {
    fn name(self) -> &'static str {
        match self {
            User::Root => "root",
            User::Ordinary => "an ordinary user",
        }
    }
}

/// Runs every case of the corpus. Cases that the machine cannot run are printed, and are failures if `CI` is set.
pub(crate) fn run_all<S: Subject>(method: ResolveMethod, user: User) {
    let report = Report::open(S::NAME, method, user);
    let started_as_root = rustix::process::geteuid().is_root();
    let cases = case::load();
    assert!(!cases.is_empty());
    let mut failures = Vec::new();
    let mut unable = Vec::new();
    for case in &cases {
        let outcome = if user == User::Root && !started_as_root {
            Outcome::Unable("the tests are not run by root".to_owned())
        } else if let Some(why) = not_meant::<S>(case, user) {
            Outcome::NotMeant(why)
        } else if is_left_out(case, method, user, started_as_root) && !report.is_wanted() {
            continue;
        } else {
            run_guarded::<S>(case, method, user)
        };
        report.note(case, &outcome);
        match outcome {
            Outcome::Passed | Outcome::NotMeant(_) => {}
            Outcome::Unable(why) => unable.push(format!("{}: {why}", case.name)),
            Outcome::Failed(what) => failures.push(format!("{}: {what}", case.name)),
        }
    }
    assert!(failures.is_empty(), "{method}, {}:\n{}", user.name(), failures.join("\n"));
    if user == User::Root && !started_as_root {
        println!("the tests are not run by root: the cases for root are skipped");
    } else if !unable.is_empty() {
        assert!(std::env::var_os("CI").is_none(), "cannot run here:\n{}", unable.join("\n"));
        println!("cannot run here:\n{}", unable.join("\n"));
    }
}

/// Runs the cases of a text and returns the failure of each, in their order.
pub(crate) fn run_text<S: Subject>(text: &str) -> Vec<Option<String>> {
    let outcome = |case: &Case| match run_guarded::<S>(case, ResolveMethod::Openat2, User::Root) {
        Outcome::Failed(what) => Some(what),
        Outcome::Unable(what) | Outcome::NotMeant(what) => panic!("{} did not run: {what}", case.name),
        Outcome::Passed => None,
    };
    case::read(text.as_bytes()).iter().map(outcome).collect()
}

/// Returns the reason why a case does not apply to this subject or user, if it does not.
fn not_meant<S: Subject>(case: &Case, user: User) -> Option<String> {
    if let Some(why) = S::elsewhere(case) {
        return Some(why.to_owned());
    }
    match (case.platform.as_str(), user) {
        ("all" | "unix" | "linux", _) | ("linux-root", User::Root) | ("unix-nonroot", User::Ordinary) => None,
        ("linux-root", User::Ordinary) => Some("it needs root to be set up".to_owned()),
        ("unix-nonroot", User::Root) => Some("it is about what root may do and others may not".to_owned()),
        ("windows", _) => Some("it is about Windows".to_owned()),
        // An unknown word fails the case when it is run.
        _ => None,
    }
}

/// Returns whether a run without a report skips a case: those with a long set-up run only once per subject, with `openat2`
/// and as the user of the tests.
fn is_left_out(case: &Case, method: ResolveMethod, user: User, started_as_root: bool) -> bool {
    let is_first = method == ResolveMethod::Openat2 && (user == User::Root) == started_as_root;
    case.is_heavy() && !is_first
}

/// Runs a case in a thread of its own, so that a hang or a panic fails only that case.
fn run_guarded<S: Subject>(case: &Case, method: ResolveMethod, user: User) -> Outcome {
    let (sender, receiver) = mpsc::channel();
    let owned = case.clone();
    let thread = std::thread::spawn(move || {
        if user == User::Ordinary && rustix::process::geteuid().is_root() {
            become_ordinary();
        }
        let result = std::panic::catch_unwind(|| run::<S>(&owned, method));
        let _ = sender.send(result.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            Outcome::Failed(format!("panicked: {}", text.unwrap_or("without a text")))
        }));
    });
    let Ok(outcome) = receiver.recv_timeout(HANG + HANG_PER_ROUND * case.rounds(S::RACE_ROUNDS)) else {
        return Outcome::Failed("hangs".to_owned());
    };
    thread.join().unwrap();
    outcome
}

/// Drops root's privileges in this thread and in threads that it starts. The kernel checks permissions per thread, so
/// this is as good as a process of its own, and the test program need not be readable for that user.
fn become_ordinary() {
    let (user, group) = (Uid::from_raw(65_534), Gid::from_raw(65_534));
    rustix::thread::set_thread_groups(&[]).unwrap();
    rustix::thread::set_thread_res_gid(group, group, group).unwrap();
    rustix::thread::set_thread_res_uid(user, user, user).unwrap();
}

fn run<S: Subject>(case: &Case, method: ResolveMethod) -> Outcome {
    const PLATFORMS: [&str; 6] = ["all", "unix", "linux", "linux-root", "unix-nonroot", "windows"];
    if !PLATFORMS.contains(&case.platform.as_str()) {
        return Outcome::Failed(format!("the platform '{}' is not understood", case.platform));
    }
    let mut least = None;
    for _ in 0..TRIES {
        let sandbox = Sandbox::new();
        let mut world = match setup::build(&sandbox, case) {
            Ok(world) => world,
            Err(Unable(why)) => return Outcome::Unable(why),
        };
        match attack::<S>(case, method, &sandbox, &mut world) {
            Ok(()) => return Outcome::Passed,
            Err(Failure::Wrong(what)) => return Outcome::Failed(what),
            Err(Failure::Late(took)) => least = least.min(Some(took)).or(Some(took)),
        }
    }
    Outcome::Failed(format!("took {:?}, allowed are {:?}", least.unwrap_or_default(), case.time_limit()))
}

fn attack<S: Subject>(
    case: &Case,
    method: ResolveMethod,
    sandbox: &Sandbox,
    world: &mut setup::World,
) -> Result<(), Failure> {
    let outside = sandbox.outside_snapshot();
    let subject = world.open_root(sandbox, case, method).map(|root| S::over(root, sandbox));
    world.disturb(sandbox, case);
    let rounds = case.rounds(S::RACE_ROUNDS);
    let mut results = check::RoundResults::default();
    let mut round = 0;
    let mut refusal = String::new();
    let before = if check::is_still(case) { Tree::of(&sandbox.workspace()) } else { Tree::default() };
    // The number of rounds until an operation succeeds depends on the scheduling of the threads.
    while round < rounds
        || check::must_succeed_once(case) && results.accepted == 0 && round < rounds.saturating_mul(100)
    {
        round += 1;
        let effort = Effort::begin();
        let reply = match &subject {
            Ok(subject) => subject.perform(case, sandbox),
            Err(error) => {
                check::refused_root(case, &error.to_string(), sandbox)?;
                continue;
            }
        };
        let took = effort.spent();
        check::reply::<S>(case, &reply, sandbox, took)?;
        if let Err(refused) = &reply {
            refusal = S::text(refused);
        }
        results.add::<S>(reply);
    }
    let disturbances = world.calm();
    let scene = Scene { case, sandbox, results: &results, rounds: round.into(), refusal: &refusal };
    let verdict = check::aftermath::<S>(&scene, disturbances, &before);
    drop(subject);
    verdict?;
    if sandbox.outside_snapshot() != outside {
        return Err("something outside changed".to_owned().into());
    }
    let leftovers = sandbox.leftovers();
    if !leftovers.is_empty() {
        return Err(format!("leftovers: {leftovers:?}").into());
    }
    if case.expect == Expectation::Either && rounds > 1 && disturbances == 0 {
        return Err("the racer never ran".to_owned().into());
    }
    Ok(())
}
