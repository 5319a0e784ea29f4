//! The phrases in which a case of the attack corpus names its checks.
//!
//! Each phrase is recognized by its words, whatever the case is called. An unknown phrase fails the case and is named.

use std::fs::{self, DirEntry};
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::PathBuf;
use std::time::Duration;

use sandbox_exec::{Outcome, ShellCommand};
use serde_json::Value;

use crate::attack::cases::Scene;
use crate::attack::exec_attacks::text;
use crate::fixture::{CANARY, stderr, stdout};

/// The number of attempts at a command that took longer than its case allows, with nothing else wrong: a busy machine may
/// stall for a second.
const TRIES: usize = 4;

/// From this many bytes on, output takes processor time for which other programs compete.
const MUCH_OUTPUT: u64 = 16 << 20;

/// The check that a phrase asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fact {
    /// Part of the expectation, or checked after every case: survivors, the folder outside, the home, connections,
    /// secrets, and whether the next command runs.
    Always,
    /// Covered by another crate's tests: how the text for a model is made, and what tools answer.
    Elsewhere,
    RawIsKept,
    LengthIsRight,
    SomethingIsLeftOut,
    IsQuick,
    EndsAfter,
    NoCarriageReturn,
    NothingPrinted,
    MessageIsKept,
    NoCoreFile,
    WorkspaceIsThere,
    PagerIsOff,
    FifoIsThere,
    IsCommitted,
    RepositoryIsAsBefore,
    StaysProtected,
    IsNamed,
    NoForeignProcess,
    NoPrivilege,
    NothingSpecialLeft,
    Printed,
    OneEuroSign,
    NotInTemporary,
    HomeIsNamed,
    Fails,
}

/// The facts, by the first words of their phrases.
const PHRASES: &[(&str, Fact)] = &[
    ("escapes neutralised in", Fact::Elsewhere),
    ("collapsed in what the model sees", Fact::Elsewhere),
    ("lossy-escaped", Fact::LengthIsRight),
    ("raw kept", Fact::RawIsKept),
    ("bytes kept", Fact::RawIsKept),
    ("body kept", Fact::RawIsKept),
    ("lines run without stray", Fact::NoCarriageReturn),
    ("truncated head+tail kept", Fact::SomethingIsLeftOut),
    ("reply < ", Fact::IsQuick),
    ("< ", Fact::IsQuick),
    ("total < ", Fact::Always),
    ("got:", Fact::Printed),
    ("exit code ", Fact::EndsAfter),
    ("exit ", Fact::Always),
    ("stderr kept", Fact::MessageIsKept),
    ("empty strings", Fact::NothingPrinted),
    ("no core", Fact::NoCoreFile),
    ("next op answers", Fact::WorkspaceIsThere),
    ("GIT_EDITOR=", Fact::Always),
    ("PAGER=cat GIT_PAGER=cat", Fact::PagerIsOff),
    ("next READ ", Fact::FifoIsThere),
    ("commit made", Fact::IsCommitted),
    ("still protected", Fact::RepositoryIsAsBefore),
    ("EROFS", Fact::RepositoryIsAsBefore),
    ("not created", Fact::RepositoryIsAsBefore),
    ("EPERM/EINVAL", Fact::StaysProtected),
    ("either blocked by an empty ro mount", Fact::IsNamed),
    ("only own tree", Fact::NoForeignProcess),
    ("no privilege gained", Fact::NoPrivilege),
    ("nothing with such a bit", Fact::NothingSpecialLeft),
    ("shows one euro sign", Fact::OneEuroSign),
    ("host /tmp has no such file", Fact::NotInTemporary),
    ("files unchanged", Fact::HomeIsNamed),
    ("no packet", Fact::IsQuick),
    ("denied", Fact::Fails),
    ("success=", Fact::Always),
    ("126", Fact::Always),
    ("timed_out=", Fact::Always),
    ("both forms in the result", Fact::Always),
    ("RLIMIT_NOFILE", Fact::Always),
    ("clamped", Fact::Always),
    ("INVALID_ARGUMENT", Fact::Always),
    ("refused", Fact::Always),
    ("passed by stdin", Fact::Always),
    ("reported", Fact::Always),
    ("result reported", Fact::Always),
    ("never E2BIG", Fact::Always),
    ("killed", Fact::Always),
    ("capped", Fact::Always),
    ("blocked", Fact::Always),
    ("post-run check", Fact::Elsewhere),
    ("EPERM", Fact::Always),
    ("EXDEV", Fact::Always),
    ("EACCES", Fact::Always),
    ("ENOENT", Fact::Always),
    ("ENXIO", Fact::Always),
    ("ENOTTY", Fact::Always),
    ("0 survivors", Fact::Always),
    ("0 zombies", Fact::Always),
    ("all members dead", Fact::Always),
    ("all dead", Fact::Always),
    ("dead at timeout", Fact::Always),
    ("host loadable", Fact::Always),
    ("daemon ", Fact::Always),
    ("agentd ", Fact::Always),
    ("measured with ", Fact::Always),
    ("oom_score_adj", Fact::Always),
    ("outside unchanged", Fact::Always),
    ("mode unchanged", Fact::Always),
    ("mtime unchanged", Fact::Always),
    ("unchanged", Fact::Always),
    ("nothing received", Fact::Always),
    ("no connection seen", Fact::Always),
    ("not reachable from the host", Fact::Always),
    ("no CANARY", Fact::Always),
    ("same", Fact::Always),
    ("stdout still captured", Fact::Always),
    // `case_kind` runs these as the phrase says.
    ("each gets its own output", Fact::Always),
    ("no fd or process leak", Fact::Always),
    ("the other is untouched", Fact::Always),
    ("log.txt has exactly 1 line", Fact::Always),
    ("no deadlock", Fact::Always),
    ("documented", Fact::Always),
    ("valid UTF-8", Fact::Always),
    ("cap counted in characters", Fact::Always),
    ("exact length documented", Fact::Always),
];

