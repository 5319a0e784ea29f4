//! Links in an agent's git folder do not lead git to files of the user.

use std::fs;

use cocode_env::AgentState;
use cocode_runner::AgentDefinition;
use sandbox_exec::Level;

use crate::fixture::{Fixture, MARKED, agent};

/// Commits on a branch that exists only in the agent's view, so that the runner detaches `HEAD`.
fn on_a_branch_of_its_own(plant: &str) -> String {
    format!(
        "W=$(git rev-parse --absolute-git-dir); git checkout -q -b cocode/other; {MARKED}; {plant}; test -L $W/$L"
    )
}

#[test]
fn a_symlink_of_an_agent_in_its_git_folder_leads_git_to_no_file_of_the_user() {
    // The symlink, how it is made, and the command of git that would follow it.
    let commit = ["commit", "-q", "--allow-empty", "-m", "the user's own"];
    let cases: [(&str, &str, &[&str]); 4] = [
        ("logs/HEAD", "rm $W/logs/HEAD; ln -s $V $W/logs/HEAD", &commit),
        ("logs", "rm -r $W/logs; mkdir $W/x; ln -s $V $W/x/HEAD; ln -s x $W/logs", &commit),
        ("COMMIT_EDITMSG", "ln -sf $V $W/COMMIT_EDITMSG", &commit),
        ("index", "mkdir -p $W/index.refused/x; ln -sf $V.new $W/index", &["reset", "-q"]),
    ];
    // With a git folder of its own, and where nothing keeps an agent from making links in the real one.
    for level in [Level::Full, Level::Process] {
        for (link, plant, command) in cases {
            let fixture = Fixture::at_level(level);
            let victim = fixture.root.join("home/notes");
            fs::write(&victim, "mine\n").unwrap();
            let new = fixture.root.join("home/notes.new");
            let plant = format!("L={link}; V={}; {plant}", victim.display());
            let record = fixture.run(&on_a_branch_of_its_own(&plant));
            let case = format!("{plant}: {record:?}");
            assert_eq!(record.exit_code, Some(0), "{case}");
            assert!(record.warnings.iter().any(|warning| warning.contains("symlinks")), "{case}");
            let folder = record.git_folder.clone().unwrap();
            assert!(!folder.join(link).is_symlink(), "{case}");
            fixture.git_in(&record.worktree, command);
            assert_eq!(fs::read_to_string(&victim).unwrap(), "mine\n", "{case}");
            assert!(!new.exists(), "{case}");
            // The control: with the same symlink the same command writes there.
            if link == "logs" {
                fs::remove_dir_all(folder.join("logs")).unwrap();
                std::os::unix::fs::symlink("x", folder.join("logs")).unwrap();
                std::os::unix::fs::symlink(&victim, folder.join("x/HEAD")).unwrap();
            } else {
                let _ = fs::remove_file(folder.join(link));
                let target = if plant.contains(".new") { &new } else { &victim };
                std::os::unix::fs::symlink(target, folder.join(link)).unwrap();
            }
            let mut git = std::process::Command::new("git");
            git.args(command).current_dir(&record.worktree).env("HOME", fixture.root.join("home"));
            let _ = git.output().unwrap();
            assert!(new.exists() || fs::read(&victim).unwrap() != b"mine\n", "the control: {case}");
        }
    }
}

#[test]
fn a_log_entry_of_the_runner_does_not_prove_where_a_commit_was_made() {
    let fixture = Fixture::new();
    let script = |log: &str| format!("{}; {log}", on_a_branch_of_its_own("L=x; ln -s y $W/x"));
    // The control: with its log, the commit is the agent's.
    assert_eq!(fixture.run(&script("true")).state, AgentState::Ready);
    let fixture = Fixture::new();
    let record = fixture.run(&script("rm $W/logs/HEAD"));
    assert_eq!(crate::fixture::failures(&record), ["new"], "{record:?}");
    assert_eq!(fixture.git_in(&record.worktree, &["rev-parse", "HEAD"]), record.head.unwrap());
}

#[test]
fn a_symlink_that_a_check_leaves_is_removed_too() {
    let fixture = Fixture::new();
    let victim = fixture.root.join("home/notes");
    fs::write(&victim, "mine\n").unwrap();
    let check =
        format!("W=$(git rev-parse --git-dir); ln -sf {} $W/logs/HEAD && echo x > x", victim.display());
    let definition = AgentDefinition { check: Some(check), ..agent("a", MARKED) };
    let record = fixture.run_agent(definition);
    assert_eq!((record.state, record.left_by_check.len()), (AgentState::Ready, 1), "{record:?}");
    assert!(record.warnings[0].ends_with("they were removed: logs/HEAD"), "{record:?}");
    fixture.git_in(&record.worktree, &["commit", "-q", "--allow-empty", "-m", "the user's own"]);
    assert_eq!(fs::read_to_string(&victim).unwrap(), "mine\n");
}

