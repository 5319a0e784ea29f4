//! Links in the git folder of an agent that runs lead the user's own git to no file of the user.

use std::fs;
use std::path::{Path, PathBuf};

use cocode_env::AgentState;
use cocode_runner::{AgentRecord, StopFlag};
use sandbox_exec::Level;

use crate::fixture::{Fixture, Log, MARKED, agent, request};

/// The levels that keep an agent from having links and pipes in its git folder.
const LEVELS: [Level; 3] = [Level::Full, Level::Namespaces, Level::Landlock];

/// Commands of a user, or of a timer of the user's, in the repository meanwhile. The last but one of them appends to the log of
/// `HEAD` in the worktree, whatever is there; the others look at it first, and an agent may replace it in between.
const UPKEEP: [&[&str]; 6] = [
    &["reflog", "expire", "--expire=now", "--all"],
    &["worktree", "prune"],
    &["gc", "-q", "--prune=now"],
    &["maintenance", "run", "--task=gc", "--quiet"],
    RENAME,
    &["branch", "-m", "renamed", "cocode/7-a"],
];

const RENAME: &[&str] = &["branch", "-m", "cocode/7-a", "renamed"];

/// The ways to get a link to the file `$V`, or a pipe, to the path `$W/logs/HEAD`, directly and with a folder.
const PLANTS: [&str; 8] = [
    "rm $W/logs/HEAD; ln -s $V $W/logs/HEAD",
    "ln -s $V link; mv -f link $W/logs/HEAD",
    "ln -s $V link; rm $W/logs/HEAD; ln -P link $W/logs/HEAD",
    "mkdir moved; ln -s $V moved/HEAD; mv $W/logs $W/old; mv moved $W/logs",
    "mkdir $W/x; ln -s $V $W/x/HEAD; rm -r $W/logs; ln -s x $W/logs",
    "mkdir moved; ln -s $V moved/HEAD; perl -e 'rename \"moved\", \"$ENV{W}/moved\"'; rm -r $W/logs; mv $W/moved $W/logs",
    "rm $W/logs/HEAD; mkfifo $W/logs/HEAD",
    "mkfifo pipe; mv -f pipe $W/logs/HEAD; mkfifo $W/ORIG_HEAD",
];

/// Runs an agent that prepares itself with `script`, does `meanwhile`, and lets the agent make a commit.
fn run_meanwhile<T>(fixture: &Fixture, script: &str, meanwhile: impl FnOnce() -> T) -> (AgentRecord, T) {
    let script = format!(
        "export W=$(git rev-parse --absolute-git-dir); cp -r $W/logs before; ( {script} ) 2>/dev/null; echo prepared; \
         until test -e go; do sleep 0.05; done; rm -rf go link moved pipe $W/logs; mv before $W/logs; {MARKED}"
    );
    let (runner, log) = (fixture.runner(), Log::default());
    std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            runner.run(&request(vec![agent("a", &script)]), &StopFlag::new(), &log).unwrap().remove(0)
        });
        log.wait_for("prepared");
        let outcome = meanwhile();
        fs::write(fixture.worktree().join("go"), "").unwrap();
        (running.join().unwrap(), outcome)
    })
}

/// Returns all entries below a folder that are neither files nor folders, but for what the runner keeps for itself.
fn unusual(folder: &Path) -> Vec<PathBuf> {
    let mut unusual = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() && entry.file_name() != "cocode" {
            unusual.extend(self::unusual(&entry.path()));
        } else if !kind.is_dir() && !kind.is_file() {
            unusual.push(entry.path());
        }
    }
    unusual
}

#[test]
fn the_users_upkeep_of_the_repository_meets_no_link_or_pipe_of_an_agent() {
    for level in LEVELS {
        for plant in PLANTS {
            let fixture = Fixture::at_level(level);
            let victim = fixture.root.join("home/notes");
            fs::write(&victim, "mine\n").unwrap();
            let folder = fixture.repository().join(".git/worktrees/7-a");
            let script = format!("V={}; {plant}", victim.display());
            let (record, met) = run_meanwhile(&fixture, &script, || {
                let met = unusual(&folder);
                if met.is_empty() {
                    UPKEEP.iter().for_each(|upkeep| drop(fixture.git(upkeep)));
                }
                met
            });
            let case = format!("{level} {plant}: {record:?}");
            assert_eq!(met, Vec::<PathBuf>::new(), "{case}");
            assert_eq!(fs::read_to_string(&victim).unwrap(), "mine\n", "{case}");
            // Its branch is left where the user has moved it.
            assert_eq!(record.exit_code, Some(0), "{case}");
        }
    }
}

#[test]
fn the_users_git_appends_to_where_a_link_in_a_git_folder_leads() {
    // The control: what the links above are kept from.
    let fixture = Fixture::new();
    let victim = fixture.root.join("home/notes");
    fs::write(&victim, "mine\n").unwrap();
    let record = fixture.run(MARKED);
    let log = record.git_folder.unwrap().join("logs/HEAD");
    fs::remove_file(&log).unwrap();
    std::os::unix::fs::symlink(&victim, &log).unwrap();
    fixture.git(RENAME);
    assert_ne!(fs::read_to_string(&victim).unwrap(), "mine\n");
}

#[test]
fn without_confinement_of_files_an_agent_makes_such_a_link() {
    // The control of the script: at this level nothing keeps an agent from it.
    let fixture = Fixture::at_level(Level::Process);
    let folder = fixture.repository().join(".git/worktrees/7-a");
    for plant in PLANTS {
        let (record, met) = run_meanwhile(&fixture, &format!("V=/nowhere; {plant}"), || unusual(&folder));
        assert!(!met.is_empty(), "{plant}: {record:?}");
        assert!(fixture.runner().clean_by_force(&record, false).unwrap().removed);
    }
}

