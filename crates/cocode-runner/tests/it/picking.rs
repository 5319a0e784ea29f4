//! Taking the work of agents into the current branch.

mod branches;
mod links;
mod merges;
mod obeyed;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use cocode_runner::{AgentRecord, PickWay, Runner, RunnerError, StopFlag};

use crate::fixture::{Fixture, Log, agent, refused, request};
use test_support::write_program;

fn write(name: &str, text: &str) -> String {
    format!("echo {text} > {name}; git add .; git commit -q -m 'cocode ready for check'")
}

#[test]
fn work_is_taken_forward_or_merged_only_when_that_is_clean() {
    let fixture = Fixture::new();
    let runner = fixture.runner();
    let agents = vec![
        agent("a", &write("b.txt", "b")),
        agent("b", &write("c.txt", "c")),
        agent("c", &write("b.txt", "other")),
        agent("d", "true"),
    ];
    let records = runner.run(&request(agents), &StopFlag::new(), &Log::default()).unwrap();
    let before = fixture.git(&["rev-parse", "HEAD"]);
    let trial = runner.pick(&records[0], true).unwrap();
    assert_eq!((trial.way, trial.done, trial.is_ready), (PickWay::FastForward, false, true));
    assert_eq!(fixture.git(&["rev-parse", "HEAD"]), before);
    fs::write(fixture.repository().join("a.txt"), "mine\n").unwrap();
    assert!(matches!(refused(runner.pick(&records[0], false)), RunnerError::Dirty { has_filters: false }));
    fixture.git(&["checkout", "-q", "a.txt"]);
    assert!(runner.pick(&records[0], false).unwrap().done);
    assert_eq!(runner.pick(&records[0], false).unwrap().way, PickWay::AlreadyThere);
    assert_eq!(runner.pick(&records[1], false).unwrap().way, PickWay::Merge);
    assert_eq!(fs::read_to_string(fixture.repository().join("c.txt")).unwrap(), "c\n");
    let before = fixture.git(&["rev-parse", "HEAD"]);
    let conflicts = refused(runner.pick(&records[2], false));
    assert!(matches!(&conflicts, RunnerError::Conflicts { files, .. } if files == "b.txt"), "{conflicts}");
    assert!(matches!(refused(runner.pick(&records[3], false)), RunnerError::NothingToPick { .. }));
    assert_eq!(fixture.git(&["rev-parse", "HEAD"]), before);
    assert_eq!(fixture.git(&["status", "--porcelain"]), "");
    assert!(cocode_runner::diff(&fixture.config(), &records[1], true).unwrap().contains("c.txt"));
    assert!(cocode_runner::diff(&fixture.config(), &records[1], false).unwrap().contains("+c"));
}

/// Runs one agent, and returns its record with the runner.
fn work(fixture: &Fixture, script: &str) -> (Runner, AgentRecord) {
    let runner = fixture.runner();
    let record = runner.run(&request(vec![agent("a", script)]), &StopFlag::new(), &Log::default());
    (runner, record.unwrap().remove(0))
}

#[test]
fn uncommitted_files_are_never_replaced() {
    let commit = "git add -f .; git commit -q -m 'cocode ready for check'";
    let cases = [
        // The agent's work, the user's uncommitted file, and the path in the way. Git must not take a name for a pattern: the
        // repository has an 'a.txt'.
        ("echo theirs > :a.txt", ":a.txt", Some(":a.txt")),
        ("echo theirs > settings", "settings", Some("settings")),
        ("mkdir folder; echo theirs > folder/new", "folder", Some("folder")),
        ("ln -s a.txt 'a link'", "a link", Some("a link")),
        ("echo theirs > other", "settings", None),
    ];
    for is_ignored in [false, true] {
        for is_merge in [false, true] {
            for (script, name, expected) in cases {
                let fixture = Fixture::new();
                let (runner, record) = work(&fixture, &format!("{script}; {commit}"));
                if is_merge {
                    fs::write(fixture.repository().join("mine.txt"), "mine\n").unwrap();
                    fixture.git(&["add", "."]);
                    fixture.git(&["commit", "-q", "-m", "mine"]);
                }
                if is_ignored {
                    fs::write(fixture.repository().join(".git/info/exclude"), "*\n").unwrap();
                }
                let file = fixture.repository().join(name);
                fs::write(&file, "mine\n").unwrap();
                let case = format!("{script}, ignored {is_ignored}, merge {is_merge}");
                let before = fixture.git(&["rev-parse", "HEAD"]);
                for dry_run in [true, false] {
                    match (runner.pick(&record, dry_run), expected) {
                        (Err(RunnerError::InTheWay { path }), Some(way)) => {
                            assert_eq!(path.to_str(), Some(way), "{case}");
                            assert_eq!(fixture.git(&["rev-parse", "HEAD"]), before, "{case}");
                        }
                        (Ok(picked), None) => assert_eq!(picked.done, !dry_run, "{case}"),
                        (other, _) => panic!("{case}: {other:?}"),
                    }
                }
                assert_eq!(fs::read_to_string(&file).unwrap(), "mine\n", "{case}");
            }
        }
    }
}

