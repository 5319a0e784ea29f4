//! `agentd fleet status`, `drain`, `retry` and `logs`.

use std::future::Future;

use cocode_fleet::{
    ConnectError, EventKind, FleetConnection, FleetError, HostName, RunRecord, RunState, TaskName,
};
use fleet_runner::TaskFiles;
use serde::Serialize;
use serde_json::json;

use crate::commands::cocode::failure::error_chain;
use crate::commands::cocode::runner_config::state_folder;
use crate::commands::fleet::options::ServerChoice;
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::Console;
use crate::views::count::counted;

/// The most tasks that are listed, unfinished ones first.
const MOST_TASKS: usize = 200;

/// Connects, and runs what needs a connection.
fn with<T, F: Future<Output = Result<T, FleetError>>>(
    server: &ServerChoice,
    work: impl FnOnce(FleetConnection) -> F,
) -> Result<T, Failure> {
    let address = server.address()?;
    let failed = |error: &dyn std::error::Error| Failure::new(Exit::Failed, error_chain(error));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| failed(&error))?;
    runtime.block_on(async {
        let connection = FleetConnection::open(&address, server.access.lease.timings()).await;
        let connection = connection.map_err(|error| failed(&error).advise(advice(&error)))?;
        work(connection).await.map_err(|error| failed(&error))
    })
}

/// Returns the advice for a failed connection.
fn advice(error: &ConnectError) -> &'static str {
    match error {
        ConnectError::Credentials { .. } => {
            "--key-file FILE names the key; `agentd fleet up` writes home.seed, and prints where it is"
        }
        ConnectError::OtherRole { .. } => {
            "a host's key only lets `agentd fleet join` work; this command needs --key-file with home.seed, which \
             `agentd fleet up` writes next to the keys of the hosts"
        }
        ConnectError::Tls { .. } => {
            "--authority FILE names the certificates of the authority that signed the server's"
        }
        _ => "`agentd fleet up` starts a server; --url URL names another one",
    }
}

/// Lists hosts and tasks.
pub(crate) fn status(console: Console, server: &ServerChoice) -> Outcome {
    let (hosts, mut records, waiting) = with(server, |connection| async move {
        Ok((connection.hosts().await?, connection.records().await?, connection.waiting_tasks().await?))
    })?;
    records.sort_by_key(|(_, record)| record.state.is_final());
    if console.json {
        let hosts: Vec<_> =
            hosts.iter().map(|(name, report)| json!({ "host": name, "report": report })).collect();
        let tasks: Vec<_> = records
            .iter()
            .map(|(name, record)| json!({ "task": name.to_string(), "record": record }))
            .collect();
        console.json_result(&json!({ "hosts": hosts, "waiting": waiting, "tasks": tasks }));
        return Ok(Exit::Done);
    }
    if hosts.is_empty() {
        console.result("no host has joined");
    }
    for (name, report) in &hosts {
        let offer = &report.offer;
        let agents: Vec<_> = offer.agents.iter().map(ToString::to_string).collect();
        let draining = if report.is_draining { ", draining" } else { "" };
        let refusal = report.refusal.as_ref().map(|why| format!(", refused last: {why}")).unwrap_or_default();
        let labels: String = offer.labels.iter().map(|label| format!(" [{label}]")).collect();
        console.result(&format!(
            "{name}{labels}  {} of {} slots busy, {}, confinement {}, agentd {}{draining}{refusal}",
            report.busy,
            offer.slots,
            agents.join(" "),
            offer.confinement,
            report.version
        ));
    }
    let queued = counted(usize::try_from(waiting).unwrap_or(usize::MAX), "task");
    console.result(&format!("{queued} queued or running"));
    for (name, record) in records.iter().take(MOST_TASKS) {
        console.result(&task_line(name, record));
    }
    if records.len() > MOST_TASKS {
        console.notice(&format!("{} more tasks are not listed", records.len() - MOST_TASKS));
    }
    Ok(Exit::Done)
}

