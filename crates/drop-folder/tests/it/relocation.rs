//! Files that are moved away.

use std::collections::BTreeSet;
use std::fs;

use drop_folder::{move_to_free_name, rename_with_suffix};
use proptest::prelude::*;
use rel_path::RelPath;
use sandbox_fs::FsError;

use crate::open;

fn name(text: &str) -> RelPath {
    RelPath::parse(text).expect("it is a name")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// However often the same names arrive, every content is kept under its own name.
    #[test]
    fn nothing_is_ever_overwritten(arrivals in prop::collection::vec("(a|b)(-2)?(\\.txt|\\.tar\\.gz)?|\\.a", 1..12)) {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir(&from).unwrap();
        fs::create_dir(&to).unwrap();
        let (from_root, to_root) = (open(&from), open(&to));
        for (number, arrival) in arrivals.iter().enumerate() {
            fs::write(from.join(arrival), number.to_string()).unwrap();
            let moved = move_to_free_name(&from_root, &name(arrival), &to_root).unwrap();
            prop_assert_eq!(fs::read_to_string(to.join(moved.to_string())).unwrap(), number.to_string());
        }
        let kept = fs::read_dir(&to).unwrap().map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap());
        let numbers: BTreeSet<String> = (0..arrivals.len()).map(|number| number.to_string()).collect();
        prop_assert_eq!(kept.collect::<BTreeSet<String>>(), numbers);
        prop_assert_eq!(fs::read_dir(&from).unwrap().count(), 0);
    }
}

#[test]
fn the_number_precedes_the_extension() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    fs::create_dir(&from).unwrap();
    fs::create_dir(&to).unwrap();
    let mut names = Vec::new();
    for _ in 0..3 {
        fs::write(from.join("reply.txt"), "x").unwrap();
        names.push(move_to_free_name(&open(&from), &name("reply.txt"), &open(&to)).unwrap().to_string());
    }
    assert_eq!(names, ["reply.txt", "reply-2.txt", "reply-3.txt"]);
    let gone = move_to_free_name(&open(&from), &name("reply.txt"), &open(&to));
    assert!(matches!(gone, Err(FsError::NotFound { .. })), "{gone:?}");
    let renamed = rename_with_suffix(&open(&to), &name("reply.txt"), "changed").unwrap();
    assert_eq!(renamed.to_string(), "reply.txt.changed-1");
}

#[test]
fn a_name_of_maximum_length_is_truncated_for_its_number() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    fs::create_dir(&from).unwrap();
    fs::create_dir(&to).unwrap();
    // The title of a chat, as a browser saves it: the number would end within a character.
    for long in [format!("{}.txt", "x".repeat(251)), format!("x{}.txt", "é".repeat(125))] {
        assert_eq!(long.len(), 255);
        let mut names = BTreeSet::new();
        for _ in 0..11 {
            fs::write(from.join(&long), "x").unwrap();
            names.insert(move_to_free_name(&open(&from), &name(&long), &open(&to)).unwrap().to_string());
        }
        assert!(names.contains(&long) && names.len() == 11, "{names:?}");
        assert!(names.iter().all(|name| name.ends_with(".txt") && name.len() > 250), "{names:?}");
    }
}
