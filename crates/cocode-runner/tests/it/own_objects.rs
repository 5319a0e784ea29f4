//! An agent's own folder of objects: what reaches the repository, and what does not.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use cocode_env::AgentState;
use cocode_runner::{AgentDefinition, AgentRecord, Runner, RunnerConfig, StopFlag};

use crate::fixture::{Fixture, Log, MARKED, agent, failures, request};

/// Variables and functions of scripts: the worktree's git folder `W`, the objects in the agent's view `O`, and the
/// repository's objects in that view `S`.
const VARIABLES: &str = "W=$(git rev-parse --absolute-git-dir); \
    O=$(git rev-parse --path-format=absolute --git-common-dir)/objects; S=$W/cocode/shared-objects; \
    path_of() { echo $1 | sed 's,..,&/,'; }; \
    arrived() { until test -e $S/$(path_of $(git rev-parse HEAD)); do sleep 0.05; done; }; ";

fn run_all(fixture: &Fixture, agents: Vec<AgentDefinition>) -> (Vec<AgentRecord>, Log) {
    let log = Log::default();
    let mut request = request(agents);
    request.body = "Fix it.\n".to_owned();
    (fixture.runner().run(&request, &StopFlag::new(), &log).unwrap(), log)
}

fn run(fixture: &Fixture, script: &str) -> (AgentRecord, Log) {
    let (mut records, log) = run_all(fixture, vec![agent("a", &format!("{VARIABLES}{script}"))]);
    (records.remove(0), log)
}

/// Asserts that git reports no fault in the repository and all its worktrees.
#[track_caller]
fn assert_sound(fixture: &Fixture, case: &str) {
    let mut command = Command::new("git");
    command.args(["fsck", "--full", "--strict", "--no-dangling"]).current_dir(fixture.repository());
    let output = command.output().unwrap();
    let report = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{case}: {}", String::from_utf8_lossy(&report));
}

fn has(fixture: &Fixture, object: &str) -> bool {
    let mut command = Command::new("git");
    command.args(["cat-file", "-e", object]).current_dir(fixture.repository());
    command.output().unwrap().status.success()
}

/// Returns the entries of the repository's objects that are neither a file nor a folder.
fn oddities(folder: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            paths.extend(oddities(&entry.path()));
        } else if kind.is_symlink() || kind.is_fifo() || !kind.is_file() {
            paths.push(entry.path());
        }
    }
    paths
}

#[test]
fn an_object_under_a_false_name_does_not_reach_the_repository() {
    // Git does not check that an object fits its name when the same contents are added later, nor at a checkout.
    let plant = "F=$(echo future | git hash-object --stdin); E=$(echo evil | git hash-object -w --stdin); \
        mkdir -p $O/$(echo $F | cut -c 1-2); cp $O/$(path_of $E) $O/$(path_of $F)";
    for (fixture, expected) in [(Fixture::new(), "future"), (Fixture::shared(), "evil")] {
        let (record, log) = run(&fixture, &format!("{plant} && {MARKED}"));
        assert_eq!(record.exit_code, Some(0), "{:?}", log.lines());
        fs::write(fixture.repository().join("f.txt"), "future\n").unwrap();
        fixture.git(&["add", "f.txt"]);
        // The second case is the control: where objects are shared, the attack works.
        assert_eq!(fixture.git(&["cat-file", "blob", ":f.txt"]), expected);
        if expected == "future" {
            fixture.git(&["commit", "-q", "-m", "f"]);
            assert_sound(&fixture, plant);
        }
    }
}

