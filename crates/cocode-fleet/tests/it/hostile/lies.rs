//! Home is never fooled: what a host may write, and home does not believe. Each lie has its control, the honest task that is
//! judged in the end.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_nats::jetstream::AckKind;
use cocode_fleet::{FleetConnection, FleetHome, FleetTimings, FleetWorker, JudgeError, Notice, Role, Task};
use futures_util::StreamExt;
use sha2::{Digest, Sha256};

use crate::fakes::{FakeExecutor, FakeJudge, Report, Reports};
use crate::fixture::{name, task_name};
use crate::hostile::secured::{Liar, Secured};

pub(crate) const RECORD: &str = "$KV.agentd_crew_runs.run1.fixer-1";

/// A fleet with one published task, and a liar as the host south.
pub(crate) struct Lie {
    secured: Secured,
    judge: Arc<FakeJudge>,
    pub(crate) reports: Reports,
    pub(crate) south: Liar,
    home: FleetHome,
}

impl Lie {
    pub(crate) async fn prepare(test: &str) -> Option<Lie> {
        Lie::prepare_with(test, |_, _| {}).await
    }

    /// Prepares a fleet whose intervals and whose task are changed first.
    pub(crate) async fn prepare_with(
        test: &str,
        change: impl FnOnce(&mut FleetTimings, &mut Task),
    ) -> Option<Lie> {
        // Home judges by itself: only this content is ready.
        let (judge, reports) = FakeJudge::with_verdict(|delivery| {
            let content = delivery.bundle.as_ref().map(|path| std::fs::read(path).unwrap());
            if content.as_deref() == Some(b"honest commits") {
                return Ok(());
            }
            Err(JudgeError::NotBelieved("the bundle does not hold the commit".to_owned()))
        });
        let mut secured = Secured::start(test)?;
        let mut submitted = secured.fixture.task("fixer-1").await;
        change(&mut secured.fixture.timings, &mut submitted.task);
        judge.add(submitted);
        let mut config = secured.fixture.home_config();
        config.address = secured.address(Role::Home);
        let home = FleetHome::start(config, judge.clone());
        let south = secured.liar("south").await;
        let mut lie = Lie { secured, judge, reports, south, home };
        let queued = |notice: &Notice| matches!(notice, Notice::Queued { .. }).then_some(());
        lie.reports.notice(&task_name("fixer-1"), queued).await;
        Some(lie)
    }

    /// Waits until home says that it does not believe; returns the reason.
    pub(crate) async fn disbelief(&mut self) -> String {
        let reason = |notice: &Notice| match notice {
            Notice::NotBelieved { reason, .. } => Some(reason.clone()),
            _ => None,
        };
        self.reports.notice(&task_name("fixer-1"), reason).await
    }

    /// The control: an honest host does the task, and nothing else is ever judged.
    pub(crate) async fn honest_end(mut self) {
        let _worker = self.honest();
        let (host, _, bundle) = self.reports.judged(&task_name("fixer-1")).await;
        assert_eq!(host, name("north"));
        assert_eq!(bundle.unwrap(), b"honest commits");
        assert_eq!(self.judge.unresolved_count(), 0);
    }

    /// Connects as home, in addition to the one under test.
    pub(crate) async fn connect(&self) -> FleetConnection {
        FleetConnection::open(&self.secured.address(Role::Home), self.secured.fixture.timings).await.unwrap()
    }

    fn honest(&self) -> FleetWorker {
        let mut config = self.secured.fixture.worker_config("north");
        config.address = self.secured.address(Role::Host(name("north")));
        FleetWorker::start(config, FakeExecutor::ready("honest commits"))
    }

    async fn claim(&self, epoch: u64, claim: &str) {
        self.south.write(&format!("$KV.agentd_crew_results.south.run1.fixer-1.{epoch}"), claim).await;
    }

    async fn upload(&self, content: &[u8]) -> String {
        let digest: String = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
        // A chunk begins with a byte that no message has.
        let chunk = [&[0], content].concat();
        self.south.write(&format!("agentd.v1.crew.bundle.south.run1.fixer-1.2.{digest}.0"), chunk).await;
        digest
    }
}

