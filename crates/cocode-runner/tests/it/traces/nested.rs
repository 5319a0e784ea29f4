//! Repositories that an agent leaves below its worktree start no program of its choice.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use cocode_env::AgentState;
use cocode_runner::AgentDefinition;

use crate::fixture::{Fixture, MARKED, agent, failures};

/// Makes a repository at `sub` that starts the program at `$V` whenever git looks at its files.
const NESTED: &str = "git init -q sub; git -C sub commit -q --allow-empty -m x; git -C sub config core.fsmonitor $V; \
                      touch sub/f";

#[test]
fn a_repository_of_an_agent_in_its_worktree_starts_no_program() {
    let cases = [
        "git add sub",
        "mv sub/.git $W/sub; echo gitdir: $W/sub > sub/.git; git add sub",
        "mv sub/.git $W/sub; ln -s $W/sub sub/.git; git add sub",
        "touch sub/.git.agentd-refused; git add sub",
        "mkdir deep; mv sub deep/; git add deep/sub",
        "git add sub; git commit -qm sub",
    ];
    for fixture in [Fixture::new as fn() -> Fixture, Fixture::shared] {
        for case in cases {
            let fixture = fixture();
            let (trap, program) = (fixture.root.join("trap"), fixture.root.join("home/evil"));
            fs::write(&program, format!("#!/bin/sh\ntouch {}\n", trap.display())).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
            let script = format!(
                "V={}; W=$(git rev-parse --absolute-git-dir); {MARKED}; {NESTED}; {case}",
                program.display()
            );
            let record = fixture.run(&script);
            assert_eq!(record.exit_code, Some(0), "{case}: {record:?}");
            let sub = if case.contains("deep") { "deep/sub" } else { "sub" };
            let warning = record.warnings.iter().find(|warning| warning.contains("agentd-refused"));
            assert!(warning.is_some_and(|one| one.ends_with(&format!(": {sub}/.git"))), "{record:?}");
            // The agent's own links into its git folder were removed with the others.
            let _ = fs::remove_file(&trap);
            fixture.git_in(&record.worktree, &["status", "--porcelain"]);
            fixture.git_in(&record.worktree, &["diff"]);
            fixture.git_in(&record.worktree, &["diff", "HEAD"]);
            assert!(!trap.exists(), "{case}");
            // The control: git obeys the same by the user's hand.
            let again = format!("rm -rf sub deep $W/sub; {NESTED}; {case}");
            let mut shell = std::process::Command::new("sh");
            shell.args(["-c", &again]).current_dir(&record.worktree).env("HOME", fixture.root.join("home"));
            let git_folder = fixture.git_in(&record.worktree, &["rev-parse", "--absolute-git-dir"]);
            shell.env("V", &program).env("W", git_folder).output().unwrap();
            let _ = fs::remove_file(&trap);
            fixture.git_in(&record.worktree, &["status", "--porcelain"]);
            assert!(trap.exists(), "the control: {case}");
        }
    }
}

#[test]
fn a_repository_that_a_check_leaves_is_refused_too() {
    let fixture = Fixture::new();
    let check = format!("V=/bin/true; {NESTED}; git add sub");
    let record = fixture.run_agent(AgentDefinition { check: Some(check), ..agent("a", MARKED) });
    assert_eq!(record.state, AgentState::Ready, "{record:?}");
    assert!(record.warnings[0].ends_with(": sub/.git"), "{record:?}");
    assert!(!record.worktree.join("sub/.git").exists());
}

#[test]
fn a_staged_submodule_is_not_clean() {
    let run = |script: &str| {
        let script = format!("V=/bin/true; {NESTED}; {script}");
        let definition = AgentDefinition { clean_tree: true, ..agent("a", &script) };
        Fixture::new().run_agent(definition)
    };
    let staged = run(&format!("{MARKED}; git add sub"));
    assert_eq!(failures(&staged), ["clean_tree"], "{staged:?}");
    // The control: a committed one.
    assert_eq!(failures(&run(&format!("git add sub; {MARKED}"))), Vec::<&str>::new());
}

/// Makes a repository without a `.git` at `sub`, which starts the program at `$V`.
const BARE: &str = "git init -q --bare sub; git -C sub config core.bare false; git -C sub config core.worktree .; \
                    git -C sub config core.fsmonitor $V; touch sub/refs/keep sub/objects/keep";