#[test]
fn attacks_on_an_agents_own_objects_reach_no_other_objects() {
    let hash = "e".repeat(40);
    let attacks = [
        "true".to_owned(),
        "rm -rf $O/?? $O/pack $O/*".to_owned(),
        "chmod -R u+w $O/??; for f in $O/??/*; do : > $f; done".to_owned(),
        "chmod 0 $O/?? $O/pack $O".to_owned(),
        "mv $O $O.gone; rm -rf $O; mv $W/cocode $W/gone; rm -rf $W/cocode; ln -s /etc $O".to_owned(),
        "for f in $O/??/*; do rm -f $f; mkfifo $f; done; mkdir $O/ee; mkfifo $O/ee/$(echo $H | cut -c 3-)".to_owned(),
        "for f in $O/??/*; do rm -f $f; ln -s /dev/zero $f; done; mkfifo $O/pack/pack-$H.idx $O/pack/pack-$H.pack".to_owned(),
        "rm -rf $O/pack; ln -s $VICTIM/.git/objects/pack $O/pack".to_owned(),
        "rm -rf $O/ee; for f in $VICTIM/.git/objects/??; do ln -s $f $O/; done".to_owned(),
        "echo $VICTIM/.git/objects > $O/info/alternates; rm -rf $O/info; echo x > $W/cocode/objects/info/alternates; \
            rm -f $S/??/* $S/pack/*; touch $S/new $W/cocode/new; chmod 0 $S"
            .to_owned(),
        "git repack -adq; for f in $O/pack/*.pack; do touch ${f%.pack}.keep ${f%.pack}.promisor; done".to_owned(),
        "git repack -adq; git multi-pack-index write; for f in $O/pack/*; do chmod u+w $f; echo nonsense > $f; done".to_owned(),
        "git repack -adq; rm -f $O/pack/*.idx; echo nonsense > $O/pack/pack-$H.idx; echo nonsense > $O/pack/pack-$H.pack"
            .to_owned(),
        "git replace -f HEAD HEAD~; mkdir -p $W/info; git rev-parse HEAD > $W/info/grafts; git rev-parse HEAD > $W/shallow"
            .to_owned(),
    ];
    for attack in attacks {
        let began = Instant::now();
        let fixture = Fixture::new();
        // Objects that the agent cannot read, but could make the runner's git read.
        let victim = fixture.root.join("victim");
        fs::create_dir(&victim).unwrap();
        fixture.git_in(&victim, &["init", "-q"]);
        for (name, packed) in [("packed", true), ("loose", false)] {
            fs::write(victim.join(name), name).unwrap();
            fixture.git_in(&victim, &["add", "."]);
            fixture.git_in(&victim, &["commit", "-q", "-m", name]);
            if packed {
                fixture.git_in(&victim, &["repack", "-adq"]);
            }
        }
        let secrets = ["HEAD:packed", "HEAD:loose"].map(|name| fixture.git_in(&victim, &["rev-parse", name]));
        let script = format!(
            "VICTIM={}; H={hash}; echo x > b.txt; git add .; {MARKED}; arrived; ({attack}) >/dev/null 2>&1; true",
            victim.display()
        );
        let (record, log) = run(&fixture, &script);
        assert_eq!(record.state, AgentState::Ready, "{attack}: {record:?} {:?}", log.lines());
        assert_eq!(fixture.git(&["rev-parse", "cocode/7-a"]), record.head.clone().unwrap(), "{attack}");
        assert_eq!(fixture.git(&["cat-file", "blob", "cocode/7-a:b.txt"]), "x", "{attack}");
        let real = fixture.repository().join(".git/objects");
        assert_eq!(oddities(&real), Vec::<PathBuf>::new(), "{attack}");
        assert!(!real.join("new").exists() && !real.join("info/alternates").exists(), "{attack}");
        assert!(!record.git_folder.as_ref().unwrap().join("cocode/new").exists(), "{attack}");
        for secret in &secrets {
            assert!(!has(&fixture, secret), "{attack}");
        }
        assert_sound(&fixture, &attack);
        assert_eq!(fixture.git_in(&record.worktree, &["status", "--porcelain"]), "", "{attack}");
        fixture.git_in(&record.worktree, &["commit", "-q", "--allow-empty", "-m", "the user's"]);
        assert!(began.elapsed() < Duration::from_secs(120), "a hang guard: {attack}");
    }
}