/// Splits a check into its phrases.
pub(crate) fn phrases(check: &str) -> impl Iterator<Item = &str> {
    let parts = check.split("; ").flat_map(|part| match part.split_once(", < ") {
        Some((first, _)) => [Some(first), part.get(first.len() + 2..)],
        None => [Some(part), None],
    });
    parts.flatten().filter(|phrase| !phrase.is_empty())
}

fn fact(phrase: &str) -> Option<Fact> {
    PHRASES.iter().find(|(words, _)| phrase.starts_with(words)).map(|(_, fact)| *fact)
}

pub(crate) fn is_understood(phrase: &str) -> bool {
    fact(phrase).is_some()
}

fn require(holds: bool, what: &str, outcome: &Outcome) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("{what}: {outcome:#?}")) }
}

fn names(path: PathBuf) -> Vec<String> {
    let name = |entry: io::Result<DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<String> = fs::read_dir(path).unwrap().map(name).collect();
    names.sort();
    names
}

/// Checks the facts beyond the expectation; first those that hold after every case.
pub(crate) fn check(case: &Value, scene: &mut Scene, outcome: Option<&Outcome>) -> Result<(), String> {
    let fixture = &scene.fixture;
    let same = |holds: bool, what: &str| if holds { Ok(()) } else { Err(format!("{what}: {outcome:#?}")) };
    same(scene.is_as_before(), "something outside was changed")?;
    same(names(fixture.root().join("outside")) == ["dsock", "secret.txt"], "something outside was made")?;
    same(names(fixture.root().join("home")) == [".aws", ".netrc", ".ssh"], "the home was changed")?;
    let secret = fs::read_to_string(fixture.outside("secret.txt")).unwrap_or_default();
    same(secret == CANARY, "the secret was changed")?;
    same(!scene.has_connection(), "something was sent")?;
    let Some(outcome) = outcome else { return Ok(()) };
    let (stdout, stderr) = (stdout(outcome), stderr(outcome));
    same(!stdout.contains(CANARY) && !stderr.contains(CANARY), "a secret was read")?;
    for phrase in phrases(text(case, "check")) {
        let fact = fact(phrase).ok_or_else(|| format!("the check '{phrase}' is not understood"))?;
        holds(fact, phrase, case, scene, outcome)?;
    }
    Ok(())
}

