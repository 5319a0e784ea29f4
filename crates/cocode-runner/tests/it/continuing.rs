//! Agents that continue work which is not committed.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use cocode_runner::{AgentRecord, ContinuedWork, RunRequest, Runner, RunnerError, StopFlag};

use crate::fixture::{Fixture, Log, agent, failures, refused, request};

const COMMIT: &str = "git add -A; git commit -q -m 'cocode ready for check'";

/// Runs an agent from the files of the repository as they are.
fn continue_work(fixture: &Fixture, runner: &Runner, script: &str) -> AgentRecord {
    let before = fixture.git(&["status", "--porcelain"]);
    let base = runner.snapshot("the files as they are", &|path| path.ends_with(".env")).unwrap();
    assert_eq!(fixture.git(&["status", "--porcelain"]), before, "a snapshot leaves the index as it is");
    let request = RunRequest {
        base: Some(base),
        continues: Some("client".to_owned()),
        ..request(vec![agent("a", &format!("{script}; {COMMIT}"))])
    };
    let record = runner.run(&request, &StopFlag::new(), &Log::default()).unwrap().remove(0);
    assert_eq!(record.base, "session:client");
    record
}

/// Runs the command that takes the work in, as a user's shell would.
fn take_in(fixture: &Fixture, work: &ContinuedWork) -> bool {
    let mut command = Command::new("sh");
    command.args(["-c", &work.command()]).current_dir(fixture.repository());
    command.env("HOME", fixture.repository().parent().unwrap().join("home"));
    command.output().unwrap().status.success()
}

#[test]
fn agents_start_from_files_that_are_not_committed_and_their_work_is_taken_into_them() {
    let fixture = Fixture::new();
    let runner = fixture.runner();
    let path = |name: &str| fixture.repository().join(name);
    let head = fixture.git(&["rev-parse", "HEAD"]);
    assert_eq!(runner.snapshot("nothing differs", &|_| false).unwrap(), head);
    fs::write(path("a.txt"), "mine\n").unwrap();
    fs::write(path("new.txt"), "new\n").unwrap();
    fs::write(path(".gitignore"), "ignored\n").unwrap();
    fs::write(path("ignored"), "ignored\n").unwrap();
    // Names that would be patterns are not.
    fs::create_dir(path("a*b")).unwrap();
    fs::write(path("a*b/secret.env"), "KEY=1\n").unwrap();
    fs::write(path("a*b/public.txt"), "public\n").unwrap();
    let script = "test ! -e ignored && test ! -e 'a*b/secret.env' && test -e 'a*b/public.txt' && grep -q mine a.txt && echo more >> new.txt";
    let record = continue_work(&fixture, &runner, script);
    assert_eq!(failures(&record), [""; 0], "{record:?}");
    let error = refused(runner.pick(&record, false));
    assert!(matches!(error, RunnerError::Continued { .. }), "{error}");
    let work = runner.continued_work(&record, "client").unwrap();
    assert!(!work.is_there && work.is_ready);
    assert_eq!(fs::read_to_string(path("new.txt")).unwrap(), "new\n");
    assert!(take_in(&fixture, &work));
    assert_eq!(fs::read_to_string(path("new.txt")).unwrap(), "new\nmore\n");
    assert_eq!(fs::read_to_string(path("a.txt")).unwrap(), "mine\n");
    assert_eq!(fixture.git(&["rev-parse", "HEAD"]), head);
    assert!(runner.continued_work(&record, "client").unwrap().is_there);
    // Work whose lines have changed since is refused as a whole, by the check and by the command.
    fs::write(path("new.txt"), "something else\n").unwrap();
    let error = refused(runner.continued_work(&record, "client"));
    assert!(matches!(error, RunnerError::DoesNotFit { .. }), "{error}");
    assert!(!take_in(&fixture, &work));
    assert_eq!(fs::read_to_string(path("new.txt")).unwrap(), "something else\n");
}

#[test]
fn work_arrives_byte_for_byte_whatever_the_settings_are() {
    let fixture = Fixture::new();
    let settings = [
        ("diff.noprefix", "true"),
        ("diff.renames", "copies"),
        ("diff.external", "false"),
        ("apply.whitespace", "fix"),
        ("apply.ignoreWhitespace", "change"),
        ("diff.colorMoved", "zebra"),
        ("color.ui", "always"),
    ];
    for (name, value) in settings {
        fixture.git(&["config", name, value]);
    }
    let runner = fixture.runner();
    let path = |name: &str| fixture.repository().join(name);
    fs::write(path("binary"), [0, 1, 2, 255, 10, 13]).unwrap();
    fs::write(path("crlf"), "one\r\ntwo  \r\n").unwrap();
    fs::write(path("script"), "#!/bin/sh\n").unwrap();
    fs::write(path("gone"), "gone\n").unwrap();
    symlink("crlf", path("link")).unwrap();
    let script = "printf '\\000\\001x' > binary; printf 'three \\t\\r\\nno end ' >> crlf; chmod +x script; rm gone; \
         ln -sf script link; mkdir -p 'a folder'; printf x > 'a folder/\u{e4} \"b\"'; cp crlf copy";
    let record = continue_work(&fixture, &runner, script);
    let work = runner.continued_work(&record, "client").unwrap();
    assert!(take_in(&fixture, &work));
    assert_eq!(fs::read(path("binary")).unwrap(), [0, 1, b'x']);
    let expected = "one\r\ntwo  \r\nthree \t\r\nno end ";
    assert_eq!(fs::read_to_string(path("crlf")).unwrap(), expected);
    assert_eq!(fs::read_to_string(path("copy")).unwrap(), expected);
    assert_eq!(fs::metadata(path("script")).unwrap().permissions().mode() & 0o111, 0o111);
    assert!(!path("gone").exists());
    assert_eq!(fs::read_link(path("link")).unwrap().to_str(), Some("script"));
    assert_eq!(fs::read_to_string(path("a folder/\u{e4} \"b\"")).unwrap(), "x");
}

#[test]
fn a_part_of_a_repository_is_not_continued() {
    let fixture = Fixture::new();
    let folder = fixture.repository().join("part");
    fs::create_dir(&folder).unwrap();
    let config = cocode_runner::RunnerConfig { repository: folder, ..fixture.config() };
    let error = refused(Runner::open(config).unwrap().snapshot("a part", &|_| false));
    assert!(matches!(error, RunnerError::BelowTheRoot), "{error}");
}
