//! Rules of git in files that git reads, and in others.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use file_index::GitIgnores;
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
