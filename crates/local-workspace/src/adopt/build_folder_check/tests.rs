//! A check by changes finds what a check by a search finds.

use std::fs;
use std::path::Path;

use sandbox_fs::{FsPolicy, RootRules};

use super::*;

const BUILD: [&str; 2] = ["target", "web/node_modules"];

fn root_of(folder: &Path) -> Arc<FileRoot> {
    let path = fs::canonicalize(folder).unwrap();
    Arc::new(FileRoot::open(&path, &RootRules::none(), FsPolicy::default()).unwrap())
}

/// Makes build folders, some of them deeper than a search would go.
fn build(folder: &Path) {
    for name in ["target/debug/deps", "web/node_modules/a/b/c", "web/node_modules/d", "src"] {
        fs::create_dir_all(folder.join(name)).unwrap();
        fs::write(folder.join(name).join("file"), "1").unwrap();
    }
}

fn folders() -> Vec<RelPath> {
    BUILD.iter().map(|name| RelPath::parse(name).unwrap()).collect()
}

fn repository(at: &Path) {
    for name in ["objects", "refs", "hooks"] {
        fs::create_dir_all(at.join(name)).unwrap();
    }
    fs::write(at.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(at.join("config"), "[core]\n\tfsmonitor = evil\n").unwrap();
}

type Command = fn(&Path);

/// Commands, each with those of its files that are taken away.
const CASES: [(&str, Command, &[&str]); 9] = [
    ("nothing", |_| {}, &[]),
    ("a build", |root| fs::write(root.join("target/debug/deps/object"), "2").unwrap(), &[]),
    (
        "a folder that comes and goes",
        |root| {
            fs::create_dir_all(root.join("target/debug/temporary/x")).unwrap();
            fs::remove_dir_all(root.join("target/debug/temporary")).unwrap();
        },
        &[],
    ),
    (
        "a repository in a new folder",
        |root| repository(&root.join("target/debug/new/.git")),
        &["target/debug/new/.git/config"],
    ),
    (
        "a repository in an old folder",
        |root| repository(&root.join("web/node_modules/a/b/c/.git")),
        &["web/node_modules/a/b/c/.git/config"],
    ),
    (
        "a folder that becomes one",
        |root| repository(&root.join("web/node_modules/d")),
        &["web/node_modules/d/config"],
    ),
    (
        "a repository in a folder that was renamed",
        |root| {
            fs::rename(root.join("web/node_modules/a"), root.join("target/a")).unwrap();
            repository(&root.join("target/a/b/.git"));
        },
        &["target/a/b/.git/config"],
    ),
    (
        "a repository that was made elsewhere",
        |root| {
            repository(&root.join("src/.git"));
            fs::rename(root.join("src/.git"), root.join("target/debug/deps/.git")).unwrap();
        },
        &["target/debug/deps/.git/config"],
    ),
    (
        "a build folder that was replaced",
        |root| {
            fs::remove_dir_all(root.join("target")).unwrap();
            repository(&root.join("target/debug/.git"));
        },
        &["target/debug/.git/config"],
    ),
];

fn taken_away(findings: &BuildFolderFindings) -> Vec<&str> {
    assert!(findings.left.is_empty() && !findings.is_cut, "{findings:?}");
    findings.taken_away.iter().map(|(path, _)| path.as_str()).collect()
}

#[test]
fn later_commands_are_checked_by_their_changes_as_the_first_is_by_a_search() {
    for (name, command, expected) in CASES {
        for earlier in 0..3 {
            let folder = tempfile::tempdir().unwrap();
            build(folder.path());
            let root = root_of(folder.path());
            let mut before = BuildFoldersBefore::default();
            for number in 0..earlier {
                before = BuildFoldersBefore::look_again(&root, folders(), before);
                fs::write(folder.path().join(format!("target/debug/{number}")), "").unwrap();
                let since = Moment::now();
                assert_eq!(taken_away(&check(&root, &mut before, since)), [""; 0], "{name}");
                before = before.without_contents();
                assert!(before.watch.is_some(), "{name}: the folders are watched");
            }
            before = BuildFoldersBefore::look_again(&root, folders(), before);
            let since = Moment::now();
            command(&fs::canonicalize(folder.path()).unwrap());
            let findings = check(&root, &mut before, since);
            assert_eq!(taken_away(&findings), expected, "{name}, after {earlier} commands");
        }
    }
}

#[test]
fn folders_of_earlier_commands_are_not_examined_again() {
    let folder = tempfile::tempdir().unwrap();
    build(folder.path());
    let root = root_of(folder.path());
    let mut first = BuildFoldersBefore::look_again(&root, folders(), BuildFoldersBefore::default());
    check(&root, &mut first, Moment::now());
    fs::write(folder.path().join("web/node_modules/d/new"), "").unwrap();
    let mut watch = first.watch.take().unwrap();
    let changed = watch.changed(&root, &folders()).unwrap();
    assert_eq!(changed, [RelPath::parse("web/node_modules/d").unwrap()]);
    assert_eq!(watch.changed(&root, &folders()).unwrap(), []);
}

#[test]
fn repository_of_the_user_ends_the_watching_and_is_compared_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    build(folder.path());
    let root = root_of(folder.path());
    let first = BuildFoldersBefore::look_again(&root, folders(), BuildFoldersBefore::default());
    assert!(first.watch.is_some());
    repository(&folder.path().join("target/mine/.git"));
    fs::hard_link(folder.path().join("target/mine/.git/config"), folder.path().join("src/name")).unwrap();
    let mut second = BuildFoldersBefore::look_again(&root, folders(), first);
    assert!(second.watch.is_none() && !second.files.is_empty());
    // A write through another name does not show in any folder.
    let since =
        Moment(second.files.values().map(|stamp| stamp.status_changed_nanoseconds).max().unwrap() + 1);
    fs::write(folder.path().join("src/name"), "[core]\n\tfsmonitor = worse\n").unwrap();
    assert_eq!(taken_away(&check(&root, &mut second, since)), ["target/mine/.git/config"]);
}