#[test]
fn among_what_agents_share_there_is_no_link_or_pipe_either() {
    let fixture = Fixture::shared();
    let git = fixture.repository().join(".git");
    let script = "C=$(git rev-parse --path-format=absolute --git-common-dir); \
                  for f in logs/refs/heads/cocode/x refs/heads/cocode/x objects/00; do ln -s /nowhere $C/$f; mkfifo $C/$f; done";
    let (record, met) = run_meanwhile(&fixture, script, || {
        ["logs/refs/heads", "refs/heads", "objects"].map(|name| unusual(&git.join(name)))
    });
    assert_eq!(met, [const { Vec::<PathBuf>::new() }; 3]);
    assert_eq!(record.state, AgentState::Ready, "{record:?}");
}

#[test]
fn an_agent_uses_all_of_git_in_its_worktree() {
    let commands = [
        "git commit -q --allow-empty -m one",
        "echo 1 > f; git add f; git commit -qm f; echo 2 > f; git commit -q f -m partly",
        "git checkout -q -b cocode/side HEAD~1; echo s > s; git add s; git commit -qm s",
        // Git cannot delete references here, `CHERRY_PICK_HEAD` among them: it would lock all packed ones.
        "git rebase -q cocode/7-a; rm -f $W/CHERRY_PICK_HEAD",
        "git checkout -q cocode/7-a; git merge -q --no-edit cocode/side",
        "echo 3 > f; git commit -qam three; git revert --no-edit HEAD >/dev/null",
        "git cherry-pick --allow-empty -x HEAD~1 >/dev/null",
        "GIT_SEQUENCE_EDITOR=true git rebase -q -i HEAD~2; rm -f $W/CHERRY_PICK_HEAD",
        "git bisect start HEAD HEAD~2 >/dev/null; git bisect run true >/dev/null; git bisect reset 2>/dev/null || true; \
         git symbolic-ref -q HEAD >/dev/null",
        "git reflog expire --expire=now HEAD; git reflog -1 >/dev/null",
        "git sparse-checkout list 2>/dev/null; git update-index --split-index; git status >/dev/null",
        "git merge-file -p f f f >/dev/null; git rm -q --cached f; git reset -q --hard",
        "git tag -l; git describe --always >/dev/null; git notes list >/dev/null",
        "mkdir $W/own; echo x > $W/own/x; mkdir $W/other; mv $W/own/x $W/other/x; mv $W/other/x .; mv x $W/own/x",
    ];
    for level in LEVELS {
        let fixture = Fixture::at_level(level);
        let script: String = commands
            .iter()
            .map(|command| format!("( set -e; {command} ) || echo \"FAILED: {command}\"\n"))
            .collect();
        let script = format!("export W=$(git rev-parse --absolute-git-dir)\n{script}\n{MARKED}");
        let (runner, log) = (fixture.runner(), Log::default());
        let record =
            runner.run(&request(vec![agent("a", &script)]), &StopFlag::new(), &log).unwrap().remove(0);
        let failed: Vec<String> = log.lines().into_iter().filter(|line| line.starts_with("FAILED")).collect();
        assert_eq!(failed, Vec::<String>::new(), "{level} {:?}", log.lines());
        assert_eq!(record.state, AgentState::Ready, "{level} {record:?} {:?}", log.lines());
        // What git keeps there is there afterwards.
        let folder = record.git_folder.clone().unwrap();
        assert!(fs::read_to_string(folder.join("ORIG_HEAD")).is_ok(), "{level}");
        // What is not git's own is not.
        let warning = "it had put files that are not git's own into its git folder; they were removed: own/x";
        let mut others = record.warnings.iter().filter(|one| !one.contains("split index"));
        assert!(others.next().unwrap() == warning && others.next().is_none(), "{level} {record:?}");
        assert!(!folder.join("own").exists(), "{level}");
        assert!(fs::read_to_string(folder.join("logs/HEAD")).unwrap().contains("fix: x"), "{level}");
        assert_eq!(fixture.git_in(&record.worktree, &["status", "--porcelain"]), "", "{level}");
    }
}

#[test]
fn git_of_an_agent_does_not_meet_a_worktree_that_is_being_made() {
    for level in [Level::Full, Level::Namespaces] {
        let fixture = Fixture::at_level(level);
        let wait = |file: &str| format!("until test -e {file}; do sleep 0.05; done");
        let script = format!(
            "echo prepared; {}; git checkout -q --detach && git checkout -q -; echo ended $?; {}; {MARKED}",
            wait("begun"),
            wait("made")
        );
        let (runner, log) = (fixture.runner(), Log::default());
        let record = std::thread::scope(|scope| {
            let running = scope.spawn(|| {
                runner.run(&request(vec![agent("a", &script)]), &StopFlag::new(), &log).unwrap().remove(0)
            });
            log.wait_for("prepared");
            // As git makes it: a file that is there, and not yet written.
            let folder = fixture.repository().join(".git/worktrees/half");
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("gitdir"), fixture.root.join("half/.git").to_str().unwrap()).unwrap();
            fs::write(folder.join("commondir"), "").unwrap();
            fs::write(fixture.worktree().join("begun"), "").unwrap();
            log.wait_for("ended 0");
            fs::remove_dir_all(&folder).unwrap();
            fs::write(fixture.worktree().join("made"), "").unwrap();
            running.join().unwrap()
        });
        assert_eq!(record.state, AgentState::Ready, "{level} {record:?} {:?}", log.lines());
    }
}
