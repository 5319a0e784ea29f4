//! A fault at any system call of a reply: applying the reply again ends where an undisturbed run ends.
//!
//! An ordinary run takes some calls; `cargo xtask soak journal` takes every call of every name and prints a table.

mod aftermath;
mod call_name;
mod cycle;
mod record;
mod table;
mod tracer;
mod trials;

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use aftermath::Finding;
use call_name::CallName;
use cycle::Cycle;
use record::Record;
use table::{Table, WORKERS};
use tracer::{Fault, Injection, Traced};
use trials::carry_out;

use crate::fixture::project::Project;

/// The calls that bring a reply to the disk.
const WRITING: [&str; 10] = [
    "write",
    "pwrite64",
    "fsync",
    "fdatasync",
    "ftruncate",
    "renameat",
    "renameat2",
    "unlink",
    "unlinkat",
    "mkdirat",
];

/// Returns the result of a trace, unless this machine lets no process trace another. If everything has to be tested, that is a
/// failure.
fn traced<T>(result: io::Result<T>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            test_support::skip("faults", &format!("ptrace is not allowed on this machine ({error})"));
            None
        }
        Err(error) => panic!("ptrace: {error}"),
    }
}

fn cycle() -> Option<Cycle> {
    traced(Cycle::prepare())
}

#[test]
fn an_answer_waits_for_no_file() {
    let project = Project::new();
    for file in 0..10 {
        project.write(&format!("f{file}"), "one\ntwo\n");
    }
    let id = project.begin("edit");
    let edits: String = (0..10)
        .map(|file| {
            format!("[EDIT_FILE path=\"f{file}\" start_line=\"1\" end_line=\"1\"]\n1\n[/EDIT_FILE]\n")
        })
        .collect();
    let reply = project.reply_file(format!("Reply-To: {id}-1\n\n{edits}"));
    let arguments = ["apply".as_ref(), reply.as_os_str()];
    let Some(first) = traced(tracer::run(&project.command(&arguments), None)) else { return };
    assert_eq!(first.stdout.matches("[OK] EDIT_FILE").count(), 10, "{first:?}");
    // The same reply again does nothing but open and close the state folder.
    let again = tracer::run(&project.command(&arguments), None).unwrap();
    assert!(again.stderr.contains("executed before"), "{again:?}");
    let syncs = |traced: &Traced| {
        let count = |name| traced.counts_of_first_thread.get(&CallName::named(name).unwrap()).copied();
        count("fsync").unwrap_or_default() + count("fdatasync").unwrap_or_default()
    };
    assert_eq!(syncs(&first), syncs(&again), "{first:?}");
}

#[test]
fn a_process_killed_while_it_makes_a_state_folder_leaves_no_way_into_a_repository() {
    const NEW: [&str; 3] = ["new", "--no-wait", "a task"];
    const RULE: &str = "*\n";
    let rule = |project: &Project| std::fs::read_to_string(project.base().join(".gitignore")).ok();
    let mut killed_before_the_rule = 0;
    for name in ["mkdir", "write", "fsync", "rename", "renameat", "renameat2"] {
        let Some(name) = CallName::named(name) else { continue };
        for number in 1..=3 {
            let project = Project::new();
            let injection = Injection { name, number, fault: Fault::Kill };
            let Some(traced) = traced(tracer::run(&project.command(&NEW), Some(injection))) else { return };
            if !traced.is_injected {
                break;
            }
            let is_there = rule(&project).as_deref() == Some(RULE);
            killed_before_the_rule += usize::from(!is_there);
            assert!(is_there || !project.base().join("journal").exists(), "{injection:?} {traced:?}");
            project.run(&NEW).ok();
            assert_eq!(rule(&project).as_deref(), Some(RULE), "{injection:?}");
        }
    }
    assert!(killed_before_the_rule >= 3, "only {killed_before_the_rule} came before the rule");
}

fn calls(cycle: &Cycle, name: &str) -> Vec<(CallName, u32)> {
    let name = CallName::named(name).unwrap();
    let count = cycle.counts.get(&name).copied().unwrap_or_default();
    (1..=count).map(|number| (name, number)).collect()
}

#[test]
fn killed_before_some_of_the_calls_that_write_it_goes_on() {
    let Some(cycle) = cycle() else { return };
    let all: Vec<_> = WRITING.into_iter().flat_map(|name| calls(&cycle, name)).collect();
    let some = all.into_iter().step_by(10);
    let injections = some.map(|(name, number)| Injection { name, number, fault: Fault::Kill }).collect();
    let table = Table::fill(&cycle, injections);
    assert!(table.injected() > 10, "{table}");
    assert!(table.differences.is_empty(), "{table}");
    assert!(table.count_of(Finding::ChangeRefused) == 0, "{table}");
}

