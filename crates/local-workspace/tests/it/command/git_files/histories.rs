//! Files by which git shows another history than it pushes are named, and objects that were there keep their contents.

use crate::fixture::user_shell::{COMMIT, git, shell};
use crate::fixture::workspace::*;

/// A repository of three commits.
fn repository(more: &str) -> Fixture {
    let fixture = Fixture::new();
    let script = format!("git init -q -b main {more} . && {COMMIT} one && {COMMIT} two && {COMMIT} three");
    let made = shell(&fixture.root(), &script);
    assert!(made.status.success(), "{made:?}");
    fixture
}

#[test]
fn other_histories_are_named() {
    let cases = [
        ("", "git replace HEAD HEAD~2", ".git/refs/replace/", "replaces an object"),
        (
            "",
            "git replace HEAD HEAD~2 && git replace HEAD~ HEAD~2 && git pack-refs --all",
            ".git/packed-refs",
            "replaces 2 objects",
        ),
        (
            "--ref-format=reftable",
            "git branch b && git replace HEAD HEAD~2",
            ".git/reftable/",
            "replaces an object",
        ),
        // The name before it has more in common with it than any that git makes itself.
        (
            "--ref-format=reftable",
            "git update-ref refs/replacd/x HEAD && git replace HEAD HEAD~2 && git pack-refs --all",
            ".git/reftable/",
            "replaces an object",
        ),
        ("", "git rev-parse HEAD > .git/info/grafts", ".git/info/grafts", "gives a commit other parents"),
    ];
    for layered in LAYERS {
        for (more, script, path, what) in cases {
            let fixture = repository(more);
            let workspace = fixture.open_layered(layered);
            let had = git(&fixture, "git log --format=%s");
            let response = run(&workspace, script).unwrap();
            assert_eq!(response.exit_code, 0, "{script} ({layered:?}): {response:?}");
            let warned = response.warnings.join("\n");
            for part in ["changed which commits git shows", path, what] {
                assert!(warned.contains(part), "{script} ({layered:?}): {part}: {warned}");
            }
            assert_ne!(git(&fixture, "git log --format=%s"), had, "it is adopted: {script} ({layered:?})");
        }
        // The control: what changes the history for others, too, and branches with such names.
        let fixture = repository("");
        let workspace = fixture.open_layered(layered);
        for script in [
            format!("{COMMIT} four"),
            "git branch shallow && git branch replace/x && git branch info/grafts".to_owned(),
            "git pack-refs --all".to_owned(),
            "git tag old && git reset -q --hard HEAD~2".to_owned(),
        ] {
            let response = run(&workspace, &script).unwrap();
            assert_eq!(
                (response.exit_code, &response.warnings[..]),
                (0, &[][..]),
                "{script} ({layered:?}): {response:?}"
            );
        }
        // A shallow clone is called so. Its settings name a folder of this machine.
        let response = run(&workspace, "git clone -q --depth 1 file://$PWD copy").unwrap();
        assert_eq!(response.exit_code, 0, "{layered:?}: {response:?}");
        assert!(!response.warnings.join("\n").contains("which commits"), "{layered:?}: {response:?}");
    }
}

