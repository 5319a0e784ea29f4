//! An index of git that a command wrote is adopted only if the user's git can be trusted with it.
//!
//! Git writes to whatever path its index names. Each attack is tried plainly first, where it works.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use change_journal::ChangeNumber;
use local_workspace::{LocalWorkspace, Undo};

use crate::fixture::workspace::*;

/// Runs something as the user would, outside of everything.
fn shell(folder: &Path, script: &str) -> Output {
    Command::new("sh")
        .args(["-ec", script])
        .current_dir(folder)
        .env("HOME", folder.join("../home"))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env_remove("GIT_DIR")
        .output()
        .unwrap()
}

fn git(folder: &Path, script: &str) -> String {
    let ran = shell(folder, script);
    assert!(ran.status.success(), "{script}: {ran:?}");
    String::from_utf8(ran.stdout).unwrap().trim().to_owned()
}

const COMMIT: &str = "git -c user.name=u -c user.email=u@x commit -q";

/// A workspace with a repository of one commit, one more in a folder and one in a build folder, and a crafted index.
fn prepared() -> Fixture {
    let fixture = Fixture::new();
    fixture.put("file", "x\n");
    fixture.put(".gitignore", "target/\ncrafted\n");
    let root = fixture.root();
    git(&root, &format!("git init -q -b main . && git add . && {COMMIT} -m one"));
    git(&root, "git init -q sub && git init -q target/mine && git init -q --bare stored.git");
    fixture.put(".git/info/exclude", "sub/\nstored.git/\nother/\n");
    git(
        &root,
        "for name in sub target/mine; do cp file $name && git -C $name add file; done; cp -r sub/.git/objects/. stored.git/objects/",
    );
    fixture.put("payload", "outside\n");
    let blob = git(
        &root,
        "for name in . sub target/mine; do git -C $name hash-object -w $PWD/payload; done | tail -1",
    );
    fs::remove_file(root.join("payload")).unwrap();
    fixture.put("crafted", index(&[(".git/hooks/post-checkout", &blob), ("../escaped", &blob)]));
    // What is younger than a tick of the clock counts as changed by the command.
    std::thread::sleep(std::time::Duration::from_millis(100));
    fixture
}

/// An index of version 2 with these paths and objects.
fn index(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = b"DIRC\0\0\0\x02".to_vec();
    bytes.extend(u32::try_from(entries.len()).unwrap().to_be_bytes());
    for (path, object) in entries {
        bytes.extend([0; 24]);
        bytes.extend(0o100_644_u32.to_be_bytes());
        bytes.extend([0; 12]);
        let digits = object.as_bytes().chunks(2);
        bytes.extend(digits.map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap()));
        bytes.extend(u16::try_from(path.len()).unwrap().to_be_bytes());
        bytes.extend(path.as_bytes());
        bytes.extend(vec![0; 8 - (62 + path.len()) % 8]);
    }
    // Git compares this only where it is asked to check a repository.
    bytes.extend([0; 20]);
    bytes
}

fn warned(workspace: &LocalWorkspace, script: &str) -> String {
    let response = run(workspace, script).unwrap();
    assert_eq!(response.exit_code, 0, "{script}: {response:?}");
    response.warnings.join("\n")
}

/// The folder of a repository, where its index is, and what the user does there.
const PATHS: &[(&str, &str)] =
    &[(".", ".git/index"), ("sub", "sub/.git/index"), ("target/mine", "target/mine/.git/index")];

#[test]
fn crafted_index_is_refused_and_the_one_before_stays() {
    for (folder, path) in PATHS {
        let plain = prepared();
        git(&plain.root(), &format!("cp crafted {path}"));
        let hook = Path::new(folder).join(".git/hooks/post-checkout");
        let escaped = Path::new(folder).join("../escaped");
        let printed = shell(&plain.root().join(folder), "git checkout .");
        assert!(plain.root().join(&hook).exists(), "control: {folder}: {printed:?}");
        assert!(plain.root().join(&escaped).exists(), "control: {folder}: {printed:?}");
        for layered in LAYERS {
            let fixture = prepared();
            let workspace = fixture.open_layered(layered);
            let before = fs::read(fixture.root().join(path)).unwrap();
            let warned = warned(&workspace, &format!("cp crafted {path}"));
            assert!(warned.contains(&format!("`{path}`")), "{path} ({layered:?}): {warned}");
            assert!(warned.contains("an index with the entry '.git/hooks/post-checkout'"), "{warned}");
            let is_build = path.starts_with("target");
            let now = fs::read(fixture.root().join(path)).ok();
            assert_eq!(now, (!is_build).then_some(before), "{path} ({layered:?}): {warned}");
            let _ = shell(&fixture.root().join(folder), "git checkout . && git stash");
            assert!(!fixture.root().join(&hook).exists(), "{path} ({layered:?})");
            assert!(!fixture.root().join(&escaped).exists(), "{path} ({layered:?})");
            git(&fixture.root().join(folder), "git status && git add -A");
        }
    }
}

