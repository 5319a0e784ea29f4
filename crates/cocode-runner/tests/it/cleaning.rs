use std::fs;

use cocode_runner::StopFlag;

use crate::ground::{Ground, Log, MARKED, agent, request};

#[test]
fn only_what_nothing_is_lost_by_is_removed() {
    let ground = Ground::new();
    let runner = ground.runner();
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
        "changed: it holds files that are not committed",
        "dirty: it holds files that are not committed",
        "idle: removed",
        "work: it has commits that are merged nowhere",
    ];
    assert_eq!(of(true), expected);
    assert!(records[0].worktree.exists());
    assert_eq!(of(false), expected);
    assert!(!records[0].worktree.exists());
    assert!(records[1..].iter().all(|record| record.worktree.exists()));
    assert_eq!(ground.git(&["branch", "--list", "cocode/*"]).lines().count(), 3);
    runner.pick(&records[1], false).unwrap();
    assert!(of(false).contains(&"work: removed".to_owned()));
    assert!(!records[1].worktree.exists());
}

#[test]
fn a_folder_that_took_the_worktrees_place_is_kept() {
    let ground = Ground::new();
    let record = ground.run("true");
    fs::remove_dir_all(&record.worktree).unwrap();
    fs::create_dir(&record.worktree).unwrap();
    fs::write(record.worktree.join("precious"), "kept").unwrap();
    let cleaned = ground.runner().clean(true, false).unwrap().remove(0);
    assert_eq!(cleaned.why.as_deref(), Some("its folder is no longer the worktree that was made for it"));
    assert!(record.worktree.join("precious").exists());
    fs::remove_dir_all(&record.worktree).unwrap();
    assert!(ground.runner().clean(true, false).unwrap()[0].removed);
    assert_eq!(ground.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(ground.git(&["branch", "--list", "cocode/*"]), "");
}

#[test]
fn a_detached_commit_is_not_lost() {
    let ground = Ground::new();
    let record = ground.run(&format!("git checkout -q --detach && {MARKED}"));
    assert_eq!(ground.git(&["rev-parse", "cocode/7-a"]), record.start_commit);
    let cleaned = ground.runner().clean(true, false).unwrap().remove(0);
    assert_eq!(cleaned.why.as_deref(), Some("it has commits that are merged nowhere"));
}

#[test]
fn folders_that_an_agent_has_closed_are_removed() {
    // The owner alone is kept out by that, root is not.
    let ground = Ground::new();
    let record = ground.run(
        "W=$(git rev-parse --absolute-git-dir); O=$(git rev-parse --git-common-dir)/objects; \
         mkdir -p $W/a/b $O/zz/a; touch $W/a/b/c; chmod 0 $W/a/b $W/a $O/zz",
    );
    assert_eq!(record.exit_code, Some(0), "{record:?}");
    let git_folder = record.git_folder.as_ref().unwrap();
    assert!(git_folder.join("a").is_dir() && git_folder.join("cocode/objects/zz").is_dir(), "the control");
    let cleaned = ground.runner().clean(true, false).unwrap().remove(0);
    assert!(cleaned.removed && !git_folder.exists(), "{cleaned:?}");
}

#[test]
fn nothing_is_left_in_the_repository_when_the_last_agent_is_cleaned_away() {
    let ground = Ground::new();
    let runner = ground.runner();
    let agents = vec![agent("one", "true"), agent("two", "echo x > new.txt")];
    let records = runner.run(&request(agents), &StopFlag::new(), &Log::default()).unwrap();
    let folders =
        ["refs/heads/cocode", "logs/refs/heads/cocode"].map(|it| ground.repository().join(".git").join(it));
    let are_there = || folders.each_ref().map(|folder| folder.join(".keep").is_dir());
    runner.clean(true, false).unwrap();
    assert_eq!(are_there(), [true, true], "one is still there");
    fs::remove_file(records[1].worktree.join("new.txt")).unwrap();
    assert!(runner.clean(true, false).unwrap()[0].removed);
    assert!(folders.iter().all(|folder| !folder.exists()), "{folders:?}");
}

#[test]
fn an_agents_folder_of_branches_leads_nowhere() {
    // Far more than there is in a worktree, and what a walk through the whole machine would look like.
    let elsewhere = Ground::new();
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
        let ground = Ground::new();
        // The agent itself cannot, but where it shares its folders with others it could.
        let record = ground.run(&format!("W=$(git rev-parse --absolute-git-dir); {lead}"));
        assert!(record.git_folder.as_ref().unwrap().join("cocode/heads/7-a").exists(), "{lead}");
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &lead]).env("W", record.git_folder.unwrap());
        assert!(command.status().unwrap().success(), "{lead}");
        let cleaned = ground.runner().clean(true, false).unwrap().remove(0);
        assert_eq!(cleaned.why.as_deref(), Some("its own branches are not as git has them"), "{lead}");
    }
    // The control: folders of branches are looked into.
    let ground = Ground::new();
    let record =
        ground.run(&format!("git checkout -q -b cocode/deep/er && {MARKED}; git checkout -q cocode/7-a"));
    assert_eq!(record.head.as_ref(), Some(&record.start_commit));
    let cleaned = ground.runner().clean(true, false).unwrap().remove(0);
    assert_eq!(cleaned.why.as_deref(), Some("it has commits that are merged nowhere"));
}

#[test]
fn a_commit_that_could_not_be_brought_is_not_lost() {
    for is_there in [true, false] {
        let ground = Ground::new();
        let record = ground.run("true");
        let own = record.git_folder.as_ref().unwrap().join("cocode");
        // As if it had been made and never arrived.
        let mut command = std::process::Command::new("git");
        command.args(["commit-tree", "-m", "x", "HEAD^{tree}"]).current_dir(ground.repository());
        command.env("HOME", ground.root.join("home"));
        if is_there {
            command.env("GIT_OBJECT_DIRECTORY", own.join("objects"));
            command.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", ground.repository().join(".git/objects"));
        }
        let output = command.output().unwrap();
        assert!(output.status.success());
        let commit = String::from_utf8(output.stdout).unwrap();
        fs::write(own.join("heads/7-z"), &commit).unwrap();
        let name = commit.trim();
        if !is_there {
            // Nobody has it any more: a name is all there is.
            fs::remove_file(ground.repository().join(format!(".git/objects/{}/{}", &name[..2], &name[2..])))
                .unwrap();
        }
        let cleaned = ground.runner().clean(true, false).unwrap().remove(0);
        let why = is_there.then_some("it has commits that could not be brought to the repository");
        assert_eq!(cleaned.why.as_deref(), why);
        assert_eq!(record.worktree.exists(), is_there);
    }
}
