//! Attacks of an agent on the branches of others, and on the folders that all of them share.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use cocode_env::AgentState;
use cocode_runner::{AgentDefinition, AgentRecord, StopFlag};
use sandbox_exec::Level;

use crate::fixture::{Fixture, Log, MARKED, agent, failures, request};

/// Returns a script with all attempts to move, delete, block or forge the branch of the agent `a`, one a line.
fn attacks(fixture: &Fixture) -> String {
    let git = fixture.repository().join(".git").display().to_string();
    let heads = format!("{git}/refs/heads/cocode");
    let logs = format!("{git}/logs/refs/heads/cocode");
    [
        "git branch -f cocode/7-a HEAD".to_owned(),
        "git update-ref refs/heads/cocode/7-a HEAD".to_owned(),
        "git symbolic-ref refs/heads/cocode/7-a refs/heads/main".to_owned(),
        format!("git rev-parse HEAD > {heads}/7-a"),
        format!(
            "touch {heads}/7-a.lock {git}/worktrees/7-a/index.lock {git}/packed-refs.lock {git}/HEAD.lock"
        ),
        format!("echo evil >> {logs}/7-a"),
        format!("echo evil > {git}/worktrees/7-a/HEAD"),
        format!("echo evil > {git}/worktrees/7-a/logs/HEAD"),
        format!("echo '0 refs/heads/cocode/7-a' >> {git}/packed-refs"),
        "git pack-refs --all".to_owned(),
        "git reflog expire --expire=now --all".to_owned(),
        "git worktree remove --force ../7-a; rm -rf ../7-a".to_owned(),
        "git branch -D cocode/7-a; git update-ref -d refs/heads/cocode/7-a".to_owned(),
        format!("rm -f {heads}/7-a {logs}/7-a; mv {heads}/7-a {heads}/7-z; mv {heads} {heads}.gone"),
        format!("rm -rf {git}/worktrees/7-a"),
    ]
    .map(|attack| format!("( {attack} ) >/dev/null 2>&1\n"))
    .concat()
}

/// Returns the files below these paths with their contents; a deleted path is missing.
fn contents(paths: &[PathBuf]) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for path in paths {
        if path.is_dir() {
            let inside: Vec<PathBuf> =
                fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
            files.extend(contents(&inside));
        } else if path.is_file() {
            files.insert(path.clone(), fs::read(path).unwrap());
        }
    }
    files
}

/// Returns the files of the agent `a`, and those of the repository that its branch depends on.
fn of_the_sibling(fixture: &Fixture, record: &AgentRecord) -> BTreeMap<PathBuf, Vec<u8>> {
    let git = fixture.repository().join(".git");
    let names =
        ["refs/heads/cocode/7-a", "logs/refs/heads/cocode/7-a", "worktrees/7-a", "packed-refs", "HEAD"];
    let mut paths: Vec<PathBuf> = names.iter().map(|name| git.join(name)).collect();
    paths.push(record.worktree.clone());
    contents(&paths)
}

fn run_one(fixture: &Fixture, definition: AgentDefinition) -> (AgentRecord, Log) {
    let log = Log::default();
    let mut request = request(vec![definition]);
    request.body = "Fix it.\n".to_owned();
    let record = fixture.runner().run(&request, &StopFlag::new(), &log).unwrap().remove(0);
    (record, log)
}

#[test]
fn no_agent_moves_or_deletes_the_branch_of_another() {
    let fixture = Fixture::new();
    let first = fixture.run(&format!("echo x > b.txt; git add .; {MARKED}"));
    fixture.git(&["pack-refs", "--all"]);
    fixture.git(&["update-ref", "refs/heads/cocode/7-a", &first.head.clone().unwrap()]);
    let before = of_the_sibling(&fixture, &first);
    let script = format!("{}{MARKED}", attacks(&fixture));
    let (second, log) = run_one(&fixture, agent("b", &script));
    assert_eq!(of_the_sibling(&fixture, &first), before, "{:?}", log.lines());
    let locks = fixture.repository().join(".git");
    assert!(!locks.join("refs/heads/cocode/7-a.lock").exists() && !locks.join("packed-refs.lock").exists());
    assert_eq!(fixture.git(&["rev-parse", "cocode/7-a"]), first.head.unwrap());
    // The attempts have not blocked its own work, nor that of others.
    assert_eq!(second.state, AgentState::Ready, "{second:?} {:?}", log.lines());
    assert_eq!(fixture.git(&["rev-parse", "cocode/7-b"]), second.head.unwrap());
}