#[test]
fn every_index_in_a_repository_is_judged() {
    for path in [
        ".git/Index",
        ".git/sharedindex.0123456789012345678901234567890123456789",
        ".git/worktrees/x/index",
        ".git/modules/a/b/index",
        ".git/modules/a/worktrees/x/sharedindex.1",
        "stored.git/index",
    ] {
        for layered in LAYERS {
            let fixture = prepared();
            let workspace = fixture.open_layered(layered);
            let copied = |from: &str| format!("mkdir -p $(dirname {path}) && cp {from} {path}");
            assert_eq!(warned(&workspace, &copied("sub/.git/index")), "", "control: {path} ({layered:?})");
            let refused = warned(&workspace, &copied("crafted"));
            assert!(refused.contains(path) && refused.contains("an index with"), "{path}: {refused}");
            assert_ne!(
                fs::read(fixture.root().join(path)).unwrap(),
                fs::read(fixture.root().join("crafted")).unwrap(),
                "{path} ({layered:?})"
            );
        }
    }
}

#[test]
fn split_index_is_adopted_as_a_whole_or_not_at_all() {
    for layered in LAYERS {
        let fixture = prepared();
        let workspace = fixture.open_layered(layered);
        // Its cached trees cannot be compared with entries that are in two files.
        let refused = warned(&workspace, "git update-index --split-index");
        assert!(refused.contains("--no-split-index"), "{layered:?}: {refused}");
        git(&fixture.root(), "git status && ! ls .git/sharedindex.*");
        git(&fixture.root(), "git update-index --split-index");
        // The index before needs the shared one, which the command removes.
        let refused = warned(&workspace, "rm .git/sharedindex.*; cp crafted .git/index");
        assert!(refused.contains("`.git/index`") && refused.contains("split index"), "{refused}");
        git(&fixture.root(), "git status && git checkout . && ls .git/sharedindex.*");
    }
}

#[test]
fn no_branch_moves_without_the_index_that_belongs_to_it() {
    // The user's preparation, the folder, the command's actions after a commit, and whether they cause the index to be
    // refused.
    let cases = [
        ("true", ".", "true", false),
        ("true", ".", "chmod 400 $(git rev-parse --git-dir)/index", true),
        ("git config core.splitIndex true && git update-index --split-index", ".", "true", true),
        ("git worktree add -q wt", "wt", "true", false),
        ("git worktree add -q wt", "wt", "chmod 400 $(git rev-parse --git-dir)/index", true),
    ];
    for layered in LAYERS {
        for (prepare, folder, behind, is_refused) in cases {
            let fixture = prepared();
            git(&fixture.root(), prepare);
            let workspace = fixture.open_layered(layered);
            let script =
                format!("cd {folder} && echo y > file && git add file && {COMMIT} -m two && {behind}");
            let refused = warned(&workspace, &script);
            let case = format!("{prepare}; {script} ({layered:?}): {refused}");
            assert_eq!(refused.contains("index"), is_refused, "{case}");
            let folder = fixture.root().join(folder);
            let log = git(&folder, "git log --format=%s");
            assert_eq!(log, if is_refused { "one" } else { "two\none" }, "{case}");
            // Had the branch moved alone, the index would hold the way back as a change, and this commit would make it.
            git(&folder, &format!("git diff --cached --exit-code && {COMMIT} --allow-empty -m user"));
            assert_eq!(git(&folder, "git show --stat --format= HEAD"), "", "{case}");
            assert_eq!(git(&folder, "git diff --name-only"), if is_refused { "file" } else { "" }, "{case}");
            git(&folder, "git fsck --no-progress");
        }
    }
}

