//! Changes that a crash has interrupted between the commit and the files are redone, and no user's work is lost.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use change_journal::{ChangeRecord, ChangeState, EntryRecord, Journal, RunState, StepKind, StepRecord};
use local_workspace::Recovery;
use wap_core::*;

use crate::fixture::workspace::*;

const FIXTURE: &str = "LOCAL_WORKSPACE_CHILD_GROUND";

/// Files that the child writes over and over, all of them in each batch.
const FILES: u64 = 40;

/// Returns the content of file `file` after batch `batch` of a round: text that shows whether it is whole.
fn content(round: u64, batch: u64, file: u64) -> String {
    let mut text = format!("{round} {batch} {file}\n");
    let length = 2_000 + (batch * 7_919 + file * 104_729) % 20_000;
    while (text.len() as u64) < length {
        text.push_str("0123456789abcdef\n");
    }
    text.push_str("end\n");
    text
}

/// The round and batch that a file comes from, if it is whole.
fn origin(text: &str, file: u64) -> Option<(u64, u64)> {
    let mut numbers = text.lines().next()?.split(' ').map(|word| word.parse().ok());
    let (round, batch) = (numbers.next()??, numbers.next()??);
    (content(round, batch, file) == text).then_some((round, batch))
}

fn name(file: u64) -> String {
    // In several folders, some of which are new in each round.
    format!("d{}/f{file}", file % 3)
}

#[test]
fn what_was_answered_survives_kill_9_between_commit_and_files() {
    let fixture = Fixture::new();
    for round in 0..rounds() {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "recover::recovery::child_changes_files_until_it_is_killed",
                "--ignored",
                "--nocapture",
            ])
            .env(FIXTURE, fixture.path())
            .env("ROUND", round.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines.by_ref().map(Result::unwrap).find(|line| line.contains("answered "));
        assert!(first.is_some(), "the child ended before it had done anything");
        // An uneven time, so that the rounds end at different points; and every other time right when a file has come
        // into its place, so that the others have not.
        std::thread::sleep(Duration::from_micros((round * round * 977) % 60_000));
        if round % 2 == 1 {
            let inode =
                || fs::metadata(fixture.root().join(name(round % FILES))).map(|metadata| metadata.ino()).ok();
            let first = inode();
            while inode() == first && child.try_wait().unwrap().is_none() {}
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let answered = first.into_iter().chain(lines.map(Result::unwrap));
        let last: u64 =
            answered.filter_map(|line| line.split_once("answered ")?.1.trim().parse().ok()).last().unwrap();

        let (workspace, recovery) = fixture.open_with(fixture.open_journal(), fixture.config());
        assert!(recovery.conflicts.is_empty() && recovery.failed.is_empty(), "{recovery:?}");
        assert!(recovery.kept.is_empty(), "{recovery:?}");
        for file in 0..FILES {
            let text = fixture.text(&name(file)).unwrap_or_else(|| panic!("{} is gone", name(file)));
            let origin_of_text =
                origin(&text, file).unwrap_or_else(|| panic!("{} is a partial write", name(file)));
            assert!(
                origin_of_text >= (round, last),
                "{} is of {origin_of_text:?}, {last} was answered",
                name(file)
            );
        }
        assert_eq!(fixture.all_names().len() as u64, FILES + 3, "{:?}", fixture.all_names());
        drop(workspace);
        let again = fixture.open_with(fixture.open_journal(), fixture.config()).1;
        assert_eq!(again, Recovery::default());
    }
}

