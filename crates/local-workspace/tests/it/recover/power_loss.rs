//! A model of what a loss of power leaves, and that opening the workspace makes it whole again.
//!
//! The journal's commits are on the disk. Of the files nothing is, unless they were settled: each rename may have come
//! about or not, in any order, and each file that was written may hold all of its bytes, the first of them, zeros in
//! their place, or none; whatever it holds, its temporary name may be there as well. Every combination of these over the
//! files of a cycle is put on the disk and opened.

use std::fs;
use std::path::Path;

use change_journal::{ChangeState, Journal};
use local_workspace::Recovery;

use crate::fixture::workspace::*;
use crate::recover::recovery::{Promised, promise};

/// One file over a cycle: its versions, the first of which the user had, `None` where there is no file.
struct Story {
    path: &'static str,
    versions: Vec<Option<String>>,
}

/// The state of one file on the disk.
#[derive(Clone, Debug, PartialEq)]
struct State {
    what: String,
    target: Option<Vec<u8>>,
    /// The content of a temporary file next to it.
    beside: Option<Vec<u8>>,
}

/// Text of more than two pages, each line of it different.
fn text(word: &str) -> String {
    (0..700).map(|line| format!("{word} {line}\n")).collect()
}

fn stories() -> Vec<Story> {
    let some = |word: &str| Some(text(word));
    vec![
        // Edited twice.
        Story { path: "edited", versions: vec![some("users"), some("first"), some("second")] },
        // Made with its folders.
        Story { path: "a/b/created", versions: vec![None, some("created")] },
        Story { path: "deleted", versions: vec![some("to go"), None] },
        // Made and deleted again, and made once more as another one.
        Story { path: "a/changing", versions: vec![None, some("made"), None, some("made again")] },
        Story { path: "short", versions: vec![Some("old\n".into()), Some("new\n".into())] },
    ]
}

/// Returns the possible remains, after a loss of power, of a file that was written with these bytes and not synced.
fn partial(whole: &[u8]) -> Vec<(String, Vec<u8>)> {
    let zeros = |from: usize, to: usize| {
        let mut bytes = whole.to_vec();
        bytes[from.min(whole.len())..to.min(whole.len())].fill(0);
        bytes
    };
    let prefix = |length: usize| whole[..length.min(whole.len())].to_vec();
    let mut states = vec![
        ("nothing of".to_owned(), Vec::new()),
        ("zeros instead of".to_owned(), vec![0; whole.len()]),
        ("one byte of".to_owned(), prefix(1)),
        ("one page of".to_owned(), prefix(4096)),
        ("all but one byte of".to_owned(), prefix(whole.len() - 1)),
        ("a zero page and then".to_owned(), zeros(0, 4096)),
        ("a zero page in".to_owned(), zeros(4096, 8192)),
        ("a zero sector in".to_owned(), zeros(1024, 1536)),
        ("zeros at the end of".to_owned(), zeros(512, whole.len())),
    ];
    states.dedup_by(|one, other| one.1 == other.1);
    states
}

/// Every state of a file when the power goes, with the changes up to version `last` committed and none settled.
fn states(story: &Story, last: usize) -> Vec<State> {
    let versions: Vec<_> = story.versions[..=last]
        .iter()
        .map(|version| version.as_ref().map(|text| text.as_bytes().to_vec()))
        .collect();
    let mut targets = Vec::new();
    for (number, version) in versions.iter().enumerate() {
        targets.push((format!("version {number}"), version.clone()));
        if let Some(whole) = version {
            let partial = partial(whole).into_iter();
            targets.extend(partial.map(|(what, bytes)| (format!("{what} version {number}"), Some(bytes))));
        }
    }
    // The possible states of that file: the new version, whole or partial, or a version that had been exchanged.
    let mut beside = vec![("nothing".to_owned(), None)];
    for (what, target) in &targets {
        if target.is_some() {
            beside.push((what.clone(), target.clone()));
        }
    }
    let mut states = Vec::new();
    for (index, (what, target)) in targets.iter().enumerate() {
        // Each target with no such file, and with one other state in turn: all of both over all targets.
        for (beside_what, beside) in [&beside[0], &beside[(index * 7 + 1) % beside.len()]] {
            let what = format!("{}: {what}, beside it {beside_what}", story.path);
            let state = State { what, target: target.clone(), beside: beside.clone() };
            if !states.contains(&state) {
                states.push(state);
            }
        }
    }
    states
}

/// A fixture whose journal holds what a cycle has committed, as another start of the machine finds it.
struct Crashed {
    fixture: Fixture,
}

