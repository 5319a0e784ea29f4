//! A command leaves no reference through which git would write outside of its `refs`.
//!
//! Each is tried plainly first, where git shows that it follows it.

use std::fs;

use crate::fixture::user_shell::{git, shell};
use crate::fixture::workspace::*;

const COMMIT: &str = "git -c user.name=u -c user.email=u@x commit -q --allow-empty";

/// A file with a reference, and the user's later actions, within the workspace.
const FILES: &[(&str, &str)] = &[
    (".git/HEAD", "COMMIT -m x"),
    (".git/refs/heads/main", "COMMIT -m x"),
    (".git/ORIG_HEAD", "git reset -q --hard"),
    (".git/refs/stash", "echo y > file; git -c user.name=u -c user.email=u@x stash"),
    (".git/refs/tags/t", "git tag -f t main"),
    (".git/refs/remotes/o/main", "COMMIT -m x; git push -q o main"),
    (".git/worktrees/side/HEAD", "cd side; COMMIT -m x"),
    (".git/worktrees/side/ORIG_HEAD", "git -C side reset -q --hard"),
    ("sub/.git/HEAD", "cd sub; COMMIT -m x"),
    ("sub/.git/refs/heads/hooks/config", "cd sub; git tag -f t; git update-ref refs/heads/hooks/config t"),
    (".git/modules/m/HEAD", "cd m; COMMIT -m x"),
    (
        "stored.git/HEAD",
        "cd stored.git; git --work-tree=.. -c user.name=u -c user.email=u@x commit -q --allow-empty -m x",
    ),
    ("stored.git/ORIG_HEAD", "cd stored.git; git update-ref ORIG_HEAD $(git -C .. rev-parse main)"),
    ("target/mine/.git/HEAD", "cd target/mine; COMMIT -m x"),
    ("target/mine/.git/ORIG_HEAD", "git -C target/mine reset -q --hard"),
];

/// Repositories of the user: one with a working tree, one in a folder, one in a build folder, a bare one, a submodule's.
fn prepared() -> Fixture {
    let fixture = Fixture::new();
    fixture.put("file", "x\n");
    fixture.put(".gitignore", "target/\nsub/\nside/\nstored.git/\nm/\n");
    git(&fixture, &format!("git init -q -b main . && git add . && {COMMIT} -m one && {COMMIT} -m two"));
    git(&fixture, "git worktree add -q side && git init -q --bare ../outside/o.git && git tag t");
    git(&fixture, "git remote add o ../outside/o.git && git push -q o main");
    git(&fixture, "git clone -q --bare . stored.git && git clone -q . sub && git clone -q . target/mine");
    git(&fixture, "mkdir .git/modules; git init -q -b main --separate-git-dir=.git/modules/m m");
    // What is younger than a tick of the clock counts as changed by the command.
    std::thread::sleep(std::time::Duration::from_millis(100));
    fixture
}

/// The reference from the repository of a file to `planted` next to the workspace.
fn leading_out(file: &str) -> String {
    // References of a working tree are in the repository.
    let git_folder = match file.split_once(".git/") {
        Some((_, rest)) if rest.starts_with("modules/") => ".git/modules/m",
        Some((before, _)) => &file[..before.len() + ".git".len()],
        None => file,
    };
    format!("ref: refs/heads/../..{}/planted", "/..".repeat(git_folder.split('/').count() + 1))
}

#[test]
fn reference_that_leads_out_is_refused_and_the_one_before_stays() {
    for (file, trigger) in FILES {
        let trigger = trigger.replace("COMMIT", COMMIT);
        let script = format!("mkdir -p $(dirname {file}); echo '{}' > {file}", leading_out(file));
        let plain = prepared();
        git(&plain, &script);
        let printed = shell(&plain.root(), &trigger);
        assert!(plain.path().join("planted").exists(), "control: {file}: {printed:?}");
        for layered in LAYERS {
            let fixture = prepared();
            let workspace = fixture.open_layered(layered);
            let before = fixture.text(file);
            let response = run(&workspace, &script).unwrap();
            assert_eq!(response.exit_code, 0, "{file} ({layered:?}): {response:?}");
            let warned = response.warnings.join("\n");
            assert!(warned.contains(&format!("`{file}`")), "{file} ({layered:?}): {warned}");
            assert!(warned.contains("a reference that leads git out of its 'refs'"), "{warned}");
            // In a build folder it has another name now.
            let kept = before.filter(|_| !file.starts_with("target"));
            assert_eq!(fixture.text(file), kept, "{file} ({layered:?}): {warned}");
            let _ = shell(&fixture.root(), &trigger);
            assert!(!fixture.path().join("planted").exists(), "{file} ({layered:?}): {warned}");
            git(&fixture, "git log -1 && git status");
        }
    }
}

