//! Deliveries of a machine that lies. Each case has a control, the same delivery without the lie, that is accepted.

use std::fs::{self, File};
use std::process::Command;

use cocode_env::AgentState;
use cocode_runner::{
    BUNDLE_LIMIT_BYTES, BundleHeader, BundleRefusal, BundleSource, Delivery, DeliveryError, DeliveryLimits,
    RunnerError,
};

use crate::elsewhere::machines::{Machines, chain, delivery, judge, with_header};
use crate::fixture::{MARKED, agent, failures, refused};

/// An agent's work with a file that does not compress, so that its bundle has a few thousand bytes.
const NOISY: &str = "awk 'BEGIN { srand(7); for (i = 0; i < 900; i++) printf \"%x\", rand() * 4294967296 }' > noise; \
    git add noise; git commit -q -m 'cocode ready for check'";

/// Checks that a delivery is refused and leaves nothing at home, and returns why.
fn refusal(machines: &Machines, runner: &cocode_runner::Runner, delivery: &Delivery) -> DeliveryError {
    let record = runner.records().unwrap().into_iter().find(|one| one.agent.to_string() == "a").unwrap();
    let before = machines.references();
    let error = refused(judge(runner, &record, delivery));
    assert_eq!(machines.references(), before);
    assert!(!record.worktree.exists());
    let now = runner.records().unwrap().into_iter().find(|one| one.key() == record.key());
    assert_eq!(now.unwrap().verdict, None);
    match error {
        RunnerError::Delivery { source, .. } => source,
        other => panic!("it should be refused: {}", chain(&other)),
    }
}

#[test]
fn a_damaged_bundle_is_never_ready() {
    let machines = Machines::new();
    let runner = machines.home.runner();
    let record = machines.begin(&runner, agent("a", NOISY));
    let work = machines.work(vec![agent("a", NOISY)]).remove(0);
    let bundle = work.delivery.bundle.clone().unwrap();
    let bytes = fs::read(&bundle).unwrap();
    let head = work.local.head.clone().unwrap();
    let damaged = bundle.with_extension("damaged");
    let mut count = 0;
    for index in (0..bytes.len()).step_by(97) {
        let mut bytes = bytes.clone();
        bytes[index] ^= 1;
        fs::write(&damaged, bytes).unwrap();
        refusal(&machines, &runner, &Delivery { bundle: Some(damaged.clone()), ..work.delivery.clone() });
        count += 1;
    }
    assert!(count > 20, "{count}");
    for length in [0, 15, 60, 140, bytes.len() / 2, bytes.len() - 1] {
        fs::write(&damaged, &bytes[..length]).unwrap();
        refusal(&machines, &runner, &Delivery { bundle: Some(damaged.clone()), ..work.delivery.clone() });
    }
    assert!(!machines.has(&head));
    assert_eq!(judge(&runner, &record, &work.delivery).unwrap().state, AgentState::Ready);
    assert!(machines.has(&head));
}

