//! Comparing the journal with the server, and following changes in between.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use super::context::{HomeContext, report_connection};
use super::{events, step};
use crate::connection::FleetError;
use crate::contract::Notice;
use crate::names::{Bucket, ClassName, HostName, TaskName};
use crate::store::RecordEntry;
use crate::task::{HostReport, RunRecord, RunState};

/// The maximum number of new tasks that are published before everything is compared.
const FEW: usize = 64;

/// The number of tasks republished per comparison because hosts have not taken them for long.
const MOST_WITHHELD: usize = 8;

/// Follows all tasks of the journal, until it is dropped. `is_prepared` is true if the streams exist.
pub(super) async fn run(context: Arc<HomeContext>, is_prepared: bool) {
    tokio::select! {
        () = follow(Arc::clone(&context), is_prepared) => {}
        () = events::run(Arc::clone(&context)) => {}
    }
}

async fn follow(context: Arc<HomeContext>, mut is_prepared: bool) {
    // Dropping the set ends the steps; each can be repeated.
    let mut steps = JoinSet::new();
    let subject = context.connection.subjects.key(Bucket::Runs, ">");
    let mut changes = match context.connection.client.subscribe(subject).await {
        Ok(subscription) => subscription.boxed(),
        Err(_) => futures_util::stream::pending().boxed(),
    };
    let mut problem = Some(String::new());
    let mut next = Instant::now();
    let mut pause = Duration::from_millis(100);
    loop {
        tokio::select! {
            _ = tokio::time::sleep_until(next) => {
                let timings = &context.connection.timings;
                match reconcile(&context, &mut steps, &mut is_prepared).await {
                    Ok(()) => {
                        set_problem(&context, &mut problem, None).await;
                        (next, pause) = (Instant::now() + timings.poll, Duration::from_millis(100));
                    }
                    Err(error) => {
                        is_prepared = false;
                        set_problem(&context, &mut problem, Some(crate::text::chain(&error))).await;
                        next = Instant::now() + pause;
                        pause = (pause * 2).min(timings.backoff_limit);
                    }
                }
            }
            () = context.wake.notified() => {
                context.forget_summaries();
                next = Instant::now();
            }
            Some(change) = changes.next() => {
                // Also writes that the server refuses come here, so this is only a hint. Home's own are not worth a look.
                let is_pending = RecordEntry::parse(Some(&change.payload), 0)
                    .record
                    .is_some_and(|record| record.state == RunState::Pending);
                let prefix = context.connection.subjects.key(Bucket::Runs, "");
                let name = change.subject.strip_prefix(&prefix).and_then(TaskName::from_tokens);
                if let Some(name) = name.filter(|_| !is_pending) {
                    start_step(&context, &mut steps, &name);
                }
            }
            Some(_) = steps.join_next() => {}
        }
    }
}

async fn set_problem(context: &HomeContext, current: &mut Option<String>, problem: Option<String>) {
    if *current != problem {
        current.clone_from(&problem);
        report_connection(&context.judge, problem).await;
    }
}

fn start_step(context: &Arc<HomeContext>, steps: &mut JoinSet<()>, name: &TaskName) {
    if context.begin(name) {
        let (context, name) = (Arc::clone(context), name.clone());
        steps.spawn(async move {
            loop {
                // A later comparison repeats what failed.
                let outcome = step::run(&context, &name).await;
                context.count_step(&name, matches!(outcome, Err(step::StepError::Home(_))));
                if !context.end(&name) {
                    return;
                }
                // The guard of busy tasks stays with this loop.
                sleep(Duration::ZERO).await;
            }
        });
    }
}