#[test]
fn a_symlink_among_the_shared_logs_of_branches_is_not_written() {
    let fixture = Fixture::at_level(Level::Process);
    let victim = fixture.root.join("home/notes");
    fs::write(&victim, "mine\n").unwrap();
    let plant = format!(
        "L=$(git rev-parse --git-common-dir)/logs/refs/heads/cocode; ln -s {0} $L/7-b; ln -s {0} $L/7-c",
        victim.display()
    );
    let record = fixture.run(&plant);
    assert_eq!(record.exit_code, Some(0));
    // They are removed when it has ended, but an agent that still runs could put them there again.
    let logs = fixture.repository().join(".git/logs/refs/heads/cocode");
    for name in ["7-b", "7-c"] {
        assert!(record.warnings.iter().any(|warning| warning.contains(name)), "{record:?}");
        std::os::unix::fs::symlink(&victim, logs.join(name)).unwrap();
    }
    let record = fixture.run_agent(agent("b", MARKED));
    assert_eq!(record.state, AgentState::Ready, "{record:?}");
    assert_eq!(fs::read_to_string(&victim).unwrap(), "mine\n");
    // The control: git itself writes there.
    let _ = std::os::unix::fs::symlink(&victim, logs.join("7-c"));
    fixture.git(&["branch", "cocode/7-c"]);
    assert_ne!(fs::read_to_string(&victim).unwrap(), "mine\n");
}

#[test]
fn a_branch_that_names_another_one_is_removed_alone() {
    let fixture = Fixture::shared();
    let record =
        fixture.run("echo ref: refs/heads/kept > $(git rev-parse --git-common-dir)/refs/heads/cocode/7-a");
    assert_eq!(record.exit_code, Some(0));
    fixture.git(&["branch", "kept"]);
    let cleaned = fixture.runner().clean_by_force(&record, false).unwrap();
    assert!(cleaned.removed, "{cleaned:?}");
    assert_eq!(fixture.git(&["branch", "--list", "--format=%(refname:short)"]), "kept\nmain");
}

#[test]
fn no_file_of_an_agent_in_its_git_folder_has_a_second_name() {
    // Git writes the message of a commit in place, and begins with what `MERGE_MSG` holds.
    let rebase = "git commit -q --allow-empty -m two; echo 1 > a.txt; git commit -qam three; echo 2 > a.txt; git commit -qam four; \
                  GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' git rebase -q -i HEAD~2 2>/dev/null";
    for level in [Level::Full, Level::Landlock] {
        let fixture = Fixture::at_level(level);
        let trap = fixture.root.join("trap");
        let plant = format!(
            "{MARKED}; {rebase}; W=$(git rev-parse --absolute-git-dir); rm -f $W/COMMIT_EDITMSG; \
             ln $W/rebase-merge/git-rebase-todo $W/COMMIT_EDITMSG && ln $W/HEAD $W/SQUASH_MSG && \
             echo 'exec touch {}' > $W/MERGE_MSG",
            trap.display()
        );
        let record = fixture.run(&plant);
        assert_eq!(record.exit_code, Some(0), "{record:?}");
        assert!(record.warnings.iter().any(|warning| warning.contains("COMMIT_EDITMSG")), "{record:?}");
        let trigger = "GIT_EDITOR=true git commit -q --allow-empty; git rebase --continue";
        let continued = || {
            let mut shell = std::process::Command::new("sh");
            shell.args(["-c", trigger]).current_dir(&record.worktree).env("HOME", fixture.root.join("home"));
            shell.output().unwrap()
        };
        let printed = continued();
        assert!(!trap.exists(), "{printed:?} {record:?}");
        fixture.git_in(&record.worktree, &["rev-parse", "--verify", "HEAD^{commit}"]);
        // The control.
        let again = "git rebase -q --abort; git reset -q --hard HEAD; GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' git rebase -q -i HEAD~2; \
                     W=$(git rev-parse --git-dir); rm $W/COMMIT_EDITMSG; ln $W/rebase-merge/git-rebase-todo $W/COMMIT_EDITMSG";
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", again]).current_dir(&record.worktree).env("HOME", fixture.root.join("home"));
        shell.output().unwrap();
        let message = record.git_folder.clone().unwrap().join("MERGE_MSG");
        fs::write(message, format!("exec touch {}\n", trap.display())).unwrap();
        let printed = continued();
        assert!(trap.exists(), "the control: {printed:?} {record:?}");
    }
}
