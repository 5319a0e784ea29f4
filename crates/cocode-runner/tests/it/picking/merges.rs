//! The commit that a pick makes, whatever options the user has for merges.

use std::fs;

use cocode_runner::{AgentRecord, PickWay, Runner, RunnerError};

use super::{work, write};
use crate::fixture::{Fixture, refused};

/// Runs one agent that writes `b.txt`. With `is_merge`, the user commits `mine.txt` meanwhile.
fn picked(fixture: &Fixture, is_merge: bool) -> (Runner, AgentRecord) {
    let (runner, record) = work(fixture, &write("b.txt", "b"));
    if is_merge {
        fs::write(fixture.repository().join("mine.txt"), "mine\n").unwrap();
        fixture.git(&["add", "."]);
        fixture.git(&["commit", "-q", "-m", "mine"]);
    }
    (runner, record)
}

#[test]
fn options_of_the_user_for_merges_make_no_other_commit_than_the_judged_one() {
    let cases = [
        ("branch.main.mergeOptions", ""),
        ("branch.main.mergeOptions", "--no-commit"),
        ("branch.main.mergeOptions", "--no-commit --no-ff"),
        ("branch.main.mergeOptions", "--squash"),
        ("branch.main.mergeOptions", "-s ours"),
        ("branch.main.mergeOptions", "-X theirs"),
        ("pull.twohead", "ours"),
        ("merge.ff", "only"),
    ];
    for (name, value) in cases {
        for is_merge in [false, true] {
            let fixture = Fixture::new();
            fixture.git(&["config", name, value]);
            let (runner, record) = picked(&fixture, is_merge);
            let before = fixture.git(&["rev-parse", "HEAD"]);
            let case = format!("{name} {value}, merge {is_merge}");
            let picked = runner.pick(&record, false).unwrap_or_else(|error| panic!("{case}: {error}"));
            let way = if is_merge { PickWay::Merge } else { PickWay::FastForward };
            assert_eq!((picked.done, picked.way), (true, way), "{case}");
            let parents = fixture.git(&["rev-list", "--parents", "-1", "HEAD"]);
            let parents: Vec<&str> = parents.split(' ').skip(1).collect();
            let commit = picked.commit.as_str();
            assert_eq!(
                parents,
                if is_merge { vec![before.as_str(), commit] } else { vec![before.as_str()] },
                "{case}"
            );
            let files = fixture.git(&["ls-tree", "--name-only", "HEAD"]).replace('\n', " ");
            assert_eq!(files, if is_merge { "a.txt b.txt mine.txt" } else { "a.txt b.txt" }, "{case}");
            assert_eq!(fixture.git(&["status", "--porcelain"]), "", "{case}");
            assert_eq!(fixture.git(&["rev-parse", "ORIG_HEAD"]), before, "{case}");
            assert!(!fixture.repository().join(".git/MERGE_HEAD").exists(), "{case}");
            assert!(fixture.git(&["reflog", "-1"]).contains("merge cocode/7-a"), "{case}");
        }
    }
}

#[test]
fn a_merge_is_signed_off_if_the_user_does_so() {
    for is_signed_off in [true, false] {
        let fixture = Fixture::new();
        if is_signed_off {
            fixture.git(&["config", "branch.main.mergeOptions", "--signoff"]);
        }
        let (runner, record) = picked(&fixture, true);
        runner.pick(&record, false).unwrap();
        let message = fixture.git(&["log", "-1", "--format=%B"]);
        let expected = if is_signed_off {
            "Merge cocode/7-a\n\nSigned-off-by: Ada <a@localhost>"
        } else {
            "Merge cocode/7-a"
        };
        assert_eq!(message.trim_end(), expected);
    }
}

#[test]
fn unsigned_work_is_not_taken_where_the_user_demands_signatures() {
    for is_merge in [false, true] {
        let fixture = Fixture::new();
        let (runner, record) = picked(&fixture, is_merge);
        let before = fixture.git(&["rev-parse", "HEAD"]);
        let settings =
            [("merge.verifySignatures", "true"), ("branch.main.mergeOptions", "--verify-signatures")];
        drop(runner);
        for (name, value) in settings {
            fixture.git(&["config", name, value]);
            let runner = fixture.runner();
            for dry_run in [true, false] {
                assert!(
                    matches!(refused(runner.pick(&record, dry_run)), RunnerError::NotSigned { .. }),
                    "{name}"
                );
            }
            assert_eq!(fixture.git(&["rev-parse", "HEAD"]), before);
            fixture.git(&["config", "--unset", name]);
        }
        // The control.
        assert!(fixture.runner().pick(&record, false).unwrap().done);
    }
}