/// Compares once. Tasks are listed before records: a host writes the record before it removes the task, so a task that
/// is missing although its record is not final is really lost.
async fn reconcile(
    context: &Arc<HomeContext>,
    steps: &mut JoinSet<()>,
    is_prepared: &mut bool,
) -> Result<(), FleetError> {
    let Some(Ok(names)) = context.ask_judge(|judge| judge.unresolved()).await else { return Ok(()) };
    let new = context.follow_exactly(&names.into_iter().collect::<HashSet<_>>());
    if !*is_prepared {
        context.connection.prepare(&context.config.limits).await?;
        context.uploaded.lock().await.clear();
        context.classes.lock().await.clear();
        *is_prepared = true;
    }
    // Preparing has made sure of its consumer.
    context.classes.lock().await.insert(ClassName::any());
    // A few new tasks are handled without the comparison, which reads the records of all tasks.
    if new.len() <= FEW {
        new.iter().for_each(|name| start_step(context, steps, name));
    }
    let followed = context.followed_names();
    if followed.is_empty() {
        // Even without tasks, people should see that the server is away.
        return context.connection.waiting_tasks().await.map(drop);
    }
    events::look(context).await;
    let queued = context.connection.queued_tasks().await?;
    // Keys of other homes, and other keys written by hosts, are ignored.
    let keys: HashSet<String> = followed.iter().map(TaskName::tokens).collect();
    let followed_record = |key: &str, value: &[u8], revision| {
        keys.contains(key).then(|| (key.to_owned(), RecordEntry::parse(Some(value), revision)))
    };
    let records: HashMap<String, RecordEntry> =
        context.connection.snapshot(Bucket::Runs, followed_record).await?.into_iter().collect();
    let mut waiting = Vec::new();
    for name in followed {
        let record = records.get(&name.tokens()).and_then(|entry| entry.record.as_ref());
        let waits = record.filter(|record| record.state == RunState::Pending).map(|record| record.epoch);
        if context.is_resting(&name) {
            continue;
        }
        if is_due(context, &name, record, queued.contains(&name)) {
            start_step(context, steps, &name);
        } else if let Some(epoch) = waits {
            waiting.push((name, epoch));
        }
    }
    if !waiting.is_empty() {
        for name in report_needs(context, waiting).await? {
            context.withhold(&name);
            start_step(context, steps, &name);
        }
    }
    Ok(())
}

/// Returns whether a step is due for a task. A host that works on it is not disturbed.
fn is_due(context: &HomeContext, name: &TaskName, record: Option<&RunRecord>, is_queued: bool) -> bool {
    let generation =
        context.inspect(name, |task| task.summary.as_ref().map(|summary| summary.generation.clone()));
    let is_ours = |record: &RunRecord| generation.flatten().is_some_and(|ours| ours == record.generation);
    record.is_none_or(|record| {
        let is_overdue = record.state == RunState::Running && context.is_overdue(name, record.epoch);
        let is_of_the_past = context.inspect(name, |task| record.epoch < task.epoch) == Some(true);
        let is_invented = is_of_the_past || context.leaps(name, record);
        record.state.is_final() || !is_queued || !is_ours(record) || is_overdue || is_invented
    })
}

/// Reports the tasks that no host can take, with the unmet needs of each host. Returns some of those that a host with a
/// free slot could take, but that have waited longer than a host may have a task: a host that pulls a message need not
/// take its task.
async fn report_needs(
    context: &Arc<HomeContext>,
    waiting: Vec<(TaskName, u64)>,
) -> Result<Vec<TaskName>, FleetError> {
    let mut withheld = Vec::new();
    let hosts = timeout(context.connection.timings.deadline, context.connection.hosts()).await;
    let Ok(hosts) = hosts else { return Ok(withheld) };
    let hosts: Vec<(HostName, HostReport)> = hosts?;
    let is_free = |report: &HostReport| report.busy < report.offer.slots && !report.is_draining;
    for (name, epoch) in waiting {
        let Some(Some(summary)) = context.inspect(&name, |task| task.summary.clone()) else { continue };
        let unmet: Vec<_> = hosts
            .iter()
            .map(|(host, report)| (host.clone(), report.offer.unmet(&summary.needs, report.protocol)))
            .collect();
        if unmet.iter().all(|(_, unmet)| !unmet.is_empty()) {
            context.notice(&name, Notice::NoHostFits { hosts: unmet }).await;
            continue;
        }
        let is_late = context.is_overdue(&name, epoch);
        let mut able = hosts.iter().zip(&unmet).filter(|(_, (_, unmet))| unmet.is_empty());
        if is_late && withheld.len() < MOST_WITHHELD && able.any(|((_, report), _)| is_free(report)) {
            withheld.push(name);
        }
    }
    Ok(withheld)
}
