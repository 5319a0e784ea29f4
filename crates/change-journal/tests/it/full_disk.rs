//! A full or read-only disk is a clear error, nothing is half-written, and writes succeed again once there is
//! space.

use std::fs;
use std::path::Path;

use std::time::Duration;

use change_journal::{
    ContentHash, DocumentWrite, GarbageRule, Journal, JournalError, JournalLimits, OpenError, RunState,
    StepKind,
};

use crate::support::{begin_new, file_step, key};
use test_support::{SmallFileSystem, folder_of_child};

fn mount_point() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// Runs children in a file system of `kib` KiB.
fn in_small_file_system(names: &[&str], kib: u32, then_read_only: bool) {
    let folder = mount_point();
    let options = format!("size={kib}k");
    SmallFileSystem { options: &options, over: folder.path(), then_read_only }.run(names, folder.path());
}

#[test]
fn full_file_system_is_reported_and_survived() {
    in_small_file_system(&["full_disk::child_fills_the_file_system"], 3000, false);
}

#[test]
#[ignore = "runs as a child of full_file_system_is_reported_and_survived"]
fn child_fills_the_file_system() {
    let Some(folder) = folder_of_child() else { return };
    let filler = folder.join("filler");
    fs::write(&filler, vec![1; 1_200_000]).unwrap();
    let path = folder.join("journal");
    let (journal, _) = Journal::open(&path, JournalLimits::default()).unwrap();
    let run = begin_new(&journal, &key(1, "a"));
    let content =
        |index: u32| -> Vec<u8> { (0..60_000).map(|byte: u32| (byte * 31 + index) as u8).collect() };
    let mut index = 0;
    let failure = loop {
        match journal.record_steps(run.number(), index, &[file_step("x", &content(index), "ok")]) {
            Ok(_) => index += 1,
            Err(failure) => break failure,
        }
        assert!(index < 100, "the file system never filled up");
    };
    assert!(matches!(failure, JournalError::NoSpace), "{failure:?}");
    assert!(index > 3);

    // Nothing of the refused write is there, everything before it is.
    let steps = journal.reader().steps(run.number()).unwrap();
    assert_eq!(steps.len(), index as usize);
    for change in journal.reader().changes_of_run(run.number()).unwrap() {
        let kept = journal.reader().content(&change.after.unwrap().content.unwrap()).unwrap();
        assert!(kept.unwrap() == content(change.step));
    }
    // A content with a file of its own meets the same end.
    let large = journal.record_steps(run.number(), index, &[file_step("x", &vec![2; 1_100_000], "ok")]);
    assert!(matches!(large, Err(JournalError::NoSpace)), "{large:?}");
    assert!(no_file_is_named(&path.join("blobs"), "unfinished"));

    fs::remove_file(&filler).unwrap();
    journal.record_steps(run.number(), index, &[file_step("x", &content(index), "ok")]).unwrap();
    journal.start_step(run.number(), index + 1, StepKind::ShellCommand, "make").unwrap();
    journal.finish_step(run.number(), index + 1, b"exit 0", &[]).unwrap();
    journal.finish_run(run.number(), b"done", &[]).unwrap();
    drop(journal);

    let (journal, report) = Journal::open(&path, JournalLimits::default()).unwrap();
    assert!(report.set_aside.is_empty() && !report.after_crash);
    assert!(matches!(journal.begin_run(&key(1, "a")).unwrap(), RunState::Finished { .. }));
}

fn no_file_is_named(folder: &Path, name: &str) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return true };
    entries.map(Result::unwrap).all(|entry| {
        entry.file_name() != name
            && (!entry.file_type().unwrap().is_dir() || no_file_is_named(&entry.path(), name))
    })
}

#[test]
fn write_that_finds_no_space_does_not_hinder_smaller_ones() {
    in_small_file_system(&["full_disk::child_writes_large_and_small"], 3000, false);
}

#[test]
#[ignore = "runs as a child of write_that_finds_no_space_does_not_hinder_smaller_ones"]
fn child_writes_large_and_small() {
    let Some(folder) = folder_of_child() else { return };
    let (journal, _) = Journal::open(&folder.join("journal"), JournalLimits::default()).unwrap();
    fs::write(folder.join("filler"), vec![1; 2_200_000]).unwrap();
    let large: Vec<u8> = (0..1_000_000_u32).map(|byte| (byte * 31) as u8).collect();
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let journal = &journal;
            scope.spawn(move || {
                let name = format!("small {thread}");
                for _ in 0..5 {
                    let small = DocumentWrite::Put { name: &name, bytes: b"value" };
                    journal.write_documents(&[small]).unwrap();
                }
            });
        }
        for _ in 0..10 {
            let refused = journal.write_documents(&[DocumentWrite::Put { name: "large", bytes: &large }]);
            assert!(matches!(refused, Err(JournalError::NoSpace)), "{refused:?}");
        }
    });
    assert_eq!(journal.reader().documents("").unwrap().len(), 3);
}