#[test]
fn name_of_a_person_does_not_become_a_line_of_a_hook() {
    let canary = |fixture: &Fixture| fixture.outside().join("canary");
    let script = "printf 'ref: refs/heads/../../../hooks/post-commit\\n' > .git/HEAD";
    let prepared = || {
        let fixture = prepared();
        fixture.put(".git/hooks/post-commit", "#!/bin/sh\n");
        git(&fixture, "chmod +x .git/hooks/post-commit; git config user.email u@x");
        // Without a layer a command could not set it, but read it where it is set.
        git(&fixture, &format!("git config user.name 'x; touch {}; #'", canary(&fixture).display()));
        fixture
    };
    // Git appends the name of the person to the log, which is the hook.
    let trigger = "git commit -q -m one --allow-empty";
    let plain = prepared();
    git(&plain, script);
    let printed = shell(&plain.root(), trigger);
    assert!(canary(&plain).exists(), "control: {printed:?}");
    for layered in LAYERS {
        let fixture = prepared();
        let workspace = fixture.open_layered(layered);
        let warned = run(&workspace, script).unwrap().warnings.join("\n");
        assert!(warned.contains("`.git/HEAD`"), "{layered:?}: {warned}");
        git(&fixture, trigger);
        assert_eq!(fixture.text(".git/hooks/post-commit").as_deref(), Some("#!/bin/sh\n"), "{layered:?}");
        assert!(!canary(&fixture).exists(), "{layered:?}");
    }
}

#[test]
fn spelling_and_length_make_no_difference() {
    let blanks = |count: usize| format!("$(head -c {count} /dev/zero | tr '\\0' ' ')");
    let name = "refs/heads/../../../../planted";
    let spellings = [
        format!("printf 'ref:{name}' > .git/ORIG_HEAD"),
        format!("printf 'ref:\\n\\t {name}\\n\\n' > .git/ORIG_HEAD"),
        // Longer than what is kept of a file.
        format!(
            "printf 'ref:' > .git/ORIG_HEAD; head -c 20000000 /dev/zero | tr '\\0' ' ' >> .git/ORIG_HEAD; printf {name} >> .git/ORIG_HEAD"
        ),
        format!("echo \"ref: {}{name}\" > .git/ORIG_HEAD", blanks(5000)),
        "echo 'ref: refs/../../planted' > .git/ORIG_HEAD".to_owned(),
    ];
    for script in spellings {
        let plain = prepared();
        git(&plain, &script);
        git(&plain, "git reset -q --hard");
        let root = plain.path();
        assert!(
            root.join("planted").exists() || root.join("workspace/planted").exists(),
            "control: {script}"
        );
        for layered in LAYERS {
            let fixture = prepared();
            let workspace = fixture.open_layered(layered);
            let warned = run(&workspace, &script).unwrap().warnings.join("\n");
            assert!(warned.contains("`.git/ORIG_HEAD`"), "{script} ({layered:?}): {warned}");
            assert!(!fixture.root().join(".git/ORIG_HEAD").exists(), "{script} ({layered:?}): {warned}");
        }
    }
}

#[test]
fn file_tool_leaves_no_reference_that_leads_out_in_a_bare_repository() {
    let fixture = prepared();
    let workspace = fixture.open();
    for file in ["stored.git/ORIG_HEAD", "stored.git/HEAD", "stored.git/refs/heads/x"] {
        let before = fixture.text(file);
        let error = change(&workspace, write(file, &leading_out(file))).unwrap_err();
        assert!(error.to_string().contains("a reference that leads git out"), "{file}: {error}");
        assert_eq!(fixture.text(file), before, "{file}");
        change(&workspace, write(file, "ref: refs/heads/main\n")).unwrap();
    }
    // Elsewhere it is a name like any other.
    change(&workspace, write("notes/HEAD", "ref: refs/heads/../../x\n")).unwrap();
}

