use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cocode_env::AgentState;
use cocode_runner::{
    BUNDLE_LIMIT_BYTES, BaseError, BaseLimits, BaseRepository, BundleRefusal, BundleSource, Runner,
    RunnerConfig, StopFlag, Unobserved,
};

use crate::elsewhere::machines::{Machines, chain, with_header};
use crate::fixture::{Fixture, MARKED, agent, request};

/// Adds a commit at home and returns its name.
fn commit(home: &Fixture, name: &str) -> String {
    fs::write(home.repository().join(name), name.repeat(100)).unwrap();
    home.git(&["add", "."]);
    home.git(&["commit", "-q", "-m", name]);
    home.git(&["rev-parse", "HEAD"])
}

/// Makes a bundle at home.
fn bundle(home: &Fixture, tip: &str, present: &[String]) -> PathBuf {
    let file = home.root.join(format!("{tip}-{}.bundle", present.len()));
    let source = BundleSource::open(&home.host, &home.repository()).unwrap();
    source.write(tip, present, &file, BUNDLE_LIMIT_BYTES).unwrap();
    file
}

fn open(machines: &Machines, bases: usize) -> BaseRepository {
    let folder = machines.worker.root.join("bases");
    let limits = BaseLimits { bases, ..BaseLimits::default() };
    BaseRepository::open(&folder, &machines.worker.host, limits).unwrap()
}

/// Returns all objects of the bases.
fn objects(machines: &Machines) -> String {
    let names = ["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"];
    machines.worker.git_in(&machines.worker.root.join("bases/bases.git"), &names)
}

#[test]
fn bases_are_added_once_and_then_by_what_is_new() {
    let machines = Machines::new();
    let (home, bases) = (&machines.home, open(&machines, 32));
    let first = home.git(&["rev-parse", "main"]);
    assert!(!bases.has(&first).unwrap());
    bases.add(&bundle(home, &first, &[]), &first).unwrap();
    let second = commit(home, "b");
    let thin = bundle(home, &second, std::slice::from_ref(&first));
    assert!(!bases.has(&second).unwrap());
    bases.add(&thin, &second).unwrap();
    // A base that is here needs no bundle.
    bases.add(Path::new("/nonexistent"), &second).unwrap();
    drop(bases);
    let bases = open(&machines, 32);
    assert!(bases.has(&first).unwrap() && bases.has(&second).unwrap());
    assert!(!bases.has("main").unwrap() && !bases.has(&"1".repeat(40)).unwrap());
    let folder = machines.worker.root.join("bases/bases.git");
    machines.worker.git_in(&folder, &["gc", "-q", "--prune=now"]);
    machines.worker.git_in(&folder, &["fsck", "--strict", &second]);
    let held = BaseRepository::open(
        &machines.worker.root.join("bases"),
        &machines.worker.host,
        BaseLimits::default(),
    );
    assert!(matches!(held, Err(BaseError::Held { .. })));
}