/// Opens a journal in which lazy writes wait until a caller waits for another write.
fn open_without_delay(folder: &Path) -> Journal {
    let limits = JournalLimits { lazy_delay: Duration::from_secs(600), ..JournalLimits::default() };
    Journal::open(&folder.join("journal"), limits).unwrap().0
}

fn put<'a>(name: &'a str, bytes: &'a [u8]) -> DocumentWrite<'a> {
    DocumentWrite::Put { name, bytes }
}

fn has_no_space<T: std::fmt::Debug>(written: Result<T, JournalError>) -> bool {
    match written {
        Ok(_) => false,
        Err(JournalError::NoSpace) => true,
        Err(other) => panic!("{other:?}"),
    }
}

fn value(journal: &Journal, name: &str) -> Option<Vec<u8>> {
    journal.reader().document(name).unwrap().map(|document| document.bytes)
}

#[test]
fn nothing_is_committed_without_the_lazy_document_before_it() {
    in_small_file_system(&["full_disk::child_relies_on_lazy_documents"], 3000, false);
}

#[test]
#[ignore = "runs as a child of nothing_is_committed_without_the_lazy_document_before_it"]
fn child_relies_on_lazy_documents() {
    let Some(folder) = folder_of_child() else { return };
    let journal = open_without_delay(&folder);
    let filler = folder.join("filler");
    fs::write(&filler, vec![1; 2_200_000]).unwrap();
    let large: Vec<u8> = (0..1_000_000_u32).map(|byte| (byte * 31) as u8).collect();
    let run = begin_new(&journal, &key(1, "a"));
    let start = |index| journal.start_step(run.number(), index, StepKind::ShellCommand, "make");
    // The control: the disk has space for a step, and for a lazy document that was queued before a large write
    // without space.
    start(0).unwrap();
    journal.write_documents_lazily(&[put("small", b"1")]).unwrap();
    assert!(has_no_space(journal.write_documents(&[put("large", &large)])));
    assert_eq!(value(&journal, "small").unwrap(), b"1");

    journal.write_documents_lazily(&[put("begun", &large)]).unwrap();
    journal.write_documents_lazily(&[put("small", b"2")]).unwrap();
    assert!(has_no_space(start(1)));
    assert!(has_no_space(journal.write_documents(&[put("begun", b"newer")])));
    assert!(has_no_space(journal.flush()));
    assert_eq!(journal.reader().steps(run.number()).unwrap().len(), 1);
    assert_eq!((value(&journal, "begun"), value(&journal, "small").unwrap()), (None, b"1".to_vec()));

    fs::remove_file(&filler).unwrap();
    start(1).unwrap();
    assert!(value(&journal, "begun") == Some(large));
    assert_eq!(value(&journal, "small").unwrap(), b"2");
    journal.write_documents(&[put("begun", b"newer")]).unwrap();
    journal.flush().unwrap();
    drop(journal);
    assert_eq!(value(&open_without_delay(&folder), "begun").unwrap(), b"newer");
}

#[test]
fn lazy_content_without_space_hinders_no_other_write_and_no_collection() {
    in_small_file_system(&["full_disk::child_keeps_contents_without_space"], 4200, false);
}

#[test]
#[ignore = "runs as a child of lazy_content_without_space_hinders_no_other_write_and_no_collection"]
fn child_keeps_contents_without_space() {
    let Some(folder) = folder_of_child() else { return };
    let journal = open_without_delay(&folder);
    // The row of the second content, whose file is complete, waits for the first, for which no space is left.
    let contents = [vec![1; 1_000_000], vec![2; 1_100_000]];
    for content in &contents {
        journal.keep_content(content).unwrap();
    }
    let filler = folder.join("filler");
    fs::write(&filler, vec![1; 2_300_000]).unwrap();
    let run = begin_new(&journal, &key(1, "a"));
    journal.start_step(run.number(), 0, StepKind::ShellCommand, "make").unwrap();
    assert!(has_no_space(journal.flush()));
    journal.collect_garbage(&GarbageRule::default()).unwrap();
    journal.collect_in_background(&GarbageRule::default(), &|| true).unwrap();

    fs::remove_file(&filler).unwrap();
    journal.flush().unwrap();
    for content in contents {
        assert!(journal.reader().content(&ContentHash::of(&content)).unwrap() == Some(content));
    }
}

