//! The records of agents that another machine runs, until their work is judged.

use std::sync::PoisonError;

use cocode_env::AgentState;

use crate::delivery::claim::plain;
use crate::delivery::error::DeliveryError;
use crate::error::RunnerError;
use crate::plan::RunRequest;
use crate::record::AgentRecord;
use crate::record::elsewhere::{CheckPermissions, Elsewhere};
use crate::runner::{Runner, now_ms, remove_if_there};

impl Runner {
    /// Records agents that another machine will run, after the same checks as for agents on this machine, except for their
    /// programs. The records, with the issue's text, are on the disk when this returns; nothing else is made.
    ///
    /// # Errors
    /// Those of [`Runner::plan`] except for the agents' programs, and those of the records.
    pub fn begin_elsewhere(
        &self,
        request: &RunRequest,
        fleet: &str,
    ) -> Result<Vec<AgentRecord>, RunnerError> {
        let (base, url) = self.check_request(request)?;
        let run = uuid::Uuid::new_v4().to_string();
        let began = now_ms();
        let mut records = Vec::new();
        for definition in &request.agents {
            let reserved = self.reserve(request, definition, &url)?;
            let timeout = definition.timeout.unwrap_or(request.limits.timeout);
            let mut record = AgentRecord::new(request, &base, definition, &reserved, &run, began);
            record.elsewhere = Some(Elsewhere {
                fleet: fleet.to_owned(),
                task: run.clone(),
                host: None,
                epoch: 0,
                delivered: None,
                check: CheckPermissions::of(definition, timeout.as_secs()),
            });
            records.push(record);
        }
        for record in &records {
            self.store.put_with_body(record, &request.body)?;
        }
        Ok(records)
    }

    /// Records the state of an agent on another machine, as claimed by that machine, and returns the record, which is on the
    /// disk by then.
    ///
    /// # Errors
    /// [`RunnerError::NotElsewhere`], [`RunnerError::NoRecord`]; [`RunnerError::Delivery`] with
    /// [`DeliveryError::Late`] for an earlier attempt than the recorded one, [`DeliveryError::Over`] once the work is
    /// judged, [`DeliveryError::OnlyByVerdict`]; those of the records.
    pub fn set_elsewhere_state(
        &self,
        record: &AgentRecord,
        state: AgentState,
        host: Option<&str>,
        epoch: u64,
        detail: Option<&str>,
    ) -> Result<AgentRecord, RunnerError> {
        let _updating = self.updating.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut record, mut elsewhere) = self.elsewhere_record(record)?;
        let refused = |source| Err(RunnerError::Delivery { agent: record.agent.clone(), source });
        if matches!(state, AgentState::Ready | AgentState::Completed) {
            return refused(DeliveryError::OnlyByVerdict { state });
        }
        if record.verdict.is_some() {
            return refused(DeliveryError::Over { state: record.state });
        }
        if epoch < elsewhere.epoch {
            return refused(DeliveryError::Late { epoch, current: elsewhere.epoch });
        }
        elsewhere.epoch = epoch;
        elsewhere.host = host.map(plain);
        record.elsewhere = Some(elsewhere);
        record.state = state;
        record.detail = detail.map(plain);
        record.ended_at_ms = state.is_final().then(now_ms);
        if state == AgentState::Running && record.launched_at_ms.is_none() {
            // For display only: the verdict compares no times.
            record.launched_at_ms = Some(now_ms());
        }
        self.store.put(&record)?;
        if state.is_final() {
            remove_if_there(&self.cancel_path(&record))?;
        }
        Ok(record)
    }

    /// Returns the text of the issue that an agent was given.
    ///
    /// # Errors
    /// Those of the records.
    pub fn issue_text(&self, record: &AgentRecord) -> Result<String, RunnerError> {
        self.store.body(&record.key())
    }

    /// Returns whether the user has requested that an agent be cancelled, by [`request_cancel`](crate::request_cancel).
    pub fn is_cancel_requested(&self, record: &AgentRecord) -> bool {
        self.cancel_path(record).exists()
    }

    /// Writes a record of a delivery that is being judged, unless the agent was given up meanwhile, or another attempt has
    /// begun.
    pub(super) fn put_delivery(&self, record: &AgentRecord, epoch: u64) -> Result<(), RunnerError> {
        let _updating = self.updating.lock().unwrap_or_else(PoisonError::into_inner);
        let (newest, elsewhere) = self.elsewhere_record(record)?;
        let refused = |source| Err(RunnerError::Delivery { agent: record.agent.clone(), source });
        if newest.state.is_final() {
            return refused(DeliveryError::Over { state: newest.state });
        }
        if epoch < elsewhere.epoch {
            return refused(DeliveryError::Late { epoch, current: elsewhere.epoch });
        }
        self.store.put(record)
    }

    /// Returns the newest state of a record, which must belong to an agent on another machine.
    pub(super) fn elsewhere_record(
        &self,
        record: &AgentRecord,
    ) -> Result<(AgentRecord, Elsewhere), RunnerError> {
        let newest = self.store.record(&record.key())?.filter(|newest| newest.run == record.run);
        let newest = newest.ok_or_else(|| RunnerError::NoRecord { name: record.agent.to_string() })?;
        match newest.elsewhere.clone() {
            Some(elsewhere) => Ok((newest, elsewhere)),
            None => Err(RunnerError::NotElsewhere { agent: record.agent.clone() }),
        }
    }
}
