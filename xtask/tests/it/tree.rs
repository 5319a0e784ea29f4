//! Reading the files of a repository.

use std::fs;

use xtask::Tree;

#[test]
fn a_folder_that_is_no_checkout_is_walked() {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in [("a/b.rs", "x"), ("target/c.rs", "y"), ("d.bin", "\0"), ("a/target/e.rs", "z")] {
        let whole = folder.path().join(path);
        fs::create_dir_all(whole.parent().unwrap()).unwrap();
        fs::write(whole, text).unwrap();
    }
    let tree = Tree::read(folder.path()).unwrap();
    assert_eq!(tree.paths().collect::<Vec<_>>(), ["a/b.rs", "a/target/e.rs", "d.bin"]);
    assert_eq!(tree.texts().map(|(path, _)| path).collect::<Vec<_>>(), ["a/b.rs", "a/target/e.rs"]);
    assert_eq!(tree.text("a/b.rs"), Some("x"));
    assert!(!tree.contains("target/c.rs"));
}

#[test]
fn this_repository_has_its_own_source() {
    let tree = Tree::read(&xtask::root()).unwrap();
    assert!(tree.text("xtask/tests/it/tree.rs").unwrap().contains("this_repository_has_its_own_source"));
    assert!(!tree.paths().any(|path| path.starts_with("target/")));
}