#[test]
fn an_incomplete_commit_moves_nothing() {
    let make = "B=$(echo gone | git hash-object -w --stdin); git update-index --add --cacheinfo 100644,$B,x; \
        T=$(git write-tree); C=$(git commit-tree -p HEAD -m 'cocode ready for check' $T); BF=$O/$(path_of $B); TF=$O/$(path_of $T); \
        E=$O/$(path_of $(echo evil | git hash-object -w --stdin)); git rm -q --cached x; ";
    let at_branch = "git reset -q --soft $C";
    let cases = [
        ("true", at_branch, true),
        ("rm -f $BF", at_branch, false),
        ("cp -f $E $BF", at_branch, false),
        ("cp -f $E $TF", at_branch, false),
        ("rm -f $BF; mkfifo $BF", at_branch, false),
        (
            "cp -f $E $O/$(path_of $C)",
            "echo $C > $(git rev-parse --git-common-dir)/refs/heads/cocode/7-a",
            false,
        ),
        ("rm -f $BF", "git update-ref refs/worktree/x $C; git symbolic-ref HEAD refs/worktree/x", false),
        ("rm -f $BF", "git checkout -q --detach; echo $C > $W/HEAD", false),
        ("rm -f $BF", "git checkout -q -b cocode/7-z; git update-ref refs/heads/cocode/7-z $C", false),
    ];
    for (damage, moves, is_taken) in cases {
        let case = format!("{damage}; {moves}");
        let fixture = Fixture::new();
        let (record, log) = run(&fixture, &format!("{make}{damage}; {moves}; true"));
        assert_eq!(record.exit_code, Some(0), "{case}: {:?}", log.lines());
        let has_moved = fixture.git(&["rev-parse", "cocode/7-a"]) != record.start_commit;
        assert_eq!(has_moved, is_taken, "{case}: {record:?}");
        let verdict = record.verdict.as_ref().expect("it is judged");
        assert!(!verdict.marker_present || is_taken, "{case}: {record:?}");
        assert_eq!(record.warnings.is_empty(), is_taken, "{case}: {record:?}");
    }
}

#[test]
fn honest_work_arrives_however_it_is_stored() {
    let other = "H=$HOME/other; ";
    let cases = [
        // A file each, a pack by git's own choice, and one that the agent makes.
        ("few", "echo x > b.txt; git add .".to_owned()),
        ("many", "for n in $(seq 150); do echo $n > f$n; done; git add .; git commit -qm many".to_owned()),
        ("big", "head -c 3000000 /dev/urandom > big; git -c core.bigFileThreshold=1m add big; ls $O/pack/*.pack".to_owned()),
        ("repacked", "echo x > b.txt; git add .; git commit -qm x; arrived; git repack -adq; echo y > b.txt; git add .".to_owned()),
        (
            "fetched",
            format!("{other} git fetch -q $H main && git merge -q --allow-unrelated-histories -m merge FETCH_HEAD"),
        ),
        ("cherry-picked", format!("{other} git fetch -q $H main && git cherry-pick FETCH_HEAD~1")),
        ("amended", format!("echo x > b.txt; git add .; {MARKED}; arrived; echo y > b.txt; git add .; git commit -q --amend -m z")),
        ("rewound", "git commit -q --allow-empty -m x; arrived; git reset -q --hard HEAD~".to_owned()),
    ];
    for (name, script) in cases {
        let fixture = Fixture::new();
        let other = fixture.root.join("home/other");
        fs::create_dir(&other).unwrap();
        fixture.git_in(&other, &["init", "-q", "-b", "main"]);
        for number in 0..40 {
            fs::write(other.join(format!("o{number}")), format!("{number}")).unwrap();
            fixture.git_in(&other, &["add", "."]);
            fixture.git_in(&other, &["commit", "-q", "-m", "other"]);
        }
        let definition = AgentDefinition {
            clean_tree: true,
            check: Some("git fsck --full".to_owned()),
            ..agent("a", &format!("set -e; {VARIABLES}{script}; {MARKED}"))
        };
        let (records, log) = run_all(&fixture, vec![definition]);
        let record = &records[0];
        assert_eq!(record.state, AgentState::Ready, "{name}: {record:?} {:?}", log.lines());
        assert_eq!(record.warnings, Vec::<String>::new(), "{name}");
        assert_eq!(fixture.git(&["rev-parse", "cocode/7-a"]), record.head.clone().unwrap(), "{name}");
        assert_sound(&fixture, name);
        assert!(fixture.runner().pick(record, false).unwrap().done, "{name}");
        assert!(fixture.runner().clean(true, false).unwrap()[0].removed, "{name}");
        assert_eq!(fixture.git(&["worktree", "list"]).lines().count(), 1, "{name}");
        assert_sound(&fixture, name);
    }
}

