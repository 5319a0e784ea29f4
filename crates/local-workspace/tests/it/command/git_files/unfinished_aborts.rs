//! An abort of unfinished work only removes the work's own commits from a branch, and uncommitted work is not lost.

use crate::fixture::user_shell::{COMMIT, git, shell};
use crate::fixture::workspace::*;

/// A repository in which `main` and `side` conflict, with more branches on other commits, of which `clean` conflicts with none.
fn repository() -> Fixture {
    let fixture = Fixture::new();
    let script = format!(
        "git init -q -b main . && git config user.name u && git config user.email u@x && \
         echo 1 > f1 && git add f1 && {COMMIT} one && git branch b1 && git checkout -q -b clean && echo c > fc && git add fc && \
         {COMMIT} clean && git checkout -q main && {COMMIT} two && git branch precious && \
         git checkout -q -b side && echo side > f1 && {COMMIT} side -a && git checkout -q main && echo main > f1 && {COMMIT} main -a && \
         echo 2 > f2 && git add f2 && {COMMIT} three"
    );
    git(&fixture, &script);
    fixture
}

const BRANCHES: &str = "git for-each-ref --format='%(refname) %(objectname)' refs/heads";

const REBASE: &str = "git rebase side > /dev/null 2>&1 || true";

const PATCHES: &str = "mkdir .git/rebase-apply; cd .git/rebase-apply; : > applying; echo 1 > next; echo 1 > last; git rev-parse HEAD > abort-safety";

/// The work of the user, a script of a command, and the user's next step.
const CASES: &[(&str, &str, &str)] = &[
    (
        "true",
        "git rebase side; cd .git/rebase-merge; mv orig-head head; echo refs/heads/precious > head-name",
        "git rebase --abort",
    ),
    (REBASE, "cd .git/rebase-merge; rm orig-head; git rev-parse b1 > head", "git rebase --abort"),
    (
        "true",
        "mkdir .git/rebase-merge; cd .git/rebase-merge; echo detached HEAD > head-name; git rev-parse b1 > orig-head; \
         git rev-parse main > onto; : > interactive",
        "git rebase --abort",
    ),
    (
        "true",
        "mkdir .git/sequencer; git rev-parse HEAD~3 > .git/sequencer/head; git rev-parse HEAD > .git/sequencer/abort-safety; \
         git rev-parse b1 > .git/CHERRY_PICK_HEAD; echo \"pick $(git rev-parse --short b1) x\" > .git/sequencer/todo",
        "git cherry-pick --abort",
    ),
    (
        "git cherry-pick side clean > /dev/null 2>&1 || true",
        "git rev-parse HEAD~3 > .git/sequencer/head",
        "git cherry-pick --abort",
    ),
    ("true", "PATCHES; git rev-parse HEAD~2 > ../ORIG_HEAD", "git am --abort"),
    (
        "git reset -q --hard HEAD~2; git reset -q --hard ORIG_HEAD; git rev-parse HEAD~2 > .git/ORIG_HEAD",
        "PATCHES",
        "git am --abort",
    ),
    (
        "true",
        "git rebase side; printf 'refs/heads/precious\\n%s\\n%s\\n' $(git rev-parse precious b1) > .git/rebase-merge/update-refs",
        "echo both > f1 && git add f1 && GIT_EDITOR=true git rebase --continue",
    ),
];

/// Returns the branches that are not where they were. The end of a rebase moves its own.
fn moved(fixture: &Fixture, had: &str, trigger: &str) -> Vec<String> {
    let now = git(fixture, BRANCHES);
    let is_own = |line: &str| trigger.contains("--continue") && line.contains("refs/heads/main ");
    had.lines().filter(|line| !is_own(line) && !now.contains(line)).map(str::to_owned).collect()
}

#[test]
fn aborts_take_nothing_from_branches() {
    for (prepare, script, trigger) in CASES {
        let script = script.replace("PATCHES", PATCHES);
        let prepared = || {
            let fixture = repository();
            git(&fixture, prepare);
            fixture
        };
        let plain = prepared();
        let had = git(&plain, BRANCHES);
        let _ = shell(&plain.root(), &script);
        let output = shell(&plain.root(), trigger);
        assert_ne!(moved(&plain, &had, trigger), [""; 0], "control: {script}: {output:?}");
        for layered in LAYERS {
            let fixture = prepared();
            let had = git(&fixture, BRANCHES);
            let workspace = fixture.open_layered(layered);
            let warned = run(&workspace, &script).unwrap().warnings.join("\n");
            assert!(
                warned.contains("branches that git would remove or move"),
                "{script} ({layered:?}): {warned}"
            );
            let output = shell(&fixture.root(), trigger);
            assert_eq!(
                moved(&fixture, &had, trigger),
                [""; 0],
                "{script} ({layered:?}): {warned}: {output:?}"
            );
        }
    }
}