/// The number of kills: a few times, or as often as a longer run asks for.
fn rounds() -> u64 {
    std::env::var("LOCAL_WORKSPACE_CRASH_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(12)
}

#[test]
#[ignore = "runs as a child of what_was_answered_survives_kill_9_between_commit_and_files"]
fn child_changes_files_until_it_is_killed() {
    let Some(folder) = std::env::var_os(FIXTURE).map(PathBuf::from) else { return };
    let round: u64 = std::env::var("ROUND").unwrap().parse().unwrap();
    let workspace = Fixture::at(&folder).open();
    // The parent kills this process; the bound is for a parent that is gone itself.
    for batch in 0..100_000 {
        let changes: Vec<_> =
            (0..FILES).map(|file| write(&name(file), &content(round, batch, file))).collect();
        let caller = Caller::numbered(u32::try_from(round * 100_000 + batch).unwrap() + 1);
        let outcomes = workspace.change_files(&caller.call(), &changes).unwrap();
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
        println!("answered {batch}");
        std::io::stdout().flush().unwrap();
    }
}

/// A change that is recorded, and whose file was not touched: the moment between commit and publish.
pub(crate) struct Promised<'a> {
    pub(crate) path: &'a str,
    pub(crate) before: Option<&'a str>,
    pub(crate) after: Option<&'a str>,
}

fn side(text: Option<&str>) -> Option<EntryRecord<'_>> {
    text.map(|text| EntryRecord::file(text.as_bytes()))
}

