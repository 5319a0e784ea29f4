//! The log and the outcome of an undo as text.

use std::sync::Arc;

use change_journal::{
    ChangeNumber, ChangeRecord, EntryRecord, Journal, JournalLimits, RunKey, RunState, StepKind, StepRecord,
};
use test_support::Caller;
use wap_core::{CancelFlag, FileChange, Workspace, WriteFile};
use workspace_host::{
    HostOptions, LogPart, NoNotices, SecretRules, SharedNotices, SharedWorkspace, UndoRequest,
    WorkspacePaths, log, log_page, log_text, undo_text,
};

/// Writes three files, each in a run of its own.
fn written() -> (tempfile::TempDir, WorkspacePaths, SharedWorkspace) {
    let folder = tempfile::tempdir().unwrap();
    let options = HostOptions::new(folder.path());
    let paths = WorkspacePaths::find(&options).unwrap();
    let notices: SharedNotices = Arc::new(NoNotices);
    let workspace = SharedWorkspace::new(&options, &paths, &notices);
    workspace.open().unwrap();
    for path in ["a.txt", "b.txt", "c.txt"] {
        let write = WriteFile { path: path.into(), content: "x\n".into(), ..WriteFile::default() };
        let caller = Caller::once();
        workspace.change_files(&caller.call(), &[FileChange::Write(write)]).unwrap().remove(0).unwrap();
    }
    (folder, paths, workspace)
}

/// Removes the times, which differ in every run.
fn without_times(line: &str) -> String {
    line.split_once("Z  ").map_or(line, |(_, rest)| rest).to_owned()
}

#[test]
fn an_undo_and_the_log_after_it() {
    let (_folder, paths, workspace) = written();
    let answer =
        workspace.undo(&UndoRequest { change: Some(2), ..UndoRequest::default() }, &Caller::once().call());
    let rules = SecretRules::open(&HostOptions::new(&paths.workspace), &paths).unwrap();
    let undone = undo_text(answer.unwrap(), 1_000, &rules).unwrap();
    // Until the owner has left, changes may be written and not settled yet.
    workspace.leave(&CancelFlag::new());
    drop(workspace);
    let lines: Vec<String> =
        log_text(&log(&paths, 10, true).unwrap()).iter().map(|line| without_times(line)).collect();
    insta::assert_snapshot!(format!("{undone}\n\n{}", lines.join("\n")));
}

/// Records the undo of change 3, the newest, as a process does that is killed right after the commit.
fn undo_and_be_killed(paths: &WorkspacePaths) {
    let (journal, _) = Journal::open(&paths.base.join("journal"), JournalLimits::default()).unwrap();
    let RunState::New(run) = journal.begin_run(&RunKey::once("undo", b"killed")).unwrap() else {
        panic!("the run is new")
    };
    let undone = serde_json::json!({
        "run": run.number().0, "paths": [{ "path": "c.txt", "effect": "removed", "undoes": [3] }],
        "keptFolders": [], "commands": [],
    });
    let outcome = serde_json::json!({ "outcome": { "Ok": undone } }).to_string();
    let back = ChangeRecord::intended(b"c.txt", Some(EntryRecord::file(b"x\n")), None);
    let step = StepRecord {
        kind: StepKind::FileChange,
        description: "undo 1 changes",
        outcome: outcome.as_bytes(),
        changes: vec![ChangeRecord { undoes: Some(ChangeNumber(3)), ..back }],
    };
    journal.record_steps(run.number(), 0, &[step]).unwrap();
}

#[test]
fn a_repeated_undo_reports_the_interrupted_one_and_undoes_nothing_older() {
    for is_interrupted in [true, false] {
        let (folder, paths, workspace) = written();
        let there = || ["a.txt", "b.txt", "c.txt"].map(|name| folder.path().join(name).exists());
        if is_interrupted {
            workspace.leave(&CancelFlag::new());
            drop(workspace);
            undo_and_be_killed(&paths);
        } else {
            workspace.undo(&UndoRequest::default(), &Caller::once().call()).unwrap().unwrap();
            workspace.leave(&CancelFlag::new());
            drop(workspace);
        }
        let options = HostOptions::new(folder.path());
        let notices: SharedNotices = Arc::new(NoNotices);
        let workspace = SharedWorkspace::new(&options, &paths, &notices);
        let rules = SecretRules::open(&options, &paths).unwrap();
        let undo = || {
            let answer = workspace.undo(&UndoRequest::default(), &Caller::once().call()).unwrap();
            undo_text(answer, 1_000, &rules).unwrap()
        };
        if is_interrupted {
            let reported = undo();
            assert!(reported.starts_with("the last undo was interrupted, and is complete now"), "{reported}");
            assert!(reported.contains("removed       c.txt"), "{reported}");
            assert_eq!(there(), [true, true, false]);
        }
        // The next one undoes older work, and so does each after it.
        for left in [[true, false, false], [false; 3]] {
            let text = undo();
            assert!(!text.contains("interrupted"), "{text}");
            assert_eq!(there(), left, "{text}");
        }
    }
}

#[test]
fn the_log_marks_a_step_that_failed() {
    let (_folder, paths, workspace) = written();
    let path = ".git/hooks/post-checkout".to_owned();
    let write = WriteFile { path, content: "x\n".into(), ..WriteFile::default() };
    let refused =
        workspace.change_files(&Caller::once().call(), &[FileChange::Write(write)]).unwrap().remove(0);
    assert!(refused.is_err());
    workspace.leave(&CancelFlag::new());
    drop(workspace);
    let lines = log_text(&log(&paths, 1, true).unwrap());
    assert_eq!(lines[1..], ["  write .git/hooks/post-checkout  (failed)"]);
}

#[test]
fn pages_of_every_size_have_every_line_once() {
    let (_folder, paths, workspace) = written();
    // Until the owner has left, lines change while pages are read.
    workspace.leave(&CancelFlag::new());
    drop(workspace);
    let part = LogPart { limit: 10, before: None, skip: 0, characters: 10_000 };
    let rules = SecretRules::open(&HostOptions::new(&paths.workspace), &paths).unwrap();
    let whole: Vec<String> = log_page(&paths, &part, &rules).unwrap().lines().map(str::to_owned).collect();
    assert_eq!(whole.len(), 9, "{whole:?}");
    for characters in [50, 90, 130, 200, 400] {
        let mut part = LogPart { characters, ..part };
        let mut count = 0;
        // Each page has one line at least, so that there are no more pages than lines.
        for _ in 0..=whole.len() {
            let page = log_page(&paths, &part, &rules).unwrap();
            let (notes, lines): (Vec<&str>, Vec<&str>) =
                page.lines().partition(|line| line.starts_with('[') || line.contains("  (cont"));
            for line in lines {
                assert!(whole[count].starts_with(line), "{line:?} at {count} of {whole:?}, {characters}");
                count += 1;
            }
            let Some(note) = notes.iter().find(|note| note.starts_with('[')) else { break };
            let arguments = &note[note.find('{').unwrap()..note.len() - 1];
            let next: serde_json::Value = serde_json::from_str(arguments).unwrap();
            part.before = next["before"].as_u64();
            part.skip = next["skip"].as_u64().unwrap_or(0);
        }
        assert_eq!(count, whole.len(), "{characters} characters");
    }
}