#[test]
fn a_folder_that_an_agent_makes_a_repository_starts_no_program() {
    let cases = [
        ("", BARE.to_owned()),
        ("", format!("{BARE}; git add -f sub; git commit -qm sub")),
        // One of the user's, in which the agent changes what git obeys.
        ("config", "git -C sub config core.bare false; git -C sub config core.worktree .; git -C sub config core.fsmonitor $V".to_owned()),
        ("hooks", "printf \"#!/bin/sh\\n$V\\n\" > sub/hooks/post-index-change; chmod +x sub/hooks/post-index-change; echo changed > changed".to_owned()),
        ("nothing", "echo changed > sub/refs/heads/new; echo changed > changed".to_owned()),
    ];
    for fixture in [Fixture::new as fn() -> Fixture, Fixture::shared] {
        for (of_user, script) in &cases {
            let fixture = fixture();
            let (trap, program) = (fixture.root.join("trap"), fixture.root.join("home/evil"));
            fs::write(&program, format!("#!/bin/sh\ntouch {}\n", trap.display())).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
            if !of_user.is_empty() {
                fixture.git(&["init", "-q", "--bare", "sub"]);
                for name in ["refs/heads/keep", "objects/keep", "hooks/keep"] {
                    fs::write(fixture.repository().join("sub").join(name), "").unwrap();
                }
                fixture.git(&["add", "-f", "sub"]);
                fixture.git(&["commit", "-qm", "sub"]);
            }
            let record = fixture.run(&format!("V={}; {script}; {MARKED}", program.display()));
            let case = format!("{script}: {record:?}");
            assert_eq!(record.exit_code, Some(0), "{case}");
            let is_refused = record.warnings.iter().any(|warning| warning.ends_with(": sub/HEAD"));
            assert_eq!(is_refused, *of_user != "nothing", "{case}");
            let sub = record.worktree.join("sub");
            let enter = || {
                let mut shell = std::process::Command::new("sh");
                shell.args(["-c", "git status; git read-tree --empty"]);
                shell.current_dir(&sub).env("HOME", fixture.root.join("home")).output().unwrap()
            };
            let _ = fs::remove_file(&trap);
            enter();
            assert!(!trap.exists(), "{case}");
            if is_refused {
                // The control: under its own name git obeys it.
                fs::rename(sub.join("HEAD.agentd-refused"), sub.join("HEAD")).unwrap();
                let printed = enter();
                assert!(trap.exists(), "the control: {printed:?}: {case}");
            }
        }
    }
}

#[test]
fn a_state_folder_that_an_agent_leaves_keeps_no_name_that_agentd_knows() {
    let make = "mkdir -p $D/journal; echo '*' > $D/.gitignore; echo 1.000000000 > $D/birth";
    let cases = [
        (".agentd", make),
        (".AGENTD", make),
        ("deep/er/.agentd", make),
        (".agentd", "touch .agentd.agentd-refused; mkdir $D"),
        (".agentd", "mkdir data; ln -s data $D"),
    ];
    for fixture in [Fixture::new as fn() -> Fixture, Fixture::shared] {
        for (name, make) in cases {
            for is_check in [false, true] {
                let script = format!("D={name}; {make}; touch .agentd-notes");
                let record = match is_check {
                    true => {
                        fixture().run_agent(AgentDefinition { check: Some(script), ..agent("a", MARKED) })
                    }
                    false => {
                        let fixture = fixture();
                        let record = fixture.run(&format!("{MARKED}; {script}"));
                        check_state_folder(&record.worktree, name);
                        record
                    }
                };
                assert_eq!(record.state, AgentState::Ready, "{name} {make}: {record:?}");
                let expected = format!("were renamed to end in '.agentd-refused': {name}");
                assert!(record.warnings.iter().any(|one| one.ends_with(&expected)), "{name}: {record:?}");
            }
        }
    }
}

fn check_state_folder(worktree: &std::path::Path, name: &str) {
    let is_there = |path: &str| worktree.join(path).symlink_metadata().is_ok();
    assert!(!is_there(name) && is_there(&format!("{name}.agentd-refused")), "{name}");
    // Another name stays.
    assert!(is_there(".agentd-notes"), "{name}");
}

#[test]
fn no_link_of_an_agent_leads_to_a_repository_in_what_was_renamed() {
    // What it makes, the folder that a link leads to, and what makes that one a repository again.
    let evil = "git init -q $R; git -C $R config core.fsmonitor $V; git -C $R config core.worktree $PWD";
    let cases = [
        (".GIT/x", ".GIT/x", ".git"),
        (".GIT/x", ".GIT.agentd-refused/x", ".git"),
        (".agentd/x", ".agentd.agentd-refused/x", ".git"),
        ("sub/.git/x", "sub/.git.agentd-refused/x", ".git"),
        ("sub", "sub/.git.agentd-refused", "HEAD"),
        (".git.agentd-refused/x", ".git.agentd-refused/x", ".git"),
    ];
    for fixture in [Fixture::new as fn() -> Fixture, Fixture::shared] {
        for (repository, target, name) in cases {
            let fixture = fixture();
            let (trap, program) = (fixture.root.join("trap"), fixture.root.join("home/evil"));
            fs::write(&program, format!("#!/bin/sh\ntouch {}\n", trap.display())).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
            let script = format!(
                "V={}; R={repository}; {evil}; ln -s {target} docs; git add docs; {MARKED}",
                program.display()
            );
            let record = fixture.run(&script);
            let case = format!("{repository} {target}: {record:?}");
            assert_eq!(record.state, AgentState::Ready, "{case}");
            let status = || {
                let mut shell = std::process::Command::new("sh");
                shell.args(["-c", "cd docs && git status"]).current_dir(&record.worktree);
                shell.env("HOME", fixture.root.join("home")).output().unwrap()
            };
            let _ = fs::remove_file(&trap);
            status();
            assert!(!trap.exists(), "{case}");
            // The control: with the names that the agent gave it, git obeys it.
            let mut folder = record.worktree.join(target);
            if !folder.exists() {
                folder = record.worktree.join(target.replacen(".GIT/", ".GIT.agentd-refused/", 1));
                fs::rename(folder.parent().unwrap(), record.worktree.join(".GIT")).unwrap();
                folder = record.worktree.join(target);
            }
            if name == ".git" {
                fs::rename(folder.join(".git.agentd-refused"), folder.join(".git")).unwrap();
                folder = folder.join(".git");
            }
            fs::rename(folder.join("HEAD.agentd-refused"), folder.join("HEAD")).unwrap();
            let printed = status();
            assert!(trap.exists(), "the control: {printed:?} {case}");
        }
    }
}
