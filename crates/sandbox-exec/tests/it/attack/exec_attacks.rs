//! The attack corpus, `fixtures/vectors/exec-attacks.json`, run case by case, at every level, as root and as an ordinary
//! user.
//!
//! At level full every case holds. At a lower level exactly those hold that a remaining layer stops; the others are the
//! control that the attack works. The attacks are real: on a machine that does not contain them they are not run, and
//! the tests fail and say so.

use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, mpsc};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, setrlimit};
use sandbox_exec::{Ending, Level, Outcome, ShellCommand, SpawnError, Timeout};
use serde_json::Value;

use crate::attack::blocked::{self, Attacker};
use crate::attack::case_kind::Kind;
use crate::attack::cases::{self, Scene};
use crate::attack::exec_report::{Report, Verdict};
use crate::attack::{phrases, special_cases};
use crate::fixture::{SPAWNER_VARIABLE, spawner_path, survivors};

/// The number of cases at the same time: most of them wait.
const WORKERS: usize = 3;

/// A guard against hangs, not a measure of speed.
const HANG: Duration = Duration::from_secs(180);

/// Tells a copy of this program that it is the ordinary user.
const STAND_IN: &str = "SANDBOX_EXEC_TEST_ORDINARY";

/// The user and group that stand for an ordinary user.
const ORDINARY_USER: u32 = 65_534;

/// Names another file of cases of the same form.
const CASES: &str = "CONFORMANCE_CASES";

fn corpus() -> Vec<Value> {
    let own = include_str!("../../../../../fixtures/vectors/exec-attacks.json");
    let text = std::env::var_os(CASES).map(|path| std::fs::read_to_string(path).unwrap());
    let mut corpus: Value = serde_json::from_str(text.as_deref().unwrap_or(own)).unwrap();
    corpus["cases"].as_array_mut().unwrap().drain(..).collect()
}

/// Checks whether the cases come from another file than this repository's.
pub(crate) fn are_from_elsewhere() -> bool {
    static ARE_OTHER: std::sync::LazyLock<bool> = std::sync::LazyLock::new(|| {
        let own = include_str!("../../../../../fixtures/vectors/exec-attacks.json");
        std::env::var_os(CASES).is_some_and(|path| std::fs::read_to_string(path).unwrap() != own)
    });
    *ARE_OTHER
}

pub(crate) fn text<'a>(case: &'a Value, key: &str) -> &'a str {
    let text = case.get(key).map_or(Some(""), Value::as_str);
    text.unwrap_or_else(|| panic!("the case's '{key}' is not a text"))
}

macro_rules! levels {
    ($($root:ident, $ordinary:ident = $level:expr;)+) => {
        $(
            #[test]
            fn $root() {
                meet($level, Attacker::Root, stringify!($root));
            }

            #[test]
            fn $ordinary() {
                meet($level, Attacker::Ordinary, stringify!($ordinary));
            }
        )+
    };
}

levels! {
    every_case_holds_at_level_full, every_case_holds_at_level_full_for_an_ordinary_user = Level::Full;
    level_namespaces_fails_exactly_what_it_cannot_stop, level_namespaces_fails_exactly_that_for_an_ordinary_user
        = Level::Namespaces;
    level_landlock_fails_exactly_what_it_cannot_stop, level_landlock_fails_exactly_that_for_an_ordinary_user
        = Level::Landlock;
    level_process_fails_exactly_what_it_cannot_stop, level_process_fails_exactly_that_for_an_ordinary_user
        = Level::Process;
    level_none_fails_exactly_what_it_cannot_stop, level_none_fails_exactly_that_for_an_ordinary_user = Level::None;
}