/// Returns the warnings of an answer but for that about unfinished work, which is there if `is_unfinished`.
fn other_warnings(warnings: &[String], is_unfinished: bool) -> Vec<&String> {
    let is_about_work = |line: &&String| line.starts_with("leaves work of git unfinished");
    assert_eq!(warnings.iter().any(|line| is_about_work(&line)), is_unfinished, "{warnings:?}");
    warnings.iter().filter(|line| !is_about_work(line)).collect()
}

/// An abort removes the work's commits from the branch, and earlier commits of a command stay.
#[test]
fn ordinary_work_is_aborted_and_continued() {
    let nine = format!("echo 9 > f9 && git add f9 && {COMMIT} nine");
    for layered in LAYERS {
        for (script, trigger) in [
            (format!("{nine}; git cherry-pick clean side"), "git cherry-pick --abort"),
            (format!("{nine}; git cherry-pick side clean"), "git cherry-pick --abort"),
            ("git reset -q --hard HEAD~1; git cherry-pick clean side".to_owned(), "git cherry-pick --abort"),
            (format!("{nine}; git revert --no-edit HEAD~2 HEAD~3; git status"), "git revert --abort || true"),
            (
                "git switch -q precious; git cherry-pick clean main~1 side".to_owned(),
                "git cherry-pick --abort",
            ),
            ("git checkout -q --detach; git cherry-pick clean side".to_owned(), "git cherry-pick --abort"),
            ("git merge side".to_owned(), "git merge --abort"),
        ] {
            let fixture = repository();
            let workspace = fixture.open_layered(layered);
            let response = run(&workspace, &script).unwrap();
            let is_unfinished = !script.contains("revert");
            if is_unfinished {
                let others = other_warnings(&response.warnings, true);
                assert!(others.is_empty(), "{script} ({layered:?}): {response:?}");
            }
            // Files of a layer have other inodes, and git looks into them here.
            git(&fixture, &format!("git status > /dev/null; {trigger}"));
            let subject = git(&fixture, "git log -1 --format=%s main");
            let expected = if script.contains("nine") {
                "nine\n"
            } else if script.contains("reset") {
                "main\n"
            } else {
                "three\n"
            };
            assert_eq!(subject, expected, "{script} ({layered:?})");
            git(&fixture, "git fsck");
        }
    }
}

#[test]
fn uncommitted_work_of_the_user_is_not_lost() {
    let rebase = "echo dirty >> f2; git rebase --autostash side > /dev/null 2>&1 || true";
    let merge = "echo dirty >> f2; git merge --autostash side > /dev/null 2>&1 || true";
    let holds = "{ cat f2; git stash show -p 2> /dev/null; } | grep -q dirty";
    for (prepare, script, trigger) in [
        (rebase, "git rev-parse b1 > .git/rebase-merge/autostash", "git rebase --abort"),
        (rebase, "rm .git/rebase-merge/autostash", "git rebase --abort"),
        (rebase, "rm -rf .git/rebase-merge", "git rebase --quit"),
        (merge, "git rev-parse b1 > .git/MERGE_AUTOSTASH", "git merge --abort"),
        (merge, "rm .git/MERGE_AUTOSTASH", "git merge --abort"),
    ] {
        let plain = repository();
        git(&plain, &format!("{prepare}; {script}; {trigger} || true"));
        assert!(!shell(&plain.root(), holds).status.success(), "control: {script}");
        for layered in LAYERS {
            let fixture = repository();
            git(&fixture, prepare);
            let workspace = fixture.open_layered(layered);
            let warned = run(&workspace, script).unwrap().warnings.join("\n");
            assert!(
                warned.contains("uncommitted work that git has stashed"),
                "{script} ({layered:?}): {warned}"
            );
            let output = shell(&fixture.root(), trigger);
            assert!(
                shell(&fixture.root(), holds).status.success(),
                "{script} ({layered:?}): {output:?}: {warned}"
            );
        }
    }
    // The control: a command ends the work, and so does the user with that of a command.
    let resolve = "echo both > f1; git add f1";
    for layered in LAYERS {
        for (prepare, script) in [
            (rebase, "git rebase --abort".to_owned()),
            (rebase, "git rebase --quit".to_owned()),
            (rebase, format!("{resolve}; GIT_EDITOR=true git rebase --continue")),
            (rebase, "git rebase --abort; git rebase --autostash side || true".to_owned()),
            (merge, "git merge --abort".to_owned()),
            (merge, "git merge --quit".to_owned()),
            (merge, format!("{resolve}; git commit -qm merged")),
        ] {
            let fixture = repository();
            git(&fixture, prepare);
            let workspace = fixture.open_layered(layered);
            let response = run(&workspace, &script).unwrap();
            // Begun again in the same second, it may be the same work.
            let is_begun = script.contains("--autostash");
            let is_named = response.warnings.iter().any(|line| line.starts_with("leaves work"));
            let others = other_warnings(&response.warnings, is_begun && is_named);
            assert!(response.exit_code == 0 && others.is_empty(), "{script} ({layered:?}): {response:?}");
            if script.contains("--autostash") {
                git(&fixture, "git rebase --abort");
            }
            git(&fixture, holds);
        }
    }
}
