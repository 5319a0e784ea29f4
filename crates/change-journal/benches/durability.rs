//! The cost of durability: the number and length of a caller's waits for the disk.
//!
//! The folder is made in `CHANGE_JOURNAL_BENCH_FOLDER`, or where temporary files go.

use std::sync::atomic::{AtomicU64, Ordering};

use change_journal::{
    ChangeRecord, ContentHash, DocumentWrite, EntryRecord, Journal, JournalCounts, JournalLimits, RunKey,
    RunState, StepKind, StepRecord,
};
use divan::Bencher;
use divan::counter::ItemsCount;
use tempfile::TempDir;

fn main() {
    print_reply_budget();
    divan::main();
}

fn open() -> (TempDir, Journal) {
    let folder = match std::env::var_os("CHANGE_JOURNAL_BENCH_FOLDER") {
        Some(parent) => TempDir::new_in(parent),
        None => TempDir::new(),
    }
    .expect("a folder can be made");
    let (journal, _) =
        Journal::open(&folder.path().join("journal"), JournalLimits::default()).expect("the folder is free");
    (folder, journal)
}

/// A key that no other run of this process has.
fn next_key() -> RunKey {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let sequence = NEXT.fetch_add(1, Ordering::Relaxed);
    RunKey { conversation: "bench".into(), sequence, content: ContentHash::of(&sequence.to_le_bytes()) }
}

/// One run of `blocks` consecutive file steps with contents of `length_bytes` on both sides.
fn reply(journal: &Journal, blocks: u64, length_bytes: usize) {
    let key = next_key();
    let contents: Vec<(Vec<u8>, Vec<u8>)> = (0..blocks)
        .map(|block| {
            let mut before = vec![b'.'; length_bytes];
            before[..8].copy_from_slice(&(key.sequence * 1000 + block).to_le_bytes());
            let mut after = before.clone();
            after[8] = b'!';
            (before, after)
        })
        .collect();
    let steps: Vec<StepRecord<'_>> = contents
        .iter()
        .map(|(before, after)| StepRecord {
            kind: StepKind::FileChange,
            description: "edit",
            outcome: b"{\"ok\":true}",
            changes: vec![ChangeRecord::intended(
                b"src/lib.rs",
                Some(EntryRecord::file(before)),
                Some(EntryRecord::file(after)),
            )],
        })
        .collect();
    let Ok(RunState::New(run)) = journal.begin_run(&key) else { unreachable!("each key is used once") };
    let numbers = journal.record_steps(run.number(), 0, &steps).expect("there is space");
    journal.publish_changes(&numbers).expect("the journal is open");
    let documents = [
        DocumentWrite::Put { name: "session/1", bytes: &[b's'; 4000] },
        DocumentWrite::Put { name: "outbox/1", bytes: &[b'o'; 20_000] },
    ];
    journal.finish_run(run.number(), b"{}", &documents).expect("there is space");
}

#[expect(clippy::print_stdout, reason = "the figures are what this program is for")]
fn print_reply_budget() {
    for (blocks, length_bytes) in [(1, 8_000), (10, 8_000), (10, 200_000), (10, 1_000_000)] {
        let (_folder, journal) = open();
        reply(&journal, blocks, length_bytes);
        let JournalCounts { commits, file_syncs, .. } = journal.counts();
        println!("{blocks} file blocks of {length_bytes} bytes: {commits} commits, {file_syncs} file syncs");
    }
}

#[divan::bench(args = [1, 10], sample_count = 50)]
fn reply_of_file_blocks(bencher: Bencher<'_, '_>, blocks: u64) {
    let (_folder, journal) = open();
    bencher.bench(|| reply(&journal, blocks, 8_000));
}

#[divan::bench(sample_count = 50)]
fn shell_command(bencher: Bencher<'_, '_>) {
    let (_folder, journal) = open();
    let Ok(RunState::New(run)) = journal.begin_run(&next_key()) else { unreachable!("the key is new") };
    let index = AtomicU64::new(0);
    bencher.bench(|| {
        let index = index.fetch_add(1, Ordering::Relaxed) as u32;
        journal.start_step(run.number(), index, StepKind::ShellCommand, "make").expect("a new step");
        journal.finish_step(run.number(), index, b"exit 0", &[]).expect("a started step");
    });
}

#[divan::bench(args = [1, 4, 16], sample_count = 10)]
fn documents_from_threads(bencher: Bencher<'_, '_>, threads: usize) {
    let (_folder, journal) = open();
    const EACH: usize = 20;
    bencher.counter(ItemsCount::new(threads * EACH)).bench(|| {
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let journal = &journal;
                scope.spawn(move || {
                    let name = thread.to_string();
                    for _ in 0..EACH {
                        let write = DocumentWrite::Put { name: &name, bytes: b"value" };
                        journal.write_documents(&[write]).expect("there is space");
                    }
                });
            }
        });
    });
}

#[divan::bench(args = [100, 5000], sample_count = 10)]
fn opening_after_runs(bencher: Bencher<'_, '_>, runs: u64) {
    let (folder, journal) = open();
    for _ in 0..runs / 10 {
        std::thread::scope(|scope| {
            for _ in 0..10 {
                scope.spawn(|| reply(&journal, 1, 4_000));
            }
        });
    }
    drop(journal);
    let path = folder.path().join("journal");
    bencher.bench(|| Journal::open(&path, JournalLimits::default()).expect("the folder is free"));
}

#[divan::bench]
fn beginning_a_run_among_five_thousand(bencher: Bencher<'_, '_>) {
    let (_folder, journal) = open();
    for _ in 0..500 {
        std::thread::scope(|scope| {
            for _ in 0..10 {
                scope.spawn(|| reply(&journal, 1, 100));
            }
        });
    }
    bencher.bench(|| journal.begin_run(&next_key()).expect("it can be read"));
}