/// `git gc` would remove the ancestors of the end.
#[test]
fn history_does_not_end_at_a_commit_that_was_there() {
    let cut = "git rev-parse HEAD > .git/shallow";
    let gc = "rm -rf .git/logs && git gc -q --prune=now && rm .git/shallow; git log";
    let plain = repository("");
    git(&plain, cut);
    assert!(!shell(&plain.root(), gc).status.success(), "control");
    for layered in LAYERS {
        for more in ["true", "git repack -qad && git prune-packed"] {
            let fixture = repository("");
            git(&fixture, more);
            let workspace = fixture.open_layered(layered);
            let warned = run(&workspace, cut).unwrap().warnings.join("\n");
            assert!(
                warned.contains("`.git/shallow`") && warned.contains("would remove its ancestors"),
                "{layered:?}: {warned}"
            );
            assert!(!fixture.root().join(".git/shallow").exists(), "{layered:?}: {warned}");
            let log = shell(&fixture.root(), gc);
            assert!(String::from_utf8_lossy(&log.stdout).contains("one"), "{layered:?}: {log:?}");
        }
        // Nor before one, by new commits, loose and in a pack, and stored as deltas.
        for (work, end) in [
            (format!("{COMMIT} x"), "HEAD"),
            (format!("{COMMIT} x; {COMMIT} y"), "HEAD"),
            (format!("{COMMIT} x; git repack -qad"), "HEAD"),
            (format!("for n in $(seq 20); do {COMMIT} \"$(seq 100) $n\"; done; git repack -qadf"), "HEAD~10"),
        ] {
            let fixture = repository("");
            git(&fixture, "git repack -qad && git prune-packed");
            let workspace = fixture.open_layered(layered);
            let script = format!("{work}; git rev-parse {end} > .git/shallow");
            let warned = run(&workspace, &script).unwrap().warnings.join("\n");
            assert!(
                warned.contains("ends the history at or before an existing commit"),
                "{script} ({layered:?}): {warned}"
            );
            let log = shell(&fixture.root(), gc);
            assert!(String::from_utf8_lossy(&log.stdout).contains("one"), "{script} ({layered:?}): {log:?}");
            let plain = repository("");
            git(&plain, &script);
            assert!(!shell(&plain.root(), gc).status.success(), "control: {script}");
        }
        // Of a missing one, a later command could make the commit.
        let fixture = repository("");
        let workspace = fixture.open_layered(layered);
        let later = "echo 1234567890123456789012345678901234567890 > .git/shallow";
        let warned = run(&workspace, later).unwrap().warnings.join("\n");
        assert!(warned.contains("`.git/shallow`"), "{layered:?}: {warned}");
        // The control: a fetch brings new commits with the ends of their history, in a repository that is shallow or becomes so.
        let fixture = repository("");
        let theirs = format!(
            "git init -q --bare -b main other.git && git remote add other file://$PWD/other.git && git push -q other main && \
             git clone -q --depth 1 file://$PWD/other.git sh && git clone -q other.git ../outside/o && cd ../outside/o && \
             for s in four five six; do {COMMIT} $s; done && git push -q"
        );
        git(&fixture, &theirs);
        let workspace = fixture.open_layered(layered);
        for script in [
            "git fetch -q --depth 1 other main:theirs",
            "git -C sh fetch -q --depth 1",
            "git -C sh fetch -q --deepen 1",
            "git -C sh fetch -q --unshallow",
        ] {
            let response = run(&workspace, script).unwrap();
            let warned = response.warnings.join("\n");
            assert!(
                response.exit_code == 0 && !warned.contains("not kept"),
                "{script} ({layered:?}): {response:?}"
            );
        }
        assert_eq!(
            git(&fixture, "git log --format=%s theirs && git log --format=%s main | wc -l"),
            "six\n3\n"
        );
        assert_eq!(
            git(&fixture, "git -C sh log --format=%s origin/main | wc -l && git -C sh fsck && git fsck"),
            "6\n"
        );
    }
}

#[test]
fn objects_that_were_there_keep_their_contents() {
    // One commit has the content of the other.
    let forge = "one=$(git rev-parse HEAD~2) two=$(git rev-parse HEAD); file() { echo .git/objects/$(echo $1 | sed 's:..:&/:'); }; \
                 cp -f $(file $two) $(file $one)";
    let subjects = "git log --format=%s HEAD~2";
    let plain = repository("");
    git(&plain, forge);
    assert!(!shell(&plain.root(), "git fsck").status.success(), "control");
    for layered in LAYERS {
        let fixture = repository("");
        let workspace = fixture.open_layered(layered);
        let warned = run(&workspace, forge).unwrap().warnings.join("\n");
        assert!(warned.contains("which git never changes"), "{layered:?}: {warned}");
        assert_eq!(git(&fixture, subjects), "one\n", "{layered:?}");
        git(&fixture, "git fsck");
        git(&fixture, "git repack -qad");
        let warned =
            run(&workspace, "for file in .git/objects/pack/*; do chmod +w $file; echo x >> $file; done")
                .unwrap();
        let warned = warned.warnings.join("\n");
        for end in [".pack`", ".idx`"] {
            assert!(warned.contains(end), "{layered:?}: {warned}");
        }
        // The control: objects come and go.
        let work = format!(
            "rm .git/objects/pack/*.rev; {COMMIT} four; git repack -qad && git gc -q && {COMMIT} five"
        );
        let response = run(&workspace, &work).unwrap();
        assert_eq!((response.exit_code, &response.warnings[..]), (0, &[][..]), "{layered:?}: {response:?}");
        git(&fixture, "git fsck");
    }
}

/// Without a layer, a file of this size is compared by its stamp only, and cannot be restored.
#[test]
fn object_too_large_to_be_compared_is_not_changed() {
    let fixture = repository("");
    git(
        &fixture,
        &format!("head -c 20000000 /dev/urandom > big && git add big && {COMMIT} big && git repack -qad"),
    );
    let workspace = fixture.open_layered(Layered::Yes);
    let forge = "pack=$(ls .git/objects/pack/*.pack); chmod u+w $pack; \
                 printf XXXXXXXX | dd of=$pack conv=notrunc bs=1 seek=200 status=none";
    let warned = run(&workspace, forge).unwrap().warnings.join("\n");
    assert!(warned.contains(".pack`") && warned.contains("too much to be compared"), "{warned}");
    git(&fixture, "git fsck");
    drop(workspace);
    for layered in LAYERS {
        // The control: packs are used, their times are set, and they come and go.
        let workspace = fixture.open_layered(layered);
        let work = format!(
            "touch .git/objects/pack/*.pack; {COMMIT} four; git repack -qad; {COMMIT} five; git gc -q"
        );
        let response = run(&workspace, &work).unwrap();
        let is_large = |line: &String| {
            layered == Layered::Yes && line.contains("removes objects that are too large to be restored")
        };
        let is_fault = |line: &String| !line.starts_with("changed, not undoable: ") && !is_large(line);
        assert!(
            response.exit_code == 0 && !response.warnings.iter().any(is_fault),
            "{layered:?}: {response:?}"
        );
        git(&fixture, "git fsck");
    }
    git(&fixture, forge);
    assert!(!shell(&fixture.root(), "git fsck").status.success(), "control");
}

