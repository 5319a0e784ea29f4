//! The corpus of attacks, `fixtures/vectors/fs-attacks.json`, run against the file system itself.
//!
//! A small driver turns each case's operation into calls of this crate, as an engine would.

mod case;
mod check;
mod operation;
mod racer;
mod setup;

use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::process::{Gid, Uid};
use sandbox_fs::ResolveMethod;

use self::case::{Case, Expectation};
use self::setup::Unable;
use crate::fixture::Sandbox;

/// Cases that are about the layers above, with the layer that runs them.
const ELSEWHERE: [(&str, &str); 4] = [
    ("binary-file-read", "the engine decides what is text"),
    ("crlf-and-no-final-newline", "text-edit keeps line endings"),
    ("read-git-config", "the engine masks credentials"),
    ("regex-huge-program", "the engine limits patterns"),
];

/// How long a raced case goes on until some operation succeeds.
const PATIENCE: Duration = Duration::from_secs(10);

/// A guard against hangs, not a measure of speed.
const HANG: Duration = Duration::from_secs(120);

/// What each round of a race adds to it.
const HANG_PER_ROUND: Duration = Duration::from_millis(100);

/// Cases that take long to set up; they run once, and not again for an ordinary user or the walker.
const HEAVY: [&str; 3] = ["dir-100k-search", "endless-line-ranged-read", "deep-nesting-existing-list"];

#[derive(Clone, Copy, PartialEq)]
enum User {
    /// Whoever runs the tests.
    Caller,
    /// Nobody in particular, if the tests are run by root.
    Ordinary,
}

#[test]
fn the_corpus_holds_with_openat2() {
    run_all(ResolveMethod::Openat2, User::Caller);
}

#[test]
fn the_corpus_holds_with_the_walker() {
    run_all(ResolveMethod::Walker, User::Caller);
}

#[test]
fn the_corpus_holds_for_an_ordinary_user_with_openat2() {
    run_all(ResolveMethod::Openat2, User::Ordinary);
}

#[test]
fn the_corpus_holds_for_an_ordinary_user_with_the_walker() {
    run_all(ResolveMethod::Walker, User::Ordinary);
}

fn run_all(method: ResolveMethod, user: User) {
    let root = rustix::process::geteuid().is_root();
    if user == User::Ordinary && !root {
        println!("run by an ordinary user already: the other tests make this claim");
        return;
    }
    let as_root = root && user == User::Caller;
    let cases = case::load();
    let mut names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    names.dedup();
    assert_eq!(names.len(), 117);
    for (name, _) in ELSEWHERE {
        assert!(names.contains(&name), "{name} is not in the corpus");
    }
    let mut failures = Vec::new();
    for case in &cases {
        let elsewhere = ELSEWHERE.iter().any(|(name, _)| *name == case.name);
        let here = match case.platform.as_str() {
            "all" | "unix" | "linux" => true,
            "linux-root" => as_root,
            "unix-nonroot" => !as_root,
            "windows" => false,
            other => panic!("unknown platform {other}"),
        };
        let repeated = (user == User::Ordinary || method == ResolveMethod::Walker)
            && HEAVY.contains(&case.name.as_str());
        if elsewhere || !here || repeated {
            continue;
        }
        match run_guarded(case, method, user) {
            Ok(()) => {}
            Err(Failure::Unable(why)) => {
                assert!(std::env::var_os("CI").is_none(), "{}: cannot run here: {why}", case.name);
                println!("{}: not run here: {why}", case.name);
            }
            Err(Failure::Broken(what)) => failures.push(format!("{}: {what}", case.name)),
        }
    }
    assert!(failures.is_empty(), "{method}:\n{}", failures.join("\n"));
}

enum Failure {
    Unable(String),
    Broken(String),
}

/// Runs a case in a thread of its own, so that a hang or a panic is that case's failure and nobody else's.
fn run_guarded(case: &Case, method: ResolveMethod, user: User) -> Result<(), Failure> {
    let (sender, receiver) = mpsc::channel();
    let owned = case.clone();
    let thread = std::thread::spawn(move || {
        if user == User::Ordinary {
            become_ordinary();
        }
        let result = std::panic::catch_unwind(|| run(&owned, method));
        let _ = sender.send(result.unwrap_or_else(|_| Err(Failure::Broken("panic".to_owned()))));
    });
    let result = receiver
        .recv_timeout(HANG + HANG_PER_ROUND * case.rounds())
        .map_err(|_| Failure::Broken("hangs".to_owned()))?;
    thread.join().unwrap();
    result
}

/// Gives up root in this thread only; the threads that it starts inherit that.
fn become_ordinary() {
    let (user, group) = (Uid::from_raw(65_534), Gid::from_raw(65_534));
    rustix::thread::set_thread_groups(&[]).unwrap();
    rustix::thread::set_thread_res_gid(group, group, group).unwrap();
    rustix::thread::set_thread_res_uid(user, user, user).unwrap();
}

fn run(case: &Case, method: ResolveMethod) -> Result<(), Failure> {
    let sandbox = Sandbox::new();
    let mut world = match setup::build(&sandbox, case) {
        Ok(world) => world,
        Err(Unable(why)) => return Err(Failure::Unable(why)),
    };
    let outside = sandbox.outside_snapshot();
    let root = world.open_root(&sandbox, case, method);
    world.disturb(&sandbox, case);
    let rounds = case.rounds();
    let mut seen = check::Seen::default();
    let begun = Instant::now();
    // On a busy machine the racer may win every one of the rounds; some operation has to succeed for the case to mean
    // anything, so such a case goes on for a while.
    let needs_more = |seen: &check::Seen| rounds > 1 && seen.accepted == 0 && begun.elapsed() < PATIENCE;
    let mut done = 0;
    while done < rounds || (case.expect == Expectation::Either && needs_more(&seen)) {
        done += 1;
        let started = Instant::now();
        let reply = match &root {
            Ok(root) => operation::perform(root, case, &sandbox),
            Err(error) => Err(operation::Refusal::Root(error.to_string())),
        };
        let took = started.elapsed();
        let broken = check::reply(case, &reply, &sandbox, took).map_err(Failure::Broken);
        seen.add(reply);
        broken?;
    }
    let disturbances = world.calm();
    let verdict = check::aftermath(case, &sandbox, &seen, disturbances);
    drop(root);
    verdict.map_err(Failure::Broken)?;
    if sandbox.outside_snapshot() != outside {
        return Err(Failure::Broken("something outside changed".to_owned()));
    }
    let leftovers = sandbox.leftovers();
    if !leftovers.is_empty() {
        return Err(Failure::Broken(format!("left behind: {leftovers:?}")));
    }
    if case.expect == Expectation::Either && rounds > 1 && disturbances == 0 {
        return Err(Failure::Broken("the racer never ran".to_owned()));
    }
    Ok(())
}