#[test]
fn staged_files_can_be_committed_by_the_user() {
    for is_damaged in [false, true] {
        let fixture = Fixture::new();
        // Other objects that are damaged do not prevent the import.
        let damage = if is_damaged {
            "for n in $(seq 20); do F=$O/$(path_of $(echo bad$n | git hash-object -w --stdin)); chmod u+w $F; echo nonsense > $F; done;"
        } else {
            ""
        };
        let script = format!(
            "{damage} echo staged > s.txt; git add s.txt; echo again > s.txt; git add s.txt; rm s.txt"
        );
        let (record, log) = run(&fixture, &script);
        assert_eq!(record.exit_code, Some(0), "{record:?} {:?}", log.lines());
        assert_eq!(record.warnings.len(), usize::from(is_damaged), "{record:?}");
        assert!(record.warnings.iter().all(|warning| warning.starts_with("20 of its objects")), "{record:?}");
        fixture.git_in(&record.worktree, &["commit", "-q", "-m", "by the user"]);
        assert_eq!(fixture.git(&["cat-file", "blob", "cocode/7-a:s.txt"]), "again");
        assert_sound(&fixture, "staged");
    }
}

#[test]
fn commits_on_any_branch_are_imported_as_they_are_made() {
    let fixture = Fixture::new();
    let (runner, log) = (fixture.runner(), Log::default());
    let script = format!(
        "{VARIABLES} git checkout -q -b cocode/deep/7-z; git commit -q --allow-empty -m own; \
         git checkout -q --detach; git commit -q --allow-empty -m detached; \
         echo staged > s.txt; git add s.txt; echo staged; \
         until test -e go; do sleep 0.05; done; rm go; {MARKED}"
    );
    let record = std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            runner.run(&request(vec![agent("a", &script)]), &StopFlag::new(), &log).unwrap().remove(0)
        });
        // A reported commit is in the repository.
        log.wait_for("commit detached");
        // The agent's own `HEAD`: that of the worktree follows when the agent has ended.
        let head = fixture.repository().join(".git/worktrees/7-a/cocode/git/HEAD");
        let head = fs::read_to_string(head).unwrap();
        assert_eq!(fixture.git(&["log", "-1", "--format=%s", head.trim_end()]), "detached");
        // Staged objects are imported a little later.
        log.wait_for("staged");
        let began = Instant::now();
        while !has(&fixture, "19d9cc8584ac2c7dcf57d2680375e80f099dc481") {
            assert!(began.elapsed() < Duration::from_secs(60), "a hang guard: {:?}", log.lines());
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_sound(&fixture, "while it runs");
        fixture.git(&["gc", "-q"]);
        fs::write(fixture.worktree().join("go"), "").unwrap();
        running.join().unwrap()
    });
    assert_eq!(record.state, AgentState::Ready, "{record:?} {:?}", log.lines());
    assert_eq!(
        fixture.git(&["log", "-3", "--format=%s", record.head.as_ref().unwrap()]),
        "fix: x\ndetached\nown"
    );
    assert_sound(&fixture, "afterwards");
    let cleaned = runner.clean(true, false).unwrap().remove(0);
    assert_eq!(cleaned.why.as_deref(), Some("it has unmerged commits"));
}

#[test]
fn a_user_who_tidies_up_does_not_end_the_work_of_agents() {
    for tidying in [&["pack-refs", "--all"][..], &["gc", "-q"]] {
        let fixture = Fixture::new();
        let (runner, log) = (fixture.runner(), Log::default());
        let script = format!(
            "{VARIABLES} git commit -q --allow-empty -m one; until test -e go; do sleep 0.05; done; rm go; {MARKED}"
        );
        let record = std::thread::scope(|scope| {
            let running = scope.spawn(|| {
                runner.run(&request(vec![agent("a", &script)]), &StopFlag::new(), &log).unwrap().remove(0)
            });
            log.wait_for("commit one");
            fixture.git(tidying);
            fs::write(fixture.worktree().join("go"), "").unwrap();
            running.join().unwrap()
        });
        assert_eq!(record.state, AgentState::Ready, "{tidying:?}: {record:?} {:?}", log.lines());
        assert_eq!(record.commits, 2, "{tidying:?}");
        assert_eq!(fixture.git(&["for-each-ref", "--format=%(refname:short)"]), "cocode/7-a\nmain");
        assert_sound(&fixture, "afterwards");
    }
}