#[test]
fn uncommitted_files_with_names_that_are_not_utf8_are_not_replaced_either() {
    let fixture = Fixture::new();
    let script =
        "echo theirs > $(printf 'odd\\377'); git add -f .; git commit -q -m 'cocode ready for check'";
    let (runner, record) = work(&fixture, script);
    fs::write(fixture.repository().join(".git/info/exclude"), "*\n").unwrap();
    let file = fixture.repository().join(OsStr::from_bytes(b"odd\xff"));
    fs::write(&file, "mine\n").unwrap();
    assert!(matches!(refused(runner.pick(&record, false)), RunnerError::InTheWay { .. }));
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine\n");
}

#[test]
fn an_unfinished_operation_of_the_user_is_left_alone() {
    let kinds = [("merge", "MERGE_HEAD"), ("cherry-pick", "CHERRY_PICK_HEAD"), ("revert", "REVERT_HEAD")];
    for (what, head) in kinds {
        let fixture = Fixture::new();
        let (runner, record) = work(&fixture, &write("b.txt", "b"));
        // The work tree is clean; only the operation itself is unfinished.
        let commit = fixture.git(&["rev-parse", "HEAD"]);
        fs::write(fixture.repository().join(".git").join(head), format!("{commit}\n")).unwrap();
        for dry_run in [true, false] {
            let error = refused(runner.pick(&record, dry_run));
            assert!(
                matches!(error, RunnerError::Unfinished { what: operation } if operation == what),
                "{error}"
            );
        }
        assert!(fixture.repository().join(".git").join(head).exists(), "{what}");
        fs::remove_file(fixture.repository().join(".git").join(head)).unwrap();
        assert!(runner.pick(&record, false).unwrap().done, "{what}");
    }
}

#[test]
fn a_merge_is_signed_as_the_user_signs() {
    let fixture = Fixture::new();
    let program = fixture.root.join("sign");
    // The program signs only if the user's environment names the keys.
    let text = "#!/bin/sh\ncat > /dev/null; test \"$GNUPGHOME\" = keys || { echo no keys >&2; exit 2; }\n\
        echo '[GNUPG:] SIG_CREATED x' >&2; echo '-----BEGIN PGP SIGNATURE-----'; echo; echo '-----END PGP SIGNATURE-----'\n";
    write_program(&program, text);
    let pick = |fixture: &Fixture| {
        let (runner, record) = work(fixture, &write("b.txt", "b"));
        fixture.git(&["config", "commit.gpgsign", "false"]);
        fs::write(fixture.repository().join("mine.txt"), "mine\n").unwrap();
        fixture.git(&["add", "."]);
        fixture.git(&["commit", "-q", "-m", "mine"]);
        fixture.git(&["config", "gpg.program", program.to_str().unwrap()]);
        fixture.git(&["config", "commit.gpgsign", "true"]);
        let picked = runner.pick(&record, false);
        runner.clean(true, false).unwrap();
        picked
    };
    let without = refused(pick(&fixture)).to_string();
    assert!(without.contains("failed to sign"), "{without}");
    assert!(!fixture.repository().join(".git/MERGE_HEAD").exists());
    let mut fixture = Fixture::new();
    fixture.host.variables.insert("GNUPGHOME".into(), "keys".into());
    pick(&fixture).unwrap();
    assert!(fixture.git(&["cat-file", "commit", "HEAD"]).contains("gpgsig"));
}

#[test]
fn a_merge_that_fails_leaves_what_the_user_has_begun() {
    for is_other in [false, true] {
        let fixture = Fixture::new();
        let (runner, record) = work(&fixture, &write("b.txt", "b"));
        fs::write(fixture.repository().join("mine.txt"), "mine\n").unwrap();
        fixture.git(&["add", "."]);
        fixture.git(&["commit", "-q", "-m", "mine"]);
        // The program that signs the merge fails, after the user has begun another merge if `is_other`.
        let head = fixture.repository().join(".git/MERGE_HEAD");
        let start = &record.start_commit;
        let other = if is_other { format!("echo {start} >> {}", head.display()) } else { "true".to_owned() };
        let program = fixture.root.join("sign");
        write_program(&program, &format!("#!/bin/sh\ncat > /dev/null; {other}; exit 2\n"));
        fixture.git(&["config", "gpg.program", program.to_str().unwrap()]);
        fixture.git(&["config", "commit.gpgsign", "true"]);
        let error = refused(runner.pick(&record, false)).to_string();
        assert!(error.contains("failed to sign"), "{error}");
        assert_eq!(head.exists(), is_other);
        assert!(!fixture.repository().join("b.txt").exists());
    }
}

