//! Agents leave nothing that keeps git from maintaining the repository, or other agents from starting.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use cocode_env::AgentState;
use cocode_runner::{AgentRecord, RunnerError, StopFlag};
use sandbox_exec::Level;

use crate::fixture::{Fixture, Log, MARKED, agent, request};

/// The name of an object that is missing, and of a commit without its tree.
const NAMES: &str = "X=deaddeaddeaddeaddeaddeaddeaddeaddeaddead; \
                     Y=$(printf 'tree %s\\nauthor a <b> 1 +0000\\ncommitter a <b> 1 +0000\\n\\nx\\n' $X | \
                     git hash-object -t commit -w --stdin --literally)";

const ALL: &[Level] = &[Level::Full, Level::Landlock];
const SHARED: &[Level] = &[Level::Landlock];

/// The ways to leave such a name, and the levels at which an agent can.
const PLANTS: [(&str, &[Level]); 7] = [
    ("git update-index --add --cacheinfo 100644,$X,f", ALL),
    ("echo $X > $W/HEAD", ALL),
    ("echo $Y > $W/HEAD", ALL),
    ("echo $X > $C/refs/heads/cocode/zzz", SHARED),
    ("echo $Y > $C/refs/heads/cocode/zzz", SHARED),
    ("echo nonsense > $C/refs/heads/cocode/deep/zzz", SHARED),
    (": > $C/refs/heads/cocode/zzz", SHARED),
];

fn folders() -> &'static str {
    "W=$(git rev-parse --absolute-git-dir); C=$(git rev-parse --path-format=absolute --git-common-dir); \
     mkdir -p $C/refs/heads/cocode/deep"
}

fn git(fixture: &Fixture, arguments: &[&str]) -> Output {
    let mut git = Command::new("git");
    git.args(arguments).current_dir(fixture.repository()).env("HOME", fixture.root.join("home"));
    git.output().unwrap()
}

/// Returns the first of the user's commands that fails.
fn failure(fixture: &Fixture) -> Option<Output> {
    let commands: [&[&str]; 4] = [
        &["repack", "-adq"],
        &["gc", "-q"],
        &["log", "--all", "--oneline"],
        &["fsck", "--connectivity-only"],
    ];
    commands.into_iter().map(|one| git(fixture, one)).find(|output| !output.status.success())
}

fn by_user(record: &AgentRecord, script: &str) -> Output {
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).current_dir(&record.worktree).output().unwrap()
}

#[test]
fn no_name_of_a_missing_object_keeps_git_from_maintaining_the_repository() {
    for (plant, levels) in PLANTS {
        for level in levels {
            let fixture = Fixture::at_level(*level);
            let record = fixture.run(&format!("{NAMES}; {}; {MARKED}; {plant}", folders()));
            let case = format!("{level} {plant}: {record:?}");
            assert_eq!(record.exit_code, Some(0), "{case}");
            let warning = record.warnings.iter().find(|one| one.contains("missing"));
            assert!(warning.is_some(), "{case}");
            let failed = failure(&fixture);
            assert!(failed.is_none(), "{failed:?} {case}");
            // Its own work is there.
            let tip = fixture.git(&["log", "-1", "--format=%s", "cocode/7-a"]);
            assert_eq!(tip, "fix: x", "{case}");
            fixture.git_in(&record.worktree, &["rev-parse", "--verify", "HEAD^{commit}"]);
            fixture.git_in(&record.worktree, &["status"]);
            // The control: the same by the user's hand makes them fail.
            let planted = by_user(&record, &format!("{NAMES}; {}; {plant}", folders()));
            assert!(failure(&fixture).is_some(), "the control: {planted:?} {case}");
        }
    }
}

#[test]
fn an_index_with_objects_that_are_there_stays() {
    for level in ALL {
        let fixture = Fixture::at_level(*level);
        let record = fixture.run(&format!(
            "{MARKED}; echo 1 > staged; git add staged; echo 2 > meant; git add -N meant; \
             git update-index --add --cacheinfo 160000,deaddeaddeaddeaddeaddeaddeaddeaddeaddead,sub"
        ));
        assert_eq!(record.state, AgentState::Ready, "{level} {record:?}");
        assert!(!record.git_folder.as_ref().unwrap().join("index.refused").exists(), "{level} {record:?}");
        let staged = fixture.git_in(&record.worktree, &["diff", "--cached", "--name-only"]);
        assert_eq!(staged, "staged\nsub", "{level} {record:?}");
    }
}

/// Entries of an agent at the names of the branches of other agents, but for one that is a branch.
const BLOCKS: &str = "H=$C/refs/heads/cocode; L=$C/logs/refs/heads/cocode; touch $H/7-b.lock; mkdir -p $H/7-c/x; \
                      mkdir -p $H/7-d/y; touch $H/7-d/y/z.lock; mkdir -p $L/7-e/y; echo > $L/7-e/y/z; touch $C/objects/maintenance.lock";

#[test]
fn nothing_in_shared_folders_blocks_the_agents_that_follow() {
    let fixture = Fixture::shared();
    let record = fixture.run(&format!("{}; {MARKED}; {BLOCKS}; git branch cocode/7-f/y/z", folders()));
    assert_eq!((record.exit_code, record.state), (Some(0), AgentState::Ready), "{record:?}");
    assert!(record.warnings.iter().any(|one| one.contains("'objects/maintenance.lock'")), "{record:?}");
    // The control: git makes no such branch.
    assert!(!git(&fixture, &["branch", "cocode/7-b"]).status.success());
    let agents = ["b", "c", "d", "e"].map(|name| agent(name, MARKED));
    let runner = fixture.runner();
    let records = runner.run(&request(agents.into()), &StopFlag::new(), &Log::default()).unwrap();
    assert!(records.iter().all(|record| record.state == AgentState::Ready), "{records:?}");
    // A branch is not removed, but named.
    let records = runner.run(&request(vec![agent("f", MARKED)]), &StopFlag::new(), &Log::default()).unwrap();
    let expected = RunnerError::BranchExists { branch: "cocode/7-f/y/z".to_owned() }.to_string();
    assert_eq!(records[0].detail.as_deref(), Some(expected.as_str()), "{records:?}");
}

#[test]
fn the_last_agent_leaves_no_lock() {
    let fixture = Fixture::shared();
    let record = fixture.run(&format!("{}; {BLOCKS}; rm -r $L/7-e", folders()));
    assert_eq!(record.exit_code, Some(0), "{record:?}");
    let folder = fixture.repository().join(".git/refs/heads/cocode");
    assert!(folder.join("7-b.lock").exists(), "the control");
    assert!(fixture.runner().clean(true, false).unwrap()[0].removed);
    let is_left = |folder: &Path| fs::read_dir(folder).is_ok_and(|mut inside| inside.next().is_some());
    assert!(!is_left(&folder) && !folder.join("7-b.lock").exists());
}
