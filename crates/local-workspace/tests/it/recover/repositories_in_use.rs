//! After a crash, a command's changes in a repository are not mixed with the user's later work there.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use change_journal::{ChangeRecord, EntryKind, EntryRecord, Journal, RunKey, RunState, StepKind, StepRecord};

use crate::fixture::user_shell::{COMMIT, git, shell};
use crate::fixture::workspace::*;

/// The files and folders of a `.git`, by their paths; `None` for folders.
fn entries(root: &Path) -> BTreeMap<String, Option<Vec<u8>>> {
    let mut entries = BTreeMap::new();
    let mut open = vec![root.join(".git")];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                entries.insert(name, None);
                open.push(path);
            } else {
                entries.insert(name, Some(fs::read(path).unwrap()));
            }
        }
    }
    entries
}

/// Records what a script does to a repository, as a daemon does that is killed right after the commit.
fn promise(fixture: &Fixture, journal: &Journal, script: &str) {
    let copy = Fixture::new();
    git(fixture, &format!("cp -a .git {}", copy.root().display()));
    let before = entries(&copy.root());
    git(&copy, script);
    let after = entries(&copy.root());
    let record = |side: Option<&'_ Option<Vec<u8>>>| -> Option<Option<Vec<u8>>> { side.cloned() };
    let paths: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let changed: Vec<_> = paths
        .into_iter()
        .map(|path| (path, record(before.get(path)), record(after.get(path))))
        .filter(|(_, before, after)| before != after)
        .collect();
    let side = |side: &'_ Option<Option<Vec<u8>>>| -> Option<(EntryKind, Vec<u8>)> {
        side.as_ref().map(|content| match content {
            Some(bytes) => (EntryKind::File, bytes.clone()),
            None => (EntryKind::Folder, Vec::new()),
        })
    };
    let sides: Vec<_> =
        changed.iter().map(|(path, before, after)| (path, side(before), side(after))).collect();
    let changes = sides.iter().map(|(path, before, after)| {
        let [before, after] = [before, after].map(|side| {
            let (kind, bytes) = side.as_ref()?;
            Some(EntryRecord { kind: *kind, ..EntryRecord::file(bytes) })
        });
        ChangeRecord::intended(path.as_bytes(), before, after)
    });
    let RunState::New(run) = journal.begin_run(&RunKey::once("command", b"killed")).unwrap() else {
        panic!("the run is new")
    };
    let step = StepRecord {
        kind: StepKind::ShellCommand,
        description: "command",
        outcome: b"{}",
        changes: changes.collect(),
    };
    journal.record_steps(run.number(), 0, &[step]).unwrap();
}

#[test]
fn repository_that_the_user_has_used_since_a_crash_stays() {
    let state = "git for-each-ref && git status --porcelain --branch -uno";
    // What the user has done since, and whether the repository stays.
    for (use_by_user, stays) in [
        ("true", false),
        ("git status", false),
        // It writes the index anew, which has the entries of before, or those to come.
        ("touch -d '1 hour ago' file && git status", false),
        ("echo new > new && git add new && touch -d '1 hour ago' file && git status", false),
        ("echo mine > mine && git add mine", true),
        ("git switch -q -c other", true),
        ("git switch -q b", true),
        ("git symbolic-ref HEAD refs/heads/moved", true),
        ("COMMIT mine", true),
    ] {
        let fixture = Fixture::new();
        git(
            &fixture,
            &format!(
                "git init -q -b main . && git config user.name u && git config user.email u@x && echo one > file && git add file && \
                 {COMMIT} one && git branch b && git branch moved"
            ),
        );
        let journal = fixture.open_journal();
        let model = "echo new > new && git add new && git commit -qm model && git branch -f moved main";
        promise(&fixture, &journal, model);
        drop(journal);
        git(&fixture, &use_by_user.replace("COMMIT", COMMIT));
        let had = git(&fixture, state);
        let recovery = fixture.open_with(fixture.open_journal(), fixture.config()).1;
        let expected: &[&str] = if stays { &[".git"] } else { &[] };
        assert_eq!(recovery.repositories, expected, "{use_by_user}: {recovery:?}");
        assert!(recovery.failed.is_empty(), "{use_by_user}: {recovery:?}");
        if stays {
            assert_eq!(git(&fixture, state), had, "{use_by_user}: {recovery:?}");
            assert_eq!(recovery.conflicts, [""; 0], "{use_by_user}");
        } else {
            // The file itself is not among the changes.
            assert_eq!(git(&fixture, "git log -1 --format=%s main moved"), "model\n", "{use_by_user}");
            git(&fixture, "git diff --cached --exit-code HEAD");
        }
        assert!(shell(&fixture.root(), "git fsck").status.success(), "{use_by_user}");
        let again = fixture.open_with(fixture.open_journal(), fixture.config()).1;
        assert!(again.is_empty(), "{use_by_user}: {again:?}");
    }
}