#[test]
fn a_check_reads_what_the_repository_has() {
    let fixture = Fixture::new();
    // Git reads the agent's own file first, and does not check that it fits its name.
    let falsified = "B=$(git rev-parse HEAD:f.txt); E=$(echo good | git hash-object -w --stdin); \
                     cp -f $O/$(path_of $E) $O/$(path_of $B); git cat-file blob HEAD:f.txt";
    for (word, is_ready) in [("bad", false), ("good", true)] {
        let script =
            format!("{VARIABLES} echo {word} > f.txt; git add f.txt; {MARKED}; arrived; {falsified}");
        let check = Some("git archive HEAD | tar -xO f.txt | grep -qx good".to_owned());
        let (mut records, log) = run_all(&fixture, vec![AgentDefinition { check, ..agent("a", &script) }]);
        let record = records.remove(0);
        assert!(
            log.lines().contains(&"good".to_owned()),
            "the control: the agent sees it: {:?}",
            log.lines()
        );
        assert_eq!(record.state == AgentState::Ready, is_ready, "{word}: {record:?}");
        assert_eq!(fixture.git(&["cat-file", "blob", "cocode/7-a:f.txt"]), word);
        fixture.git(&["worktree", "remove", "--force", &record.worktree.to_string_lossy()]);
        fixture.git(&["branch", "-q", "-D", "cocode/7-a"]);
    }
}

#[test]
fn imported_objects_are_not_imported_again() {
    let fixture = Fixture::new();
    let packs = || {
        let folder = fs::read_dir(fixture.repository().join(".git/objects/pack")).into_iter().flatten();
        folder
            .filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|it| it == "pack"))
            .count()
    };
    let before = packs();
    // More files than the unpack limit become one pack; each later step stages one more, and triggers an import.
    let script = format!(
        "{VARIABLES} N=0; while test $((N+=1)) -le 150; do echo $N > $N.txt; done; git add .; sleep 2; \
         for M in a b c; do echo $M > $M.txt; git add .; sleep 2; done; {MARKED}"
    );
    let (record, log) = run(&fixture, &script);
    assert_eq!(record.state, AgentState::Ready, "{record:?} {:?}", log.lines());
    // One pack of the first staged files, and perhaps one of the commit and its objects.
    assert!(packs() - before <= 2, "{}", packs() - before);
    assert_sound(&fixture, "afterwards");
}

#[test]
fn an_agent_that_dies_in_a_commit_leaves_a_sound_repository() {
    for wait in ["0.1", "0.3", "0.5"] {
        let fixture = Fixture::new();
        let script = format!(
            "(N=0; while :; do N=$((N+1)); echo $N > b.txt; git add b.txt; git commit -qm $N; : > begun; done) & \
             until test -e begun; do sleep 0.01; done; sleep {wait}; kill -9 $$"
        );
        let (record, log) = run(&fixture, &script);
        assert_eq!(record.exit_code, Some(137), "{record:?}");
        assert!(record.commits > 0, "{record:?} {:?}", log.lines());
        assert_sound(&fixture, wait);
        let folder = record.git_folder.as_ref().unwrap();
        for lock in ["index.lock", "HEAD.lock"] {
            let _ = fs::remove_file(folder.join(lock));
        }
        fixture.git_in(&record.worktree, &["add", "."]);
        fixture.git_in(&record.worktree, &["commit", "-q", "--allow-empty", "-m", "by the user"]);
        assert_sound(&fixture, wait);
    }
}

