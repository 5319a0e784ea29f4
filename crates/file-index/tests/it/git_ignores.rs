//! Rules of git in files that git reads, and in others.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use file_index::{FormerRules, GitIgnores};
use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsPolicy, RootRules};

fn ignores(folder: &Path, path: &str) -> bool {
    let root = FileRoot::open(folder, &RootRules::none(), FsPolicy::default()).unwrap();
    GitIgnores::new(&root).ignores(&RelPath::parse(path).unwrap(), true)
}

#[test]
fn a_link_to_rules_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("sub")).unwrap();
    fs::write(folder.path().join("rules"), "target/\n").unwrap();
    symlink("rules", folder.path().join(".gitignore")).unwrap();
    symlink("../rules", folder.path().join("sub/.gitignore")).unwrap();
    assert!(!ignores(folder.path(), "target"));
    assert!(!ignores(folder.path(), "sub/target"));
    // The control: the same rules in a file count.
    fs::remove_file(folder.path().join(".gitignore")).unwrap();
    fs::copy(folder.path().join("rules"), folder.path().join(".gitignore")).unwrap();
    assert!(ignores(folder.path(), "target"));
    assert!(ignores(folder.path(), "sub/target"));
}

#[test]
fn earlier_rules_stand_in_for_those_of_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("sub")).unwrap();
    fs::write(folder.path().join(".gitignore"), "now\n").unwrap();
    fs::write(folder.path().join("sub/.gitignore"), "own\n").unwrap();
    let root = FileRoot::open(folder.path(), &RootRules::none(), FsPolicy::default()).unwrap();
    let judged = |former: Option<FormerRules>| {
        let former = former.map(|rules| (RelPath::parse(".gitignore").unwrap(), rules));
        let mut ignores = GitIgnores::as_before(&root, former.into_iter().collect());
        ["now", "before", "sub/own"].map(|path| ignores.ignores(&RelPath::parse(path).unwrap(), false))
    };
    assert_eq!(judged(None), [true, false, true]);
    assert_eq!(judged(Some(FormerRules::Content(b"before\n".to_vec()))), [false, true, true]);
    assert_eq!(judged(Some(FormerRules::Absent)), [false, false, true]);
    assert_eq!(judged(Some(FormerRules::NotKept)), [false, false, true]);
    // A content that would not be read from the folder is not obeyed either.
    let large = [b"now\n".to_vec(), vec![b'\n'; 300 << 10]].concat();
    assert_eq!(judged(Some(FormerRules::Content(large))), [false, false, true]);
}

/// Returns which of the paths are ignored, and the files that are not obeyed.
fn judged(folder: &Path, paths: &[&str]) -> (Vec<bool>, Vec<String>) {
    let root = FileRoot::open(folder, &RootRules::none(), FsPolicy::default()).unwrap();
    let mut ignores = GitIgnores::new(&root);
    let judged = paths.iter().map(|path| ignores.ignores(&RelPath::parse(path).unwrap(), true)).collect();
    (judged, ignores.not_obeyed().iter().map(ToString::to_string).collect())
}

/// Rules with so many patterns, each of 15 bytes and 16 that are added.
fn patterns(count: usize) -> String {
    (0..count).map(|number| format!("a*b*c*d*{number:07}\n")).collect()
}

#[test]
fn rules_that_would_take_long_to_compile_exclude_nothing_and_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("sub/deep")).unwrap();
    fs::write(folder.path().join(".gitignore"), "target/\n").unwrap();
    fs::write(folder.path().join("sub/deep/.gitignore"), "own/\n").unwrap();
    let paths = ["target", "sub/target", "sub/own", "sub/deep/own", "sub/deep/target", "sub/abcd0000001"];
    let rules = folder.path().join("sub/.gitignore");
    let most = (32 << 10) / 31;
    // Controls: the most patterns, and a file without wildcards of which each line is a name.
    fs::write(&rules, patterns(most)).unwrap();
    assert_eq!(judged(folder.path(), &paths), (vec![true, true, false, true, true, true], vec![]));
    fs::write(&rules, "a-name-in-a-list\n".repeat(15_000)).unwrap();
    assert_eq!(judged(folder.path(), &paths), (vec![true, true, false, true, true, false], vec![]));
    // A pattern more, of which the last could include again what the root excludes; and a file that is too large.
    for too_much in [patterns(most + 1), "name\n".repeat(60_000)] {
        fs::write(&rules, too_much).unwrap();
        let not_obeyed = vec!["sub/.gitignore".to_owned()];
        assert_eq!(judged(folder.path(), &paths), (vec![true, false, false, true, false, false], not_obeyed));
    }
}

#[test]
fn rules_of_the_clone_that_are_not_obeyed_leave_those_of_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join(".git/info")).unwrap();
    fs::write(folder.path().join(".git/info/exclude"), format!("{}other/\n", patterns(2_000))).unwrap();
    fs::write(folder.path().join(".gitignore"), "target/\n").unwrap();
    let not_obeyed = vec![".git/info/exclude".to_owned()];
    assert_eq!(judged(folder.path(), &["target", "other"]), (vec![true, false], not_obeyed));
}
