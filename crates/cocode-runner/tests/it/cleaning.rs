mod half_removed;
mod in_use;
mod links;

use std::fs;

use cocode_runner::{AgentDefinition, StopFlag};

use crate::fixture::{Fixture, Log, MARKED, agent, request};

/// The reason to keep a folder that the runner did not make.
const REPLACED: &str =
    "its folder is no longer the worktree that was made for it; move it elsewhere, then clean again";

#[test]
fn only_worktrees_without_unmerged_work_are_removed() {
    let fixture = Fixture::new();
    let runner = fixture.runner();
    let agents = vec![
        agent("idle", "mkdir -p target; echo x > .git/../ignored; rm ignored"),
        agent("work", MARKED),
        agent("dirty", "echo x > new.txt"),
        agent("changed", "echo x >> a.txt"),
    ];
    let records = runner.run(&request(agents), &StopFlag::new(), &Log::default()).unwrap();
    let of = |dry_run: bool| {
        let cleaned = runner.clean(false, dry_run).unwrap();
        let mut lines: Vec<String> = cleaned
            .into_iter()
            .map(|one| format!("{}: {}", one.agent, one.why.unwrap_or_else(|| "removed".into())))
            .collect();
        lines.sort();
        lines
    };
    let expected = [
        "changed: it holds files that are not committed: a.txt",
        "dirty: it holds files that are not committed: new.txt",
        "idle: removed",
        "work: it has unmerged commits",
    ];
    assert_eq!(of(true), expected);
    assert!(records[0].worktree.exists());
    assert_eq!(of(false), expected);
    assert!(!records[0].worktree.exists());
    assert!(records[1..].iter().all(|record| record.worktree.exists()));
    assert_eq!(fixture.git(&["branch", "--list", "cocode/*"]).lines().count(), 3);
    runner.pick(&records[1], false).unwrap();
    assert!(of(false).contains(&"work: removed".to_owned()));
    assert!(!records[1].worktree.exists());
}

