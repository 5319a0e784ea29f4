//! Programs that write to a file which they opened before it was replaced.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};

use change_journal::{ChangeState, JournalReader};
use local_workspace::{LateWrite, LocalWorkspace, Undo, UndoError};
use wap_core::*;

use crate::fixture::workspace::*;

fn opened(fixture: &Fixture, name: &str) -> File {
    OpenOptions::new().write(true).open(fixture.root().join(name)).unwrap()
}

/// Returns the late writes, each as its path and the kept content.
fn late_writes(fixture: &Fixture, workspace: &LocalWorkspace) -> Vec<(String, String)> {
    workspace.checkpoint();
    let text = |late: LateWrite| (late.path, fixture.text(&late.kept_as.unwrap()).unwrap());
    workspace.late_writes().into_iter().map(text).collect()
}

#[test]
fn what_is_written_to_a_replaced_file_is_kept_next_to_it() {
    let fixture = Fixture::new();
    for name in ["d/edited", "d/written", "d/deleted", "d/quiet"] {
        fixture.put(name, "1\n2\n");
    }
    let [mut edited, written, mut deleted, quiet] =
        ["d/edited", "d/written", "d/deleted", "d/quiet"].map(|name| opened(&fixture, name));
    let workspace = fixture.open();
    let changes = [
        replace("d/edited", (1, 1), "one", None),
        write("d/written", "ours\n"),
        delete("d/deleted"),
        write("d/quiet", "ours\n"),
    ];
    let outcomes = workspace.change_files(&Caller::once().call(), &changes).unwrap();
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    assert_eq!(late_writes(&fixture, &workspace), []);
    edited.write_all(b"late\n").unwrap();
    written.set_len(0).unwrap();
    deleted.seek(SeekFrom::End(0)).unwrap();
    deleted.write_all(b"3\n").unwrap();
    drop(quiet);
    let expected = [("d/edited", "late\n"), ("d/written", ""), ("d/deleted", "1\n2\n3\n")];
    let expected = expected.map(|(path, text)| (path.to_owned(), text.to_owned()));
    assert_eq!(late_writes(&fixture, &workspace), expected);
    // Ours stays in place, and reports are not repeated.
    assert_eq!(
        (fixture.text("d/edited").unwrap(), fixture.text("d/written").unwrap()),
        ("one\n2\n".into(), "ours\n".into())
    );
    assert_eq!(late_writes(&fixture, &workspace), []);
    edited.write_all(b"later\n").unwrap();
    assert_eq!(late_writes(&fixture, &workspace), [("d/edited".to_owned(), "late\nlater\n".to_owned())]);
}

/// Something that replaces a file.
type Replacement<'r> = &'r dyn Fn(&LocalWorkspace);

