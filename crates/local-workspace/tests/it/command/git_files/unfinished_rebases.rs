//! A rebase that a command leaves unfinished moves and removes no branch of the user's when it is continued or aborted.

use crate::fixture::user_shell::{COMMIT, git, shell};
use crate::fixture::workspace::*;

/// A repository in which `main` and `side` conflict, with two more branches on other commits.
fn repository(more: &str) -> Fixture {
    let fixture = Fixture::new();
    let script = format!(
        "git init -q -b main {more} . && git config user.name u && git config user.email u@x && \
         echo 1 > f1 && git add f1 && {COMMIT} one && git branch b1 && {COMMIT} two && git branch precious && \
         git checkout -q -b side && echo side > f1 && {COMMIT} side -a && \
         git checkout -q main && echo main > f1 && {COMMIT} main -a && echo 2 > f2 && \
         git add f2 && {COMMIT} three && git branch topic && \
         git worktree add -q --detach ../outside/elsewhere"
    );
    git(&fixture, &script);
    fixture
}

const BRANCHES: &str = "git for-each-ref --format='%(refname) %(objectname)' refs/heads";

const ABORT: &str = "git rebase --abort";

const CONTINUE: &str = "echo both > f1 && git add f1 && GIT_EDITOR=true git rebase --continue";

/// A script of a command whose rebase has stopped, and the user's next step.
const CASES: &[(&str, &str)] = &[
    ("printf 'refs/heads/precious\\nrefs/heads/b1\\n' > .git/rebase-merge/refs-to-delete", ABORT),
    ("echo refs/heads/main > .git/rebase-merge/refs-to-delete", ABORT),
    (
        "echo refs/rewritten/../heads/b1 > .git/rebase-merge/refs-to-delete; echo HEAD >> .git/rebase-merge/refs-to-delete",
        ABORT,
    ),
    ("echo refs/heads/precious > .git/rebase-merge/head-name", ABORT),
    ("git rev-parse b1 > .git/rebase-merge/orig-head", ABORT),
    // The branch itself stays as it was.
    (
        "echo refs/heads/precious > .git/rebase-merge/head-name; git rev-parse main > .git/refs/heads/precious; \
         chmod 000 .git/refs/heads/precious",
        ABORT,
    ),
    (
        "{ echo refs/heads/precious; git rev-parse precious; echo 0000000000000000000000000000000000000000; } \
         > .git/rebase-merge/update-refs",
        CONTINUE,
    ),
];

#[test]
fn branches_of_the_user_are_neither_moved_nor_removed() {
    let stop = |script: &str| format!("git rebase side || {{ {script}; }}");
    for (script, trigger) in CASES {
        let plain = repository("");
        let had = git(&plain, BRANCHES);
        let _ = shell(&plain.root(), &stop(&script.replace("chmod 000", "true")));
        let _ = shell(&plain.root(), trigger);
        let lacks =
            |branches: &str| had.lines().any(|line| !line.contains("main") && !branches.contains(line));
        let now = git(&plain, BRANCHES);
        assert!(lacks(&now) || (trigger == &ABORT && now != had), "control: {script}: {now}");
        for layered in LAYERS {
            let fixture = repository("");
            let had = git(&fixture, BRANCHES);
            let workspace = fixture.open_layered(layered);
            let warned = run(&workspace, &stop(script)).unwrap().warnings.join("\n");
            assert!(
                warned.contains("branches that git would remove or move"),
                "{script} ({layered:?}): {warned}"
            );
            let _ = shell(&fixture.root(), trigger);
            let now = git(&fixture, BRANCHES);
            let is_own = |line: &&str| *trigger == CONTINUE && line.contains("refs/heads/main ");
            let lost: Vec<_> = had.lines().filter(|line| !is_own(line) && !now.contains(line)).collect();
            assert_eq!(lost, [""; 0], "{script} ({layered:?}): {warned}");
        }
    }
}

/// Rebases that stop, and what the user does then: all of it works.
#[test]
fn ordinary_rebases_are_aborted_and_continued() {
    let merges = "git checkout -q topic && git merge -q -X ours --no-ff --no-edit b1 side && git rebase -q -r --onto side b1";
    let scripts = [
        "git rebase side".to_owned(),
        "git rebase --apply side".to_owned(),
        "git rebase side topic".to_owned(),
        "git pack-refs --all; git rebase side topic".to_owned(),
        "git branch -q middle HEAD~1; git rebase --update-refs side".to_owned(),
        "git checkout -q -b fresh; git commit -q --allow-empty -m fresh; git rebase side".to_owned(),
        "git checkout -q --detach; git rebase side".to_owned(),
        "GIT_SEQUENCE_EDITOR='sed -i \"$ a update-ref refs/heads/made\"' git rebase -i side".to_owned(),
        merges.to_owned(),
    ];
    for format in ["", "--ref-format=reftable"] {
        for script in &scripts {
            for (trigger, layered) in [(ABORT, Layered::Yes), (CONTINUE, Layered::Yes), (ABORT, Layered::No)]
            {
                let fixture = repository(format);
                let workspace = fixture.open_layered(layered);
                let response = run(&workspace, &format!("{script}; git status")).unwrap();
                let case = format!("{script} {format} ({layered:?}): {trigger}");
                let is_named = |line: &String| line.starts_with("leaves work of git unfinished");
                assert!(response.warnings.iter().all(is_named), "{case}: {response:?}");
                assert_eq!(response.warnings.len(), 1, "{case}: {response:?}");
                assert!(response.stdout.contains("rebas"), "{case}: it stops: {response:?}");
                let output = shell(&fixture.root(), trigger);
                assert!(output.status.success(), "{case}: {output:?}");
                git(&fixture, "git log -1 && git fsck && git log -1 precious b1 topic");
            }
        }
    }
}