#[test]
fn a_folder_that_took_the_worktrees_place_is_kept() {
    let fixture = Fixture::new();
    let record = fixture.run("true");
    fs::remove_dir_all(&record.worktree).unwrap();
    fs::create_dir(&record.worktree).unwrap();
    fs::write(record.worktree.join("precious"), "kept").unwrap();
    let cleaned = fixture.runner().clean(true, false).unwrap().remove(0);
    assert_eq!(cleaned.why.as_deref(), Some(REPLACED));
    assert!(record.worktree.join("precious").exists());
    fs::remove_dir_all(&record.worktree).unwrap();
    assert!(fixture.runner().clean(true, false).unwrap()[0].removed);
    assert_eq!(fixture.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(fixture.git(&["branch", "--list", "cocode/*"]), "");
}

#[test]
fn a_detached_commit_is_not_lost() {
    let fixture = Fixture::new();
    let record = fixture.run(&format!("git checkout -q --detach && {MARKED}"));
    assert_eq!(fixture.git(&["rev-parse", "cocode/7-a"]), record.start_commit);
    let cleaned = fixture.runner().clean(true, false).unwrap().remove(0);
    assert_eq!(cleaned.why.as_deref(), Some("it has unmerged commits"));
}

#[test]
fn folders_that_an_agent_has_closed_are_removed() {
    // The modes stop only the owner; root passes them.
    let fixture = Fixture::new();
    let record = fixture.run(
        "W=$(git rev-parse --absolute-git-dir); O=$(git rev-parse --git-common-dir)/objects; \
         mkdir -p $W/logs/a/b $O/zz/a; touch $W/logs/a/b/c; chmod 0 $W/logs/a/b $W/logs/a $O/zz",
    );
    assert_eq!(record.exit_code, Some(0), "{record:?}");
    let git_folder = record.git_folder.as_ref().unwrap();
    assert!(
        git_folder.join("logs/a").is_dir() && git_folder.join("cocode/objects/zz").is_dir(),
        "the control"
    );
    let cleaned = fixture.runner().clean(true, false).unwrap().remove(0);
    assert!(cleaned.removed && !git_folder.exists(), "{cleaned:?}");
}

#[test]
fn nothing_is_left_in_the_repository_when_the_last_agent_is_cleaned_away() {
    let fixture = Fixture::new();
    let runner = fixture.runner();
    let agents = vec![agent("one", "true"), agent("two", "echo x > new.txt")];
    let records = runner.run(&request(agents), &StopFlag::new(), &Log::default()).unwrap();
    let folders =
        ["refs/heads/cocode", "logs/refs/heads/cocode"].map(|it| fixture.repository().join(".git").join(it));
    let are_there = || folders.each_ref().map(|folder| folder.join(".keep").is_dir());
    runner.clean(true, false).unwrap();
    assert_eq!(are_there(), [true, true], "one is still there");
    fs::remove_file(records[1].worktree.join("new.txt")).unwrap();
    assert!(runner.clean(true, false).unwrap()[0].removed);
    assert!(folders.iter().all(|folder| !folder.exists()), "{folders:?}");
}

#[test]
fn an_agents_folder_of_branches_leads_nowhere() {
    // A tree far larger than a worktree, as a stand-in for the whole machine.
    let elsewhere = Fixture::new();
    let far = elsewhere.root.join("far");
    for number in 0..200 {
        fs::create_dir_all(far.join(format!("{number}"))).unwrap();
    }
    let far = far.display();
    let leads = [
        format!("mv $W/cocode/heads $W/aside; ln -s {far} $W/cocode/heads"),
        format!(
            "mv $W/cocode $W/aside; mkdir -p $W/other; ln -s {far} $W/other/heads; ln -s other $W/cocode"
        ),
        "mv $W/cocode $W/aside".to_owned(),
        "mkdir -p $W/cocode/heads/many && cd $W/cocode/heads/many && seq 10001 | xargs touch".to_owned(),
    ];
    for lead in leads {
        let fixture = Fixture::new();
        // A confined agent cannot do this, but one that shares its folders could.
        let record = fixture.run(&format!("W=$(git rev-parse --absolute-git-dir); {lead}"));
        assert!(record.git_folder.as_ref().unwrap().join("cocode/heads/7-a").exists(), "{lead}");
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &lead]).env("W", record.git_folder.unwrap());
        assert!(command.status().unwrap().success(), "{lead}");
        let cleaned = fixture.runner().clean(true, false).unwrap().remove(0);
        assert_eq!(
            cleaned.why.as_deref(),
            Some("its own folder of branches is not as git makes it"),
            "{lead}"
        );
    }
    // The control: nested folders of branches are searched.
    let fixture = Fixture::new();
    let record =
        fixture.run(&format!("git checkout -q -b cocode/deep/er && {MARKED}; git checkout -q cocode/7-a"));
    assert_eq!(record.head.as_ref(), Some(&record.start_commit));
    let cleaned = fixture.runner().clean(true, false).unwrap().remove(0);
    assert_eq!(cleaned.why.as_deref(), Some("it has unmerged commits"));
}