#[test]
fn many_files_do_not_hide_a_reference_or_a_hook_of_a_bare_repository() {
    let many = "mkdir -p FOLDER && cd FOLDER && seq 10100 | xargs touch && ";
    let out = leading_out("stored.git/HEAD");
    for (folder, what, name) in [
        ("stored.git/refs/remotes/many", format!("echo '{out}' > zz"), "zz"),
        ("bare.git/hooks", "echo x > post-receive && chmod +x post-receive".to_owned(), "post-receive"),
    ] {
        // The comparison without a layer knows no folders as a whole.
        let fixture = prepared();
        git(&fixture, "git init -q --bare --template= bare.git");
        let workspace = fixture.open();
        let script = format!("{}{what}", many.replace("FOLDER", folder));
        let response = run(&workspace, &script).unwrap();
        assert_eq!(response.exit_code, 0, "{folder}: {response:?}");
        let path = fixture.root().join(folder).join(name);
        assert!(!path.exists(), "{folder}: {:?}", response.warnings);
    }
}

#[test]
fn references_and_logs_of_ordinary_work_are_kept() {
    let scripts = [
        "git checkout -q -b other && COMMIT -m three && git checkout -q main && git merge -q --no-ff --no-edit other",
        "echo y > file && git stash -q && git stash pop -q && git reset -q --hard HEAD~1",
        "git fetch -q local && git remote set-head local main && grep -q '^ref: refs/remotes/local/main' .git/refs/remotes/local/HEAD",
        "git symbolic-ref refs/heads/alias refs/heads/main && git rev-parse -q --verify alias",
        // Work that is left unfinished, and taken up by the next command.
        "git checkout -q -b left HEAD && echo l > file && COMMIT -am l && git checkout -q main && echo r > file && COMMIT -am r; \
         git merge -q left; test -f .git/MERGE_HEAD",
        "git merge --abort; git checkout -q left; git rebase -q main; test -f .git/rebase-merge/head-name && test -f .git/REBASE_HEAD",
        "echo both > file && git add file && GIT_EDITOR=true git rebase --continue",
        "git checkout -q main; git cherry-pick left~1 left; git cherry-pick --abort; true",
        "git bisect start HEAD HEAD~1 && git bisect reset",
        "git checkout -q main && git format-patch -q -1 left -o patches && git reset -q --hard HEAD~1; git am -q -p1 patches/*; \
         git am --abort; rm -r patches; git rebase -q -s ort -X ours left && git checkout -q main",
        "git worktree add -q more && git -C more checkout -q --detach && git worktree remove more",
        "git pack-refs --all && git gc -q && git tag last && git branch -q -D other",
        "git clone -q --no-hardlinks . copy && git -C copy checkout -q -b x && rm -rf copy",
        // A long log, and a message that begins like a reference.
        "for n in 1 2 3 4 5 6 7 8 9 10 11 12; do cat .git/logs/HEAD .git/logs/HEAD > long && cp long .git/logs/HEAD; done; rm long; \
         COMMIT -m 'ref: ../x, which is a message'",
    ];
    for layered in LAYERS {
        let fixture = prepared();
        git(&fixture, "git clone -q --bare . local.git && git remote add local ./local.git");
        git(&fixture, "git config user.name u && git config user.email u@x");
        let workspace = fixture.open_layered(layered);
        for script in scripts {
            let response = run(&workspace, &script.replace("COMMIT", "git commit -q --allow-empty")).unwrap();
            assert_eq!(response.exit_code, 0, "{layered:?}: {script}: {response:?}");
            let refused: Vec<_> =
                response.warnings.iter().filter(|text| text.starts_with("not kept")).collect();
            assert_eq!(refused, [""; 0], "{layered:?}: {script}");
        }
        let long = fs::metadata(fixture.root().join(".git/logs/HEAD")).unwrap().len();
        assert!(long > 1 << 20, "{long}");
        let log =
            git(&fixture, "git fsck --no-dangling && git status --porcelain -uno && git log -1 --format=%s");
        assert_eq!(log, "ref: ../x, which is a message\n", "{layered:?}");
    }
}