/// Records changes as step 0 of run 1, in one commit and in state `state`.
pub(crate) fn promise(journal: &Journal, promised: &[Promised<'_>], state: ChangeState) {
    let caller = Caller::numbered(1);
    let key = change_journal::RunKey {
        conversation: caller.origin.conversation.0.clone(),
        sequence: 1,
        content: change_journal::ContentHash::of(caller.origin.run.digest.as_bytes()),
    };
    let RunState::New(run) = journal.begin_run(&key).unwrap() else { panic!("the run is new") };
    let outcome = serde_json::json!({ "outcome": { "Ok": { "Deleted": { "success": true, "path": "x" } } } });
    let outcome = outcome.to_string();
    let steps: Vec<_> = promised
        .iter()
        .map(|promised| StepRecord {
            kind: StepKind::FileChange,
            description: "change",
            outcome: outcome.as_bytes(),
            changes: vec![ChangeRecord {
                state,
                ..ChangeRecord::intended(
                    promised.path.as_bytes(),
                    side(promised.before),
                    side(promised.after),
                )
            }],
        })
        .collect();
    journal.record_steps(run.number(), 0, &steps).unwrap();
}

fn reopen(fixture: &Fixture) -> Recovery {
    fixture.open_with(fixture.open_journal(), fixture.config()).1
}

#[test]
fn changes_that_were_promised_are_carried_out() {
    let fixture = Fixture::new();
    fixture.put("edited", "old\n");
    fs::set_permissions(fixture.root().join("edited"), fs::Permissions::from_mode(0o750)).unwrap();
    fixture.put("deleted", "old\n");
    fixture.put("twice", "1\n");
    let promised = [
        Promised { path: "edited", before: Some("old\n"), after: Some("new\n") },
        Promised { path: "deleted", before: Some("old\n"), after: None },
        Promised { path: "a/b/created", before: None, after: Some("new\n") },
        Promised { path: "twice", before: Some("1\n"), after: Some("2\n") },
        Promised { path: "twice", before: Some("2\n"), after: Some("3\n") },
    ];
    promise(&fixture.open_journal(), &promised, ChangeState::Intended);
    let recovery = reopen(&fixture);
    assert_eq!(recovery.redone, ["a/b/created", "deleted", "edited", "twice"]);
    assert!(recovery.conflicts.is_empty() && recovery.failed.is_empty(), "{recovery:?}");
    assert_eq!(fixture.text("edited").unwrap(), "new\n");
    let mode = fs::metadata(fixture.root().join("edited")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o750);
    assert_eq!(fixture.text("deleted"), None);
    assert_eq!(fixture.text("a/b/created").unwrap(), "new\n");
    assert_eq!(fixture.text("twice").unwrap(), "3\n");
    assert!(reopen(&fixture).is_empty());
}

#[test]
fn what_a_user_did_in_between_wins_and_is_reported() {
    let fixture = Fixture::new();
    fixture.put("edited", "old\n");
    fixture.put("deleted", "old\n");
    fixture.put("gone", "old\n");
    fixture.put("becomes a folder", "old\n");
    fixture.put("becomes a link", "old\n");
    let paths = ["edited", "deleted", "gone", "becomes a folder", "becomes a link"];
    let mut promised: Vec<_> =
        paths.map(|path| Promised { path, before: Some("old\n"), after: Some("new\n") }).into();
    promised[1].after = None;
    promised.push(Promised { path: "created", before: None, after: Some("new\n") });
    promise(&fixture.open_journal(), &promised, ChangeState::Intended);
    fixture.put("edited", "the user's\n");
    fixture.put("deleted", "the user's\n");
    fixture.put("created", "the user's\n");
    for path in ["gone", "becomes a folder", "becomes a link"] {
        fs::remove_file(fixture.root().join(path)).unwrap();
    }
    fixture.put("becomes a folder/file", "the user's\n");
    std::os::unix::fs::symlink("edited", fixture.root().join("becomes a link")).unwrap();
    let before = fixture.all_names();

    let (workspace, recovery) = fixture.open_with(fixture.open_journal(), fixture.config());
    let mut expected = [&paths[..], &["created"]].concat();
    expected.sort_unstable();
    assert_eq!(recovery.conflicts, expected);
    assert!(recovery.redone.is_empty() && recovery.failed.is_empty(), "{recovery:?}");
    for path in ["edited", "deleted", "created", "becomes a folder/file"] {
        assert_eq!(fixture.text(path).unwrap(), "the user's\n", "{path}");
    }
    assert_eq!(fixture.all_names(), before);
    // The same steps again have the same answers.
    let changes: Vec<_> = promised.iter().map(|promised| write(promised.path, "new\n")).collect();
    for outcome in workspace.change_files(&Caller::numbered(1).call(), &changes).unwrap() {
        assert_eq!(outcome.unwrap_err().reason(), Reason::Conflict);
    }
    drop(workspace);
    assert!(reopen(&fixture).is_empty());
}

#[test]
fn what_a_user_did_after_a_change_was_seen_in_its_place_leaves_its_answer() {
    let fixture = Fixture::new();
    fixture.put("reverted", "old\n");
    fixture.put("worked on", "old\n");
    let paths = ["reverted", "worked on"];
    let promised = paths.map(|path| Promised { path, before: Some("old\n"), after: Some("new\n") });
    promise(&fixture.open_journal(), &promised, ChangeState::Published);
    fixture.put("worked on", "new\nand more\n");
    let (workspace, recovery) = fixture.open_with(fixture.open_journal(), fixture.config());
    assert_eq!(recovery.conflicts, paths);
    assert_eq!(fixture.text("reverted").unwrap(), "old\n");
    assert_eq!(fixture.text("worked on").unwrap(), "new\nand more\n");
    let changes = paths.map(|path| write(path, "new\n"));
    let outcomes = workspace.change_files(&Caller::numbered(1).call(), &changes).unwrap();
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
}

#[test]
fn temporary_files_of_a_crash_are_cleared_away_and_others_versions_are_kept() {
    let fixture = Fixture::new();
    fixture.put("d/a", "old\n");
    let new = "new\n".repeat(5_000);
    let promised = [Promised { path: "d/a", before: Some("old\n"), after: Some(&new) }];
    promise(&fixture.open_journal(), &promised, ChangeState::Intended);
    let temp = |digit: char| format!("d/.agentd-tmp-{}", digit.to_string().repeat(32));
    fixture.put(&temp('1'), &new);
    fixture.put(&temp('2'), &new[..8192]);
    fixture.put(&temp('3'), "");
    fixture.put(&temp('4'), "old\n");
    fixture.put(&temp('5'), "the user's, in the middle of an exchange\n");
    let recovery = reopen(&fixture);
    assert_eq!(recovery.redone, ["d/a"]);
    let [kept] = &recovery.kept[..] else { panic!("one version is the user's: {recovery:?}") };
    assert_eq!(fixture.text(kept).unwrap(), "the user's, in the middle of an exchange\n");
    assert_eq!(fixture.all_names(), ["d", &kept[..], "d/a"].map(str::to_owned));
}

#[test]
fn folder_that_is_removed_is_not_kept_by_what_the_crash_left_in_it() {
    for (left, is_removed) in [("old\n", true), ("the user's, in the middle of an exchange\n", false)] {
        let fixture = Fixture::new();
        fixture.put(&format!("n/d/.agentd-tmp-{}", "1".repeat(32)), left);
        let journal = fixture.open_journal();
        let key = change_journal::RunKey::once("undo", b"killed");
        let RunState::New(run) = journal.begin_run(&key).unwrap() else { panic!("the run is new") };
        let folder = || EntryRecord { kind: change_journal::EntryKind::Folder, ..EntryRecord::file(b"") };
        let changes = vec![
            ChangeRecord::intended(b"n/d/a", side(Some("old\n")), None),
            ChangeRecord::intended(b"n/d", Some(folder()), None),
            ChangeRecord::intended(b"n", Some(folder()), None),
        ];
        let step = StepRecord { kind: StepKind::FileChange, description: "undo", outcome: b"{}", changes };
        journal.record_steps(run.number(), 0, &[step]).unwrap();
        drop(journal);
        let recovery = reopen(&fixture);
        assert_eq!(fixture.root().join("n").exists(), !is_removed, "{recovery:?}");
        let kept: Vec<_> = recovery.kept.iter().map(|name| fixture.text(name).unwrap()).collect();
        assert_eq!(kept, if is_removed { vec![] } else { vec![left] }, "{recovery:?}");
    }
}

#[test]
fn read_only_workspace_waits_with_what_was_promised() {
    let fixture = Fixture::new();
    fixture.put("a", "old\n");
    promise(
        &fixture.open_journal(),
        &[Promised { path: "a", before: Some("old\n"), after: Some("new\n") }],
        ChangeState::Intended,
    );
    let config = local_workspace::EngineConfig { read_only: true, ..fixture.config() };
    let recovery = fixture.open_with(fixture.open_journal(), config).1;
    assert_eq!(recovery.failed.len(), 1, "{recovery:?}");
    assert_eq!(fixture.text("a").unwrap(), "old\n");
    assert_eq!(reopen(&fixture).redone, ["a"]);
    assert_eq!(fixture.text("a").unwrap(), "new\n");
}

#[test]
fn settled_changes_are_not_checked_again() {
    let fixture = Fixture::new();
    let workspace = fixture.open();
    change(&workspace, write("a/b/c", "ours\n")).unwrap();
    change(&workspace, write("d", "ours\n")).unwrap();
    change(&workspace, delete("d")).unwrap();
    workspace.checkpoint();
    drop(workspace);
    let journal = fixture.open_journal();
    assert_eq!(journal.reader().unsettled_changes().unwrap(), []);
    drop(journal);
    fixture.put("a/b/c", "the user's\n");
    assert!(reopen(&fixture).is_empty());
    assert_eq!(fixture.text("a/b/c").unwrap(), "the user's\n");
}

/// Saves as editors do: next to the file, and then over it.
fn save(fixture: &Fixture, name: &str, text: &str) {
    let beside = fixture.root().join("save");
    fs::write(&beside, text).unwrap();
    fs::rename(&beside, fixture.root().join(name)).unwrap();
}

#[test]
fn concurrent_saves_are_never_lost_unseen() {
    let fixture = Fixture::new();
    let journal = fixture.open_journal();
    let workspace = fixture.open_with(journal.clone(), fixture.config()).0;
    let mut endings: HashMap<&str, u32> = HashMap::new();
    for round in 0..300_u64 {
        fixture.put("a", format!("base {round}\n"));
        let users = format!("the user's {round}\n");
        let ours = format!("ours {round}\n");
        let outcome = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_micros(round * 31 % 1_500));
                save(&fixture, "a", &users);
            });
            change(&workspace, write("a", &ours))
        });
        let now = fixture.text("a").unwrap();
        let last = journal.reader().changes_of_path(b"a", 1).unwrap().remove(0);
        let replaced = last.before.unwrap().content.unwrap();
        let saw_the_users = replaced == change_journal::ContentHash::of(users.as_bytes());
        let ending = match outcome {
            Ok(_) if now == users => "saved after",
            Ok(_) => {
                assert_eq!(now, ours);
                assert!(saw_the_users, "round {round}: the user's version was replaced unseen");
                "saved before"
            }
            Err(error) => {
                assert_eq!(error.reason(), Reason::Conflict, "{error}");
                assert_eq!(now, users);
                assert_eq!(last.state, ChangeState::Conflicted);
                "conflict"
            }
        };
        *endings.entry(ending).or_default() += 1;
    }
    assert_eq!(fixture.all_names(), ["a"], "{endings:?}");
}

