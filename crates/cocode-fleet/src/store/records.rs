//! Records of tasks, leases, and reports of hosts.

use crate::connection::{FleetConnection, FleetError};
use crate::names::{Bucket, HostName, TaskName};
use crate::task::{Attempt, HostReport, RunRecord};

/// The greatest epoch that a record may have, which JSON readers in any language represent exactly. Home never comes
/// near it: it does not follow records whose epoch is far above the last known one.
const EPOCH_LIMIT: u64 = 1 << 53;

/// The maximum number of attempts that a record may list: a task allows no more of them.
const ATTEMPTS_LIMIT: usize = 100;

/// The newest message under a task's key in `runs`.
#[derive(Clone, Debug)]
pub(crate) struct RecordEntry {
    /// The record; none if the key was deleted, or holds something else.
    pub(crate) record: Option<RunRecord>,
    /// The number that the next writer has to state.
    pub(crate) revision: u64,
}

impl RecordEntry {
    pub(crate) fn parse(value: Option<&[u8]>, revision: u64) -> RecordEntry {
        let record: Option<RunRecord> = value.and_then(|value| serde_json::from_slice(value).ok());
        let is_within =
            |record: &RunRecord| record.epoch <= EPOCH_LIMIT && record.attempts.len() <= ATTEMPTS_LIMIT;
        let record = record.filter(is_within).map(|mut record| {
            // A host may have written longer ones, with which home's next record would not fit into a message.
            for attempt in &mut record.attempts {
                attempt.reason = Attempt::reason(&attempt.reason);
            }
            record
        });
        RecordEntry { record, revision }
    }
}

impl FleetConnection {
    pub(crate) async fn record(&self, task: &TaskName) -> Result<Option<RecordEntry>, FleetError> {
        let entry = self.get_key(Bucket::Runs, &task.tokens()).await?;
        Ok(entry.map(|entry| RecordEntry::parse(entry.value.as_deref(), entry.revision)))
    }

    /// Writes a record if the newest one has the number `revision`; 0 means that there is none. Returns the new number.
    ///
    /// An answer may be lost after the write. A conflict with exactly the same record is therefore a success.
    pub(crate) async fn write_record(
        &self,
        task: &TaskName,
        record: &RunRecord,
        revision: u64,
    ) -> Result<u64, FleetError> {
        let value = serde_json::to_vec(record).expect("a record has no key that is not a text");
        match self.update_key(Bucket::Runs, &task.tokens(), value, revision).await {
            Err(FleetError::Conflict) => match self.record(task).await? {
                Some(entry) if entry.record.as_ref() == Some(record) => Ok(entry.revision),
                _ => Err(FleetError::Conflict),
            },
            other => other,
        }
    }

    /// Returns whether a host has renewed its lease of a task lately, by the server's clock.
    pub(crate) async fn has_lease(&self, host: &HostName, task: &TaskName) -> Result<bool, FleetError> {
        let entry = self.get_key(Bucket::Leases, &lease_key(host, task)).await?;
        Ok(entry.is_some_and(|entry| entry.value.is_some()))
    }

    /// Writes a host's report over the one with the number `revision`, and returns the new number.
    pub(crate) async fn report_host(
        &self,
        host: &HostName,
        report: &HostReport,
        revision: u64,
    ) -> Result<u64, FleetError> {
        let value = serde_json::to_vec(report).expect("a report has no key that is not a text");
        self.update_key(Bucket::Hosts, host.as_str(), value, revision).await
    }
}

pub(crate) fn lease_key(host: &HostName, task: &TaskName) -> String {
    format!("{host}.{}", task.tokens())
}

/// Returns the key of a host's claim in `results`.
pub(crate) fn claim_key(host: &HostName, task: &TaskName, epoch: u64) -> String {
    format!("{host}.{}.{epoch}", task.tokens())
}

/// Returns the key in `control` by which people drain a host.
pub(crate) fn drain_key(host: &HostName) -> String {
    format!("drain.{host}")
}

/// Returns the key in `control` by which home confirms a cancellation as its own.
pub(crate) fn cancel_key(task: &TaskName) -> String {
    format!("cancel.{}", task.tokens())
}