#[test]
fn objects_that_a_killed_runner_has_not_imported_are_imported_by_the_next_one() {
    let fixture = Fixture::new();
    let script = format!(
        "{VARIABLES} echo x > b.txt; git add .; {MARKED}; echo dangling | git hash-object -w --stdin; echo ready; \
         while ! test -e go; do sleep 0.05; done"
    );
    let log = Log::default();
    // No reference leads to it, so it is not imported while the agent runs.
    let dangling = "4ba8ea6005dd588634e40a8bee8a71243af8625e";
    std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            fixture.runner().run(&request(vec![agent("a", &script)]), &StopFlag::new(), &log).unwrap()
        });
        log.wait_for("ready");
        let began = Instant::now();
        while !has(&fixture, "cocode/7-a:b.txt") {
            assert!(began.elapsed() < Duration::from_secs(60), "a hang guard: {:?}", log.lines());
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(!has(&fixture, dangling));
        // A copy of the records is what the next runner reads after a kill at this moment.
        let copy = fixture.root.join("state-after");
        test_support::copy_folder(&fixture.root.join("state"), &copy);
        let next = Runner::open(RunnerConfig { state_folder: copy, ..fixture.config() });
        let record = next.unwrap().records().unwrap().remove(0);
        assert_eq!(record.state, AgentState::Lost);
        assert!(record.own_objects && record.warnings.is_empty(), "{record:?}");
        assert_eq!(failures(&record), ["exit_code"]);
        assert!(has(&fixture, dangling));
        assert_sound(&fixture, "recovered");
        fs::write(fixture.worktree().join("go"), "").unwrap();
        running.join().unwrap();
    });
}

#[test]
fn work_that_a_failing_machine_cannot_import_is_imported_later() {
    // The words in which git fails, and the end of its warning.
    let failures_of_git = [
        ("echo 'fatal: write error: No space left on device' >&2; exit 128", "No space left on device"),
        ("kill -9 $$", "it was killed"),
        ("echo 'fatal: object is damaged' >&2; exit 128", "damaged or missing"),
    ];
    for (failure, warning) in failures_of_git {
        let mut fixture = Fixture::new();
        let (bin, broken) = (fixture.root.join("home/bin"), fixture.root.join("home/broken"));
        fs::create_dir(&bin).unwrap();
        let path = std::env::var("PATH").unwrap();
        // A git that cannot write packs while the file exists.
        let text = format!(
            "#!/bin/sh\ncase \" $* \" in *' pack-objects '*) test ! -e {} || {{ {failure}; }};; esac\nPATH={path}; exec git \"$@\"\n",
            broken.display()
        );
        test_support::write_program(&bin.join("git"), &text);
        fixture.host.own_path = format!("{}:{path}", bin.display()).into();
        fs::write(&broken, "").unwrap();
        let (record, log) = run(&fixture, &format!("echo x > b.txt; git add .; {MARKED}"));
        assert_eq!(
            (record.state, record.commits),
            (AgentState::Completed, 0),
            "{record:?} {:?}",
            log.lines()
        );
        assert!(record.warnings.iter().any(|one| one.ends_with(warning)), "{record:?}");
        let reopened = || fixture.runner().records().unwrap().remove(0);
        let is_of_the_machine = !failure.contains("damaged");
        assert_eq!(record.import_failed, is_of_the_machine, "{record:?}");
        assert_eq!(
            (reopened().state, reopened().import_failed),
            (record.state, is_of_the_machine),
            "still broken"
        );
        fs::remove_file(&broken).unwrap();
        let again = reopened();
        if is_of_the_machine {
            assert_eq!(
                (again.state, again.commits, again.import_failed),
                (AgentState::Ready, 1, false),
                "{again:?}"
            );
            assert_eq!(fixture.git(&["rev-parse", "cocode/7-a"]), again.head.clone().unwrap());
            assert!(fixture.runner().pick(&again, false).unwrap().done);
        } else {
            // The control: damage by the agent is not tried again.
            assert_eq!(again, record);
        }
    }
}

#[test]
fn siblings_at_once_have_all_their_work() {
    let fixture = Fixture::new();
    let script = "for n in $(seq 15); do echo $COCODE_REPO_PATH $n > b.txt; echo same $n > c.txt; git add .; git commit -qm $n; done";
    let agents = ["a", "b", "c"].map(|name| agent(name, &format!("{script}; {MARKED}"))).to_vec();
    let (records, log) = run_all(&fixture, agents);
    for record in &records {
        assert_eq!((record.state, record.commits), (AgentState::Ready, 16), "{record:?} {:?}", log.lines());
        assert_eq!(fixture.git(&["rev-parse", &record.branch]), record.head.clone().unwrap());
        assert_eq!(record.warnings, Vec::<String>::new());
    }
    assert_sound(&fixture, "siblings");
}

