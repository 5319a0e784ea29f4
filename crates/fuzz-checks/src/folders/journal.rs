//! The journal's reader on damaged files.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use arbitrary::{Result, Unstructured};
use change_journal::{
    ChangeNumber, ChangeRecord, ContentHash, EntryRecord, Journal, JournalLimits, JournalReader, RunFilter,
    RunKey, RunState, StepKind, StepRecord,
};

/// Checks that a journal with damaged bytes is read, refused or quarantined, and that content that is read matches its hash.
///
/// The bytes choose the changed bytes of an intact journal.
pub fn journal_reader(data: &[u8]) {
    let mut choices = Unstructured::new(data);
    let mut database = sound_journal().to_vec();
    if damage(&mut choices, &mut database).is_err() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let journal = folder.path().join("journal");
    fs::create_dir(&journal).expect("a folder");
    fs::write(journal.join("journal.db"), &database).expect("a file");
    if let Ok(reader) = Journal::open_read_only(&journal) {
        read_all(&reader);
    }
    if let Ok((journal, _)) = Journal::open(&journal, JournalLimits::default()) {
        read_all(journal.reader());
    }
}

fn damage(choices: &mut Unstructured<'_>, bytes: &mut Vec<u8>) -> Result<()> {
    for _ in 0..choices.int_in_range(1..=8)? {
        let at = choices.choose_index(bytes.len())?;
        match choices.int_in_range(0..=7)? {
            0 => bytes.truncate(at.max(1)),
            1 => {
                let end = (at + 64).min(bytes.len());
                bytes[at..end].fill(choices.arbitrary()?);
            }
            _ => bytes[at] = choices.arbitrary()?,
        }
    }
    Ok(())
}

fn read_all(reader: &JournalReader) {
    const MOST: u32 = 100;
    let _ = reader.changes(ChangeNumber::default(), MOST);
    let _ = reader.unsettled_changes();
    let _ = reader.changes_of_path(b"a.txt", MOST);
    let _ = reader.documents("");
    for run in reader.runs(&RunFilter::default(), MOST).unwrap_or_default() {
        let _ = reader.steps(run.number);
        let _ = reader.changes_of_run(run.number);
    }
    for text in TEXTS {
        let hash = ContentHash::of(text.as_bytes());
        if let Ok(Some(content)) = reader.content(&hash) {
            assert_eq!(content, text.as_bytes(), "content matches its hash");
        }
    }
}

const TEXTS: [&str; 3] = ["one\n", "two\n", "three\n"];

/// Returns the bytes of a journal with a few runs, created once.
fn sound_journal() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        make_journal(&folder.path().join("journal"));
        fs::read(folder.path().join("journal").join("journal.db")).expect("a journal")
    })
}

fn make_journal(folder: &Path) {
    let (journal, _) = Journal::open(folder, JournalLimits::default()).expect("a new journal");
    for (sequence, text) in TEXTS.iter().enumerate() {
        let content = ContentHash::of(text.as_bytes());
        let key = RunKey { conversation: "talk".into(), sequence: sequence as u64, content };
        let RunState::New(run) = journal.begin_run(&key).expect("a run") else { panic!("a new run") };
        let step = StepRecord {
            kind: StepKind::FileChange,
            description: "a.txt",
            outcome: b"done",
            changes: vec![ChangeRecord::intended(b"a.txt", None, Some(EntryRecord::file(text.as_bytes())))],
        };
        journal.record_steps(run.number(), 0, &[step]).expect("a step");
        journal.finish_run(run.number(), b"done", &[]).expect("an end");
    }
}
