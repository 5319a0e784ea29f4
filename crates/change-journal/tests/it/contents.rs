//! Contents are kept once each, small ones in the commit and large ones in separate files.

use std::fs;
use std::path::PathBuf;

use change_journal::{ContentHash, Journal, JournalError, JournalLimits, Oversized};

use crate::support::{Folder, begin_new, file_step, key};

fn small_limits() -> JournalLimits {
    JournalLimits { inline_content_bytes: 1000, content_bytes: 100_000, ..JournalLimits::default() }
}

fn blob_path(folder: &Folder, hash: &ContentHash) -> PathBuf {
    let name = hash.to_string();
    folder.path().join("blobs").join(&name[..2]).join(name)
}

#[test]
fn contents_on_both_sides_of_the_limit_read_back() {
    let folder = Folder::new();
    let contents: Vec<Vec<u8>> =
        [0, 1, 999, 1000, 1001, 100_000].iter().map(|&length| vec![b'c'; length]).collect();
    {
        let (journal, _) = Journal::open(&folder.path(), small_limits()).unwrap();
        let run = begin_new(&journal, &key(1, "a"));
        for (content, index) in contents.iter().zip(0..) {
            journal.record_steps(run.number(), index, &[file_step("x", content, "ok")]).unwrap();
        }
    }
    let journal = folder.journal();
    for content in &contents {
        let hash = ContentHash::of(content);
        assert!(journal.reader().content(&hash).unwrap().as_ref() == Some(content));
        assert_eq!(blob_path(&folder, &hash).exists(), content.len() > 1000);
    }
}

#[test]
fn content_over_the_limit_is_refused() {
    let folder = Folder::new();
    let (journal, _) = Journal::open(&folder.path(), small_limits()).unwrap();
    let run = begin_new(&journal, &key(1, "a"));
    let refused = journal.record_steps(run.number(), 0, &[file_step("x", &vec![0; 100_001], "ok")]);
    assert!(matches!(
        refused,
        Err(JournalError::TooLarge { what: Oversized::Content, length_bytes: 100_001, limit_bytes: 100_000 })
    ));
}

#[test]
fn large_content_that_is_already_held_costs_no_further_sync() {
    let folder = Folder::new();
    let (journal, _) = Journal::open(&folder.path(), small_limits()).unwrap();
    let run = begin_new(&journal, &key(1, "a"));
    let content = vec![b'c'; 50_000];
    journal.record_steps(run.number(), 0, &[file_step("x", &content, "ok")]).unwrap();
    let syncs = journal.counts().file_syncs;
    assert!(syncs > 0);
    journal.record_steps(run.number(), 1, &[file_step("y", &content, "ok")]).unwrap();
    assert_eq!(journal.counts().file_syncs, syncs);
}

#[test]
fn damaged_or_missing_content_is_reported_and_repaired_when_it_is_kept_again() {
    let folder = Folder::new();
    let (journal, _) = Journal::open(&folder.path(), small_limits()).unwrap();
    let run = begin_new(&journal, &key(1, "a"));
    let content = vec![b'c'; 50_000];
    let hash = ContentHash::of(&content);
    journal.record_steps(run.number(), 0, &[file_step("x", &content, "ok")]).unwrap();

    fs::write(blob_path(&folder, &hash), vec![b'd'; 50_000]).unwrap();
    let damaged = journal.reader().content(&hash);
    assert!(matches!(damaged, Err(JournalError::ContentDamaged { .. })), "{damaged:?}");

    fs::remove_file(blob_path(&folder, &hash)).unwrap();
    let missing = journal.reader().content(&hash);
    assert!(matches!(missing, Err(JournalError::ContentMissing { .. })), "{missing:?}");

    journal.record_steps(run.number(), 1, &[file_step("x", &content, "ok")]).unwrap();
    assert!(journal.reader().content(&hash).unwrap() == Some(content));
}

#[test]
fn unknown_content_is_none() {
    let journal = Journal::in_memory().unwrap();
    assert_eq!(journal.reader().content(&ContentHash::of(b"never seen")).unwrap(), None);
}

#[test]
fn journal_in_memory_keeps_large_contents_too() {
    let journal = Journal::in_memory().unwrap();
    let run = begin_new(&journal, &key(1, "a"));
    let content = vec![b'c'; 3_000_000];
    journal.record_steps(run.number(), 0, &[file_step("x", &content, "ok")]).unwrap();
    assert!(journal.reader().content(&ContentHash::of(&content)).unwrap() == Some(content));
    assert_eq!(journal.counts().file_syncs, 0);
}

#[test]
fn hash_reads_back_from_its_text() {
    let hash = ContentHash::of(b"text");
    assert_eq!(hash.to_string().parse(), Ok(hash));
    assert!("abc".parse::<ContentHash>().is_err());
    assert!("g".repeat(64).parse::<ContentHash>().is_err());
}