/// Runs the corpus as this attacker, in a separate process if necessary.
fn meet(level: Level, attacker: Attacker, test: &str) {
    let is_root = rustix::process::geteuid().is_root();
    match (attacker, is_root) {
        (Attacker::Root, false) => {
            let report = Report::open(level, attacker);
            for case in corpus() {
                report.note(text(&case, "name"), &Verdict::Unable("the tests are not run by root".into()));
            }
            println!("not run by root: nothing is claimed about it");
        }
        (Attacker::Ordinary, true) => become_ordinary(&format!("attack::exec_attacks::{test}"), STAND_IN),
        _ => {
            if std::env::var_os(STAND_IN).is_some() {
                // Even if a case fails, its processes must not fill the machine; concurrent cases fit into the limit.
                let limits = Rlimit { current: Some(6000), maximum: Some(6000) };
                setrlimit(Resource::Nproc, limits).unwrap();
            }
            run_corpus(level, attacker);
        }
    }
}

/// Runs one test of this program again as an ordinary user, which a variable announces.
pub(crate) fn become_ordinary(test: &str, stand_in: &str) {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::chown(folder.path(), Some(ORDINARY_USER), Some(ORDINARY_USER)).unwrap();
    // Opened by root: its folder need not be open to all users.
    let spawner = std::fs::File::open(spawner_path()).unwrap();
    rustix::io::fcntl_setfd(&spawner, rustix::io::FdFlags::empty()).unwrap();
    let report = Report::open_file();
    let mut command = Command::new("/proc/self/exe");
    command
        .args(["--exact", test, "--nocapture"])
        .env(stand_in, "1")
        .env(SPAWNER_VARIABLE, format!("/proc/self/fd/{}", spawner.as_raw_fd()))
        .env("TMPDIR", folder.path())
        .env("HOME", folder.path())
        .current_dir("/")
        .stdin(Stdio::null())
        .uid(ORDINARY_USER)
        .gid(ORDINARY_USER);
    if let Some(file) = &report {
        // No process opens it anew.
        file.set_permissions(std::fs::Permissions::from_mode(0o666)).unwrap();
        rustix::io::fcntl_setfd(file, rustix::io::FdFlags::empty()).unwrap();
        command.env(crate::attack::exec_report::VARIABLE, format!("/proc/self/fd/{}", file.as_raw_fd()));
    }
    let output = command.output().unwrap();
    let said = [String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)].concat();
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

/// Runs every case and reports all failures together.
fn run_corpus(level: Level, attacker: Attacker) {
    let report = Report::open(level, attacker);
    let cases: Vec<Value> =
        corpus().into_iter().filter(|case| report.is_wanted() || is_for_every_run(case, level)).collect();
    assert!(are_from_elsewhere() || cases.len() > 30);
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let name = text(case, "name");
                    let verdict = judge(case, level, attacker);
                    report.note(name, &verdict);
                    match verdict {
                        Verdict::Failed(what) => failures.lock().unwrap().push(format!("{name}: {what}")),
                        Verdict::Unable(why) if std::env::var_os("CI").is_some() => {
                            failures.lock().unwrap().push(format!("{name} cannot run here: {why}"));
                        }
                        _ => {}
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{level}, {}:\n{}", attacker.name(), failures.join("\n"));
}

/// Checks whether a case is run even if no report is written. At lower levels, cases that no layer stops say nothing
/// about the level.
fn is_for_every_run(case: &Value, level: Level) -> bool {
    let is_long = Kind::of(case) == Kind::DefaultTimeout;
    !is_long && (level == Level::Full || case["blocked_by"].is_array())
}

fn judge(case: &Value, level: Level, attacker: Attacker) -> Verdict {
    if let Some(why) = special_cases::elsewhere(case) {
        return Verdict::NotMeant(why.into());
    }
    if text(case, "platform") == "linux-root" && attacker == Attacker::Ordinary {
        return Verdict::NotMeant("it is about what root may do".into());
    }
    if Kind::of(case).is_only_for_full() && level != Level::Full {
        return Verdict::NotMeant("it says nothing about a level".into());
    }
    let is_to_hold = blocked::expected(case, level, attacker);
    if !is_to_hold && let Some(harm) = blocked::harm(case) {
        return Verdict::NotMeant(harm.into());
    }
    let mut holds = run_guarded(case.clone(), level);
    // An attack that should succeed may fail for lack of a process while other cases use up those of its user. One success
    // is enough.
    for _ in 0..2 {
        if is_to_hold || holds.is_err() {
            break;
        }
        holds = run_guarded(case.clone(), level);
    }
    match (holds, is_to_hold) {
        (Ok(()), true) | (Err(Failure::Holds(_)), false) => Verdict::Passed,
        (Err(Failure::Holds(what) | Failure::Harness(what)), true) | (Err(Failure::Harness(what)), false) => {
            Verdict::Failed(what)
        }
        (Ok(()), false) => Verdict::Failed("holds, although no layer that stops it is in force".into()),
        (Err(Failure::Unable(why)), _) => Verdict::Unable(why),
        (Err(Failure::NotMeant(why)), _) => Verdict::NotMeant(why),
    }
}

/// The reason that a case did not pass.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The attack succeeded.
    Holds(String),
    /// This machine cannot run it.
    Unable(String),
    /// It says nothing about the level.
    NotMeant(String),
    /// The test itself is at fault.
    Harness(String),
}

