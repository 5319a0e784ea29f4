//! History files: written files are read back, and nothing else is overwritten.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use codali_envelope::history::{History, Message, Speaker};
use codali_session::{HistoryFile, HistoryFileError};
use proptest::prelude::*;

fn messages(file: &HistoryFile) -> Vec<Message> {
    file.history.messages().to_vec()
}

#[test]
fn each_error_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.json");
    let mut texts = String::new();
    let mut add = |error: &HistoryFileError| {
        let text = error.to_string().replace(folder.path().to_str().unwrap(), "/folder");
        texts.push_str(&format!("{text}\n    advice: {}\n", error.advice().unwrap_or("none")));
    };
    for content in ["{", "{\"version\": 2, \"messages\": []}", "{\"version\": 1, \"messages\": 1}"] {
        fs::write(&path, content).unwrap();
        add(&HistoryFile::read(&path).unwrap_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
    }
    add(&HistoryFile::read(folder.path()).unwrap_err());
    fs::remove_file(&path).unwrap();
    let mut file = HistoryFile::read(&path).unwrap();
    file.write().unwrap();
    // Its own writes do not count as those of another program.
    file.write().unwrap();
    fs::write(&path, "another program's").unwrap();
    add(&file.write().unwrap_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "another program's");
    insta::assert_snapshot!(texts);
}

#[test]
fn a_symbolic_link_stays_and_its_target_is_written_for_the_user_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (target, link) = (folder.path().join("target.json"), folder.path().join("link.json"));
    fs::write(&target, "").unwrap();
    symlink(&target, &link).unwrap();
    let mut file = HistoryFile::read(&link).unwrap();
    file.history.push(Speaker::User, "Rename it.");
    file.write().unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(messages(&HistoryFile::read(&target).unwrap()), messages(&file));
}

#[test]
fn leftovers_of_a_killed_process_with_the_same_id_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.json");
    let left = folder.path().join(format!("history.json.{}.tmp", std::process::id()));
    fs::write(&left, "half a hist").unwrap();
    HistoryFile::read(&path).unwrap().write().unwrap();
    assert!(HistoryFile::read(&path).unwrap().history.messages().is_empty());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing new is left");
}

#[test]
fn the_messages_that_were_left_out_are_counted_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.json");
    let mut file = HistoryFile::read(&path).unwrap();
    file.history.push(Speaker::User, "Rename it.");
    file.write().unwrap();
    assert!(!fs::read_to_string(&path).unwrap().contains("left_out"));
    file.history = file.history.clone().with_left_out(7);
    file.write().unwrap();
    assert_eq!(HistoryFile::read(&path).unwrap().history, file.history);
    assert_eq!(HistoryFile::read(&path).unwrap().history.left_out(), 7);
}

proptest! {
    #[test]
    fn every_history_is_read_as_it_was_written(
        said in prop::collection::vec((prop_oneof![Just(Speaker::User), Just(Speaker::Agent), Just(Speaker::Codali)], ".*"), 0..8),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.json");
        let mut file = HistoryFile::read(&path).unwrap();
        file.history = said.iter().map(|(speaker, text)| Message { speaker: *speaker, text: text.clone() }).collect::<History>();
        file.write().unwrap();
        prop_assert_eq!(messages(&HistoryFile::read(&path).unwrap()), messages(&file));
        let names: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
        prop_assert_eq!(names.len(), 1);
    }
}