#[test]
fn save_between_plan_and_publish_stays_and_only_its_item_fails() {
    let fixture = Fixture::new();
    let journal = fixture.open_journal();
    let workspace = fixture.open_with(journal.clone(), fixture.config()).0;
    // The file is the last of many, so that there is time between the commit and its turn. Still the save may come too
    // late, hence the attempts.
    let met = (0..100).any(|attempt| {
        fixture.put("last", format!("base {attempt}\n"));
        let mut changes: Vec<_> =
            (0..100).map(|file| write(&format!("f{file}"), &format!("{attempt}\n"))).collect();
        changes.push(write("last", "ours\n"));
        let caller = Caller::once();
        let newest = journal.reader().changes_of_path(b"last", 1).unwrap().pop().map(|change| change.number);
        let is_recorded = || {
            let last = journal.reader().changes_of_path(b"last", 1).unwrap().pop();
            last.map(|change| change.number) != newest
        };
        let mut outcomes = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_recorded() {
                    std::thread::yield_now();
                }
                save(&fixture, "last", "the user's\n");
            });
            workspace.change_files(&caller.call(), &changes).unwrap()
        });
        assert_eq!(workspace.change_files(&caller.call(), &changes).unwrap(), outcomes);
        let last = outcomes.pop().unwrap();
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
        assert_eq!(fixture.text("f99").unwrap(), format!("{attempt}\n"));
        assert_eq!(fixture.text("last").unwrap(), "the user's\n");
        last.is_err_and(|error| error.reason() == Reason::Conflict)
    });
    assert!(met, "no save came between the commit and the file");
    let last = journal.reader().changes_of_path(b"last", 1).unwrap().remove(0);
    assert_eq!(last.state, ChangeState::Conflicted);
    drop((workspace, journal));
    assert!(reopen(&fixture).is_empty());
    assert_eq!(fixture.text("last").unwrap(), "the user's\n");
}