/// Runs a case in its own thread, so that a hang or a panic fails only that case.
fn run_guarded(case: Value, level: Level) -> Result<(), Failure> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let result = catch_unwind(AssertUnwindSafe(|| run(&case, level)));
        let _ = sender.send(result.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(Failure::Harness(format!("panicked: {}", text.unwrap_or("without a text"))))
        }));
    });
    receiver.recv_timeout(HANG).unwrap_or(Err(Failure::Harness("hangs".into())))
}

fn run(case: &Value, level: Level) -> Result<(), Failure> {
    let mut scene = Scene::new(case, level);
    let report = scene.fixture.launcher.report();
    if report.level != level {
        return Err(Failure::Unable(format!("this machine gives only {report}")));
    }
    let is_unlimited = report.missing.iter().any(|missing| missing.starts_with("limit on processes"));
    if level != Level::Full
        && let Some(why) = special_cases::says_nothing_here(case)
    {
        return Err(Failure::NotMeant(why.into()));
    }
    if is_unlimited && blocked::is_bomb(case) {
        return Err(Failure::NotMeant("nothing limits processes here: it would use up the machine".into()));
    }
    if let Some(program) = missing_program(text(case, "command")) {
        return Err(Failure::Unable(format!("the program {program} is not installed")));
    }
    let check = text(case, "check");
    if let Some(unknown) = phrases::phrases(check).find(|phrase| !phrases::is_understood(phrase)) {
        return Err(Failure::Harness(format!("the check '{unknown}' is not understood")));
    }
    if let Some(result) = special_cases::run(case, &scene) {
        return result;
    }
    let result = attempt(&scene, case);
    let expected = text(case, "expect");
    let mut fit = Vec::new();
    for word in expected.split("-or-") {
        let fits = fits(word, &result);
        fit.push(
            fits.ok_or_else(|| Failure::Harness(format!("the expectation '{word}' is not understood")))?,
        );
    }
    if !fit.contains(&true) {
        return Err(Failure::Holds(format!("{expected} expected: {result:#?}")));
    }
    let left = survivors(&scene.marker);
    if !left.is_empty() {
        return Err(Failure::Holds(format!("survivors: {left:?}")));
    }
    phrases::check(case, &mut scene, result.as_ref().ok()).map_err(Failure::Holds)?;
    // The next command must run in any case.
    let next = scene.fixture.run("echo next");
    if next.ending != Ending::Exited(0) {
        return Err(Failure::Holds(format!("the next command ended with {}", next.ending)));
    }
    Ok(())
}

/// Returns a program that the attack needs and that is not installed.
fn missing_program(command: &str) -> Option<&'static str> {
    let needed =
        ["python3", "git", "unshare", "curl"].into_iter().find(|program| command.contains(program))?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = std::env::split_paths(&path).chain(["/usr/bin".into()]).any(|at| at.join(needed).exists());
    (!is_there).then_some(needed)
}