fn done(host: &str, epoch: u64, result: &str) -> String {
    format!(r#"{{"state":"done","epoch":{epoch},"generation":"g1","host":"{host}","result":"{result}"}}"#)
}

fn bundle_claim(digest: &str, size: u64) -> String {
    format!(r#"{{"state":"ready","exit_code":0,"bundle":{{"digest":"{digest}","size_bytes":{size}}}}}"#)
}

macro_rules! lie {
    ($name:ident, $lie:ident, $body:block) => {
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $name() {
            let Some(mut $lie) = Lie::prepare(stringify!($name)).await else { return };
            $body
            $lie.honest_end().await;
        }
    };
}

lie!(done_without_a_claim, lie, {
    lie.south.write(RECORD, done("south", 2, &"1".repeat(64))).await;
    assert_eq!(lie.disbelief().await, "south has no claim under its keys for epoch 2");
});

lie!(done_in_the_name_of_another_host, lie, {
    let digest = lie.upload(b"bad commits").await;
    lie.claim(2, &bundle_claim(&digest, 11)).await;
    lie.south.write(RECORD, done("north", 2, &digest)).await;
    assert_eq!(lie.disbelief().await, "north has no claim under its keys for epoch 2");
});

lie!(a_claim_of_another_epoch, lie, {
    let digest = lie.upload(b"bad commits").await;
    lie.claim(7, &bundle_claim(&digest, 11)).await;
    lie.south.write(RECORD, done("south", 2, &digest)).await;
    assert_eq!(lie.disbelief().await, "south has no claim under its keys for epoch 2");
});

lie!(an_epoch_beyond_all_epochs, lie, {
    lie.south.write(RECORD, done("south", u64::MAX, &"1".repeat(64))).await;
    assert_eq!(lie.disbelief().await, "its record is not readable");
});

lie!(record_and_claim_with_different_bundles, lie, {
    let digest = lie.upload(b"bad commits").await;
    lie.claim(2, &bundle_claim(&digest, 11)).await;
    lie.south.write(RECORD, done("south", 2, &"1".repeat(64))).await;
    assert_eq!(lie.disbelief().await, "record and claim name different bundles");
});

lie!(a_bundle_under_the_digest_of_another, lie, {
    let digest = "1".repeat(64);
    lie.south.write(&format!("agentd.v1.crew.bundle.south.run1.fixer-1.2.{digest}.0"), "\0bad commits").await;
    lie.claim(2, &bundle_claim(&digest, 11)).await;
    lie.south.write(RECORD, done("south", 2, &digest)).await;
    assert_eq!(lie.disbelief().await, format!("the bundle {digest} is damaged"));
});

lie!(a_bundle_that_is_not_there, lie, {
    let digest = "1".repeat(64);
    lie.claim(2, &bundle_claim(&digest, 11)).await;
    lie.south.write(RECORD, done("south", 2, &digest)).await;
    assert_eq!(lie.disbelief().await, format!("chunk 1 of 1 of the bundle {digest} is missing"));
});

lie!(a_bundle_larger_than_bundles_may_be, lie, {
    let digest = "1".repeat(64);
    lie.claim(2, &bundle_claim(&digest, 1 << 40)).await;
    lie.south.write(RECORD, done("south", 2, &digest)).await;
    assert_eq!(
        lie.disbelief().await,
        "the claimed bundle has 1099511627776 bytes, more than bundles may have"
    );
});

lie!(a_forged_verdict, lie, {
    // The claim says ready. Home judges the bundle, and not the claim.
    let digest = lie.upload(b"bad commits").await;
    lie.claim(2, &bundle_claim(&digest, 11)).await;
    lie.south.write(RECORD, done("south", 2, &digest)).await;
    assert_eq!(lie.disbelief().await, "the bundle does not hold the commit");
});

lie!(a_huge_claim, lie, {
    lie.claim(2, &format!(r#"{{"state":"ready","detail":"{}"}}"#, "x".repeat(100_000))).await;
    lie.south.write(RECORD, done("south", 2, &"1".repeat(64))).await;
    assert_eq!(lie.disbelief().await, "the claim has 100029 bytes, more than 65536");
});

lie!(a_claim_that_is_not_json, lie, {
    lie.claim(2, "ready").await;
    lie.south.write(RECORD, done("south", 2, &"1".repeat(64))).await;
    assert_eq!(lie.disbelief().await, "not the JSON of a claim: expected value at line 1 column 1");
});

lie!(a_record_that_is_not_json, lie, {
    lie.south.write(RECORD, "done").await;
    assert_eq!(lie.disbelief().await, "its record is not readable");
});

lie!(cancelled_by_a_host, lie, {
    lie.south.write(RECORD, r#"{"state":"cancelled","epoch":2,"generation":"g1"}"#).await;
    assert_eq!(lie.disbelief().await, "it says cancelled, and home has not cancelled it");
});

lie!(given_up_without_attempts, lie, {
    lie.south.write(RECORD, r#"{"state":"dead","epoch":2,"generation":"g1"}"#).await;
    assert_eq!(lie.disbelief().await, "it says given up, without as many attempts");
});

lie!(running_without_a_host, lie, {
    lie.south.write(RECORD, r#"{"state":"running","epoch":2,"generation":"g1"}"#).await;
    assert_eq!(lie.disbelief().await, "it says running, without a host");
});

lie!(a_record_of_another_submission, lie, {
    // Home writes its own generation over it.
    lie.south.write(RECORD, r#"{"state":"done","epoch":5,"generation":"other"}"#).await;
    let again = |notice: &Notice| matches!(notice, Notice::Queued { epoch: 6 }).then_some(());
    lie.reports.notice(&task_name("fixer-1"), again).await;
});

lie!(a_task_that_was_acknowledged_and_not_done, lie, {
    let stream = "agentd_crew_tasks";
    let consumer: async_nats::jetstream::consumer::PullConsumer =
        lie.south.context.get_consumer_from_stream("any", stream).await.unwrap();
    let mut batch = consumer
        .batch()
        .max_messages(1)
        .expires(std::time::Duration::from_secs(10))
        .messages()
        .await
        .unwrap();
    let message = batch.next().await.unwrap().unwrap();
    message.double_ack_with(AckKind::Ack).await.unwrap();
    let again = |notice: &Notice| matches!(notice, Notice::PublishedAgain { .. }).then_some(());
    lie.reports.notice(&task_name("fixer-1"), again).await;
});

lie!(a_claim_without_the_task, lie, {
    // It was never taken: a claim alone is not looked at.
    let digest = lie.upload(b"honest commits").await;
    lie.claim(2, &bundle_claim(&digest, 14)).await;
    assert!(!lie.reports.rest().iter().any(|report| matches!(report, Report::Judged { .. })));
});

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_about_tasks_of_others_are_dropped() {
    let Some(mut lie) = Lie::prepare("events_about_tasks_of_others_are_dropped").await else { return };
    for epoch in 0..5 {
        let event = format!(r#"{{"epoch":{epoch},"kind":"lines","lines":["forged"]}}"#);
        lie.south.write("agentd.v1.crew.ev.south.run1.fixer-1", event).await;
        let event = format!(r#"{{"epoch":{epoch},"kind":"base_unusable","reason":"forged"}}"#);
        lie.south.write("agentd.v1.crew.ev.south.run1.fixer-1", event).await;
    }
    let _worker = lie.honest();
    let mut hosts = BTreeSet::new();
    lie.reports
        .wait(|report| match report {
            Report::Lines(_, host, ..) => {
                hosts.insert(host.to_string());
                None
            }
            Report::Notice(_, Notice::BaseUploadedAgain { .. }) => panic!("{report:?}"),
            Report::Judged { .. } => Some(()),
            _ => None,
        })
        .await;
    // The control: the lines of the host that worked on it are there.
    assert_eq!(hosts, BTreeSet::from(["north".to_owned()]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_liar_is_not_asked_for_ever() {
    let Some(mut lie) = Lie::prepare("a_liar_is_not_asked_for_ever").await else { return };
    let home = lie.connect().await;
    let task = task_name("fixer-1");
    for _ in 0..3 {
        let (_, record) = home.records().await.unwrap().remove(0);
        let attempts = serde_json::to_string(&record.attempts).unwrap();
        let record = done("south", record.epoch + 1, &"1".repeat(64));
        lie.south
            .write(RECORD, record.replace("\"state\"", &format!("\"attempts\":{attempts},\"state\"")))
            .await;
        lie.disbelief().await;
        // The disbelief is written before the next lie.
        while home.records().await.unwrap()[0].1.host.is_some() {}
    }
    let reasons = lie.reports.notice(&task, |notice| match notice {
        Notice::Dead { reasons } => Some(reasons.clone()),
        _ => None,
    });
    let reasons = reasons.await;
    assert_eq!(reasons.len(), 3);
    assert!(reasons[0].starts_with("south: not believed: "), "{reasons:?}");
    // The control: under another generation, an honest host does it.
    let mut again = lie.secured.fixture.task("fixer-1").await;
    again.task.generation = "g2".to_owned();
    lie.judge.add(again);
    lie.home.journal_changed();
    lie.honest_end().await;
}