fn holds(fact: Fact, phrase: &str, case: &Value, scene: &Scene, outcome: &Outcome) -> Result<(), String> {
    let (fixture, workspace) = (&scene.fixture, scene.fixture.workspace());
    let command = text(case, "command");
    let (stdout, stderr) = (stdout(outcome), stderr(outcome));
    let require = |holds: bool, what: &str| require(holds, what, outcome);
    match fact {
        Fact::Always | Fact::Elsewhere => Ok(()),
        Fact::RawIsKept => {
            // The same again into a file, without a reader in between.
            let again = fixture.run(&format!("{{ {}\n}} > raw.out", scene.command(command)));
            let raw = fs::read(workspace.join("raw.out")).unwrap_or_default();
            require(again.ending.is_success() && !raw.is_empty(), "it prints nothing into a file")?;
            require(stdout.as_bytes() == raw, "the raw bytes are kept")
        }
        Fact::LengthIsRight => {
            require(outcome.stdout.total_bytes == length(scene, command)?, "bytes are missing")
        }
        Fact::SomethingIsLeftOut => {
            require(outcome.stdout.total_bytes == length(scene, command)?, "the total is wrong")?;
            require(outcome.stdout.omitted_bytes() > 0, "nothing is left out")
        }
        Fact::IsQuick => is_quick(phrase, scene, command, outcome),
        Fact::EndsAfter => {
            let after = phrase.rsplit_once(" after ").and_then(|(_, time)| duration(time));
            require(after.is_none_or(|after| outcome.duration >= after), "an early end")
        }
        Fact::NoCarriageReturn => {
            let lines = command.lines().filter(|line| line.starts_with("echo ")).count();
            require(!stdout.contains('\r') && stdout.lines().count() == lines, "stray characters")
        }
        Fact::NothingPrinted => {
            require(outcome.stdout.total_bytes == 0 && outcome.stderr.total_bytes == 0, "output")
        }
        Fact::MessageIsKept => {
            let program = command.split_whitespace().next().unwrap_or_default();
            require(stderr.contains(program), "the message is lost")
        }
        Fact::NoCoreFile => {
            require(!names(workspace).iter().any(|name| name.starts_with("core")), "a core file")
        }
        Fact::WorkspaceIsThere => require(workspace.is_dir(), "the workspace is gone"),
        Fact::PagerIsOff => {
            let pagers = crate::fixture::stdout(&fixture.run("echo $PAGER $GIT_PAGER"));
            require(pagers == "cat cat\n", &pagers)
        }
        Fact::FifoIsThere => {
            let name = phrase.split(' ').nth(2).unwrap_or_default();
            let metadata = fs::symlink_metadata(workspace.join(name));
            require(metadata.is_ok_and(|metadata| metadata.file_type().is_fifo()), "no fifo")
        }
        Fact::IsCommitted => {
            let log = fixture.run("git log --format=%s && git diff --cached --quiet");
            require(log.ending.is_success(), "no commit")
        }
        Fact::RepositoryIsAsBefore => {
            // A repository has neither before.
            let made = [".git.old", ".git/hooks/pre-commit"].iter().any(|name| workspace.join(name).exists());
            require(!made && workspace.join(".git/config").is_file(), "the repository was changed")
        }
        Fact::StaysProtected => {
            let again = fixture.run("echo x >> .git/config");
            require(!again.ending.is_success(), "no longer protected")
        }
        Fact::IsNamed => {
            // There was nothing to bind over: the caller receives the paths to check afterwards.
            let running =
                fixture.launcher.spawn(&fixture.policy, &ShellCommand::new("true").unwrap()).unwrap();
            require(running.unprotected().iter().any(|path| path.ends_with(".git/config")), "not named")
        }
        Fact::NoForeignProcess => require(!stdout.contains(scene.bystander_mark()), "sees a foreign process"),
        Fact::NoPrivilege => {
            require(!stdout.contains("uid=0") || stdout.is_empty(), "privileges were gained")
        }
        Fact::NothingSpecialLeft => {
            let left = crate::tricks::left_in(&workspace);
            require(!left.iter().any(|(kind, _)| matches!(*kind, "bits" | "device")), "something is left")
        }
        Fact::Printed => require(stdout.trim_end_matches('\n') == phrase, "something else is printed"),
        Fact::OneEuroSign => require(stdout == "\u{20ac}", "not one character"),
        Fact::NotInTemporary => {
            let command = scene.command(command);
            let name = command
                .split_once("/tmp/")
                .map(|(_, rest)| rest.split_whitespace().next().unwrap_or_default());
            let name = name.filter(|name| !name.is_empty() && !name.contains(['/', '.']));
            let name = name.ok_or("the command names no file in /tmp")?;
            // At a level without a private folder there, the test must remove it.
            let is_there = fs::remove_file(PathBuf::from("/tmp").join(name)).is_ok();
            require(!is_there, "the host has the file")
        }
        Fact::HomeIsNamed => {
            let names = command.split_whitespace().filter_map(|word| word.strip_prefix("~/"));
            let mut names = names.map(|name| name.trim_end_matches(';'));
            require(names.all(|name| stderr.contains(name)), "written")
        }
        Fact::Fails => require(!outcome.ending.is_success(), "it was not denied"),
    }
}

/// Returns the number of bytes that a command prints, counted by the command.
fn length(scene: &Scene, command: &str) -> Result<u64, String> {
    let counted = scene.fixture.run(&format!("{{ {}\n}} | wc -c", scene.command(command)));
    stdout(&counted).trim().parse().map_err(|error| format!("{error}: {counted:?}"))
}

/// Checks that a command took no longer than a phrase allows. A late command is retried, in the same folder. The time for
/// much output depends on the machine's load, so it is measured in a soak, which has the machine to itself.
fn is_quick(phrase: &str, scene: &Scene, command: &str, outcome: &Outcome) -> Result<(), String> {
    if outcome.stdout.total_bytes > MUCH_OUTPUT && std::env::var_os("SOAK_FACTOR").is_none() {
        return Ok(());
    }
    let limit = phrase.split_once("< ").and_then(|(_, time)| duration(time));
    // `< timeout`, and commands that only have to end by themselves.
    let limit = limit.unwrap_or(Duration::from_secs(5));
    let mut least = outcome.duration;
    for _ in 1..TRIES {
        if least < limit {
            return Ok(());
        }
        least = least.min(scene.fixture.run(&scene.command(command)).duration);
    }
    if least < limit { Ok(()) } else { Err(format!("took {least:?}, allowed are {limit:?}")) }
}

/// Reads `100 ms`, `1 s`.
fn duration(text: &str) -> Option<Duration> {
    let mut words = text.split(' ');
    let number = words.next()?.parse().ok()?;
    match words.next()? {
        "ms" => Some(Duration::from_millis(number)),
        "s" => Some(Duration::from_secs(number)),
        _ => None,
    }
}