#[test]
fn late_write_is_reported_to_its_caller_and_is_in_the_journal_and_no_undo_touches_it() {
    let fixture = Fixture::new();
    fixture.put("read", "r\n");
    // What replaces the file: an edit, an undo, and a command on a layer or in the folder.
    let edit = |workspace: &LocalWorkspace| {
        change(workspace, write("file", "ours\n")).unwrap();
    };
    let undo = |workspace: &LocalWorkspace| {
        let changes = journal_of(&fixture).changes_of_path(b"file", 9).unwrap();
        let edit = changes.iter().find(|change| change.state != ChangeState::Conflicted).unwrap();
        workspace.undo(&Caller::once().call(), &Undo::Changes(vec![edit.number])).unwrap();
    };
    let by_command = |workspace: &LocalWorkspace| {
        run(workspace, "echo new > copy && mv copy file").unwrap();
    };
    let workspace = fixture.open();
    let is_layered = workspace.sandbox_report().unwrap().layer == sandbox_exec::LayerKind::Overlay;
    let ways: [(&str, Replacement<'_>); 3] =
        [("an edit", &edit), ("an undo", &undo), ("a command", &by_command)];
    for (what, replace) in ways {
        if what == "a command" && !is_layered {
            // The command itself replaces the file then, like any other program.
            continue;
        }
        if what != "an undo" {
            fixture.put("file", format!("before {what}\n"));
        }
        let mut program = opened(&fixture, "file");
        program.seek(SeekFrom::End(0)).unwrap();
        replace(&workspace);
        let now = fixture.text("file");
        program.write_all(format!("late, after {what}\n").as_bytes()).unwrap();
        workspace.checkpoint();
        // A caller of another conversation receives no report of it, and it is reported once.
        let mut stranger = Caller::once();
        stranger.origin.conversation = ConversationId("stranger".into());
        let request = ReadFile { path: "read".into(), ..ReadFile::default() };
        assert!(workspace.read_file(&stranger.call(), &request).unwrap().warnings.is_empty(), "{what}");
        let warnings = read(&workspace, "read").unwrap().warnings;
        assert!(warnings.len() == 1 && warnings[0].contains("`file`"), "{what}: {warnings:?}");
        assert!(read(&workspace, "read").unwrap().warnings.is_empty(), "{what}");
        let kept = warnings[0].rsplit('`').nth(1).unwrap().to_owned();
        let late = format!("late, after {what}\n");
        assert!(fixture.text(&kept).unwrap().ends_with(&late), "{what}");
        assert_eq!(fixture.text("file"), now, "{what}");
        // The journal has it, as something that is not in force.
        let change = journal_of(&fixture).latest_changes(None, 1).unwrap().remove(0);
        assert_eq!((&*change.path, change.state), (&b"file"[..], ChangeState::Conflicted), "{what}");
        let content = journal_of(&fixture).content(&change.after.unwrap().content.unwrap());
        assert!(content.unwrap().unwrap().ends_with(late.as_bytes()), "{what}");
        let step = journal_of(&fixture).steps(change.run).unwrap().remove(0);
        assert!(step.description.contains(&kept), "{what}: {step:?}");
        let refused = workspace.undo(&Caller::once().call(), &Undo::Changes(vec![change.number]));
        assert!(matches!(refused, Err(UndoError::NeverHappened { .. })), "{what}: {refused:?}");
    }
    drop(workspace);
    assert!(fixture.open_with(fixture.open_journal(), fixture.config()).1.is_empty());
}

/// The journal of an open workspace, read concurrently.
fn journal_of(fixture: &Fixture) -> JournalReader {
    JournalReader::open(&fixture.path().join("state/journal")).unwrap()
}

#[test]
fn what_is_written_to_a_file_that_has_another_name_is_there_and_not_kept_twice() {
    let fixture = Fixture::new();
    let workspace = fixture.open();
    for (name, ours) in [("replaced", write("replaced", "ours\n")), ("deleted", delete("deleted"))] {
        fixture.put(name, "1\n");
        let other = format!("other name of {name}");
        fs::hard_link(fixture.root().join(name), fixture.root().join(&other)).unwrap();
        change(&workspace, ours).unwrap();
        fixture.put(&other, "late\n");
        assert_eq!(late_writes(&fixture, &workspace), []);
        fs::remove_file(fixture.root().join(&other)).unwrap();
        assert_eq!(late_writes(&fixture, &workspace), []);
    }
    assert_eq!(fixture.all_names(), ["replaced"]);
}

#[test]
fn a_write_of_the_same_length_in_the_same_moment_is_found() {
    let fixture = Fixture::new();
    let workspace = fixture.open();
    for round in 0..50 {
        let name = format!("f{round}");
        // The times of file systems have gaps of milliseconds: all of this happens within one.
        fixture.put(&name, "a\n");
        let mut file = opened(&fixture, &name);
        change(&workspace, write(&name, "ours\n")).unwrap();
        file.write_all(b"b\n").unwrap();
        assert_eq!(late_writes(&fixture, &workspace), [(name, "b\n".to_owned())]);
    }
}

#[test]
fn a_folder_that_is_gone_and_files_that_were_many_lose_nothing() {
    let fixture = Fixture::new();
    let names: Vec<_> = (0..200).map(|number| format!("d/f{number}")).collect();
    for name in &names {
        fixture.put(name, name);
    }
    let mut first = opened(&fixture, &names[0]);
    let mut last = opened(&fixture, &names[199]);
    let workspace = fixture.open();
    first.write_all(b"early").unwrap();
    let changes: Vec<_> = names.iter().map(|name| delete(name)).collect();
    let outcomes = workspace.change_files(&Caller::once().call(), &changes).unwrap();
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    // What was written before belongs to the change: the journal has it.
    assert_eq!(late_writes(&fixture, &workspace), []);
    fs::remove_dir(fixture.root().join("d")).unwrap();
    last.write_all(b"late").unwrap();
    // It held its own name, "d/f199", and the folder of that name is no place any more.
    assert_eq!(late_writes(&fixture, &workspace), [("d/f199".to_owned(), "late99".to_owned())]);
    // No more files are held open than is good.
    let open = fs::read_dir("/proc/self/fd").unwrap().flatten();
    let deleted = open.filter(|fd| {
        fs::read_link(fd.path()).is_ok_and(|target| {
            let target = target.to_string_lossy().into_owned();
            target.starts_with(fixture.root().to_str().unwrap()) && target.ends_with("(deleted)")
        })
    });
    assert!(deleted.count() <= 64 + 2);
}

/// The names of the files that keep late writes.
fn kept_names(fixture: &Fixture) -> Vec<String> {
    fixture.all_names().into_iter().filter(|name| name.contains(".agentd-kept-")).collect()
}

#[test]
fn log_that_goes_on_growing_is_kept_once_and_recorded_twice() {
    let fixture = Fixture::new();
    fixture.put("log", "started\n");
    let mut program = opened(&fixture, "log");
    program.seek(SeekFrom::End(0)).unwrap();
    let workspace = fixture.open();
    change(&workspace, write("log", "ours\n")).unwrap();
    let mut reported = 0;
    for round in 0..40 {
        program.write_all(format!("request {round}\n").as_bytes()).unwrap();
        // From another conversation: the caller whose change has replaced the log would consume its reports, if
        // the workspace has found the write by itself before.
        let mut other = Caller::once();
        other.origin.conversation = ConversationId("other".into());
        let edit = [write("edited", &format!("{round}\n"))];
        workspace.change_files(&other.call(), &edit).unwrap().remove(0).unwrap();
        workspace.checkpoint();
        let late = workspace.late_writes();
        assert!(late.iter().all(|late| late.path == "log"), "{late:?}");
        reported += late.len();
        assert_eq!(kept_names(&fixture).len(), 1, "round {round}");
    }
    // Each time would be forty times its size.
    assert_eq!(reported, 16);
    drop(workspace);
    let [kept] = &kept_names(&fixture)[..] else { panic!("{:?}", kept_names(&fixture)) };
    assert!(fixture.text(kept).unwrap().ends_with("request 39\n"), "{:?}", fixture.text(kept));
    let changes = journal_of(&fixture).changes_of_path(b"log", 99).unwrap();
    let recorded: Vec<_> = changes
        .iter()
        .filter(|change| change.state == ChangeState::Conflicted)
        .map(|change| journal_of(&fixture).content(&change.after.unwrap().content.unwrap()).unwrap())
        .map(|content| String::from_utf8(content.unwrap()).unwrap().lines().last().unwrap().to_owned())
        .collect();
    assert_eq!(recorded, ["request 39", "request 0"]);
}

#[test]
fn kept_file_that_the_user_has_changed_stays_as_it_is() {
    let fixture = Fixture::new();
    fixture.put("log", "1\n");
    let mut program = opened(&fixture, "log");
    let workspace = fixture.open();
    change(&workspace, write("log", "ours\n")).unwrap();
    program.write_all(b"late\n").unwrap();
    assert_eq!(late_writes(&fixture, &workspace), [("log".to_owned(), "late\n".to_owned())]);
    let [kept] = &kept_names(&fixture)[..] else { panic!("{:?}", kept_names(&fixture)) };
    fixture.put(kept, "the user's\n");
    program.write_all(b"later\n").unwrap();
    assert_eq!(late_writes(&fixture, &workspace), [("log".to_owned(), "late\nlater\n".to_owned())]);
    assert_eq!(fixture.text(kept).unwrap(), "the user's\n");
    assert_eq!(kept_names(&fixture).len(), 2);
}

#[test]
fn late_write_that_cannot_be_kept_is_reported_once_and_kept_when_it_can_be() {
    let fixture = Fixture::new();
    fixture.put("file", "1\n");
    let mut program = opened(&fixture, "file");
    let workspace = fixture.open();
    change(&workspace, write("file", "ours\n")).unwrap();
    program.write_all(b"late\n").unwrap();
    // Nothing can be written while another folder has the path of the workspace.
    let elsewhere = fixture.path().join("elsewhere");
    fs::rename(fixture.root(), &elsewhere).unwrap();
    fs::create_dir(fixture.root()).unwrap();
    workspace.checkpoint();
    let failed = workspace.late_writes();
    assert!(matches!(&failed[..], [LateWrite { kept_as: Err(_), .. }]), "{failed:?}");
    workspace.checkpoint();
    assert_eq!(workspace.late_writes(), []);
    fs::remove_dir(fixture.root()).unwrap();
    fs::rename(&elsewhere, fixture.root()).unwrap();
    assert_eq!(late_writes(&fixture, &workspace), [("file".to_owned(), "late\n".to_owned())]);
}
