//! The kept list equals the result of a search, whatever happens in between.

use std::fs;
use std::path::Path;

use sandbox_fs::{FsPolicy, RootRules};

use super::*;

fn listed(list: &mut BuildFolderList, root: &Arc<FileRoot>) -> Vec<String> {
    list.current(root, &Hidden::new(None)).iter().map(ToString::to_string).collect()
}

/// A change of the workspace between commands.
#[derive(Clone, Copy, Debug)]
enum Change {
    Folder(&'static str),
    File(&'static str, &'static str),
    Rename(&'static str, &'static str),
    Remove(&'static str),
    Link(&'static str, &'static str),
    SecondName(&'static str, &'static str),
    Git(&'static [&'static str]),
}

impl Change {
    fn make(self, root: &Path) {
        match self {
            Change::Folder(name) => fs::create_dir_all(root.join(name)).unwrap(),
            Change::File(name, text) => {
                fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
                fs::write(root.join(name), text).unwrap();
            }
            Change::Rename(from, to) => fs::rename(root.join(from), root.join(to)).unwrap(),
            Change::Remove(name) if root.join(name).is_dir() => fs::remove_dir_all(root.join(name)).unwrap(),
            Change::Remove(name) => fs::remove_file(root.join(name)).unwrap(),
            Change::Link(name, to) => std::os::unix::fs::symlink(to, root.join(name)).unwrap(),
            Change::SecondName(name, of) => fs::hard_link(root.join(of), root.join(name)).unwrap(),
            Change::Git(arguments) => {
                let git =
                    std::process::Command::new("git").current_dir(root).args(arguments).output().unwrap();
                assert!(git.status.success(), "{git:?}");
            }
        }
    }
}

#[test]
fn held_list_is_what_a_search_finds_after_every_change() {
    use Change::{File, Folder, Git, Link, Remove, Rename, SecondName};
    let steps: [(Change, &[&str]); 31] = [
        (Folder("target"), &[]),
        (File("lib/a/file", ""), &[]),
        (File(".gitignore", "target/\n"), &["target"]),
        (Folder("lib/target"), &["lib/target", "target"]),
        (File("lib/.gitignore", "!target/\n"), &["target"]),
        (Remove("lib/.gitignore"), &["lib/target", "target"]),
        (Folder("outside/b/target"), &["lib/target", "outside/b/target", "target"]),
        (Rename("outside", "lib/c"), &["lib/target", "target"]),
        (Rename("lib/c/b", "b"), &["b/target", "lib/target", "target"]),
        (Rename("b", "lib/b"), &["lib/b/target", "lib/target", "target"]),
        (Remove("lib/b"), &["lib/target", "target"]),
        (Rename("lib/target", "lib/other"), &["target"]),
        (Rename("lib/other", "lib/target"), &["lib/target", "target"]),
        (Rename("lib", "target/lib"), &["target"]),
        (Rename("target/lib", "lib"), &["lib/target", "target"]),
        (Remove("target"), &["lib/target"]),
        (Link("target", "lib/target"), &["lib/target"]),
        (Remove("target"), &["lib/target"]),
        (Folder("target"), &["lib/target", "target"]),
        (Git(&["init", "--quiet"]), &["lib/target", "target"]),
        (File("target/kept", "1"), &["lib/target", "target"]),
        (Git(&["add", "--force", "target/kept"]), &["lib/target"]),
        (Git(&["rm", "--quiet", "--cached", "target/kept"]), &["lib/target", "target"]),
        (Folder("node_modules"), &["lib/target", "target"]),
        (File(".git/info/exclude", "node_modules\n"), &["lib/target", "node_modules", "target"]),
        (File(".git/info/exclude", ""), &["lib/target", "target"]),
        // A write through another name, or through a symlink, does not show in the folder.
        (SecondName("target/rules", ".gitignore"), &["lib/target", "target"]),
        (File("target/rules", "# target/\n"), &[]),
        (File("target/rules", "target/\n"), &["lib/target", "target"]),
        (Remove(".gitignore"), &[]),
        // Git does not follow a symlink to its rules.
        (Link(".gitignore", "target/rules"), &[]),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = fs::canonicalize(folder.path()).unwrap();
    let root = Arc::new(FileRoot::open(&path, &RootRules::none(), FsPolicy::default()).unwrap());
    let mut held = BuildFolderList::default();
    assert_eq!(listed(&mut held, &root), [""; 0]);
    for (number, (change, expected)) in steps.into_iter().enumerate() {
        let is_rule_linked = path.join(".gitignore").is_symlink();
        assert!(held.watch.is_some() || is_rule_linked, "it is held before step {number}");
        change.make(&path);
        let now = listed(&mut held, &root);
        assert_eq!(now, listed(&mut BuildFolderList::default(), &root), "step {number}: {change:?}");
        assert_eq!(now, expected, "step {number}: {change:?}");
    }
}
