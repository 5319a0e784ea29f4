//! A move that fails between two files leaves everything as it was.

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use super::*;
use crate::plan::host::Host;

struct Fixture {
    folder: TempDir,
    repository: Repository,
}

impl Fixture {
    /// Makes a repository whose commit has files of each kind, and that ignores files named `*.env`.
    fn new() -> Fixture {
        let folder = tempfile::tempdir().expect("a folder");
        let root = fs::canonicalize(folder.path()).expect("it is there").join("repository");
        for name in ["conf/sub", "old"] {
            fs::create_dir_all(root.join(name)).expect("a new folder");
        }
        let host = Host {
            variables: BTreeMap::from([("HOME".into(), root.parent().expect("it has one").into())]),
            home: root.clone(),
            own_path: std::env::var_os("PATH").expect("there is one"),
        };
        fs::create_dir(folder.path().join("no-hooks")).expect("a new folder");
        git(&root, "init -q -b main");
        for (name, text) in [
            ("a.txt", "one\n"),
            ("b.txt", "two\n"),
            ("conf/sub/c", "three\n"),
            ("file", "f\n"),
            (".gitignore", "*.env\n"),
        ] {
            fs::write(root.join(name), text).expect("a new file");
        }
        fs::write(root.join("old/gone.txt"), "gone\n").expect("a new file");
        symlink("a.txt", root.join("link")).expect("a new link");
        git(&root, "add .");
        git(&root, "commit -q -m start");
        let hooks = folder.path().join("no-hooks");
        let repository = Repository::open(Git::new(&host, hooks), &root).expect("a repository");
        Fixture { folder, repository }
    }

    /// Commits a change of each kind on a branch, and returns both commits. With `is_impossible`, the last file is a link that no
    /// file system takes.
    fn commits(&self, is_impossible: bool) -> [String; 2] {
        let root = &self.repository.root;
        let old = git(root, "rev-parse HEAD");
        let script = "git checkout -q -b work; echo new > a.txt; chmod +x b.txt; git rm -qr conf old; echo file > conf; \
            git rm -q file; mkdir -p file/deep added/deep; echo x > file/deep/x; echo x > added/deep/x; ln -sfn b.txt link; git add -A";
        shell(root, script);
        if is_impossible {
            fs::write(self.folder.path().join("target"), "x".repeat(5000)).expect("a new file");
            let object = git(root, "hash-object -w ../target");
            git(root, &format!("update-index --add --cacheinfo 120000,{object},zz-link"));
        }
        git(root, "commit -q -m work");
        let new = git(root, "rev-parse HEAD");
        shell(root, "git checkout -q -f main; git clean -qdf");
        [old, new]
    }

    fn prepare<'a>(&'a self, commits: &'a [String; 2]) -> FastForward<'a> {
        FastForward::prepare(&self.repository, commits.each_ref().map(String::as_str), self.folder.path())
            .expect("it can be prepared")
    }

    /// Returns every path below the root but git's own, with kind, mode and content.
    fn files(&self) -> BTreeMap<PathBuf, String> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.repository.root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder").flatten() {
                let path = entry.path();
                let data = path.symlink_metadata().expect("it is there");
                let is_executable = data.permissions().mode() & 0o100 != 0;
                let text = match (data.is_dir(), data.is_symlink()) {
                    (true, _) => {
                        if entry.file_name() != ".git" {
                            folders.push(path.clone());
                        }
                        "folder".to_owned()
                    }
                    (_, true) => format!("{:?}", fs::read_link(&path)),
                    _ => format!("{is_executable} {}", fs::read_to_string(&path).expect("text")),
                };
                files.insert(path, text);
            }
        }
        files
    }
}

fn shell(folder: &Path, script: &str) -> String {
    let mut command = Command::new("sh");
    command.args(["-ec", script]).current_dir(folder).env("HOME", folder).env("GIT_CONFIG_NOSYSTEM", "1");
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "Ada").env(format!("GIT_{role}_EMAIL"), "a@localhost");
    }
    let output = command.output().expect("a shell");
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