/// A program in place of GnuPG: makes signatures, and trusts their key as much as `trust` says.
fn signing_program(trust: &str) -> String {
    format!(
        "#!/bin/sh\ncase \" $* \" in\n\
         *' --verify '*) cat > /dev/null; printf '[GNUPG:] NEWSIG\\n[GNUPG:] GOODSIG 1 x\\n[GNUPG:] VALIDSIG 1\\n[GNUPG:] TRUST_{trust} 0 pgp\\n' ;;\n\
         *) cat > /dev/null; printf -- '-----BEGIN PGP SIGNATURE-----\\n\\nx\\n-----END PGP SIGNATURE-----\\n'; \
         printf '[GNUPG:] SIG_CREATED x\\n' >&2 ;;\nesac\n"
    )
}

#[test]
fn a_signature_counts_as_in_a_merge_by_git() {
    // The trust in its key, the least that the user demands, and whether git would merge.
    let cases = [
        ("ULTIMATE", None, true),
        ("MARGINAL", None, true),
        ("UNDEFINED", None, false),
        ("NEVER", None, false),
        ("UNDEFINED", Some("undefined"), true),
        ("MARGINAL", Some("fully"), false),
    ];
    for (trust, least, is_taken) in cases {
        let fixture = Fixture::new();
        let (runner, record) = picked(&fixture, false);
        drop(runner);
        let program = fixture.root.join("home/signer");
        test_support::write_program(&program, &signing_program(trust));
        fixture.git(&["config", "gpg.program", program.to_str().unwrap()]);
        fixture.git(&["config", "merge.verifySignatures", "true"]);
        least.map(|least| fixture.git(&["config", "gpg.minTrustLevel", least]));
        let branch = record.branch.as_str();
        let signed =
            fixture.git(&["commit-tree", "-S", "-p", branch, "-m", "signed", &format!("{branch}^{{tree}}")]);
        fixture.git(&["update-ref", &format!("refs/heads/{branch}"), &signed]);
        let taken = fixture.runner().pick(&record, false);
        assert_eq!(taken.is_ok(), is_taken, "{trust} {least:?}: {taken:?}");
        assert!(is_taken || matches!(refused(taken), RunnerError::NotSigned { .. }), "{trust} {least:?}");
        let mut by_git = std::process::Command::new("git");
        by_git.args(["merge", "--verify-signatures", "--ff-only", "-q", branch]);
        by_git.current_dir(fixture.repository()).env("HOME", fixture.root.join("home"));
        assert_eq!(by_git.output().unwrap().status.success(), is_taken, "git itself: {trust} {least:?}");
    }
}

#[test]
fn a_merge_has_an_author_or_is_refused() {
    for is_merge in [false, true] {
        for has_identity in [false, true] {
            let mut fixture = Fixture::new();
            let (runner, record) = picked(&fixture, is_merge);
            drop(runner);
            let settings = fixture.root.join("home/.gitconfig");
            fs::write(settings, "[user]\n\tuseConfigOnly = true\n").unwrap();
            if has_identity {
                // As containers give it.
                for role in ["AUTHOR", "COMMITTER"] {
                    fixture.host.variables.insert(format!("GIT_{role}_NAME").into(), "Eve".into());
                    fixture.host.variables.insert(format!("GIT_{role}_EMAIL").into(), "e@localhost".into());
                }
            }
            let before = fixture.git(&["rev-parse", "HEAD"]);
            let picked = fixture.runner().pick(&record, false);
            match is_merge && !has_identity {
                true => {
                    assert!(matches!(refused(picked), RunnerError::NoIdentity));
                    assert_eq!(fixture.git(&["rev-parse", "HEAD"]), before);
                    assert!(!fixture.repository().join("b.txt").exists());
                }
                false => assert!(picked.unwrap().done),
            }
            if is_merge && has_identity {
                assert_eq!(fixture.git(&["log", "-1", "--format=%an %ce"]), "Eve e@localhost");
            }
        }
    }
}

#[test]
fn an_edit_that_git_overlooks_is_not_replaced() {
    for (flag, name) in
        [("--skip-worktree", "a.txt"), ("--assume-unchanged", "a.txt"), ("--skip-worktree", "c.txt")]
    {
        let fixture = Fixture::new();
        fs::write(fixture.repository().join("c.txt"), "c\n").unwrap();
        fixture.git(&["add", "."]);
        fixture.git(&["commit", "-q", "-m", "c"]);
        let (runner, record) = work(&fixture, &write("a.txt", "agent"));
        fixture.git(&["update-index", flag, name]);
        fs::write(fixture.repository().join(name), "mine\n").unwrap();
        let before = fixture.git(&["rev-parse", "HEAD"]);
        for dry_run in [true, false] {
            match (runner.pick(&record, dry_run), name) {
                (Err(RunnerError::HiddenEdit { path }), "a.txt") => {
                    assert_eq!(path.to_str(), Some("a.txt"), "{flag}");
                    assert_eq!(fixture.git(&["rev-parse", "HEAD"]), before, "{flag}");
                }
                // The control: another file than the work changes.
                (Ok(picked), "c.txt") => assert_eq!(picked.done, !dry_run),
                (other, _) => panic!("{flag} {name}: {other:?}"),
            }
        }
        assert_eq!(fs::read_to_string(fixture.repository().join(name)).unwrap(), "mine\n", "{flag}");
    }
}
