//! Files by which git continues work are judged by path and content.

use git_index::{UnfinishedWorkError, check_unfinished_work, is_unfinished_work};

fn check(path: &str, content: &str) -> Result<(), UnfinishedWorkError> {
    check_unfinished_work(path.split('/').map(str::as_bytes), Some(content.as_bytes()))
}

const TODO: &str = "rebase-merge/git-rebase-todo";
const STRATEGY: &str = "worktrees/x/rebase-merge/strategy";
const OPTIONS: &str = "rebase-merge/strategy_opts";
const PICKS: &str = "modules/x/sequencer/opts";
const PATCHES: &str = "rebase-apply/apply-opt";
const RESOLUTIONS: &str = "MERGE_RR";
const BISECTION: &str = "worktrees/x/BISECT_START";
const BISECT_PATHS: &str = "BISECT_NAMES";
const REMOVED: &str = "rebase-merge/refs-to-delete";
const BRANCH: &str = "worktrees/x/rebase-apply/head-name";
const MOVED: &str = "rebase-merge/update-refs";
const OBJECT: &str = "0123456789012345678901234567890123456789";

#[test]
fn what_git_writes_is_accepted() {
    for (path, content) in [
        (TODO, "pick 1 one\nfixup -C 2 # two\n\n# exec x\nupdate-ref refs/heads/x\nmerge -C 3 x\nnoop\n"),
        (STRATEGY, "ort\n"),
        (OPTIONS, " --ours --find-renames=50% --subtree=a/b"),
        (OPTIONS, "\"ours\" 'diff-algorithm=histogram'"),
        (OPTIONS, ""),
        (
            PICKS,
            "[options]\n\tstrategy = recursive\n\tstrategy-option = ours\n\tstrategy-option = find-renames=5\n",
        ),
        (PICKS, "[options]\n\tno-commit = true\n"),
        (PATCHES, "'-C1' '-p2' '--directory=a'"),
        (RESOLUTIONS, ""),
        (BISECTION, "main\n"),
        (BISECTION, "feature/x"),
        (BISECTION, "0123456789012345678901234567890123456789\n"),
        (BISECT_PATHS, "\n"),
        (BISECT_PATHS, " 'src/a b' 'x;$(y)'\n"),
        (REMOVED, "refs/rewritten/onto\nrefs/rewritten/a-b\n"),
        (REMOVED, ""),
        (BRANCH, "refs/heads/feature/x\n"),
        (BRANCH, "detached HEAD"),
        (MOVED, ""),
        (MOVED, &format!("refs/heads/x\n{OBJECT}\n{OBJECT}\nrefs/heads/y\n{OBJECT}\n{OBJECT}\n")),
        // Files of these names mean nothing elsewhere.
        ("strategy", "x"),
        ("opts", "[options]\n\tstrategy = x\n"),
        ("rebase-merge/author-script", "GIT_AUTHOR_NAME='x'\n"),
    ] {
        assert_eq!(check(path, content), Ok(()), "{path}: {content}");
    }
}

#[test]
fn what_runs_a_program_or_writes_elsewhere_is_refused() {
    use UnfinishedWorkError::{ForeignOption, References, Resolutions, Steps};
    let long = format!("{}\t/etc/passwd\0", "a".repeat(40));
    for (path, content, error) in [
        (TODO, "pick 1\nexec touch x\n", Steps),
        (TODO, "\t x touch x\n", Steps),
        (REMOVED, "refs/rewritten/onto\nrefs/heads/x\n", References),
        (REMOVED, "refs/rewritten/../heads/x\n", References),
        (REMOVED, "HEAD\n", References),
        ("worktrees/x/rebase-merge/Refs-To-Delete", "refs/heads/x", References),
        (BRANCH, "refs/tags/x\n", References),
        (BRANCH, "refs/heads/../tags/x\n", References),
        (BRANCH, "HEAD", References),
        (MOVED, &format!("refs/heads/x\n{OBJECT}\n"), References),
        (MOVED, &format!("HEAD\n{OBJECT}\n{OBJECT}\n"), References),
        ("Rebase-Merge/GIT-REBASE-TODO", "x y", Steps),
        (STRATEGY, "x/../evil\n", ForeignOption),
        (OPTIONS, " --index-output=/x", ForeignOption),
        (OPTIONS, "ours\n--index-output=/x", ForeignOption),
        (OPTIONS, "'--index-output=/x'", ForeignOption),
        (OPTIONS, "subtree='a", ForeignOption),
        (OPTIONS, "subtree=a;b", ForeignOption),
        ("rebase-apply/strategy_opts", "u", ForeignOption),
        (PICKS, "[options]\n\tStrategy= x/../evil\n", ForeignOption),
        (PICKS, "[options]\n\tstrategy = resolve\n\tstrategy-option = index-output=/x\n", ForeignOption),
        (PICKS, "[options]\n\tstrategy-option = \\\n index-output=/x\n", ForeignOption),
        (PICKS, "[options]\n\tstrategy-option = \"index-output=/x\"\n", ForeignOption),
        (PICKS, "[options]\n\tstrategy-option\n", ForeignOption),
        (PATCHES, "'--build-fake-ancestor=/x'", ForeignOption),
        (PATCHES, "-p1", ForeignOption),
        (RESOLUTIONS, &long, Resolutions),
        // White space that git does not cut is part of the name of a program.
        (STRATEGY, "ours\u{a0}\n", ForeignOption),
        (STRATEGY, "ours \n", ForeignOption),
        (PICKS, "[options]\n\tstrategy = ours\u{2003}\n", ForeignOption),
        (PICKS, "[options]\n\tstrategy\u{a0}= ours\n", ForeignOption),
        (BISECTION, "-f\n", ForeignOption),
        (BISECTION, "-Bmain", ForeignOption),
        (BISECTION, "main -f", ForeignOption),
        (BISECTION, "main\u{0}", ForeignOption),
        (BISECT_PATHS, "$(touch x)", ForeignOption),
        (BISECT_PATHS, "'a'; touch x\n", ForeignOption),
        (BISECT_PATHS, "'a' 'b\n", ForeignOption),
    ] {
        assert_eq!(check(path, content), Err(error), "{path}: {content}");
    }
}

#[test]
fn what_cannot_be_read_is_refused() {
    for path in [TODO, STRATEGY, OPTIONS, PICKS, PATCHES, RESOLUTIONS, BISECTION, BISECT_PATHS] {
        let names = || path.split('/').map(str::as_bytes);
        assert!(is_unfinished_work(names()), "{path}");
        assert!(check_unfinished_work(names(), None).is_err(), "{path}");
        assert!(check_unfinished_work(names(), Some(b"\xff")).is_err(), "{path}");
    }
    let other = || ["rebase-merge", "done"].map(str::as_bytes);
    assert!(!is_unfinished_work(other()));
    assert_eq!(check_unfinished_work(other(), None), Ok(()));
}