/// Neither the journal nor git could bring it back.
#[test]
fn object_too_large_to_be_restored_is_not_removed() {
    let cases = [
        ("rm -f .git/objects/pack/*", true),
        ("rm -rf .git/objects/pack", true),
        ("rm -rf .git/objects/??", false),
        ("git repack -qad && rm -f .git/objects/pack/*", true),
        ("git repack -qad && rm -f .git/objects/pack/*", false),
    ];
    for (script, is_packed) in cases {
        let fixture = repository("");
        let more = if is_packed { "git repack -qad && git prune-packed" } else { "true" };
        git(
            &fixture,
            &format!("head -c 17000000 /dev/urandom > big && git add big && {COMMIT} big && {more}"),
        );
        let large = "find .git/objects -type f -size +16M | wc -l";
        let workspace = fixture.open();
        let had = git(&fixture, large);
        let warned = run(&workspace, script).unwrap().warnings.join("\n");
        assert!(git(&fixture, large) >= had, "{script}: {warned}");
        assert!(warned.contains("too large to be restored"), "{script}: {warned}");
        let lost = shell(&fixture.root(), "git cat-file -p $(git hash-object big) | cmp - big");
        assert!(lost.status.success(), "{script}: {warned}: {lost:?}");
    }
    // The control: a large pack that is superfluous goes with the user's next maintenance, and what is small at once.
    let fixture = repository("");
    git(
        &fixture,
        &format!("head -c 17000000 /dev/urandom > big && git add big && {COMMIT} big && git repack -qad"),
    );
    let workspace = fixture.open();
    let count = "ls .git/objects/pack/*.pack | wc -l";
    let warned = run(&workspace, &format!("{COMMIT} more && git repack -qad")).unwrap().warnings.join("\n");
    assert!(warned.contains("the user's next `git gc` removes them"), "{warned}");
    assert_eq!(git(&fixture, count), "2\n", "{warned}");
    assert_eq!(git(&fixture, &format!("git fsck && git gc -q && git fsck && {count}")), "1\n");
    let fixture = repository("");
    let workspace = fixture.open();
    git(&fixture, "git repack -qad");
    let response = run(&workspace, "rm -f .git/objects/pack/*").unwrap();
    assert_eq!(response.warnings, [""; 0]);
    assert_eq!(git(&fixture, "ls .git/objects/pack"), "");
}

/// Git skips blank lines and comments.
#[test]
fn other_histories_do_not_hide_after_spaces() {
    let blanks = |megabytes: u32| format!("head -c {megabytes}000000 /dev/zero | tr '\\0' ' '");
    let lines = |megabytes: u32| format!("yes '#' | head -c {megabytes}000000");
    let replace = format!(
        "id=$(git rev-parse HEAD); old=$(git rev-parse HEAD~2); mkdir -p .git/refs/replace; {{ echo $old; {}; }} > .git/refs/replace/$id",
        blanks(20)
    );
    let packed = format!(
        "id=$(git rev-parse HEAD); old=$(git rev-parse HEAD~2); {{ printf '# pack-refs with: %s\\n' \"$({})\"; \
         echo $old refs/replace/$id; }} > .git/packed-refs",
        blanks(80)
    );
    let grafts = format!("{{ {}; git rev-parse HEAD; }} > .git/info/grafts", lines(70));
    let subjects = "git log --format=%s";
    for (script, path, what, is_adopted) in [
        (replace, ".git/refs/replace/", "references that cannot be judged", false),
        (packed, ".git/packed-refs", "references that cannot be judged", false),
        (grafts, ".git/info/grafts", "may give commits other parents", true),
    ] {
        let fixture = repository("");
        let had = git(&fixture, subjects);
        let workspace = fixture.open_layered(Layered::Yes);
        let response = run(&workspace, &script).unwrap();
        let warned = response.warnings.join("\n");
        assert!(warned.contains(path) && warned.contains(what), "{path}: {response:?}");
        assert_eq!(git(&fixture, subjects) != had, is_adopted, "{path}: {warned}");
        git(&fixture, &script);
        assert_ne!(git(&fixture, subjects), had, "control: {path}");
    }
}