#[test]
fn index_that_comes_back_hides_no_change_of_the_second_in_which_it_was_written() {
    // Git takes a file for unchanged that has the recorded time and size, unless the index is not younger than that time.
    const TIME: &str = "touch -d @1700000000";
    let changed = format!("echo y > file && {TIME} file");
    let is_hidden = |fixture: &Fixture| git(&fixture.root(), "git diff --name-only").is_empty();
    let prepared = || {
        let fixture = prepared();
        let add = format!("git config core.trustCtime false && {TIME} file && git add file");
        git(&fixture.root(), &format!("{add} && {TIME} .git/index"));
        fixture
    };
    for (index, hidden) in [("true", false), ("touch .git/index", true)] {
        let control = prepared();
        git(&control.root(), &format!("{changed} && {index}"));
        assert_eq!(is_hidden(&control), hidden, "control: {index}");
    }
    for layered in LAYERS {
        let fixture = prepared();
        let workspace = fixture.open_layered(layered);
        let refused = warned(&workspace, &format!("{changed} && chmod 400 .git/index"));
        assert!(refused.contains("`.git/index`"), "{layered:?}: {refused}");
        assert!(!is_hidden(&fixture), "refused ({layered:?})");

        let fixture = prepared();
        let journal = fixture.open_journal();
        let workspace = fixture.open_with(journal.clone(), fixture.layered_config(layered)).0;
        assert_eq!(warned(&workspace, "echo z > more && git add more"), "", "{layered:?}");
        git(&fixture.root(), &changed);
        let adding = journal.reader().changes(ChangeNumber(0), u32::MAX).unwrap().last().unwrap().run;
        workspace.undo(&Caller::once().call(), &Undo::Run(adding)).unwrap();
        assert_eq!(git(&fixture.root(), "git ls-files more"), "", "control");
        assert!(!is_hidden(&fixture), "undone ({layered:?})");
    }
}

#[test]
fn git_keeps_working_in_commands() {
    const STEPS: &[&str] = &[
        "echo y > more && mkdir -p a/b && echo z > a/b/c && ln -s more link && git add .",
        "COMMIT -m two",
        "git update-index --index-version 4 && echo y > again && git add again && COMMIT -m three",
        "git checkout -q -b side HEAD~1 && echo s > side && git add side && COMMIT -m four",
        "git -c user.name=u -c user.email=u@x rebase -q main",
        "echo u > file && git -c user.name=u -c user.email=u@x stash -q && git stash pop -q",
        "git checkout -q -- file && git rm -q again && git mv more less && git add -N . && git reset -q --hard",
        "echo 1 > file && COMMIT -am five && git checkout -q main && echo 2 > file && COMMIT -am six && ! git merge -q side",
        "git checkout -q --theirs file && git add file && COMMIT -m seven",
        "git init -q --object-format=sha256 other && cd other && cp ../file . && git add . && COMMIT -m one",
        "rm .git/index && git reset -q",
    ];
    for layered in LAYERS {
        let fixture = prepared();
        let workspace = fixture.open_layered(layered);
        for step in STEPS {
            // The merge with a conflict is named.
            let warned = warned(&workspace, &step.replace("COMMIT", COMMIT));
            let is_expected =
                if step.contains("merge") { warned.contains("a merge, which") } else { warned.is_empty() };
            assert!(is_expected, "{step} ({layered:?}): {warned}");
            let inside = run(&workspace, "git status --porcelain").unwrap().stdout;
            let outside = git(&fixture.root(), "git status --porcelain");
            assert_eq!(inside.trim(), outside, "{step} ({layered:?})");
        }
        git(&fixture.root(), "git fsck && git -C other fsck");
    }
}

#[test]
fn object_format_by_which_an_index_was_judged_stays() {
    for layered in LAYERS {
        let fixture = prepared();
        let workspace = fixture.open_layered(layered);
        let settings = fixture.text("sub/.git/config").unwrap();
        let script = "git config -f sub/.git/config core.repositoryformatversion 1; \
                      git config -f sub/.git/config extensions.objectFormat sha256";
        let refused = warned(&workspace, script);
        assert!(refused.contains("the repository would have another format"), "{layered:?}: {refused}");
        assert_eq!(fixture.text("sub/.git/config").unwrap(), settings);
        // Neither is an index of the new format adopted with it.
        let script = format!("{script}; printf 'DIRC\\0\\0\\0\\2\\0\\0\\0\\0%032d' 0 > sub/.git/index");
        assert!(warned(&workspace, &script).contains("`sub/.git/index`"), "{layered:?}");
    }
}