#[test]
fn without_a_sandbox_the_same_attacks_reach_the_branch() {
    let fixture = Fixture::new();
    let first = fixture.run(&format!("echo x > b.txt; git add .; {MARKED}"));
    let script = attacks(&fixture);
    let (_, log) = run_one(&fixture, AgentDefinition { is_confined: false, ..agent("b", &script) });
    let git = fixture.repository().join(".git");
    assert!(
        !git.join("refs/heads/cocode").exists() && !git.join("worktrees/7-a").exists(),
        "{:?}",
        log.lines()
    );
    assert!(!first.worktree.exists());
}

#[test]
fn packs_and_alternates_are_protected() {
    let fixture = Fixture::new();
    fixture.git(&["gc", "-q"]);
    let objects = fixture.repository().join(".git/objects");
    let kept = || contents(&[objects.join("pack"), objects.join("info")]);
    let before = kept();
    assert!(before.keys().any(|path| path.extension().is_some_and(|name| name == "pack")));
    let attack = format!(
        "G={}; (git repack -adq; git gc -q --prune=now; rm -rf $G/pack $G/info; rm -f $G/pack/* $G/info/*; \
         echo /elsewhere > $G/info/alternates; chmod u+w $G/pack/*; for f in $G/pack/*; do echo > $f; done) >/dev/null 2>&1; ",
        objects.display()
    );
    let (record, log) = run_one(&fixture, agent("a", &format!("{attack}echo x > b; git add .; {MARKED}")));
    assert_eq!(record.state, AgentState::Ready, "{record:?} {:?}", log.lines());
    assert_eq!(kept(), before);
    fixture.git(&["fsck", "--strict"]);
    // The control: an agent that is not confined destroys them.
    run_one(&fixture, AgentDefinition { is_confined: false, ..agent("b", &attack) });
    assert_ne!(kept(), before);
}

#[test]
fn no_agent_takes_the_history_away() {
    // All that exists before agents run, committed, stashed or only staged: none of it is packed.
    let prepare = |fixture: &Fixture| {
        fs::write(fixture.repository().join("a.txt"), "aside\n").unwrap();
        fixture.git(&["stash", "-q"]);
        fs::write(fixture.repository().join("added.txt"), "added\n").unwrap();
        fixture.git(&["add", "added.txt"]);
        assert!(fixture.git(&["count-objects", "-v"]).contains("in-pack: 0\n"));
    };
    let is_sound = |fixture: &Fixture| {
        let texts = ["main:a.txt", "stash:a.txt", ":added.txt"].map(|name| {
            let mut command = std::process::Command::new("git");
            command.args(["cat-file", "blob", name]).current_dir(fixture.repository());
            String::from_utf8(command.output().unwrap().stdout).unwrap()
        });
        texts == ["one\n", "aside\n", "added\n"]
    };
    let attacks = [
        "rm -rf $O/??",
        "chmod -R u+w $O/??; for f in $O/??/*; do echo nonsense > $f; done",
        // The contents of one object in the file of another: git does not check that they fit the name.
        "F=$O/$(git rev-parse main:a.txt | sed 's,..,&/,'); B=$O/$(echo evil | git hash-object -w --stdin | sed 's,..,&/,'); \
            chmod u+w $F; cp -f $B $F",
    ];
    for attack in attacks {
        let script = format!("O=$(git rev-parse --path-format=absolute --git-common-dir)/objects; {attack}");
        // Where agents share objects, the attack hits the loose files, but not the packs. Otherwise it reaches neither.
        for fixture in [Fixture::new(), Fixture::shared()] {
            prepare(&fixture);
            let (record, log) = run_one(&fixture, agent("a", &script));
            assert!(
                record.own_objects || record.exit_code == Some(0),
                "{attack}: {record:?} {:?}",
                log.lines()
            );
            assert_eq!(record.own_objects, fixture.level == Level::Full);
            assert!(is_sound(&fixture), "{attack}");
        }
        // The control: where nothing is packed, the same takes it away.
        let fixture = Fixture::new();
        prepare(&fixture);
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &script]).current_dir(fixture.repository());
        assert!(command.output().unwrap().status.success(), "{attack}");
        assert!(!is_sound(&fixture), "{attack}: this should do harm");
    }
}