#[test]
fn folder_that_could_not_be_made_is_not_said_to_be_there() {
    let fixture = Fixture::new();
    let journal = fixture.open_journal();
    let workspace = fixture.open_with(journal.clone(), fixture.config()).0;
    // As above: another process takes the folder's name between the commit and its turn, or comes too late.
    let met = (0..100).any(|attempt| {
        let folder = format!("d{attempt}");
        let last_change = |path: &str| journal.reader().changes_of_path(path.as_bytes(), 1).unwrap().pop();
        let mut changes: Vec<_> =
            (0..100).map(|file| write(&format!("f{file}"), &format!("{attempt}\n"))).collect();
        changes.push(write(&format!("{folder}/last"), "ours\n"));
        let mut outcomes = std::thread::scope(|scope| {
            scope.spawn(|| {
                while last_change(&folder).is_none() {
                    std::thread::yield_now();
                }
                // It fails where the folder is there already.
                let _ = File::create_new(fixture.root().join(&folder));
            });
            workspace.change_files(&Caller::once().call(), &changes).unwrap()
        });
        let is_refused = outcomes.pop().unwrap().is_err();
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
        let states = [folder.clone(), format!("{folder}/last")].map(|path| last_change(&path).unwrap().state);
        let is_conflict = states.map(|state| state == ChangeState::Conflicted);
        assert_eq!(is_conflict, [is_refused; 2], "{states:?}");
        assert_eq!(fixture.text(&folder).is_some(), is_refused);
        is_refused
    });
    assert!(met, "no writer came between the commit and the folder");
}

