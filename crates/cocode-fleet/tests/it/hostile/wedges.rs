//! Lies that try to keep a task from all hosts forever. After each of them an honest host does the task.

use std::time::Duration;

use async_nats::jetstream::AckKind;
use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::message::PublishMessage;
use cocode_fleet::{FleetTimings, Notice, Task};
use futures_util::StreamExt;
use tokio::time::{sleep, timeout};

use crate::fakes::Report;
use crate::fixture::task_name;
use crate::hostile::lies::{Lie, RECORD};

const LEASE: &str = "$KV.agentd_crew_leases.south.run1.fixer-1";

fn running(epoch: u64) -> String {
    format!(r#"{{"state":"running","epoch":{epoch},"generation":"g1","host":"south"}}"#)
}

/// Gives the task a deadline that is soon over.
fn hasten(timings: &mut FleetTimings, task: &mut Task) {
    (timings.overtime, task.timeout_seconds) = (Duration::from_millis(500), Some(1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_epoch_above_which_there_are_none() {
    let Some(mut lie) = Lie::prepare("an_epoch_above_which_there_are_none").await else { return };
    for epoch in [1 << 40, 1 << 53] {
        lie.south.write(LEASE, "2").await;
        lie.south.write(RECORD, running(epoch)).await;
        assert_eq!(lie.disbelief().await, "the epoch of its record is higher than hosts can have raised it");
        let queued = |notice: &Notice| matches!(notice, Notice::Queued { .. }).then_some(());
        lie.reports.notice(&task_name("fixer-1"), queued).await;
    }
    lie.honest_end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_record_that_home_cannot_write_back() {
    let Some(mut lie) = Lie::prepare("a_record_that_home_cannot_write_back").await else { return };
    let reason = "x".repeat(130_900);
    let attempts = format!(r#"[{{"epoch":1,"host":"south","reason":"{reason}"}}]"#);
    let record = r#"{"state":"done","epoch":2,"generation":"g1","host":"south","attempts":ATTEMPTS}"#;
    lie.south.write(RECORD, record.replace("ATTEMPTS", &attempts)).await;
    assert_eq!(lie.disbelief().await, "south has no claim under its keys for epoch 2");
    lie.honest_end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_starts_anew_before_each_deadline() {
    let test = "a_host_that_starts_anew_before_each_deadline";
    let Some(lie) = Lie::prepare_with(test, hasten).await else { return };
    let records = lie.south.context.get_stream_no_info("KV_agentd_crew_runs").await.unwrap();
    let mut revision = records.get_last_raw_message_by_subject(RECORD).await.unwrap().sequence;
    let holding = async {
        for epoch in 2.. {
            lie.south.write(LEASE, "2").await;
            let message = PublishMessage::build()
                .payload(running(epoch).into())
                .expected_last_subject_sequence(revision);
            let writing = lie.south.context.send_publish(RECORD, message).await.unwrap();
            // Home has written the record.
            let Ok(ack) = writing.await else { return };
            revision = ack.sequence;
            sleep(Duration::from_millis(200)).await;
        }
    };
    timeout(Duration::from_secs(60), holding).await.expect("home takes the task away");
    lie.honest_end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_keeps_the_message_and_takes_nothing() {
    let test = "a_host_that_keeps_the_message_and_takes_nothing";
    let Some(lie) = Lie::prepare_with(test, hasten).await else { return };
    let consumer: PullConsumer =
        lie.south.context.get_consumer_from_stream("any", "agentd_crew_tasks").await.unwrap();
    let pulling = consumer.batch().max_messages(1).expires(Duration::from_secs(10)).messages();
    let message = pulling.await.unwrap().next().await.unwrap().unwrap();
    let keeping = tokio::spawn(async move {
        while message.ack_with(AckKind::Progress).await.is_ok() {
            sleep(Duration::from_millis(500)).await;
        }
    });
    lie.honest_end().await;
    keeping.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_writes_over_a_cancellation() {
    let Some(mut lie) = Lie::prepare("a_host_that_writes_over_a_cancellation").await else { return };
    lie.south.write(LEASE, "2").await;
    let client = lie.south.client.clone();
    let writing = tokio::spawn(async move {
        loop {
            client.publish(RECORD, running(2).into()).await.unwrap();
            tokio::task::yield_now().await;
        }
    });
    // The control: the record is the host's.
    let is_running = |notice: &Notice| matches!(notice, Notice::Running { .. }).then_some(());
    lie.reports.notice(&task_name("fixer-1"), is_running).await;
    let (home, task) = (lie.connect().await, task_name("fixer-1"));
    let cancelling = timeout(Duration::from_secs(60), home.cancel_task(&task, "g1"));
    cancelling.await.expect("cancelling comes to an end").unwrap();
    let is_cancelled = |notice: &Notice| matches!(notice, Notice::Cancelled).then_some(());
    lie.reports.notice(&task_name("fixer-1"), is_cancelled).await;
    writing.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_base_that_is_called_unusable_again_and_again() {
    let Some(mut lie) = Lie::prepare("a_base_that_is_called_unusable_again_and_again").await else { return };
    lie.south.write(LEASE, "2").await;
    lie.south.write(RECORD, running(2)).await;
    let events = "agentd.v1.crew.ev.south.run1.fixer-1";
    for number in 0..5 {
        let event = format!(r#"{{"epoch":2,"kind":"base_unusable","reason":"{number}"}}"#);
        lie.south.write(events, event).await;
    }
    lie.south.write(events, r#"{"epoch":2,"kind":"lines","lines":["the end"]}"#).await;
    let mut uploads = 0;
    let counting = lie.reports.wait(|report| match report {
        Report::Notice(name, Notice::BaseUploadedAgain { .. }) if *name == task_name("fixer-1") => {
            uploads += 1;
            None
        }
        Report::Lines(..) => Some(()),
        _ => None,
    });
    counting.await;
    assert_eq!(uploads, 1);
    lie.honest_end().await;
}