#[test]
fn folders_of_objects_that_an_agent_closes_are_opened_again() {
    let fixture = Fixture::shared();
    let victim = fixture.root.join("victim");
    fs::create_dir(&victim).unwrap();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    fs::set_permissions(&victim, fs::Permissions::from_mode(0o500)).unwrap();
    let script = format!(
        "{MARKED}; O=$(git rev-parse --path-format=absolute --git-common-dir)/objects; mkdir -p $O/00; rm -rf $O/01; \
            ln -s {} $O/01; chmod 0 $O/00 $O",
        victim.display()
    );
    let (record, log) = run_one(&fixture, agent("a", &script));
    assert_eq!(record.state, AgentState::Ready, "{record:?} {:?}", log.lines());
    assert!(record.warnings.iter().any(|warning| warning.contains("removed its permissions")), "{record:?}");
    let objects = fixture.repository().join(".git/objects");
    assert_eq!([mode(&objects) & 0o700, mode(&objects.join("00")) & 0o700], [0o700; 2]);
    // The target of a symlink is not one of the folders.
    assert_eq!(mode(&victim), 0o500);
    fixture.git(&["log", "-1", "cocode/7-a"]);
}

#[test]
fn what_is_packed_is_not_packed_again() {
    let fixture = Fixture::shared();
    let packs = || {
        let said = fixture.git(&["count-objects", "-v"]);
        said.lines().find_map(|line| line.strip_prefix("packs: ")).map(str::to_owned).unwrap()
    };
    for expected in ["1", "1"] {
        fixture.run("true");
        fixture.runner().clean(true, false).unwrap();
        assert_eq!(packs(), expected);
    }
    // Existing damage gives a warning, and agents run all the same.
    let folder = fixture.repository().join(".git/objects/ff");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("f".repeat(38)), "nonsense").unwrap();
    let record = fixture.run(crate::fixture::MARKED);
    assert_eq!(record.state, AgentState::Ready);
    assert!(record.warnings.iter().any(|warning| warning.contains("loose objects")), "{record:?}");
}

#[test]
fn an_agents_branch_follows_while_it_runs_wherever_it_goes() {
    let fixture = Fixture::new();
    let (runner, log) = (fixture.runner(), Log::default());
    let tip = || fixture.git(&["rev-parse", "cocode/7-a"]);
    let start = fixture.git(&["rev-parse", "main"]);
    let script = format!(
        "git commit -q --allow-empty -m one; until test -e go; do sleep 0.05; done; git reset -q --hard HEAD~1; \
         {MARKED}; git commit -q --amend --allow-empty -m 'two: cocode ready for check'"
    );
    let record = std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            runner.run(&request(vec![agent("a", &script)]), &StopFlag::new(), &log).unwrap().remove(0)
        });
        log.wait_for("commit one");
        let began = Instant::now();
        while tip() == start {
            assert!(began.elapsed() < Duration::from_secs(60), "a hang guard: {:?}", log.lines());
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(fixture.git(&["log", "-1", "--format=%s", "cocode/7-a"]), "one");
        fs::write(fixture.worktree().join("go"), "").unwrap();
        running.join().unwrap()
    });
    assert_eq!(record.state, AgentState::Ready, "{record:?}");
    assert_eq!(tip(), record.head.unwrap());
    assert_eq!(fixture.git(&["log", "-1", "--format=%s", "cocode/7-a"]), "two: cocode ready for check");
    assert_eq!(fixture.git_in(&record.worktree, &["status", "--porcelain"]), "?? go");
}