/// The file of the journal that holds a large content.
fn content_file(fixture: &Fixture, content: &str) -> PathBuf {
    fn find(folder: &std::path::Path, length: u64) -> Option<PathBuf> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).find_map(|path| {
            let is_it = fs::metadata(&path).unwrap().len() == length && path.is_file();
            if is_it {
                Some(path)
            } else if path.is_dir() {
                find(&path, length)
            } else {
                None
            }
        })
    }
    find(&fixture.path().join("state/journal"), content.len() as u64).unwrap()
}

#[test]
fn a_content_that_cannot_be_read_now_is_no_conflict() {
    let fixture = Fixture::new();
    fixture.put("large", "old\n");
    let large = "a line of the new content\n".repeat(60_000);
    let promised = Promised { path: "large", before: Some("old\n"), after: Some(&large) };
    promise(&fixture.open_journal(), &[promised], ChangeState::Intended);
    let content = content_file(&fixture, &large);
    let elsewhere = fixture.path().join("elsewhere");
    fs::rename(&content, &elsewhere).unwrap();
    let recovery = reopen(&fixture);
    assert_eq!(recovery.failed.len(), 1, "{recovery:?}");
    assert!(recovery.failed[0].1.contains("the journal cannot be read"), "{recovery:?}");
    assert_eq!((&recovery.conflicts[..], &recovery.redone[..]), (&[][..], &[][..]));
    fs::rename(&elsewhere, &content).unwrap();
    assert_eq!(reopen(&fixture).redone, ["large"]);
    assert_eq!(fixture.text("large").unwrap(), large);
}

#[test]
fn no_reference_is_removed_before_the_list_that_names_it_is_written() {
    let fixture = Fixture::new();
    fixture.put(".git/refs/heads/b", "1\n");
    let large = "1 refs/heads/b\n".repeat(100_000);
    let promised = [
        Promised { path: ".git/packed-refs", before: None, after: Some(&large) },
        Promised { path: ".git/refs/heads/b", before: Some("1\n"), after: None },
    ];
    promise(&fixture.open_journal(), &promised, ChangeState::Intended);
    let content = content_file(&fixture, &large);
    let elsewhere = fixture.path().join("elsewhere");
    fs::rename(&content, &elsewhere).unwrap();
    let recovery = reopen(&fixture);
    let failed: Vec<_> = recovery.failed.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(failed, [".git/packed-refs", ".git/refs/heads/b"]);
    assert!(fixture.text(".git/refs/heads/b").is_some(), "{recovery:?}");
    fs::rename(&elsewhere, &content).unwrap();
    assert_eq!(reopen(&fixture).redone, [".git/packed-refs", ".git/refs/heads/b"]);
    assert_eq!(fixture.text(".git/refs/heads/b"), None);
}

#[test]
fn a_part_of_a_version_is_kept_next_to_a_file_in_its_place_unless_power_was_lost() {
    let names = ["1", "2"].map(|digit| format!(".agentd-tmp-{}", digit.repeat(32)));
    for is_same_start in [true, false] {
        let fixture = Fixture::new();
        fixture.put("file", "new and long\n");
        let promised =
            Promised { path: "file", before: Some("old and long\n"), after: Some("new and long\n") };
        promise(&fixture.open_journal(), &[promised], ChangeState::Published);
        if !is_same_start {
            let database =
                rusqlite::Connection::open(fixture.path().join("state/journal/journal.db")).unwrap();
            database.execute("UPDATE opening SET boot_id = 'an earlier start'", []).unwrap();
        }
        // The file as a user had cut it short when it was exchanged: what has come into its place was whole before.
        fixture.put(&names[0], "new and");
        fixture.put(&names[1], "old and");
        let recovery = reopen(&fixture);
        let texts: Vec<_> = recovery.kept.iter().map(|name| fixture.text(name).unwrap()).collect();
        let mut sorted = texts.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, if is_same_start { vec!["new and", "old and"] } else { vec![] }, "{recovery:?}");
        assert_eq!(fixture.all_names().len(), 1 + texts.len(), "{:?}", fixture.all_names());
    }
}