#[test]
fn failure_of_some_of_the_calls_that_write_is_reported_or_overcome() {
    let Some(cycle) = cycle() else { return };
    let all: Vec<_> = WRITING.into_iter().flat_map(|name| calls(&cycle, name)).collect();
    let faults = [Fault::NoSpace, Fault::Io, Fault::Interrupted, Fault::ShortWrite];
    let some = all.into_iter().enumerate().skip(5).step_by(10);
    let injections: Vec<_> = some
        .zip(faults.into_iter().cycle())
        .map(|((_, (name, number)), fault)| Injection { name, number, fault })
        .filter(|injection| injection.fault != Fault::ShortWrite || injection.name.is_write())
        .collect();
    let table = Table::fill(&cycle, injections);
    assert!(table.injected() > 5, "{table}");
    assert!(table.differences.is_empty(), "{table}");
}

/// Returns the injections that a long run tries: every fault at every call, or some of them. `FAULT_KINDS` names faults, such as
/// `Kill,Io`, and `FAULT_CALLS` calls, with their numbers where only a few are meant: `fsync,newfstatat:490-505`.
///
/// The order is that of their hashes, so that a run which ends early has tried faults at all kinds of calls.
fn injections_of_all_calls(cycle: &Cycle) -> Vec<Injection> {
    let list = |variable: &str| {
        std::env::var(variable).ok().map(|text| text.split(',').map(str::to_owned).collect::<Vec<_>>())
    };
    let (calls, kinds) = (list("FAULT_CALLS"), list("FAULT_KINDS"));
    let is_kind = |fault: Fault| kinds.as_ref().is_none_or(|kinds| kinds.contains(&format!("{fault:?}")));
    let is_call = |name: CallName, number: u32| {
        calls.as_ref().is_none_or(|calls| calls.iter().any(|call| is_meant(call, &name.to_string(), number)))
    };
    let mut injections = Vec::new();
    for (name, count) in &cycle.counts {
        for fault in [Fault::Kill, Fault::Io, Fault::NoSpace, Fault::Interrupted, Fault::ShortWrite] {
            if name.is_possible(fault) && is_kind(fault) {
                let numbers = (1..=*count).filter(|number| is_call(*name, *number));
                injections.extend(numbers.map(|number| Injection { name: *name, number, fault }));
            }
        }
    }
    injections.sort_by_cached_key(|injection| {
        let mut hasher = DefaultHasher::new();
        injection.hash(&mut hasher);
        hasher.finish()
    });
    injections
}

/// Checks whether `NAME`, `NAME:NUMBER` or `NAME:FIRST-LAST` means a call.
fn is_meant(call: &str, name: &str, number: u32) -> bool {
    let (wanted, numbers) =
        call.split_once(':').map_or((call, None), |(name, numbers)| (name, Some(numbers)));
    wanted == name
        && numbers.is_none_or(|numbers| {
            let (first, last) = numbers.split_once('-').unwrap_or((numbers, numbers));
            let parse = |text: &str| text.parse::<u32>().expect("a number of a call");
            (parse(first)..=parse(last)).contains(&number)
        })
}

/// `FAULT_RECORD` names the file from which a run continues, `FAULT_SECONDS` the time after which it ends, `FAULT_WORKERS` the number
/// of trials at one time.
#[test]
#[ignore = "takes long: `cargo xtask soak journal` runs it"]
fn fault_at_every_call_leaves_nothing_lost_partial_or_done_twice() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let Some(cycle) = cycle() else { return };
    // Preparing takes none of the time.
    let deadline = number("FAULT_SECONDS").map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let (mut record, earlier) = match std::env::var_os("FAULT_RECORD") {
        Some(path) => {
            let (record, earlier) = Record::open(Path::new(&path), Path::new(env!("CARGO_BIN_EXE_agentd")));
            (Some(record), earlier)
        }
        None => (None, Vec::new()),
    };
    // Threads make the counts vary: the numbers of a name continue as long as there is a call with the next one.
    let further = |injection: Injection, is_reached: bool| {
        let most = cycle.counts.get(&injection.name).copied().unwrap_or_default();
        (is_reached && injection.number >= most)
            .then_some(Injection { number: injection.number + 1, ..injection })
    };
    let mut table = Table::new(&cycle);
    let mut injections = injections_of_all_calls(&cycle);
    let tried: HashSet<Injection> = earlier.iter().map(|(injection, _)| *injection).collect();
    for (injection, trial) in earlier {
        injections.extend(further(injection, trial.is_reached));
        table.add(injection, trial);
    }
    let mut waiting = HashSet::new();
    injections.retain(|injection| !tried.contains(injection) && waiting.insert(*injection));
    assert!(!tried.is_empty() || !injections.is_empty(), "no call has the wanted name, or no fault");
    let (mut done, total) = (tried.len(), tried.len() + injections.len());
    let workers = number("FAULT_WORKERS").map_or(WORKERS, |workers| workers as usize);
    let left = carry_out(&cycle, injections, workers, deadline, |injection, trial| {
        if let Some(record) = &mut record {
            record.append(injection, &trial);
        }
        let further = further(injection, trial.is_reached);
        table.add(injection, trial);
        done += 1;
        if done % 100 == 0 {
            eprintln!("{done} of {total} trials");
        }
        further
    });
    println!("{table}");
    println!("{} faults, {} differences, {left} trials left", table.injected(), table.differences.len());
    assert!(left == 0 || done > tried.len(), "the time was over before the first trial");
    assert!(table.differences.is_empty(), "see the table");
}