#[test]
fn a_branch_of_the_agents_own_making_stays_its_own() {
    let fixture = Fixture::new();
    let (record, _) = run_one(&fixture, agent("a", &format!("git checkout -q -b cocode/7-z && {MARKED}")));
    assert_eq!(record.state, AgentState::Ready, "{record:?}");
    assert_eq!(record.warnings, ["HEAD is not on the agent's branch"]);
    assert_eq!(
        fixture.git(&["branch", "--list", "--format=%(refname)", "cocode/*"]),
        "refs/heads/cocode/7-a"
    );
    // `HEAD` is at its commit, not on a branch that the repository does not have.
    assert_eq!(fixture.git_in(&record.worktree, &["rev-parse", "HEAD"]), record.head.unwrap());
}

#[test]
fn work_on_another_branch_is_not_cleaned_away() {
    let fixture = Fixture::new();
    let script = "git checkout -q -b cocode/deep/7-z && git commit -q --allow-empty -m x && git checkout -q cocode/7-a";
    let (record, log) = run_one(&fixture, agent("a", script));
    assert_eq!((record.state, record.commits), (AgentState::Completed, 0), "{:?}", log.lines());
    let cleaned = fixture.runner().clean(true, false).unwrap().remove(0);
    assert_eq!(cleaned.why.as_deref(), Some("it has unmerged commits"));
}

#[test]
fn a_branch_that_another_process_has_moved_is_left_there() {
    let fixture = Fixture::new();
    let (runner, log) = (fixture.runner(), Log::default());
    let side = {
        fixture.git(&["commit", "-q", "--allow-empty", "-m", "side"]);
        fixture.git(&["rev-parse", "HEAD"])
    };
    let script =
        format!("git commit -q --allow-empty -m one; until test -e go; do sleep 0.05; done; {MARKED}");
    let record = std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            runner.run(&request(vec![agent("a", &script)]), &StopFlag::new(), &log).unwrap().remove(0)
        });
        while fixture.git(&["branch", "--list", "--format=%(subject)", "cocode/7-a"]) != "one" {
            std::thread::sleep(Duration::from_millis(20));
        }
        fixture.git(&["update-ref", "refs/heads/cocode/7-a", &side]);
        fs::write(fixture.worktree().join("go"), "").unwrap();
        running.join().unwrap()
    });
    assert_eq!(fixture.git(&["rev-parse", "cocode/7-a"]), side);
    assert!(record.warnings.contains(&"another process has moved its branch".to_owned()), "{record:?}");
    assert_eq!(failures(&record), ["descends", "new", "changes", "marker"]);
}

#[test]
fn an_agents_forged_branch_moves_nothing() {
    let fixture = Fixture::new();
    let heads = fixture.repository().join(".git/refs/heads/cocode").display().to_string();
    let forgeries = [
        "echo nonsense > $F".to_owned(),
        "echo 0123456789012345678901234567890123456789 > $F".to_owned(),
        "echo 'ref: refs/heads/main' > $F".to_owned(),
        "rm $F; ln -s /etc/passwd $F".to_owned(),
        "rm $F; mkdir $F".to_owned(),
        "rm $F; mkfifo $F".to_owned(),
        "head -c 5000000 /dev/zero > $F".to_owned(),
        "git hash-object -w a.txt > $F".to_owned(),
    ];
    for forgery in forgeries {
        let began = Instant::now();
        let fixture = &fixture;
        // The sleep gives the follower time to read the forgery; if it does not, the outcome is the same.
        let script = format!(
            "git commit -q --allow-empty -m one; until test -e go; do sleep 0.05; done; rm go; \
             F={heads}/7-a; {forgery}; sleep 0.3"
        );
        let (runner, log) = (fixture.runner(), Log::default());
        let record = std::thread::scope(|scope| {
            let running = scope.spawn(|| {
                runner.run(&request(vec![agent("a", &script)]), &StopFlag::new(), &log).unwrap().remove(0)
            });
            while fixture.git(&["branch", "--list", "--format=%(subject)", "cocode/7-a"]) != "one" {
                assert!(began.elapsed() < Duration::from_secs(60), "a hang guard: {:?}", log.lines());
                std::thread::sleep(Duration::from_millis(20));
            }
            fs::write(fixture.worktree().join("go"), "").unwrap();
            running.join().unwrap()
        });
        assert_eq!(record.exit_code, Some(0), "{forgery}: {:?}", log.lines());
        assert!(!record.warnings.is_empty() && record.verdict.is_some(), "{forgery}: {record:?}");
        assert_eq!(fixture.git(&["log", "-1", "--format=%s", "cocode/7-a"]), "one", "{forgery}");
        assert!(began.elapsed() < Duration::from_secs(90), "a hang guard: {forgery}");
        fixture.git(&["worktree", "remove", "--force", &record.worktree.to_string_lossy()]);
        fixture.git(&["branch", "-q", "-D", "cocode/7-a"]);
    }
}