#[test]
fn index_too_large_to_be_judged_is_refused() {
    for layered in LAYERS {
        let fixture = prepared();
        let workspace = fixture.open_layered(layered);
        let refused = warned(&workspace, "truncate -s 65M sub/.git/index");
        assert!(refused.contains("`sub/.git/index`") && refused.contains("64 MB"), "{layered:?}: {refused}");
        assert!(!refused.contains("could not be restored"), "{layered:?}: {refused}");
        git(&fixture.root().join("sub"), "git status");
        // One that is larger than the other files of which a comparison keeps the content is judged.
        let many = "object=$(git hash-object file); seq -f \"100644 $object 0\tmany/files/%.0f\" 20000 | \
                    git -C sub update-index --index-info && test $(stat -c %s sub/.git/index) -gt 1500000";
        assert_eq!(warned(&workspace, many), "", "{layered:?}");
        assert_eq!(git(&fixture.root().join("sub"), "git ls-files | wc -l"), "20001");
    }
}

/// A line of the user's that continues in the next one is not read, and neither is the object format next to it.
#[test]
fn index_of_settings_that_are_not_read_is_judged_by_the_one_before() {
    for layered in LAYERS {
        let fixture = Fixture::new();
        fixture.put("sub/file", "x\n");
        let script = "git init -q -b main --object-format=sha256 sub && cd sub && git add file && \
                      printf '[alias]\\n\\tx = status \\\\\\n  --short\\n' >> .git/config && git x";
        let made = shell(&fixture.root(), script);
        assert!(made.status.success(), "{made:?}");
        let workspace = fixture.open_layered(layered);
        let response = run(&workspace, "cd sub && echo y > other && git add other").unwrap();
        assert_eq!((response.exit_code, &response.warnings[..]), (0, &[][..]), "{layered:?}: {response:?}");
        let listed = shell(&fixture.root(), "git -C sub ls-files");
        assert_eq!(String::from_utf8_lossy(&listed.stdout), "file\nother\n", "{layered:?}");
        // One of the other format, and one with none before it, are refused.
        let forged = "git init -q forged && cd forged && echo z > z && git add z && cp .git/index ../sub/.git/index; rm -rf ../forged";
        let warned = run(&workspace, forged).unwrap().warnings.join("\n");
        assert!(warned.contains("`sub/.git/index`"), "{layered:?}: {warned}");
        assert!(shell(&fixture.root(), "rm sub/.git/index").status.success(), "{layered:?}");
        let warned = run(&workspace, "git -C sub add file").unwrap().warnings.join("\n");
        assert!(warned.contains("do not say with certainty how git reads it"), "{layered:?}: {warned}");
    }
}

/// Git believes an index that was written after the files. Without a layer, a command knows their times and inodes.
#[test]
fn forged_times_in_an_index_hide_no_edit() {
    let forge = r#"
import hashlib, os, struct, time
text, file = bytearray(open('.git/index', 'rb').read()), os.stat('file')
split = lambda moment: (moment // 10**9 & 0xffffffff, moment % 10**9)
text[12:28] = struct.pack('>IIII', *split(file.st_ctime_ns), *split(file.st_mtime_ns))
text[28:36] = struct.pack('>II', file.st_dev & 0xffffffff, file.st_ino & 0xffffffff)
text[48:52] = struct.pack('>I', file.st_size)
text[-20:] = hashlib.sha1(text[:-20]).digest()
open('.git/index', 'wb').write(text)
later = time.time_ns() + 10 * 10**9
os.utime('.git/index', ns=(later, later))
"#;
    let prepared = || {
        let fixture = Fixture::new();
        fixture.put("file", "one\n");
        fixture.put("forge.py", forge);
        git(&fixture.root(), &format!("git init -q -b main . && git add file && {COMMIT} -m one"));
        fixture
    };
    let script = "echo two > file; python3 forge.py";
    let status = |fixture: &Fixture| git(&fixture.root(), "git status --porcelain -uno");
    let plain = prepared();
    git(&plain.root(), script);
    assert_eq!(status(&plain), "", "control");
    for layered in LAYERS {
        let fixture = prepared();
        let workspace = fixture.open_layered(layered);
        let response = run(&workspace, script).unwrap();
        assert_eq!(response.exit_code, 0, "{layered:?}: {response:?}");
        assert_eq!(status(&fixture), "M file", "{layered:?}: {response:?}");
    }
}