fn task_line(name: &TaskName, record: &RunRecord) -> String {
    let state = match record.state {
        RunState::Pending => "pending",
        RunState::Running => "running",
        RunState::Done => "done",
        RunState::Cancelled => "cancelled",
        RunState::Dead => "given up",
    };
    let host = record.host.as_ref().map(|host| format!(" on {host}")).unwrap_or_default();
    let failures = match record.attempts.last() {
        Some(last) => format!("  {} starts came to nothing: {}", record.attempts.len(), last.reason),
        None => String::new(),
    };
    format!("  {name}  {state}{host}{failures}")
}

/// Lets a host take no tasks, or take them again.
pub(crate) fn drain(console: Console, server: &ServerChoice, host: &HostName, drain: bool) -> Outcome {
    let hosts = with(server, |connection| async move {
        connection.drain_host(host, drain).await?;
        connection.hosts().await
    })?;
    let what = if drain { "takes no new tasks" } else { "takes tasks again" };
    console.result(&format!("{host} {what}"));
    if !hosts.iter().any(|(name, _)| name == host) {
        console.notice("no host of that name is there now; it holds as soon as one joins");
    }
    Ok(Exit::Done)
}

/// Gives a task out again.
pub(crate) fn retry(
    common: &CommonOptions,
    console: Console,
    server: &ServerChoice,
    name: &TaskName,
) -> Outcome {
    let failed =
        |error: std::io::Error| Failure::new(Exit::Failed, format!("the tasks of this folder: {error}"));
    let tasks = TaskFiles::open(state_folder(common)?.join("fleet/tasks")).map_err(failed)?;
    if tasks.get(name).map_err(failed)?.is_none() {
        let failure = Failure::new(
            Exit::Usage,
            format!("the task {name} is judged, or was not submitted from this folder"),
        );
        return Err(failure.advise("`agentd cocode run --fleet …` submits a new one"));
    }
    let record = with(server, |connection| async move { connection.records().await })?;
    let state = record.iter().find(|(one, _)| one == name).map(|(_, record)| record.state);
    if !state.is_none_or(RunState::is_final) {
        return Err(Failure::new(Exit::Usage, format!("the task {name} is not over")));
    }
    tasks.request_retry(name).map_err(failed)?;
    console.result(&format!(
        "{name} is given out again by the run that is under way, or by `agentd fleet collect`"
    ));
    Ok(Exit::Done)
}

/// Prints the events of a task.
pub(crate) fn logs(console: Console, server: &ServerChoice, name: &TaskName, follow: bool) -> Outcome {
    #[derive(Serialize)]
    struct Line<'a> {
        host: &'a HostName,
        epoch: u64,
        #[serde(flatten)]
        kind: &'a EventKind,
    }
    let is_known = with(server, |connection| async move {
        if !connection.records().await?.iter().any(|(one, _)| one == name) {
            return Ok(false);
        }
        let mut events = connection.events(name).await?;
        loop {
            let next = events.next();
            let event = match follow {
                true => next.await?,
                // What is there comes at once.
                false => match tokio::time::timeout(std::time::Duration::from_secs(1), next).await {
                    Ok(event) => event?,
                    Err(_) => return Ok(true),
                },
            };
            let Some((host, event)) = event else { return Ok(true) };
            if console.json {
                let line = Line { host: &host, epoch: event.epoch, kind: &event.kind };
                console.result(&serde_json::to_string(&line).expect("events have string keys"));
                continue;
            }
            match &event.kind {
                EventKind::Lines { lines, left_out } => {
                    if *left_out > 0 {
                        console.result(&format!("({left_out} lines were left out)"));
                    }
                    lines.iter().for_each(|line| console.result(line));
                }
                EventKind::Started => console.notice(&format!("started on {host}")),
                other => console.notice(&format!("{host}: {}", words(other))),
            }
        }
    })?;
    match is_known {
        true => Ok(Exit::Done),
        false => Err(Failure::new(Exit::Usage, format!("there is no task {name}"))
            .advise("`agentd fleet status` lists the tasks")),
    }
}

fn words(kind: &EventKind) -> String {
    match kind {
        EventKind::BaseUnusable { reason } => format!("its base cannot be used: {reason}"),
        EventKind::LateUnused { reason } => format!("too late, its work is not used: {reason}"),
        EventKind::AttemptFailed { reason } => format!("could not be run: {reason}"),
        _ => "something that this version does not know".to_owned(),
    }
}