#[test]
fn repositories_of_every_kind_take_an_agents_work() {
    type Prepare = fn(&Fixture);
    let kinds: [(&str, Prepare); 7] = [
        ("sha256", |fixture| {
            fs::remove_dir_all(fixture.repository()).unwrap();
            fs::create_dir(fixture.repository()).unwrap();
            fixture.git(&["init", "-q", "-b", "main", "--object-format=sha256"]);
            fs::write(fixture.repository().join("a.txt"), "one\n").unwrap();
            fixture.git(&["add", "."]);
            fixture.git(&["commit", "-q", "-m", "start"]);
        }),
        ("linked", |fixture| {
            let objects = fixture.repository().join(".git/objects");
            fs::rename(&objects, fixture.root.join("objects")).unwrap();
            std::os::unix::fs::symlink(fixture.root.join("objects"), objects).unwrap();
        }),
        ("borrowing", |fixture| lend(fixture, |origin| origin.display().to_string())),
        ("borrowing from a sibling", |fixture| lend(fixture, |_| "../../../origin/.git/objects".to_owned())),
        ("shallow", |fixture| clone_of(fixture, &["--depth=1"])),
        ("partial", |fixture| clone_of(fixture, &["--filter=blob:none"])),
        ("without trees", |fixture| clone_of(fixture, &["--filter=tree:0"])),
    ];
    for (kind, prepare) in kinds {
        let fixture = Fixture::new();
        for text in ["two\n", "three\n"] {
            fs::create_dir_all(fixture.repository().join("deep/er")).unwrap();
            fs::write(fixture.repository().join("deep/er/a.txt"), text).unwrap();
            fixture.git(&["add", "."]);
            fixture.git(&["commit", "-q", "-m", "more"]);
        }
        prepare(&fixture);
        let script = format!(
            "{VARIABLES} touch $S/new $W/cocode/new $O/info/new 2>/dev/null && exit 8; set -e; git log -1 -p >/dev/null; echo y >> a.txt; echo x > b.txt; git add .; git commit -qm one; arrived; \
             for n in $(seq 120); do echo $n > f$n; done; git add .; git status 2>&1 | grep -i error && exit 9; {MARKED}"
        );
        let (record, log) = run(&fixture, &script);
        assert_eq!(record.state, AgentState::Ready, "{kind}: {record:?} {:?}", log.lines());
        assert_eq!(record.warnings, Vec::<String>::new(), "{kind}");
        let leaked: Vec<String> = ["objects/new", "objects/info/new", "worktrees/7-a/cocode/new"]
            .into_iter()
            .filter(|name| fixture.repository().join(".git").join(name).exists())
            .map(str::to_owned)
            .collect();
        assert_eq!(leaked, Vec::<String>::new(), "{kind}");
        let errors: Vec<String> = log.lines().into_iter().filter(|line| line.contains("error")).collect();
        assert_eq!(errors, Vec::<String>::new(), "{kind}");
        assert_eq!(fixture.git(&["rev-parse", "cocode/7-a"]), record.head.clone().unwrap(), "{kind}");
        assert_sound(&fixture, kind);
        assert!(fixture.runner().pick(&record, false).unwrap().done, "{kind}");
        fixture.git(&["gc", "-q"]);
        assert_sound(&fixture, kind);
    }
}

/// Turns the repository into one that borrows its objects from another one.
fn lend(fixture: &Fixture, path: fn(&Path) -> String) {
    let origin = fixture.root.join("origin");
    fs::rename(fixture.repository(), &origin).unwrap();
    fixture.git_in(&fixture.root, &["clone", "-q", "--shared", "origin", "repository"]);
    let alternates = fixture.repository().join(".git/objects/info/alternates");
    fs::write(alternates, path(&origin.join(".git/objects")) + "\n").unwrap();
    assert!(fixture.git(&["count-objects", "-v"]).contains("alternate: "));
}

/// Turns the repository into a clone with these options.
fn clone_of(fixture: &Fixture, options: &[&str]) {
    let origin = fixture.root.join("home/origin");
    fs::rename(fixture.repository(), &origin).unwrap();
    fixture.git_in(&origin, &["config", "uploadpack.allowFilter", "true"]);
    fixture.git_in(&origin, &["config", "uploadpack.allowAnySHA1InWant", "true"]);
    let url = format!("file://{}", origin.display());
    fixture.git_in(&fixture.root, &[&["clone", "-q"], options, &[url.as_str(), "repository"]].concat());
}