#[test]
fn lazy_documents_are_refused_before_one_is_lost() {
    in_small_file_system(&["full_disk::child_writes_many_lazy_documents"], 3000, false);
}

#[test]
#[ignore = "runs as a child of lazy_documents_are_refused_before_one_is_lost"]
fn child_writes_many_lazy_documents() {
    let Some(folder) = folder_of_child() else { return };
    let journal = open_without_delay(&folder);
    let filler = folder.join("filler");
    fs::write(&filler, vec![1; 2_200_000]).unwrap();
    journal.write_documents_lazily(&[put("large", &vec![3; 1_000_000])]).unwrap();
    // Removing a document counts as a few hundred bytes, and needs no space where there is none of this name.
    let names: Vec<String> = (0..20).map(|number| number.to_string()).collect();
    let mut accepted = 0;
    for name in &names {
        let mut writes = vec![DocumentWrite::Remove { name: "missing" }; 50_000];
        writes.push(put(name, b""));
        if has_no_space(journal.write_documents_lazily(&writes)) {
            break;
        }
        accepted += 1;
        // The writer has tried the documents before it answers.
        assert!(has_no_space(journal.flush()));
    }
    assert!((2..20).contains(&accepted), "{accepted}");

    fs::remove_file(&filler).unwrap();
    journal.flush().unwrap();
    // All that were accepted are there, the last one as well, and more are accepted.
    assert_eq!(journal.reader().documents("").unwrap().len(), accepted + 1);
    journal.write_documents_lazily(&[put("later", b"")]).unwrap();
    journal.flush().unwrap();
}

#[test]
fn opening_on_a_full_file_system_is_reported_and_harms_nothing() {
    in_small_file_system(&["full_disk::child_opens_without_space"], 1000, false);
}

#[test]
#[ignore = "runs as a child of opening_on_a_full_file_system_is_reported_and_harms_nothing"]
fn child_opens_without_space() {
    let Some(folder) = folder_of_child() else { return };
    let (old, new) = (folder.join("old"), folder.join("new"));
    {
        let (journal, _) = Journal::open(&old, JournalLimits::default()).unwrap();
        let run = begin_new(&journal, &key(1, "a"));
        journal.finish_run(run.number(), b"done", &[]).unwrap();
    }
    let filler = folder.join("filler");
    // It is as large as it can be: the write fails when the space ends, and what fitted stays.
    fs::write(&filler, vec![1; 2_000_000]).unwrap_err();
    for path in [&old, &new] {
        let refused = Journal::open(path, JournalLimits::default());
        assert!(matches!(refused, Err(OpenError::NoSpace)), "{refused:?}");
    }
    fs::remove_file(&filler).unwrap();
    let (journal, report) = Journal::open(&old, JournalLimits::default()).unwrap();
    assert!(!report.created && report.set_aside.is_empty());
    assert!(matches!(journal.begin_run(&key(1, "a")).unwrap(), RunState::Finished { .. }));
    assert!(Journal::open(&new, JournalLimits::default()).unwrap().1.set_aside.is_empty());
}

#[test]
fn read_only_file_system_is_reported_and_can_still_be_read() {
    let names = ["full_disk::child_makes_a_journal", "full_disk::child_finds_it_read_only"];
    in_small_file_system(&names, 3000, true);
}

#[test]
#[ignore = "runs as a child of read_only_file_system_is_reported_and_can_still_be_read"]
fn child_makes_a_journal() {
    let Some(folder) = folder_of_child() else { return };
    let (journal, _) = Journal::open(&folder.join("journal"), JournalLimits::default()).unwrap();
    let run = begin_new(&journal, &key(1, "a"));
    journal.finish_run(run.number(), b"done", &[]).unwrap();
}

#[test]
#[ignore = "runs as a child of read_only_file_system_is_reported_and_can_still_be_read"]
fn child_finds_it_read_only() {
    let Some(folder) = folder_of_child() else { return };
    for path in ["journal", "new"] {
        let refused = Journal::open(&folder.join(path), JournalLimits::default());
        assert!(matches!(refused, Err(OpenError::ReadOnly)), "{path}: {refused:?}");
    }
    let reader = Journal::open_read_only(&folder.join("journal")).unwrap();
    assert_eq!(reader.runs(&Default::default(), 9).unwrap().len(), 1);
}
