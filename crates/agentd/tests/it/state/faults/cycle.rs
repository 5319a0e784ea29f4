//! One reply from its file to the next outbox, with a fault at one of its system calls, and then once more without.

use std::collections::BTreeMap;
use std::io;

use super::aftermath::{Aftermath, Finding, LOG};
use super::call_name::CallName;
use super::tracer::{self, Ended, Injection, Traced};
use crate::fixture::project::{Project, Ran};

/// New, replaced, deleted and edited files, the last one by line numbers that were never shown, and a command that shows
/// if it runs twice and does what can be done to files, to some that are too large to be kept too.
const REPLY: &str = r#"Reply-To: {reply-to}

[CREATE_FILE path="notes/plan.md"]
# Plan

1. widen the table
[/CREATE_FILE]
[CREATE_FILE path="kept.txt"]
replaced
[/CREATE_FILE]
[DELETE_FILE path="old.txt"]
[EDIT_FILE path="table.txt" start_line="2" end_line="3" was="row 2"]
rows 2 and 3
[/EDIT_FILE]
[RUN_COMMAND]
echo ran >> ran.log; mkdir -p made/deep; echo x > made/deep/file; rm -r goes; echo more >> stays; chmod 755 stays
ln -s stays made/link; head -c 17000000 /dev/zero > made/large; mv large.txt made/moved
[/RUN_COMMAND]
"#;

/// A project whose session waits for the reply, and what an undisturbed cycle makes of it.
pub(crate) struct Cycle {
    waiting: Project,
    id: String,
    arguments: Vec<std::ffi::OsString>,
    before: Aftermath,
    undisturbed: Aftermath,
    /// The largest number of calls of each name in some undisturbed runs: threads make it vary.
    pub(crate) counts: BTreeMap<CallName, u32>,
}

/// The result of one fault.
#[derive(Debug)]
pub(crate) struct Trial {
    pub(crate) is_reached: bool,
    pub(crate) is_injected: bool,
    /// The end of the disturbed run.
    pub(crate) ended: Ended,
    /// The final state, or a description of the fault in it.
    pub(crate) finding: Result<Finding, String>,
}

impl Cycle {
    /// Prepares the project and counts the calls of undisturbed runs.
    ///
    /// # Errors
    ///
    /// If this machine does not let one process trace another.
    pub(crate) fn prepare() -> io::Result<Cycle> {
        let project = Project::new();
        let rows: String = (1..=10).map(|row| format!("row {row}\n")).collect();
        project.write("table.txt", &rows).write("old.txt", "old\n").write("kept.txt", "to be replaced\n");
        project.write(LOG, "");
        project.write("goes/inside", "old\n").write("stays", "old\n");
        project.write("large.txt", &"a line\n".repeat(2_500_000));
        let id = project.begin("widen the table");
        let reply = project.reply_file(REPLY.replace("{reply-to}", &format!("{id}-1")));
        let arguments = vec!["apply".into(), reply.into_os_string()];
        let before = Aftermath::of(&project, &id, 1);
        let mut cycle = Cycle {
            id,
            arguments,
            undisturbed: before.clone(),
            before,
            counts: BTreeMap::new(),
            waiting: project,
        };
        for round in 0..3 {
            let project = cycle.waiting.copy();
            let traced = tracer::run(&project.command(&cycle.arguments), None)?;
            assert_eq!(traced.ended, Ended::Exit(0), "{traced:?}");
            let aftermath = Aftermath::of(&project, &cycle.id, 2);
            assert_eq!(aftermath.times_run(), 1, "{traced:?}\n{}", aftermath.outbox);
            if round == 0 {
                cycle.undisturbed = aftermath;
            } else {
                assert_eq!(aftermath, cycle.undisturbed, "two undisturbed cycles differ");
            }
            for (name, count) in traced.counts {
                let most = cycle.counts.entry(name).or_default();
                *most = count.max(*most);
            }
        }
        Ok(cycle)
    }

