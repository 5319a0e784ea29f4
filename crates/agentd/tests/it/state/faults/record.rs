//! The trials of a long run as lines of a file, from which an interrupted run continues.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use nix::sys::signal::Signal;
use sandbox_fs::ContentHash;
use serde_json::{Value, json};

use super::call_name::CallName;
use super::cycle::Trial;
use super::table::{FAULTS, FINDINGS};
use super::tracer::{Ended, Injection};

/// The sources that choose, carry out and judge a trial: one by others says nothing about what these would say.
const JUDGES: [&str; 7] = [
    include_str!("../faults.rs"),
    include_str!("aftermath.rs"),
    include_str!("call_name.rs"),
    include_str!("cycle.rs"),
    include_str!("table.rs"),
    include_str!("tracer.rs"),
    include_str!("trials.rs"),
];

/// The file with the trials of one program: the first line names the program and the judges by their content, each other line is
/// a trial.
#[derive(Debug)]
pub(crate) struct Record {
    file: File,
}

impl Record {
    /// Opens the record of a program, and returns the trials that are in it.
    ///
    /// A record of another program, or by other judges, is emptied: its trials say nothing about this one. A last line without its end, which a
    /// kill leaves, is removed. Trials that ended in a fault are left out, so that they are tried again.
    pub(crate) fn open(path: &Path, program: &Path) -> (Record, Vec<(Injection, Trial)>) {
        let hash = |bytes: &[u8]| ContentHash::of(bytes).to_string();
        let head = json!({ "program": hash(&fs::read(program).unwrap()), "judges": hash(JUDGES.concat().as_bytes()) });
        let head = head.to_string();
        let before = match fs::read_to_string(path) {
            Ok(before) => before,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            // Hours of trials would be overwritten.
            Err(error) => panic!("the record {} cannot be read: {error}", path.display()),
        };
        let whole = before.rfind('\n').map_or("", |end| &before[..=end]);
        let mut lines = whole.lines();
        let is_of_program = lines.next() == Some(head.as_str());
        let kept = if is_of_program { whole } else { &format!("{head}\n") };
        if kept != before {
            fs::write(path, kept).unwrap();
        }
        let trials = lines.filter(|_| is_of_program).map(|line| parse(line).expect("a line of a record"));
        let trials = trials.filter(|(_, trial)| trial.finding.is_ok()).collect();
        (Record { file: OpenOptions::new().append(true).open(path).unwrap() }, trials)
    }

    pub(crate) fn append(&mut self, injection: Injection, trial: &Trial) {
        writeln!(self.file, "{}", render(injection, trial)).unwrap();
    }
}

fn render(injection: Injection, trial: &Trial) -> Value {
    let (_, fault) = FAULTS.iter().find(|(fault, _)| *fault == injection.fault).unwrap();
    let ended = match trial.ended {
        Ended::Exit(code) => json!(code),
        Ended::Signal(signal) => json!(signal.as_str()),
        Ended::Hung => json!("hung"),
    };
    let (finding, wrong) = match &trial.finding {
        Ok(finding) => (FINDINGS.iter().find(|(one, ..)| one == finding).map(|(_, name, _)| *name), None),
        Err(wrong) => (None, Some(wrong)),
    };
    json!({
        "call": injection.name.to_string(), "number": injection.number, "fault": fault, "reached": trial.is_reached,
        "injected": trial.is_injected, "ended": ended, "finding": finding, "wrong": wrong,
    })
}

fn parse(line: &str) -> Option<(Injection, Trial)> {
    let value: Value = serde_json::from_str(line).ok()?;
    let text = |key: &str| value[key].as_str();
    let (fault, _) = FAULTS.iter().find(|(_, name)| text("fault") == Some(*name))?;
    let number = u32::try_from(value["number"].as_u64()?).ok()?;
    let ended = match (&value["ended"], text("ended")) {
        (Value::Number(code), _) => Ended::Exit(i32::try_from(code.as_i64()?).ok()?),
        (_, Some("hung")) => Ended::Hung,
        (_, signal) => Ended::Signal(signal?.parse::<Signal>().ok()?),
    };
    let finding = match text("wrong") {
        Some(wrong) => Err(wrong.to_owned()),
        None => Ok(FINDINGS.iter().find(|(_, name, _)| text("finding") == Some(*name))?.0),
    };
    let trial = Trial {
        is_reached: value["reached"].as_bool()?,
        is_injected: value["injected"].as_bool()?,
        ended,
        finding,
    };
    Some((Injection { name: CallName::parse(text("call")?)?, number, fault: *fault }, trial))
}

#[test]
fn a_record_returns_the_trials_of_the_same_program_and_no_partial_line() {
    use super::aftermath::Finding;
    use super::tracer::Fault;

    let folder = tempfile::tempdir().unwrap();
    let (path, program) = (folder.path().join("record"), folder.path().join("program"));
    fs::write(&program, "one").unwrap();
    let write = CallName::named("write").unwrap();
    let calls = [(write, Fault::Kill), (CallName::of(100_000), Fault::Io), (write, Fault::ShortWrite)];
    let ends = [
        (Ended::Signal(Signal::SIGKILL), Ok(Finding::CommandUnknown)),
        (Ended::Hung, Ok(Finding::Same)),
        (Ended::Exit(2), Err("line\nline".to_owned())),
    ];
    let (mut record, none) = Record::open(&path, &program);
    assert!(none.is_empty());
    let mut written = Vec::new();
    for (index, ((name, fault), (ended, finding))) in calls.into_iter().zip(ends).enumerate() {
        let injection = Injection { name, number: 7, fault };
        let trial = Trial { is_reached: true, is_injected: index == 0, ended, finding };
        record.append(injection, &trial);
        written.push(format!("{injection:?} {trial:?}"));
    }
    let is_tried_again = written.pop();
    assert!(is_tried_again.is_some_and(|trial| trial.contains("Err(")), "the last one ended in a fault");
    fs::write(&path, fs::read_to_string(&path).unwrap() + "{\"call\":\"wri").unwrap();
    let read = |program: &Path| {
        let (_, trials) = Record::open(&path, program);
        trials.iter().map(|(injection, trial)| format!("{injection:?} {trial:?}")).collect::<Vec<_>>()
    };
    assert_eq!(read(&program), written);
    assert_eq!(read(&program), written, "the partial line is removed");
    fs::write(&program, "another").unwrap();
    assert_eq!(read(&program), Vec::<String>::new());
}
