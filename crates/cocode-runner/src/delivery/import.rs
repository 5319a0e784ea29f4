//! Imports delivered commits into the repository.

use std::time::Instant;

use crate::bundle::empty_folder::EmptyFolder;
use crate::bundle::header::is_object_name;
use crate::bundle::incoming::Receiver;
use crate::bundle::refusal::BundleRefusal;
use crate::delivery::error::DeliveryError;
use crate::delivery::{Delivery, size};
use crate::error::RunnerError;
use crate::objects::object_import::{LIMIT, ObjectImport, has_whole};
use crate::objects::own_objects::OwnObjects;
use crate::record::AgentRecord;
use crate::record::elsewhere::{DeliveredHead, Elsewhere};
use crate::repository::worktree::file_error;
use crate::runner::{DELIVERED, Runner};

/// The commit of a delivery, complete in the repository.
pub(super) struct ImportedHead {
    pub(super) commit: String,
    /// True if the repository did not have it before.
    pub(super) is_new: bool,
}

impl Runner {
    /// Imports the commit that a delivery claims, like a confined agent's objects; the start if it claims none.
    ///
    /// The bundle is first read into a separate folder. After an error none of its objects is in the repository.
    pub(super) fn import_delivery(
        &self,
        record: &mut AgentRecord,
        elsewhere: &mut Elsewhere,
        delivery: &Delivery,
    ) -> Result<ImportedHead, RunnerError> {
        let agent = record.agent.clone();
        let refused = |source: DeliveryError| RunnerError::Delivery { agent: agent.clone(), source };
        let start = record.start_commit.clone();
        let (bundle, head) = match (&delivery.bundle, &delivery.head) {
            (None, None) => return Ok(ImportedHead { commit: start, is_new: false }),
            (None, Some(head)) if *head == start => return Ok(ImportedHead { commit: start, is_new: false }),
            (None, Some(head)) => return Err(refused(DeliveryError::NoBundle { head: head.clone() })),
            (Some(_), None) => return Err(refused(DeliveryError::NoHead)),
            (Some(bundle), Some(head)) => (bundle, head),
        };
        if !is_object_name(head) || head.len() != start.len() {
            return Err(refused(DeliveryError::HeadName { digits: start.len() }));
        }
        let path = self.config.state_folder.join(DELIVERED).join(record.key());
        let folder = EmptyFolder::make(path.clone()).map_err(file_error("make", &path))?;
        let repository = &self.repository;
        let objects = OwnObjects::received(folder.path(), &repository.common_folder);
        let receiver = Receiver {
            git: &repository.git,
            location: repository.location(),
            objects: objects.common(),
            folder: objects.own(),
            limit_bytes: delivery.limits.bundle_bytes,
            limit: LIMIT,
            // As for agents on this machine, git's objections are a part of the verdict.
            is_strict: false,
        };
        let has = |commit: &str| match has_whole(repository, commit, std::slice::from_ref(&start), LIMIT) {
            Err(RunnerError::Git(error)) => Err(error),
            // No other error is expected; if one occurs, the bundle is refused.
            has => Ok(has.unwrap_or_default()),
        };
        let received = receiver.receive(bundle, head, std::slice::from_ref(&start), has);
        received.map_err(|refusal| refused(refusal.into()))?;
        let git = repository.git.with_objects(objects.own(), Some(objects.common())).within(LIMIT);
        size::check(repository, &git, record, head, delivery.limits.checkout_bytes)?;

        // One at a time, so that of two deliveries of the same commit only the first one is new.
        let _importing = self.importing.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        self.clear_for_delivery(record, elsewhere)?;
        let recorded = elsewhere.delivered.take().filter(|delivered| delivered.commit == *head);
        let delivered = match recorded {
            Some(delivered) => delivered,
            None => DeliveredHead { commit: head.clone(), is_new: self.is_new(record, head)? },
        };
        let is_new = delivered.is_new;
        elsewhere.delivered = Some(delivered);
        elsewhere.host = Some(crate::delivery::claim::plain(&delivery.host));
        elsewhere.epoch = delivery.epoch;
        record.elsewhere = Some(elsewhere.clone());
        // Before the import: afterwards the repository has the commit in any case.
        self.put_delivery(record, delivery.epoch)?;
        let mut import = ObjectImport::new(repository, objects, &start);
        import.end_at(Instant::now() + LIMIT);
        if !import.import_commit(head)? {
            return Err(refused(BundleRefusal::Incomplete { commit: head.clone() }.into()));
        }
        import.finish()?;
        Ok(ImportedHead { commit: head.clone(), is_new })
    }

    /// Returns whether neither the repository has a commit nor any other agent has delivered it.
    fn is_new(&self, record: &AgentRecord, commit: &str) -> Result<bool, RunnerError> {
        if self.repository.commit(commit).is_some() {
            return Ok(false);
        }
        let is_other = |other: &AgentRecord| {
            let delivered = other.elsewhere.as_ref().and_then(|elsewhere| elsewhere.delivered.as_ref());
            other.key() != record.key()
                && (other.head.as_deref() == Some(commit)
                    || delivered.is_some_and(|delivered| delivered.commit == commit))
        };
        Ok(!self.store.records()?.iter().any(is_other))
    }
}