/// Git takes the branch for one that had no commit when the patches began.
#[test]
fn abort_of_patches_removes_no_branch() {
    let stop = "git format-patch -q -o p main~1..main > /dev/null; git checkout -q side; ! git am -q p/* 2>/dev/null";
    let abort = "git am --abort";
    let cases = [("true", format!("{stop} && rm .git/ORIG_HEAD")), (stop, "rm .git/ORIG_HEAD".to_owned())];
    for (before, script) in &cases {
        let plain = repository("");
        git(
            &plain,
            &format!(
                "git rm -q f1 && git commit -qm gone; echo x > f2; git add f2; git commit -qm f2; {before}"
            ),
        );
        let had = git(&plain, BRANCHES);
        git(&plain, script);
        let _ = shell(&plain.root(), abort);
        assert_ne!(git(&plain, BRANCHES), had, "control: {script}");
        for layered in LAYERS {
            let fixture = repository("");
            git(&fixture, "git rm -q f1 && git commit -qm gone; echo x > f2; git add f2; git commit -qm f2");
            git(&fixture, before);
            let had = git(&fixture, BRANCHES);
            let workspace = fixture.open_layered(layered);
            let warned = run(&workspace, script).unwrap().warnings.join("\n");
            assert!(
                warned.contains("branches that git would remove or move"),
                "{script} ({layered:?}): {warned}"
            );
            let _ = shell(&fixture.root(), abort);
            assert_eq!(git(&fixture, BRANCHES), had, "{script} ({layered:?}): {warned}");
        }
    }
    // The control: an abort returns to the beginning.
    for format in ["", "--ref-format=reftable"] {
        let fixture = repository(format);
        git(&fixture, "git checkout -q side && git rm -q f1 && git commit -qm gone");
        let had = git(&fixture, BRANCHES);
        let workspace = fixture.open();
        let response = run(&workspace, "git format-patch -q -o p main~2..main~1; ! git am -q p/*").unwrap();
        let named = "leaves work of git unfinished, which `git status` shows how to continue or abort: `.git/rebase-apply` (a rebase, or patches)";
        assert_eq!(
            (response.exit_code, &response.warnings[..]),
            (0, &[named.to_owned()][..]),
            "{format}: {response:?}"
        );
        git(&fixture, abort);
        assert_eq!(git(&fixture, BRANCHES), had, "{format}");
    }
}

/// A command may abort and continue what the user began.
#[test]
fn rebase_of_the_user_goes_on_in_a_command() {
    for layered in LAYERS {
        for script in [ABORT, CONTINUE] {
            let fixture = repository("");
            let _ = shell(&fixture.root(), "git rebase side");
            let workspace = fixture.open_layered(layered);
            let response = run(&workspace, script).unwrap();
            assert_eq!(
                (response.exit_code, &response.warnings[..]),
                (0, &[][..]),
                "{layered:?}: {response:?}"
            );
            git(&fixture, "test ! -e .git/rebase-merge && git log -1 && git fsck");
        }
    }
}

/// Git would not move it either, and ends the rebase only where the branch is as it was.
#[test]
fn branch_that_the_user_rebases_is_not_moved() {
    let script = "git update-ref refs/heads/main b1";
    let plain = repository("");
    let _ = shell(&plain.root(), "git rebase side");
    git(&plain, script);
    assert!(!shell(&plain.root(), CONTINUE).status.success(), "control");
    for layered in LAYERS {
        let fixture = repository("");
        let _ = shell(&fixture.root(), "git rebase side");
        let workspace = fixture.open_layered(layered);
        let warned = run(&workspace, script).unwrap().warnings.join("\n");
        assert!(
            warned.contains("`.git/refs/heads/main` (a branch that is being rebased"),
            "{layered:?}: {warned}"
        );
        git(&fixture, CONTINUE);
        // The control: another one is, and this one once the rebase has ended.
        for script in ["git branch -f precious b1", script] {
            let response = run(&workspace, script).unwrap();
            assert_eq!(response.warnings, [""; 0], "{script} ({layered:?}): {response:?}");
        }
    }
}