fn attempt(scene: &Scene, case: &Value) -> Result<Outcome, String> {
    let mut command =
        ShellCommand::new(&scene.command(text(case, "command"))).map_err(|error| error.to_string())?;
    if let Some(variables) = case["args"]["environment"].as_object() {
        let variables =
            variables.iter().map(|(name, value)| (name.into(), cases::value(value.as_str().unwrap()).into()));
        command = command.with_environment(variables.collect()).map_err(|error| error.to_string())?;
    }
    let timeout = match &case["args"]["timeout"] {
        Value::Null => Timeout::new(scene.timeout(text(case, "expect"))),
        seconds => Timeout::from_seconds(seconds.as_i64().unwrap()),
    };
    let command = command.with_timeout(timeout.map_err(|error| error.to_string())?);
    match scene.fixture.launcher.spawn(&scene.fixture.policy, &command) {
        Ok(running) => running.wait().map_err(|error| error.to_string()),
        // It may have killed its own init before the launcher heard of it.
        Err(error @ (SpawnError::Policy(_) | SpawnError::Unconfirmed)) => Err(error.to_string()),
        Err(error) => panic!("{error}"),
    }
}

/// Checks whether a result is as the vector expects; `None` if the expectation is not understood. `Err` is a refusal before
/// anything started.
fn fits(expected: &str, result: &Result<Outcome, String>) -> Option<bool> {
    let ending = result.as_ref().ok().map(|outcome| outcome.ending);
    let is_failure = ending.is_some_and(|ending| !ending.is_success());
    Some(match expected.split_once(' ').unwrap_or((expected, "")) {
        // A server that runs until its time is up was not refused.
        ("exit", "non-zero") => is_failure && !matches!(ending, Some(Ending::TimedOut { .. })),
        ("error" | "killed", "") => is_failure,
        ("exit", code) => ending == Some(Ending::Exited(code.parse().ok()?)),
        ("signal", number) => {
            number.parse::<i32>().ok()?;
            matches!(ending, Some(Ending::Signaled(signal)) if signal.number().to_string() == number)
        }
        ("timeout", "") => matches!(ending, Some(Ending::TimedOut { .. })),
        ("rejected", "") => result.is_err(),
        ("policy" | "any", "") => result.is_ok(),
        _ => return None,
    })
}

/// A case from another file.
fn written(command: &str, expect: &str, check: &str) -> Value {
    serde_json::json!({ "name": "x", "class": "exit", "setup": [], "command": command, "expect": expect, "check": check,
        "platform": "linux", "why": "3 sessions at once" })
}

#[test]
fn cases_are_run_by_what_they_say() {
    let holds = [
        written("sleep 1; exit 9", "exit 9", "exit code 9 reported after 1 s"),
        written("printf 'a\\r\\n'; printf b", "exit 0", "bytes kept in the full output"),
        written("mkfifo q", "exit 0", "next READ q is NOT_REGULAR"),
        written("echo $i", "exit 0 each", "each gets its own output; total < 5 s"),
        written("echo x > $T/outside/other.txt", "exit non-zero", "outside unchanged"),
        written("echo <3 KiB of b> | wc -c", "exit 0", "stdout still captured"),
    ];
    for case in holds {
        let result = run_guarded(case.clone(), Level::Full);
        assert!(matches!(result, Ok(()) | Err(Failure::Unable(_))), "{case}: {result:?}");
    }
}

#[test]
fn cases_that_do_not_hold_or_are_not_understood_say_why() {
    let mut unknown_step = written("true", "exit 0", "success=true");
    unknown_step["setup"] = serde_json::json!(["a song"]);
    let cases = [
        (written("exit 3", "exit 4", ""), "exit 4 expected"),
        (written("true", "exit 0", "sings a song"), "the check 'sings a song' is not understood"),
        (written("true", "perhaps", ""), "the expectation 'perhaps' is not understood"),
        (unknown_step, "the set-up \"a song\" is not understood"),
        (written("true", "exit 0", "next READ q is NOT_REGULAR"), "no fifo"),
        (written("true", "exit 0", "exit code 0 reported after 1 s"), "an early end"),
    ];
    for (case, expected) in cases {
        let result = run_guarded(case.clone(), Level::Full);
        let is_right = match &result {
            Err(Failure::Holds(what) | Failure::Harness(what)) => what.contains(expected),
            Err(Failure::Unable(_)) => true,
            _ => false,
        };
        assert!(is_right, "{case}: {result:?}");
    }
}
