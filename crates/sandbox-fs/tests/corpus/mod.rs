//! The corpus of attacks, `fixtures/vectors/fs-attacks.json`, run against whatever says that it withstands them.
//!
//! The corpus has one reader, and this is it. A crate's tests include this module and bring a [`Subject`]: the thing
//! under attack and its way of carrying out the operations of the corpus. What happened is asserted by the test, and
//! written down case by case for `cargo xtask conformance` ([`report`]).

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

/// What each round of a race adds to it.
const HANG_PER_ROUND: Duration = Duration::from_millis(100);

/// How often a case is tried of which nothing but the time was wrong: a machine may stop for a second.
const TRIES: usize = 4;

/// Who meets the attacks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum User {
    /// Root, if the tests are run by root.
    Root,
    /// Nobody in particular: whoever runs the tests, or a thread that has given up being root.
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

/// Runs every case of the corpus. What a machine cannot run is said, and a failure where `CI` is set.
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
        println!("not run by root: nothing is claimed about it");
    } else if !unable.is_empty() {
        assert!(std::env::var_os("CI").is_none(), "cannot run here:\n{}", unable.join("\n"));
        println!("cannot run here:\n{}", unable.join("\n"));
    }
}

/// Runs the cases of a text and returns what is wrong with each, in their order.
pub(crate) fn run_text<S: Subject>(text: &str) -> Vec<Option<String>> {
    let outcome = |case: &Case| match run_guarded::<S>(case, ResolveMethod::Openat2, User::Root) {
        Outcome::Failed(what) => Some(what),
        Outcome::Unable(what) | Outcome::NotMeant(what) => panic!("{} did not run: {what}", case.name),
        Outcome::Passed => None,
    };
    case::read(text.as_bytes()).iter().map(outcome).collect()
}

/// Why a case is not for this subject or this user, if it is not.
fn not_meant<S: Subject>(case: &Case, user: User) -> Option<String> {
    if let Some(why) = S::elsewhere(case) {
        return Some(why.to_owned());
    }
    match (case.platform.as_str(), user) {
        ("all" | "unix" | "linux", _) | ("linux-root", User::Root) | ("unix-nonroot", User::Ordinary) => None,
        ("linux-root", User::Ordinary) => Some("it needs root to be set up".to_owned()),
        ("unix-nonroot", User::Root) => Some("it is about what root may do and others may not".to_owned()),
        ("windows", _) => Some("it is about Windows".to_owned()),
        // It fails with the word that is not understood when it is run.
        _ => None,
    }
}

/// Whether a case stays out of a run without a report: those that take long to set up run once per subject then, with
/// `openat2` and as whoever runs the tests.
fn is_left_out(case: &Case, method: ResolveMethod, user: User, started_as_root: bool) -> bool {
    let is_first = method == ResolveMethod::Openat2 && (user == User::Root) == started_as_root;
    case.is_heavy() && !is_first
}

/// Runs a case in a thread of its own, so that a hang or a panic is that case's failure and nobody else's.
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

/// Gives up root in this thread only; the threads that it starts inherit that. Permissions are a matter of threads to
/// the kernel, so this is as good as a process of its own, and the program need not be readable for that user.
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
    let mut seen = check::Seen::default();
    let mut round = 0;
    let mut refusal = String::new();
    let before = if check::is_still(case) { Tree::of(&sandbox.workspace()) } else { Tree::default() };
    // How often an operation gets through depends on how the threads are scheduled.
    while round < rounds
        || check::must_succeed_once(case) && seen.accepted == 0 && round < rounds.saturating_mul(100)
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
        seen.add::<S>(reply);
    }
    let disturbances = world.calm();
    let scene = Scene { case, sandbox, seen: &seen, rounds: round.into(), refusal: &refusal };
    let verdict = check::aftermath::<S>(&scene, disturbances, &before);
    drop(subject);
    verdict?;
    if sandbox.outside_snapshot() != outside {
        return Err("something outside changed".to_owned().into());
    }
    let leftovers = sandbox.leftovers();
    if !leftovers.is_empty() {
        return Err(format!("left behind: {leftovers:?}").into());
    }
    if case.expect == Expectation::Either && rounds > 1 && disturbances == 0 {
        return Err("the racer never ran".to_owned().into());
    }
    Ok(())
}