    /// Runs the cycle with one fault and then applies the same reply again.
    pub(crate) fn trial(&self, injection: Injection) -> Trial {
        let project = self.waiting.copy();
        let traced = tracer::run(&project.command(&self.arguments), Some(injection)).unwrap();
        // What waits without end can only be killed, and then it is as if it was killed.
        let finding = if traced.ended == Ended::Hung && !injection.name.may_wait_for_ever() {
            Err("it hung".to_owned())
        } else {
            self.go_on(&project, &traced)
        };
        Trial { is_reached: traced.is_reached, is_injected: traced.is_injected, ended: traced.ended, finding }
    }

    fn go_on(&self, project: &Project, traced: &Traced) -> Result<Finding, String> {
        let ran = project.run(&self.arguments);
        if ran.code != 0 {
            return Err(format!(
                "the second try failed: {}\nfirst: {:?} {}",
                ran.stderr, traced.ended, traced.stderr
            ));
        }
        let aftermath = Aftermath::of(project, &self.id, 2);
        check_acknowledged(traced, &aftermath)?;
        check_ending(traced)?;
        let finding = aftermath.compare(&self.undisturbed, &self.before);
        finding.map_err(|wrong| format!("{wrong}\n{}", report(traced, &ran)))
    }
}

/// Every block that the disturbed run had reported must have that result in the end.
fn check_acknowledged(traced: &Traced, aftermath: &Aftermath) -> Result<(), String> {
    let lines = traced.stderr.lines();
    let reported = lines.filter_map(|line| match line {
        _ if line.starts_with("  ok      ") => Some(true),
        _ if line.starts_with("  failed  ") => Some(false),
        _ => None,
    });
    for (index, (reported, result)) in reported.zip(aftermath.results()).enumerate() {
        if result["success"] != reported {
            return Err(format!(
                "block {index} was reported as {reported}, and now it is {result}\n{}",
                traced.stderr
            ));
        }
    }
    let printed = traced.stdout.lines().filter_map(|line| line.strip_prefix('[')?.split_once("] "));
    let mut results = aftermath.results().iter();
    for (mark, line) in printed {
        // A long summary is printed up to an ellipsis; after it, a command's summary has its exit code.
        let summary = line.split_once(": ").map_or(line, |(_, summary)| summary);
        let (start, end) = summary.split_once('…').unwrap_or((summary, ""));
        let is_same = |result: &serde_json::Value| {
            result["summary"].as_str().is_some_and(|now| now.starts_with(start) && now.ends_with(end))
                && result["success"] == (mark == "OK")
        };
        // A line that could not be written is missing; the others are in the order of the blocks.
        if !results.any(is_same) {
            return Err(format!("'[{mark}] {line}' was printed, and it is not a result, or comes too late"));
        }
    }
    Ok(())
}

/// The message of the standard library when it cannot close a folder.
const CLOSING_A_FOLDER: &str = "unexpected error during closedir";

/// A program that ends by itself and not well says why.
fn check_ending(traced: &Traced) -> Result<(), String> {
    match traced.ended {
        Ended::Exit(0) => Ok(()),
        Ended::Exit(_) if traced.stderr.contains("agentd: ") => Ok(()),
        // The loader gives up before the program begins.
        Ended::Exit(127) if !traced.stderr.is_empty() => Ok(()),
        // Where a folder that was listed cannot be closed, the standard library panics: `ReadDir` asserts it when it is
        // dropped, within `remove_dir_all` too. The kernel has no such fault of folders, and the panic is a crash like
        // others, after which nothing is lost. No other panic is an ending.
        Ended::Exit(101) if traced.stderr.contains(CLOSING_A_FOLDER) => Ok(()),
        Ended::Exit(101) => Err(format!("it panicked: {}", traced.stderr)),
        Ended::Exit(code) => Err(format!("exit code {code} without a word: {}", traced.stderr)),
        Ended::Signal(_) | Ended::Hung => Ok(()),
    }
}

fn report(traced: &Traced, ran: &Ran) -> String {
    format!("first: {:?}\n{}{}then: {ran}", traced.ended, traced.stdout, traced.stderr)
}