#[test]
fn a_commit_that_could_not_be_imported_is_not_lost() {
    for is_there in [true, false] {
        let fixture = Fixture::new();
        let record = fixture.run("true");
        let own = record.git_folder.as_ref().unwrap().join("cocode");
        // A commit that was made in the agent's folder and never imported.
        let mut command = std::process::Command::new("git");
        command.args(["commit-tree", "-m", "x", "HEAD^{tree}"]).current_dir(fixture.repository());
        command.env("HOME", fixture.root.join("home"));
        if is_there {
            command.env("GIT_OBJECT_DIRECTORY", own.join("objects"));
            command.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", fixture.repository().join(".git/objects"));
        }
        let output = command.output().unwrap();
        assert!(output.status.success());
        let commit = String::from_utf8(output.stdout).unwrap();
        fs::write(own.join("heads/7-z"), &commit).unwrap();
        let name = commit.trim();
        if !is_there {
            // No folder has the object any more, only its name is left.
            fs::remove_file(fixture.repository().join(format!(".git/objects/{}/{}", &name[..2], &name[2..])))
                .unwrap();
        }
        let cleaned = fixture.runner().clean(true, false).unwrap().remove(0);
        let why = is_there.then_some("it has commits that could not be imported into the repository");
        assert_eq!(cleaned.why.as_deref(), why);
        assert_eq!(record.worktree.exists(), is_there);
    }
}

#[test]
fn files_of_the_agents_own_check_keep_no_worktree() {
    let fixture = Fixture::new();
    // A file of the check's own, in a folder of its own, and one that it has changed.
    let check = "mkdir -p out && echo x > out/report && echo x > 'with blank' && echo y >> a.txt";
    let checked =
        |name: &str, script: &str| AgentDefinition { check: Some(check.to_owned()), ..agent(name, script) };
    let agents = vec![
        checked("only", MARKED),
        checked("own", &format!("{MARKED}; echo x > mine")),
        checked("later", MARKED),
        checked("touched", MARKED),
    ];
    let runner = fixture.runner();
    let records = runner.run(&request(agents), &StopFlag::new(), &Log::default()).unwrap();
    assert!(records.iter().all(|record| record.left_by_check.len() == 3), "{records:?}");
    for record in &records {
        runner.pick(record, false).unwrap();
    }
    fs::write(records[2].worktree.join("out/notes"), "a person's").unwrap();
    fs::write(records[3].worktree.join("out/report"), "a person's").unwrap();
    let cleaned = runner.clean(false, false).unwrap();
    let why = |name: &str| cleaned.iter().find(|one| one.agent.as_str() == name).unwrap().why.clone();
    assert_eq!(why("only"), None);
    assert!(!records[0].worktree.exists());
    for (name, file) in [("own", "mine"), ("later", "out/notes"), ("touched", "out/report")] {
        assert_eq!(why(name), Some(format!("it holds files that are not committed: {file}")));
    }
    assert_eq!(fs::read_to_string(records[3].worktree.join("out/report")).unwrap(), "a person's");
}

#[test]
fn files_that_keep_a_worktree_are_named_and_force_removes_them() {
    let fixture = Fixture::new();
    let runner = fixture.runner();
    let agents = vec![agent("files", "touch 1 2 3 4 5 6 7"), agent("work", MARKED), agent("swapped", "true")];
    let records = runner.run(&request(agents), &StopFlag::new(), &Log::default()).unwrap();
    let cleaned = runner.clean(false, true).unwrap();
    let why = cleaned.iter().find(|one| one.agent.as_str() == "files").unwrap().why.clone();
    assert_eq!(why.as_deref(), Some("it holds files that are not committed: 1, 2, 3, 4, 5 and 2 more"));
    for record in &records[..2] {
        assert!(runner.clean_by_force(record, true).unwrap().removed && record.worktree.exists());
        assert!(runner.clean_by_force(record, false).unwrap().removed && !record.worktree.exists());
    }
    // A folder that the runner did not make is kept even then.
    fs::remove_dir_all(&records[2].worktree).unwrap();
    fs::create_dir(&records[2].worktree).unwrap();
    fs::write(records[2].worktree.join("precious"), "kept").unwrap();
    let cleaned = runner.clean_by_force(&records[2], false).unwrap();
    assert_eq!(cleaned.why.as_deref(), Some(REPLACED));
    assert!(records[2].worktree.join("precious").exists());
    assert_eq!(
        fixture.git(&["branch", "--list", "--format=%(refname:short)", "cocode/*"]),
        "cocode/7-swapped"
    );
}