impl Crashed {
    /// Commits the versions of some files, `up_to` each.
    fn after(stories: &[&Story], up_to: &[usize], state: ChangeState) -> Crashed {
        let fixture = Fixture::in_memory();
        let mut promised = Vec::new();
        for (story, last) in stories.iter().zip(up_to) {
            for pair in story.versions[..=*last].windows(2) {
                promised.push(Promised {
                    path: story.path,
                    before: pair[0].as_deref(),
                    after: pair[1].as_deref(),
                });
            }
        }
        promise(&fixture.open_journal(), &promised, state);
        let journal = rusqlite::Connection::open(fixture.path().join("state/journal/journal.db")).unwrap();
        let earlier = "UPDATE opening SET boot_id = 'an earlier start', closed_at_ms = NULL";
        assert!(journal.execute(earlier, []).unwrap() > 0);
        drop(journal);
        Crashed { fixture }
    }

    /// Puts states of files on the disk, opens the workspace, and checks that every file is as was answered last.
    #[track_caller]
    fn check(&self, stories: &[&Story], up_to: &[usize], states: &[&State]) {
        let fixture = &self.fixture;
        let journal = fixture.path().join("state/journal");
        let kept = fixture.path().join("journal as it was");
        if !kept.exists() {
            copy(&journal, &kept);
        }
        fs::remove_dir_all(&journal).unwrap();
        copy(&kept, &journal);
        fs::remove_dir_all(fixture.root()).unwrap();
        fs::create_dir(fixture.root()).unwrap();
        for (story, state) in stories.iter().zip(states) {
            if let Some(bytes) = &state.target {
                fixture.put(story.path, bytes);
            }
            if let Some(bytes) = &state.beside {
                let folder =
                    story.path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
                let number = story.path.len();
                fixture.put(&format!("{folder}.agentd-tmp-{number:032x}"), bytes);
            }
        }
        let reported: Vec<_> = states.iter().map(|state| &state.what).collect();
        let (workspace, recovery) = fixture.open_with(self.open_journal(), fixture.config());
        let Recovery { conflicts, failed, kept, .. } = &recovery;
        assert!(conflicts.is_empty() && failed.is_empty() && kept.is_empty(), "{reported:?}: {recovery:?}");
        workspace.checkpoint();
        drop(workspace);
        for (story, last) in stories.iter().zip(up_to) {
            let expected = &story.versions[*last];
            assert_eq!(fixture.text(story.path).as_ref(), expected.as_ref(), "{reported:?}: {recovery:?}");
        }
        let names = fixture.all_names();
        assert!(names.iter().all(|name| !name.contains(".agentd-")), "{reported:?}: {names:?}");
        assert_eq!(self.open_journal().reader().unsettled_changes().unwrap(), [], "{reported:?}");
    }

    fn open_journal(&self) -> Journal {
        self.fixture.open_journal()
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[test]
fn power_loss_after_any_commit_loses_nothing_of_any_file() {
    for story in &stories() {
        for last in 1..story.versions.len() {
            for state in [ChangeState::Intended, ChangeState::Published] {
                let crashed = Crashed::after(&[story], &[last], state);
                // The recorded progress of a change does not affect which files may be next to it.
                let is_looked_at =
                    |on_disk: &State| state == ChangeState::Intended || on_disk.beside.is_none();
                for on_disk in states(story, last).into_iter().filter(is_looked_at) {
                    crashed.check(&[story], &[last], &[&on_disk]);
                }
            }
        }
    }
}

#[test]
fn power_loss_loses_nothing_in_any_combination_of_files() {
    let stories = stories();
    // Three files in three folders, each of them at its end.
    let some: Vec<_> = stories.iter().take(3).collect();
    let up_to: Vec<_> = some.iter().map(|story| story.versions.len() - 1).collect();
    let crashed = Crashed::after(&some, &up_to, ChangeState::Intended);
    let all: Vec<Vec<State>> = some.iter().zip(&up_to).map(|(story, last)| states(story, *last)).collect();
    // Each state of each file with many of the others: the steps have no divisor in common with the numbers of states.
    let rounds = all.iter().map(Vec::len).max().unwrap() * 6;
    for round in 0..rounds {
        let picked: Vec<_> = all
            .iter()
            .enumerate()
            .map(|(file, states)| &states[(round * (file * 2 + 1) + round / states.len()) % states.len()])
            .collect();
        crashed.check(&some, &up_to, &picked);
    }
}

#[test]
fn what_a_user_wrote_before_a_power_loss_is_not_taken_for_partial() {
    let stories = stories();
    let crashed = Crashed::after(&[&stories[0]], &[2], ChangeState::Intended);
    let fixture = &crashed.fixture;
    fixture.put("edited", "the user's\n");
    let (_workspace, recovery) = fixture.open_with(crashed.open_journal(), fixture.config());
    assert_eq!(recovery.conflicts, ["edited"]);
    assert_eq!(fixture.text("edited").unwrap(), "the user's\n");
}