#[test]
fn a_refused_bundle_leaves_nothing() {
    let machines = Machines::new();
    let (home, bases) = (&machines.home, open(&machines, 32));
    let first = home.git(&["rev-parse", "main"]);
    bases.add(&bundle(home, &first, &[]), &first).unwrap();
    let before = objects(&machines);
    let second = commit(home, "b");
    let third = commit(home, "c");
    let good = bundle(home, &second, std::slice::from_ref(&first));
    let bytes = fs::read(&good).unwrap();
    let changed = home.root.join("changed");
    let refused = |bundle: &Path, tip: &str| match bases.add(bundle, tip).unwrap_err() {
        BaseError::Refused(refusal) => {
            assert_eq!(objects(&machines), before, "{refusal}");
            assert!(!bases.has(tip).unwrap());
            refusal
        }
        error => panic!("{}", chain(&error)),
    };
    for index in (0..bytes.len()).step_by(13) {
        let mut bytes = bytes.clone();
        bytes[index] ^= 1;
        fs::write(&changed, bytes).unwrap();
        // A bundle's label for its commit is of no consequence.
        if !(99..115).contains(&index) {
            refused(&changed, &second);
        }
    }
    let late = bundle(home, &third, std::slice::from_ref(&second));
    assert!(matches!(refused(&late, &third), BundleRefusal::MissingPrerequisite { .. }));
    assert!(matches!(refused(&good, &third), BundleRefusal::OtherTip { .. }));
    // Without a word about the missing commit.
    let silent = with_header(&late, |header| header.prerequisites.clear());
    assert!(matches!(
        refused(&silent, &third),
        BundleRefusal::Incomplete { .. } | BundleRefusal::Damaged { .. }
    ));
    bases.add(&good, &second).unwrap();
    assert!(bases.has(&second).unwrap());
    drop(bases);
    let folder = machines.worker.root.join("bases");
    let limits = BaseLimits { bundle_bytes: 100, ..BaseLimits::default() };
    let bases = BaseRepository::open(&folder, &machines.worker.host, limits).unwrap();
    let error = bases.add(&late, &third).unwrap_err();
    assert!(matches!(error, BaseError::Refused(BundleRefusal::TooLarge { .. })), "{error:?}");
}

#[test]
fn a_base_that_git_rejects_is_refused() {
    let machines = Machines::new();
    let (home, bases) = (&machines.home, open(&machines, 32));
    let blob = home.git(&["rev-parse", "HEAD:a.txt"]);
    let tree = home.root.join("tree");
    let name: Vec<u8> =
        (0..20).map(|index| u8::from_str_radix(&blob[2 * index..2 * index + 2], 16).unwrap()).collect();
    fs::write(&tree, [&b"100644 .git\0"[..], &name].concat()).unwrap();
    let tree = home.git(&["hash-object", "-w", "--literally", "-t", "tree", tree.to_str().unwrap()]);
    let forged = home.git(&["commit-tree", "-m", "x", &tree]);
    let error = bases.add(&bundle(home, &forged, &[]), &forged).unwrap_err();
    assert!(matches!(error, BaseError::Refused(BundleRefusal::Rejected { .. })), "{error:?}");
    assert!(!bases.has(&forged).unwrap());
}

#[test]
fn a_base_is_a_commit_and_nothing_else() {
    let machines = Machines::new();
    let (home, bases) = (&machines.home, open(&machines, 32));
    home.git(&["tag", "-a", "-m", "x", "v1"]);
    let [commit, tag, tree] = ["main", "v1", "main^{tree}"].map(|name| home.git(&["rev-parse", name]));
    let file = home.root.join("tag.bundle");
    home.git(&["bundle", "create", "-q", file.to_str().unwrap(), "refs/tags/v1"]);
    let error = bases.add(&file, &tag).unwrap_err();
    let is_refused = |error: &BaseError, name: &str| matches!(error, BaseError::Refused(BundleRefusal::NoCommit { object, .. }) if object == name);
    assert!(is_refused(&error, &tag), "{error:?}");
    assert_eq!(objects(&machines), "");
    bases.add(&bundle(home, &commit, &[]), &commit).unwrap();
    // The objects may be here, and are not bases all the same.
    let repository = machines.worker.root.join("bases/bases.git");
    machines.worker.git_in(&repository, &["fetch", "-q", home.repository().to_str().unwrap(), "tag", "v1"]);
    for name in [&tag, &tree] {
        assert!(objects(&machines).contains(name.as_str()));
        assert!(!bases.has(name).unwrap(), "{name}");
        let task = bases.make_task_repository(&machines.worker.root.join("task"), name, "main");
        assert!(matches!(task, Err(BaseError::MissingBase { .. })), "{task:?}");
    }
    assert!(is_refused(&bases.add(&file, &tag).unwrap_err(), &tag));
    assert!(bases.has(&commit).unwrap());
}