#[test]
fn pipes_instead_of_gits_files_do_not_block_the_runner() {
    let cases = ["HEAD", "index", "logs/HEAD", "ORIG_HEAD"];
    for file in cases {
        let began = Instant::now();
        let fixture = Fixture::new();
        let script = format!(
            "{MARKED}; W=$(git rev-parse --absolute-git-dir); rm -f $W/{file}; mkfifo $W/{file}; while :; do sleep 1; done"
        );
        let timeout = Some(Duration::from_secs(2));
        let (record, log) = run_one(&fixture, AgentDefinition { timeout, ..agent("a", &script) });
        assert_eq!(record.state, AgentState::TimedOut, "{file}: {:?}", log.lines());
        assert!(began.elapsed() < Duration::from_secs(90), "a hang guard: {file}");
    }
}

#[test]
fn signatures_that_the_user_wants_do_not_keep_agents_from_committing() {
    let fixture = Fixture::new();
    for setting in ["commit.gpgsign", "tag.gpgsign"] {
        fixture.git(&["config", setting, "true"]);
    }
    let (record, log) = run_one(&fixture, agent("a", MARKED));
    assert_eq!(record.state, AgentState::Ready, "{record:?} {:?}", log.lines());
    // The control: a commit outside of an agent must be signed, and there is no key.
    let mut command = std::process::Command::new("git");
    command.args(["commit", "-q", "--allow-empty", "-m", "x"]).current_dir(fixture.repository());
    let output = command.env("HOME", fixture.root.join("home")).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && errors.contains("gpg"), "{errors}");
}

#[test]
fn pipes_and_symlinks_among_objects_are_not_packed_and_do_not_block() {
    let fixture = Fixture::shared();
    let objects = fixture.repository().join(".git/objects");
    let made = |name: &str| objects.join(name).join("e".repeat(38));
    // Folders that hold no object of the fixture.
    let names = (0..=u8::MAX).rev().map(|number| format!("{number:02x}"));
    let free: Vec<String> = names.filter(|name| !objects.join(name).exists()).take(3).collect();
    let [pipes, linked, links] = &free[..] else { panic!("{free:?}") };
    fs::create_dir_all(objects.join(pipes)).unwrap();
    // A pipe at the path of an object, a pipe through a symlink to a folder, and a symlink at the path of an object.
    let pipe = |path: &std::path::Path| {
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    pipe(&made(pipes));
    let elsewhere = fixture.root.join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    pipe(&elsewhere.join("e".repeat(38)));
    std::os::unix::fs::symlink(&elsewhere, objects.join(linked)).unwrap();
    fs::create_dir_all(objects.join(links)).unwrap();
    std::os::unix::fs::symlink(made(pipes), made(links)).unwrap();
    let record = fixture.run(crate::fixture::MARKED);
    assert_eq!(record.state, AgentState::Ready, "{record:?}");
    // What git would wait at is gone when the agent has ended, also if another program has made it.
    let expected = format!(
        "an agent has left pipes in 'objects' of the repository, at which git could wait; they were removed: {pipes}/"
    );
    assert!(matches!(&record.warnings[..], [one] if one.starts_with(&expected)), "{record:?}");
    assert!(!made(pipes).exists() && elsewhere.join("e".repeat(38)).exists());
    // The real objects are packed.
    assert!(!fixture.git(&["count-objects", "-v"]).contains("in-pack: 0\n"));
}