#[test]
fn claims_that_do_not_fit_the_bundle_are_refused() {
    let machines = Machines::new();
    let home = &machines.home;
    let start = home.git(&["rev-parse", "main"]);
    let runner = home.runner();
    let record = machines.begin(&runner, agent("a", MARKED));
    let work = machines.work(vec![agent("a", MARKED)]).remove(0);
    let honest = work.delivery.clone();
    let bundle = honest.bundle.clone().unwrap();
    let no_commit = "1".repeat(40);
    let pipe = bundle.with_extension("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let link = bundle.with_extension("link");
    std::os::unix::fs::symlink(&bundle, &link).unwrap();
    let cases = [
        ("another tip", Delivery { head: Some(start.clone()), ..honest.clone() }),
        ("a tip without objects", {
            let bundle = with_header(&bundle, |header| header.tip = no_commit.clone());
            let copy = bundle.with_extension("tip");
            fs::rename(&bundle, &copy).unwrap();
            Delivery { bundle: Some(copy), head: Some(no_commit.clone()), ..honest.clone() }
        }),
        ("another base", {
            let bundle = with_header(&bundle, |header| header.prerequisites = vec![no_commit.clone()]);
            let copy = bundle.with_extension("base");
            fs::rename(&bundle, &copy).unwrap();
            Delivery { bundle: Some(copy), ..honest.clone() }
        }),
        ("no bundle", Delivery { bundle: None, ..honest.clone() }),
        ("no head", Delivery { head: None, ..honest.clone() }),
        ("a short name", Delivery { head: Some("1234".into()), ..honest.clone() }),
        ("a branch", Delivery { head: Some("main".into()), ..honest.clone() }),
        ("a name of the other length", Delivery { head: Some("1".repeat(64)), ..honest.clone() }),
        ("not ended", Delivery { state: AgentState::Running, ..honest.clone() }),
        ("a missing file", Delivery { bundle: Some(home.root.join("none")), ..honest.clone() }),
        ("a pipe", Delivery { bundle: Some(pipe), ..honest.clone() }),
        ("a link", Delivery { bundle: Some(link), ..honest.clone() }),
    ];
    let lines: Vec<String> = cases
        .iter()
        .map(|(name, delivery)| {
            let error = refusal(&machines, &runner, delivery);
            let at_fault = if error.is_about_delivery() { "delivery" } else { "home" };
            let why = chain(&error);
            let why = why.replace(&home.root.display().to_string(), "HOME");
            let why = why.replace(&machines.worker.root.display().to_string(), "WORKER");
            let why = why.replace(&start, "START");
            format!("{name} ({at_fault}): {}", why.replace(work.local.head.as_deref().unwrap(), "HEAD"))
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
    assert_eq!(judge(&runner, &record, &honest).unwrap().state, AgentState::Ready);
}

#[test]
fn work_on_a_commit_that_home_lacks_is_refused() {
    let machines = Machines::new();
    let runner = machines.home.runner();
    let record = machines.begin(&runner, agent("a", MARKED));
    let twice = format!("echo y > y; git add y; git commit -q -m y; {MARKED}");
    let work = machines.work(vec![agent("a", &twice)]).remove(0);
    let parent = machines.worker.git_in(&work.task, &["rev-parse", "cocode/7-a^"]);
    let source = BundleSource::open(&machines.worker.host, &work.task).unwrap();
    let thin = machines.worker.root.join("thin.bundle");
    let head = work.local.head.clone().unwrap();
    source.write(&head, std::slice::from_ref(&parent), &thin, BUNDLE_LIMIT_BYTES).unwrap();
    let lacking = Delivery { bundle: Some(thin.clone()), ..work.delivery.clone() };
    let why = refusal(&machines, &runner, &lacking);
    assert!(
        matches!(&why, DeliveryError::Bundle(BundleRefusal::MissingPrerequisite { commit }) if *commit == parent),
        "{why:?}"
    );
    // The same without a word about the missing commit.
    let start = record.start_commit.clone();
    let silent = with_header(&thin, |header| header.prerequisites = vec![start]);
    let why = refusal(&machines, &runner, &Delivery { bundle: Some(silent), ..work.delivery.clone() });
    assert!(
        matches!(
            &why,
            DeliveryError::Bundle(BundleRefusal::Incomplete { .. } | BundleRefusal::Damaged { .. })
        ),
        "{why:?}"
    );
    assert!(!machines.has(&head));
    let judged = judge(&runner, &record, &work.delivery).unwrap();
    assert_eq!((judged.state, judged.commits), (AgentState::Ready, 2));
}

#[test]
fn commits_that_home_has_already_are_not_the_agents() {
    let machines = Machines::new();
    let runner = machines.home.runner();
    let start = machines.home.git(&["rev-parse", "main"]);
    // The start itself.
    let bundle = machines.worker.root.join("start.bundle");
    let source = BundleSource::open(&machines.home.host, &machines.home.repository()).unwrap();
    source.write(&start, &[], &bundle, BUNDLE_LIMIT_BYTES).unwrap();
    let record = machines.begin(&runner, agent("start", MARKED));
    let judged = judge(&runner, &record, &delivery(Some(bundle), Some(start))).unwrap();
    assert_eq!(failures(&judged), ["descends", "new", "changes", "marker"]);
    // The work of another agent, which the first one delivers rightly.
    let work = machines.work(vec![agent("a", MARKED)]).remove(0);
    let [honest, thief] = ["a", "b"].map(|name| machines.begin(&runner, agent(name, MARKED)));
    assert_eq!(judge(&runner, &honest, &work.delivery).unwrap().state, AgentState::Ready);
    let judged = judge(&runner, &thief, &work.delivery).unwrap();
    assert_eq!(failures(&judged), ["new"]);
    assert_eq!(judged.state, AgentState::Completed);
}

#[test]
fn a_tag_does_not_make_an_older_commit_new() {
    let machines = Machines::new();
    let sibling = machines.home.run_agent(agent("b", MARKED));
    assert_eq!(sibling.state, AgentState::Ready);
    let runner = machines.home.runner();
    let record = machines.begin(&runner, agent("a", MARKED));
    let script = "git fetch -q origin cocode/7-b; git checkout -q FETCH_HEAD; git tag -a -m x new";
    let older = machines.forge(script);
    let clone = older.bundle.as_ref().unwrap().with_extension("");
    let tag = machines.worker.git_in(&clone, &["rev-parse", "new"]);
    let bundle = clone.with_extension("tag");
    let range = format!("^{}", record.start_commit);
    let create = ["bundle", "create", "-q", bundle.to_str().unwrap(), "refs/tags/new", &range];
    machines.worker.git_in(&clone, &create);
    let why = refusal(&machines, &runner, &delivery(Some(bundle), Some(tag.clone())));
    assert!(
        matches!(
            &why,
            DeliveryError::Bundle(BundleRefusal::NoCommit { object, kind }) if *object == tag && kind == "tag"
        ),
        "{why:?}"
    );
    assert!(!machines.has(&tag));
    // The control: the commit itself has a verdict, by which it is not new. A commit of the agent's own is ready.
    let judged = judge(&runner, &record, &older).unwrap();
    assert_eq!(failures(&judged), ["new"], "{judged:?}");
    assert_eq!(machines.home.git(&["rev-parse", "cocode/7-b"]), sibling.head.unwrap());
    let record = machines.begin(&runner, agent("c", MARKED));
    let judged = judge(&runner, &record, &machines.forge(MARKED)).unwrap();
    assert_eq!(judged.state, AgentState::Ready, "{judged:?}");
}

#[test]
fn the_name_in_a_bundle_moves_no_reference() {
    for name in ["refs/heads/main", "HEAD", "refs/tags/v1", "refs/heads/../../config"] {
        let machines = Machines::new();
        let runner = machines.home.runner();
        let record = machines.begin(&runner, agent("a", MARKED));
        let work = machines.work(vec![agent("a", MARKED)]).remove(0);
        let before = machines.references();
        let config = fs::read(machines.home.repository().join(".git/config")).unwrap();
        let bundle = with_header(&work.delivery.bundle.clone().unwrap(), |header| {
            header.reference = name.to_owned();
        });
        let judged = judge(&runner, &record, &Delivery { bundle: Some(bundle), ..work.delivery }).unwrap();
        assert_eq!(judged.state, AgentState::Ready, "{name}: {judged:?}");
        let head = judged.head.unwrap();
        assert_eq!(machines.references(), format!("refs/heads/cocode/7-a {head}\n{before}"), "{name}");
        assert_eq!(machines.home.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
        assert_eq!(fs::read(machines.home.repository().join(".git/config")).unwrap(), config);
    }
}

#[test]
fn a_bundle_of_any_size_is_bounded() {
    let machines = Machines::new();
    let runner = machines.home.runner();
    let record = machines.begin(&runner, agent("a", MARKED));
    let script =
        "head -c 67108864 /dev/zero > zeros; git add zeros; git commit -q -m 'cocode ready for check'";
    let work = machines.work(vec![agent("a", script)]).remove(0);
    let bundle = work.delivery.bundle.clone().unwrap();
    let bytes = fs::metadata(&bundle).unwrap().len();
    assert!(bytes < 1 << 20, "{bytes}");
    let with = |bundle_bytes: u64, checkout_bytes: u64| Delivery {
        limits: DeliveryLimits { bundle_bytes, checkout_bytes },
        ..work.delivery.clone()
    };
    let why = refusal(&machines, &runner, &with(bytes - 1, u64::MAX));
    assert!(matches!(&why, DeliveryError::Bundle(BundleRefusal::TooLarge { .. })), "{why:?}");
    let why = refusal(&machines, &runner, &with(bytes, (64 << 20) + 1023));
    assert!(matches!(&why, DeliveryError::Files { .. }), "{why:?}");
    // A file of 300 MiB is not even read.
    let padded = bundle.with_extension("padded");
    fs::copy(&bundle, &padded).unwrap();
    File::options().write(true).open(&padded).unwrap().set_len(300 << 20).unwrap();
    let why = refusal(&machines, &runner, &Delivery { bundle: Some(padded), ..work.delivery.clone() });
    assert!(matches!(&why, DeliveryError::Bundle(BundleRefusal::TooLarge { .. })), "{why:?}");
    assert!(!machines.has(work.local.head.as_deref().unwrap()));
    let judged = judge(&runner, &record, &with(bytes, (64 << 20) + 1024)).unwrap();
    assert_eq!(judged.state, AgentState::Ready, "{judged:?}");
    assert_eq!(fs::metadata(judged.worktree.join("zeros")).unwrap().len(), 64 << 20);
}

#[test]
fn an_object_that_claims_any_size_takes_no_memory() {
    let machines = Machines::new();
    let runner = machines.home.runner();
    let record = machines.begin(&runner, agent("a", MARKED));
    let work = machines.work(vec![agent("a", MARKED)]).remove(0);
    // A pack that claims one tree of three GiB: four bits of its size are next to its kind, and seven in each of the bytes
    // that follow.
    let mut size: u64 = 3 << 30;
    let mut pack = [&b"PACK"[..], &2_u32.to_be_bytes(), &1_u32.to_be_bytes(), &[0xa0]].concat();
    size >>= 4;
    while size > 0 {
        let more = if size >> 7 > 0 { 0x80 } else { 0 };
        pack.push(u8::try_from(size & 0x7f).unwrap() | more);
        size >>= 7;
    }
    pack.extend([0x78, 0x9c]);
    let bytes = fs::read(work.delivery.bundle.clone().unwrap()).unwrap();
    let (_, length) = BundleHeader::read(&mut bytes.as_slice()).unwrap();
    let bundle = machines.worker.root.join("claims.bundle");
    fs::write(&bundle, [&bytes[..usize::try_from(length).unwrap()], &pack].concat()).unwrap();
    let why = refusal(&machines, &runner, &Delivery { bundle: Some(bundle), ..work.delivery.clone() });
    let is_limit = |reason: &str| reason.contains("attempting to allocate");
    assert!(
        matches!(&why, DeliveryError::Bundle(BundleRefusal::Damaged { reason }) if is_limit(reason)),
        "{why:?}"
    );
    assert_eq!(judge(&runner, &record, &work.delivery).unwrap().state, AgentState::Ready);
}