#[test]
fn old_bases_go_unless_a_task_needs_them() {
    let machines = Machines::new();
    let (home, bases) = (&machines.home, open(&machines, 2));
    // Four histories that share nothing.
    let tips: Vec<String> = (0..4)
        .map(|number| {
            home.git(&["checkout", "-q", "--orphan", &format!("o{number}")]);
            home.git(&["rm", "-rfq", "."]);
            commit(home, &format!("f{number}"))
        })
        .collect();
    let add = |tip: &String| bases.add(&bundle(home, tip, &[]), tip).unwrap();
    add(&tips[0]);
    let task = machines.worker.root.join("task");
    bases.make_task_repository(&task, &tips[0], "main").unwrap();
    tips[1..].iter().for_each(add);
    let are_here: Vec<bool> = tips.iter().map(|tip| bases.has(tip).unwrap()).collect();
    assert_eq!(are_here, [true, false, false, true]);
    assert!(!objects(&machines).contains(&tips[1]));
    machines.worker.git_in(&task, &["fsck", "--strict"]);
    fs::remove_dir_all(&task).unwrap();
    add(&tips[1]);
    let are_here: Vec<bool> = tips.iter().map(|tip| bases.has(tip).unwrap()).collect();
    assert_eq!(are_here, [false, true, false, true]);
    let error = bases.make_task_repository(&task, &tips[0], "main").unwrap_err();
    assert!(matches!(error, BaseError::MissingBase { .. }), "{error:?}");
}

#[test]
fn a_task_has_a_repository_at_once() {
    let machines = Machines::new();
    let (home, bases) = (&machines.home, open(&machines, 32));
    let start = home.git(&["rev-parse", "main"]);
    bases.add(&bundle(home, &start, &[]), &start).unwrap();
    let folder = |number: usize| machines.worker.root.join(format!("task-{number}"));
    let mut times: Vec<Duration> = (0..20)
        .map(|number| {
            let began = Instant::now();
            bases.make_task_repository(&folder(number), &start, "fix/one").unwrap();
            began.elapsed()
        })
        .collect();
    times.sort();
    println!("set-up of a task: median {:?}, worst {:?}", times[10], times[19]);
    let git = |arguments: &[&str]| machines.worker.git_in(&folder(3), arguments);
    assert_eq!(git(&["rev-parse", "HEAD"]), start);
    assert_eq!(git(&["symbolic-ref", "HEAD"]), "refs/heads/fix/one");
    git(&["fsck", "--strict"]);
    let config = RunnerConfig { repository: folder(3), ..machines.worker.config() };
    let runner = Runner::open(config).unwrap();
    let records = runner.run(&request(vec![agent("a", MARKED)]), &StopFlag::new(), &Unobserved).unwrap();
    assert_eq!(records[0].state, AgentState::Ready, "{records:?}");
    assert_eq!(records[0].start_commit, start);
    for name in ["", "-x", "a..b", "a b", ".x", "x.lock", "a//b", "@", "a\nb", "HEAD"] {
        let error = bases.make_task_repository(&folder(30), &start, name).unwrap_err();
        assert!(matches!(error, BaseError::Branch { .. }), "{name}: {error:?}");
    }
    assert!(!folder(30).exists());
    assert!(bases.make_task_repository(&folder(3), &start, "main").is_err());
}

#[test]
fn repositories_with_long_names_have_bases_of_their_own() {
    let machines = Machines::new();
    let (home, bases) = (&machines.home, open(&machines, 32));
    let short = home.git(&["rev-parse", "main"]);
    let short_bundle = bundle(home, &short, &[]);
    fs::remove_dir_all(home.repository().join(".git")).unwrap();
    home.git(&["init", "-q", "-b", "main", "--object-format=sha256"]);
    let long = commit(home, "x");
    bases.add(&bundle(home, &long, &[]), &long).unwrap();
    let task = machines.worker.root.join("task");
    bases.make_task_repository(&task, &long, "main").unwrap();
    machines.worker.git_in(&task, &["fsck", "--strict"]);
    let error = bases.add(&short_bundle, &short).unwrap_err();
    assert!(matches!(error, BaseError::OtherFormat { .. }), "{error:?}");
}
