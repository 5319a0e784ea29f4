//! Taking a task: the record decides, by compare-and-set.

use std::time::Duration;

use super::context::WorkerContext;
use super::settle;
use crate::connection::FleetError;
use crate::names::Bucket;
use crate::store::lease_key;
use crate::task::{HostReport, RunRecord, RunState, Task};

/// The longest wait for a task that another host has taken at the same moment.
const SOON: Duration = Duration::from_millis(200);

/// The outcome of trying to take a delivered task.
#[derive(Debug)]
pub(super) enum Taking {
    /// It is this host's, under the record's epoch; with the revision of the record.
    Taken(RunRecord, u64),
    /// There is nothing to do: the message can be removed.
    Over,
    /// It cannot be taken now.
    Later(Duration),
}

/// Takes a task, if it is available.
pub(super) async fn take(context: &WorkerContext, task: &Task) -> Taking {
    let delay = context.connection.timings.retry_delay;
    if context.is_draining() {
        // The pull was pending when the host was drained.
        return Taking::Later(SOON.min(delay));
    }
    let unmet = context.offer().await.unmet(task, HostReport::own_protocol());
    if !unmet.is_empty() {
        let needs: Vec<String> = unmet.iter().map(ToString::to_string).collect();
        context.refuse(format!("{}: {}", task.name, needs.join(", ")));
        return Taking::Later(delay);
    }
    match take_record(context, task).await {
        Ok(taking) => taking,
        Err(FleetError::Conflict) => Taking::Later(SOON.min(delay)),
        Err(_) => Taking::Later(delay),
    }
}

async fn take_record(context: &WorkerContext, task: &Task) -> Result<Taking, FleetError> {
    let (connection, host) = (&context.connection, &context.config.host);
    let later = Taking::Later(connection.timings.retry_delay);
    // Home writes the record before the message. If it is missing or unreadable, home writes it again.
    let Some(entry) = connection.record(&task.name).await? else { return Ok(later) };
    let Some(mut record) = entry.record else { return Ok(later) };
    if record.generation != task.generation || record.state.is_final() {
        return Ok(Taking::Over);
    }
    if let (RunState::Running, Some(holder)) = (record.state, record.host.clone()) {
        if connection.has_lease(&holder, &task.name).await? {
            return Ok(Taking::Later(connection.timings.renew / 2));
        }
        record.give_up_attempt("the host was gone before it finished");
    }
    if record.attempts.len() >= task.attempts {
        settle::give_up(context, &task.name, record, entry.revision).await?;
        return Ok(Taking::Over);
    }
    record.state = RunState::Running;
    record.epoch += 1;
    record.host = Some(host.clone());
    record.result = None;
    // The lease is written before the record, so that no other host finds the record without it.
    let lease = lease_key(host, &task.name);
    connection.put_key(Bucket::Leases, &lease, record.epoch.to_string().into_bytes()).await?;
    let written = connection.write_record(&task.name, &record, entry.revision).await;
    if written.is_err() {
        let _ = connection.delete_key(Bucket::Leases, &lease).await;
    }
    Ok(Taking::Taken(record, written?))
}