#[test]
fn a_file_that_the_disk_did_not_take_and_a_user_has_cut_short_stays() {
    let new = "new and long\n".repeat(100);
    let zeros = format!("{}{}", "\0".repeat(512), &new[512..]);
    for (now, is_theirs) in [("", true), (&new[..700], true), (&zeros, false)] {
        let fixture = Fixture::new();
        let journal = fixture.open_journal();
        let promised = Promised { path: "file", before: Some("old\n"), after: Some(&new) };
        promise(&journal, &[promised], ChangeState::Published);
        let mark = change_journal::DocumentWrite::Put { name: "unsynced/1", bytes: b"" };
        journal.write_documents(&[mark]).unwrap();
        drop(journal);
        fixture.put("file", now);
        let recovery = reopen(&fixture);
        let (stayed, redone) =
            if is_theirs { (vec!["file".to_owned()], vec![]) } else { (vec![], vec!["file".into()]) };
        assert_eq!((recovery.conflicts, recovery.redone), (stayed, redone));
        assert_eq!(fixture.text("file").unwrap(), if is_theirs { now } else { &new });
        assert!(reopen(&fixture).is_empty());
    }
}

#[test]
fn a_save_that_an_exchange_displaced_is_kept_although_the_journal_has_its_content() {
    let fixture = Fixture::new();
    let workspace = fixture.open();
    for content in ["first\n", "old\n"] {
        change(&workspace, write("file", content)).unwrap();
    }
    workspace.checkpoint();
    drop(workspace);
    let promised = Promised { path: "file", before: Some("old\n"), after: Some("new\n") };
    promise(&fixture.open_journal(), &[promised], ChangeState::Intended);
    // The exchange was made, and a user had restored the first version right before it.
    fixture.put("file", "new\n");
    fixture.put(&format!(".agentd-tmp-{}", "1".repeat(32)), "first\n");
    let recovery = reopen(&fixture);
    let [kept] = &recovery.kept[..] else { panic!("the user's version is gone: {recovery:?}") };
    assert_eq!(
        (fixture.text(kept).unwrap(), fixture.text("file").unwrap()),
        ("first\n".into(), "new\n".into())
    );
}

#[test]
fn a_conflict_in_a_step_that_cannot_be_read_is_noted_later() {
    let fixture = Fixture::new();
    fixture.put("file", "the user's\n");
    let promised = Promised { path: "file", before: Some("old\n"), after: Some("new\n") };
    promise(&fixture.open_journal(), &[promised], ChangeState::Intended);
    let database = || rusqlite::Connection::open(fixture.path().join("state/journal/journal.db")).unwrap();
    let outcome =
        || database().query_row("SELECT outcome FROM step", [], |row| row.get::<_, Vec<u8>>(0)).unwrap();
    let recorded = outcome();
    // A text that is none fails every reading of the step.
    database().execute("UPDATE step SET description = CAST(X'FF' AS TEXT)", []).unwrap();
    assert_eq!(reopen(&fixture).conflicts, ["file"]);
    assert_eq!(outcome(), recorded, "an outcome of another kind may have been overwritten");
    database().execute("UPDATE step SET description = 'change'", []).unwrap();
    assert_eq!(reopen(&fixture).conflicts, ["file"]);
    assert_ne!(outcome(), recorded);
    assert!(reopen(&fixture).is_empty());
}