/// A file, or a folder, at which git of the user fails.
#[test]
fn reference_that_stops_git_is_refused() {
    let commit = "git -c user.name=u -c user.email=u@x commit -q --allow-empty -m x";
    let (zeros, missing) = ("0".repeat(40), "0123456789".repeat(4));
    let cases = [
        (format!("echo {zeros} > .git/refs/heads/main"), "`.git/refs/heads/main`", commit),
        (format!("echo {zeros} > .git/HEAD"), "`.git/HEAD`", commit),
        (format!("echo {missing} > .git/refs/heads/main"), "`.git/refs/heads/main`", commit),
        (format!("echo {missing} > .git/HEAD"), "`.git/HEAD`", commit),
        (format!("sed -i 's/^[0-9a-f]* refs.heads.packed$/{missing} refs\\/heads\\/packed/' .git/packed-refs"), "`.git/packed-refs`", "git fsck"),
        // Git halves a list that says it is sorted, and does not find a branch in another order.
        (
            "{ head -n1 .git/packed-refs; tail -n+2 .git/packed-refs | sort -r -k2; } > new; cat new > .git/packed-refs; rm new".to_owned(),
            "`.git/packed-refs`",
            "test $(git rev-parse packed) = $(git rev-parse refs/heads/packed) && git rev-parse -q --verify refs/tags/t",
        ),
        // It trusts the list about the target of a tag.
        (
            "sed -i \"s/^^.*/^$(git rev-parse main~1)/\" .git/packed-refs".to_owned(),
            "`.git/packed-refs`",
            "test $(git for-each-ref --format='%(*objectname)' refs/tags/annotated) = $(git rev-parse main) && test $(git show-ref -d annotated | tail -n1 | cut -c-40) = $(git rev-parse main)",
        ),
        ("cp .git/refs/heads/main '.git/refs/heads/a b'".to_owned(), "`.git/refs/heads/a b`", "git fsck"),
        ("cp .git/refs/heads/main .git/refs/heads/x~y".to_owned(), "`.git/refs/heads/x~y`", "git fsck"),
        ("echo 'ref: refs/tags/x' > .git/HEAD".to_owned(), "`.git/HEAD`", "git symbolic-ref HEAD | grep -q heads"),
        (
            "rm .git/logs/refs/heads/main; mkdir .git/logs/refs/heads/main; echo x > .git/logs/refs/heads/main/x".to_owned(),
            "`.git/logs/refs/heads/main`",
            commit,
        ),
        (
            "rm .git/logs/refs/heads/packed; mkdir .git/logs/refs/heads/packed; echo x > .git/logs/refs/heads/packed/x".to_owned(),
            "`.git/logs/refs/heads/packed`",
            "git checkout -q packed && git -c user.name=u -c user.email=u@x commit -q --allow-empty -m x",
        ),
    ];
    let prepared = || {
        let fixture = prepared();
        git(
            &fixture,
            "git branch packed && git -c user.name=u -c user.email=u@x tag -am x annotated && git pack-refs --all && id=$(git rev-parse main) && echo $id > .git/refs/heads/main",
        );
        fixture
    };
    for (script, named, trigger) in &cases {
        let plain = prepared();
        git(&plain, script);
        let printed = shell(&plain.root(), trigger);
        assert!(!printed.status.success(), "control: {script}: {printed:?}");
        for layered in LAYERS {
            let fixture = prepared();
            let workspace = fixture.open_layered(layered);
            let warned = run(&workspace, script).unwrap().warnings.join("\n");
            assert!(warned.contains(named), "{script} ({layered:?}): {warned}");
            git(&fixture, trigger);
        }
    }
    // The control: detached, an unborn branch, and names that change between a branch and a folder of branches.
    for layered in LAYERS {
        let fixture = prepared();
        let workspace = fixture.open_layered(layered);
        for script in [
            "git repack -qad && git prune-packed && git branch other main && git branch -f other HEAD~1",
            "git checkout -q --detach && git checkout -q --orphan new && git checkout -q -f main",
            "git update-ref -d refs/heads/packed && git branch packed/x main && git update-ref -d refs/heads/packed/x && git branch packed main",
            "git update-ref -d refs/heads/packed && git branch packed/y main",
            "git pack-refs --all && git update-ref -d refs/heads/packed/y && git branch packed main && git pack-refs --all",
            "git tag v1.0 && git update-ref refs/notes/ä~ HEAD 2>/dev/null; git update-ref 'refs/heads/ä' HEAD",
        ] {
            let response = run(&workspace, script).unwrap();
            assert_eq!(
                (response.exit_code, &response.warnings[..]),
                (0, &[][..]),
                "{script} ({layered:?}): {response:?}"
            );
        }
        git(&fixture, "git fsck && git rev-parse packed ä");
    }
}
