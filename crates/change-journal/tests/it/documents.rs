//! Documents change as a whole, alone or with the end of a run.

use change_journal::{ContentHash, DocumentWrite, Journal, JournalError, RunState, StepKind};

use crate::support::{Folder, begin_new, key};

fn put<'a>(name: &'a str, bytes: &'a [u8]) -> DocumentWrite<'a> {
    DocumentWrite::Put { name, bytes }
}

#[test]
fn end_of_a_run_writes_its_documents_with_it() {
    let folder = Folder::new();
    {
        let journal = folder.journal();
        let run = begin_new(&journal, &key(1, "a"));
        let documents = [put("session/1", b"state"), put("outbox/1", b"answer")];
        journal.finish_run(run.number(), b"done", &documents).unwrap();
        assert_eq!(journal.counts().commits, 1);
    }
    let journal = folder.journal();
    let document = journal.reader().document("outbox/1").unwrap().unwrap();
    assert_eq!(document.bytes, b"answer");
    assert_eq!(document.head.hash, ContentHash::of(b"answer"));
    assert!(matches!(journal.begin_run(&key(1, "a")).unwrap(), RunState::Finished { .. }));
}

#[test]
fn refused_end_of_a_run_writes_no_document() {
    let journal = Journal::in_memory().unwrap();
    let run = begin_new(&journal, &key(1, "a"));
    journal.start_step(run.number(), 0, StepKind::ShellCommand, "make").unwrap();
    let refused = journal.finish_run(run.number(), b"done", &[put("outbox/1", b"answer")]);
    assert!(matches!(refused, Err(JournalError::StepUnfinished { .. })));
    assert_eq!(journal.reader().document("outbox/1").unwrap(), None);
}

#[test]
fn each_write_gives_a_newer_version() {
    let journal = Journal::in_memory().unwrap();
    let write = |writes: &[DocumentWrite<'_>]| journal.write_documents(writes).unwrap();
    let first = write(&[put("a", b"1"), put("b", b"1")]);
    let second = write(&[put("a", b"2"), DocumentWrite::Remove { name: "b" }]);
    let third = write(&[put("b", b"3")]);
    assert!(first[0] < first[1] && first[1] < second[0] && second[0] < third[0]);
    assert_eq!(second[1], None);
    let head = journal.reader().document("a").unwrap().unwrap().head;
    assert_eq!((Some(head.version), head.length_bytes), (second[0], 1));
}

#[test]
fn removed_document_is_gone_and_removing_it_again_is_fine() {
    let journal = Journal::in_memory().unwrap();
    journal.write_documents(&[put("a", b"1")]).unwrap();
    for _ in 0..2 {
        journal.write_documents(&[DocumentWrite::Remove { name: "a" }]).unwrap();
        assert_eq!(journal.reader().document("a").unwrap(), None);
    }
}

#[test]
fn documents_are_listed_by_prefix_in_order() {
    let journal = Journal::in_memory().unwrap();
    let names = ["session/2", "session/1", "sessions", "outbox/1", "session/é", "session%", "Session/1"];
    let writes: Vec<_> = names.iter().map(|name| put(name, b"")).collect();
    journal.write_documents(&writes).unwrap();
    let list = |prefix: &str| -> Vec<String> {
        journal.reader().documents(prefix).unwrap().into_iter().map(|head| head.name).collect()
    };
    assert_eq!(list("session/"), ["session/1", "session/2", "session/é"]);
    assert_eq!(list("session%"), ["session%"]);
    assert_eq!(list("").len(), names.len());
    assert_eq!(list("x"), Vec::<String>::new());
}