fn git(folder: &Path, arguments: &str) -> String {
    shell(folder, &format!("git {arguments}"))
}

#[test]
fn a_move_that_git_fails_at_half_way_is_reverted() {
    for is_impossible in [true, false] {
        let fixture = Fixture::new();
        let commits = fixture.commits(is_impossible);
        let root = &fixture.repository.root;
        fs::write(root.join("mine.env"), "secret\n").expect("a new file");
        fs::create_dir(root.join("empty")).expect("a new folder");
        let before = fixture.files();
        let moved = fixture.prepare(&commits).run("note");
        let head = git(root, "rev-parse HEAD");
        if is_impossible {
            assert!(matches!(moved, Err(RunnerError::Git(_))), "{moved:?}");
            assert_eq!(fixture.files(), before);
            assert_eq!(head, commits[0]);
            assert_eq!(git(root, "status --porcelain"), "");
        } else {
            // The control: the same files without that link.
            moved.expect("it can be checked out");
            assert_eq!(head, commits[1]);
            assert_eq!(git(root, "status --porcelain"), "");
            assert_eq!(fs::read_to_string(root.join("a.txt")).expect("a file"), "new\n");
            assert!(
                root.join("file/deep/x").exists()
                    && root.join("conf").is_file()
                    && !root.join("old").exists()
            );
            assert!(git(root, "reflog -1").contains("note"));
        }
        assert_eq!(fs::read_to_string(root.join("mine.env")).expect("a file"), "secret\n");
    }
}

#[test]
fn a_branch_that_cannot_be_moved_keeps_its_files() {
    let fixture = Fixture::new();
    let commits = fixture.commits(false);
    let root = &fixture.repository.root;
    let before = fixture.files();
    let lock = root.join(".git/refs/heads/main.lock");
    fs::write(&lock, "").expect("a new file");
    let moved = fixture.prepare(&commits).run("note");
    assert!(matches!(moved, Err(RunnerError::Git(_))), "{moved:?}");
    assert_eq!(fixture.files(), before);
    assert_eq!(git(root, "status --porcelain"), "");
    // The control.
    fs::remove_file(lock).expect("it is there");
    fixture.prepare(&commits).run("note").expect("the lock is gone");
}

#[test]
fn only_what_git_has_written_is_removed() {
    let fixture = Fixture::new();
    let commits = fixture.commits(false);
    let root = &fixture.repository.root;
    let before = fixture.files();
    let forward = fixture.prepare(&commits);
    // As git leaves them: one file is there in full, of another one only a part, and one is removed.
    fs::create_dir_all(root.join("added/deep")).expect("a new folder");
    fs::write(root.join("added/deep/x"), "x\n").expect("a new file");
    fs::write(root.join("a.txt"), "ne").expect("a file");
    fs::remove_file(root.join("old/gone.txt")).expect("it is there");
    assert_eq!(forward.restore(), Vec::<PathBuf>::new());
    assert_eq!(fixture.files(), before);
    // Files that the user has written meanwhile.
    fs::create_dir_all(root.join("added/deep")).expect("a new folder");
    fs::write(root.join("added/deep/x"), "mine\n").expect("a new file");
    fs::write(root.join("a.txt"), "mine\n").expect("a file");
    assert_eq!(forward.restore(), [PathBuf::from("a.txt"), PathBuf::from("added/deep/x")]);
    for name in ["a.txt", "added/deep/x"] {
        assert_eq!(fs::read_to_string(root.join(name)).expect("a file"), "mine\n");
    }
    // Nor is a file removed that a link leads to.
    fs::remove_dir_all(root.join("added")).expect("it is there");
    fs::create_dir(fixture.folder.path().join("elsewhere")).expect("a new folder");
    fs::write(fixture.folder.path().join("elsewhere/x"), "x\n").expect("a new file");
    fs::create_dir(root.join("added")).expect("a new folder");
    symlink("../../elsewhere", root.join("added/deep")).expect("a new link");
    assert_eq!(forward.restore(), [PathBuf::from("a.txt")]);
    assert!(fixture.folder.path().join("elsewhere/x").exists());
}
