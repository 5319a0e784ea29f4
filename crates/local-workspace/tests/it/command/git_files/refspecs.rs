//! Settings written by a command do not make the user's next fetch or push remove or overwrite anything.

use crate::fixture::user_shell::{COMMIT, git, shell};
use crate::fixture::workspace::*;

/// A repository with branches, tags and notes that the remote next to the workspace lacks, and a branch that both have.
fn prepared() -> Fixture {
    let fixture = Fixture::new();
    let script = format!(
        "git init -q --bare ../outside/r.git && git init -q -b main . && git config user.name u && git config user.email u@x && \
         {COMMIT} one && git branch b1 && git remote add origin ../outside/r.git && git push -q origin main b1 && \
         git branch mine && git tag mytag && {COMMIT} theirs && git push -q origin main:theirs main:refs/tags/mytag && \
         git reset -q --hard HEAD~ && git notes add -m note && git switch -q -c other"
    );
    git(&fixture, &script);
    fixture
}

/// The user's settings before, a command, and the user's next step.
const CASES: &[(&str, &str, &str)] = &[
    (
        "true",
        "git config --add remote.origin.fetch '+refs/heads/*:refs/heads/*' && git config remote.origin.prune true",
        "git fetch",
    ),
    (
        "true",
        "git config --add remote.origin.fetch '+refs/tags/*:refs/tags/*' && git config fetch.prune true",
        "git fetch",
    ),
    (
        "git config fetch.prune true",
        "git config --add remote.origin.fetch '+refs/notes/*:refs/notes/*'",
        "git fetch",
    ),
    ("true", "git config --add remote.origin.fetch refs/heads/theirs:refs/heads/mine", "git fetch"),
    ("true", "git config --add remote.origin.fetch +refs/tags/mytag:refs/tags/mytag", "git fetch"),
    (
        "git tag own && git config --add remote.origin.fetch 'refs/tags/*:refs/tags/*'",
        "git config remote.origin.prune true",
        "git fetch",
    ),
    ("true", "git config remote.origin.push :refs/heads/b1", "git push"),
    ("true", "git config remote.origin.push +:b1", "git push"),
];

const LOOK: &str =
    "git for-each-ref refs/heads refs/tags refs/notes && git --git-dir=../outside/r.git for-each-ref";

#[test]
fn next_fetch_or_push_removes_nothing() {
    for (before, script, trigger) in CASES {
        let plain = prepared();
        git(&plain, before);
        let had = git(&plain, LOOK);
        git(&plain, script);
        let printed = shell(&plain.root(), trigger);
        assert_ne!(git(&plain, LOOK), had, "control: {script}: {printed:?}");
        for layered in LAYERS {
            let fixture = prepared();
            git(&fixture, before);
            let had = git(&fixture, LOOK);
            let workspace = fixture.open_layered(layered);
            let response = run(&workspace, script).unwrap();
            let warned = response.warnings.join("\n");
            // Without a layer, commands cannot write to the settings.
            assert!(
                response.exit_code != 0 || warned.contains("`.git/config`"),
                "{script} ({layered:?}): {response:?}"
            );
            let _ = shell(&fixture.root(), trigger);
            assert_eq!(git(&fixture, LOOK), had, "{script} ({layered:?}): {warned}");
        }
    }
}

/// Refspecs that write below `refs/remotes`, and that of the clone of a tag.
#[test]
fn refspecs_of_ordinary_work_are_kept() {
    let fixture = prepared();
    let workspace = fixture.open();
    for script in [
        "git config --add remote.origin.fetch '+refs/pull/*/head:refs/remotes/origin/pr/*'",
        "git config remote.origin.prune true && git config fetch.prune true",
        "git config --add remote.origin.fetch 'refs/notes/*:refs/notes/origin/*'",
        "git config remote.origin.push refs/heads/main:refs/heads/main",
        "git init -q new && git -C new config remote.o.url https://example.org/x.git && \
         git -C new config remote.o.fetch +refs/tags/v1:refs/tags/v1",
    ] {
        let response = run(&workspace, script).unwrap();
        let warned = response.warnings.join("\n");
        assert!(response.exit_code == 0 && !warned.contains("not kept"), "{script}: {response:?}");
    }
    git(
        &fixture,
        "git fetch && git push && git -C new config remote.o.fetch && git config remote.origin.prune",
    );
}