#[test]
fn ignored_files_in_a_folder_that_the_work_replaces_are_never_removed() {
    let commit = "git add -Af .; git commit -q -m 'cocode ready for check'";
    let cases = [
        // The agent's work, the user's ignored file, and the folder that would be lost.
        ("git rm -rq conf; echo f > conf", "conf/.env", Some("conf")),
        ("git rm -rq conf; ln -s a.txt conf", "conf/deep/er/.env", Some("conf")),
        ("git rm -q conf/a; mv conf/sub other; rmdir conf; echo f > conf", "conf/sub/.env", Some("conf")),
        ("git rm -rq conf/sub; echo f > conf/sub", "conf/sub/.env", Some("conf/sub")),
        // The controls: other folders, and one that git leaves.
        ("git rm -rq conf/sub; echo f > conf/sub", "conf/.env", None),
        ("git rm -rq conf", "conf/.env", None),
        ("git rm -rq conf; echo f > conf", "other/.env", None),
    ];
    for (script, name, expected) in cases {
        for is_merge in [false, true] {
            let fixture = Fixture::new();
            fs::create_dir_all(fixture.repository().join("conf/sub")).unwrap();
            fs::write(fixture.repository().join("conf/a"), "a\n").unwrap();
            fs::write(fixture.repository().join("conf/sub/b"), "b\n").unwrap();
            fs::write(fixture.repository().join(".gitignore"), ".env\n").unwrap();
            fixture.git(&["add", "."]);
            fixture.git(&["commit", "-q", "-m", "conf"]);
            let (runner, record) = work(&fixture, &format!("{script}; {commit}"));
            if is_merge {
                fs::write(fixture.repository().join("mine.txt"), "mine\n").unwrap();
                fixture.git(&["add", "."]);
                fixture.git(&["commit", "-q", "-m", "mine"]);
            }
            let file = fixture.repository().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, "secret\n").unwrap();
            let case = format!("{script}, {name}, merge {is_merge}");
            let before = fixture.git(&["rev-parse", "HEAD"]);
            for dry_run in [true, false] {
                match (runner.pick(&record, dry_run), expected) {
                    (Err(RunnerError::FolderInTheWay { path, files }), Some(way)) => {
                        assert_eq!((path.to_str(), files.as_str()), (Some(way), name), "{case}");
                        assert_eq!(fixture.git(&["rev-parse", "HEAD"]), before, "{case}");
                    }
                    (Ok(picked), None) => assert_eq!(picked.done, !dry_run, "{case}"),
                    (other, _) => panic!("{case}: {other:?}"),
                }
            }
            assert_eq!(fs::read_to_string(&file).unwrap(), "secret\n", "{case}");
        }
    }
}

#[test]
fn a_submodule_in_use_is_never_replaced() {
    let commit = "git add -Af .; git commit -q -m 'cocode ready for check'";
    let allowed = ["-c", "protocol.file.allow=always"];
    let cases = [
        ("git rm -q --cached third/lib; rm -rf third/lib; echo f > third/lib", true),
        ("git rm -q --cached third/lib; rm -rf third/lib; mkdir third/lib; echo f > third/lib/new", true),
        ("git rm -rq --cached third; rm -rf third; ln -s a.txt third", true),
        // The controls: git leaves the folder, or the submodule is not touched.
        ("git rm -q --cached third/lib; rm -rf third/lib", false),
        ("echo f > third/f", false),
    ];
    // By the last one, differences of git leave the submodule out unless an option says otherwise.
    for (is_populated, ignore) in [(true, "none"), (false, "none"), (true, "all")] {
        for (script, is_refused) in cases {
            let fixture = Fixture::new();
            fixture.git_in(&fixture.root, &["clone", "-q", "repository", "lib"]);
            let lib = fixture.root.join("lib").display().to_string();
            fixture.git(&[&allowed[..], &["submodule", "--quiet", "add", &lib, "third/lib"]].concat());
            fs::write(fixture.repository().join("third/other"), "x\n").unwrap();
            fixture.git(&["config", "--file", ".gitmodules", "submodule.third/lib.ignore", ignore]);
            fixture.git(&["add", "."]);
            fixture.git(&["commit", "-q", "-m", "lib"]);
            let (runner, record) = work(&fixture, &format!("{script}; {commit}"));
            let file = fixture.repository().join("third/lib/uncommitted");
            if is_populated {
                fs::write(&file, "mine\n").unwrap();
            } else {
                fixture.git(&["submodule", "--quiet", "deinit", "third/lib"]);
            }
            let case = format!("{script}, populated {is_populated}, ignore {ignore}: {record:?}");
            match runner.pick(&record, false) {
                Err(RunnerError::SubmoduleInTheWay { path }) if is_refused && is_populated => {
                    assert_eq!(path.to_str(), Some("third/lib"), "{case}");
                }
                Ok(picked) if !(is_refused && is_populated) => assert!(picked.done, "{case}"),
                other => panic!("{case}: {other:?}"),
            }
            assert_eq!(file.exists(), is_populated, "{case}");
        }
    }
}
