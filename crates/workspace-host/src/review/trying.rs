//! One trial of a proposal at a time.

use std::sync::PoisonError;
use std::time::Duration;

use change_review::{ProposalId, Resolution};
use wap_core::CancelFlag;

use crate::failure::{Exit, Failure};
use crate::review::Reviews;

/// The interval at which a caller that waits checks its flag, because a cancellation wakes no condition variable.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The running trial of a proposal; dropping it allows another trial.
pub(super) struct Trying<'r> {
    reviews: &'r Reviews,
    id: ProposalId,
}

impl<'r> Trying<'r> {
    /// Begins the trial of a choice. If the same choice is already being tried, for instance because a call was
    /// repeated, this waits for that trial: `None` if its overlay is then held.
    ///
    /// # Errors
    ///
    /// A refusal while another choice is being tried, and [`Exit::Interrupted`] if the wait is cancelled.
    pub(super) fn begin(
        reviews: &'r Reviews,
        id: ProposalId,
        resolution: &Resolution,
        cancel: &CancelFlag,
    ) -> Result<Option<Trying<'r>>, Failure> {
        let is_held = || reviews.held().get(&id).is_some_and(|held| held.resolution == *resolution);
        let mut has_waited = false;
        let mut trying = reviews.trying();
        while let Some(other) = trying.get(&id) {
            if other != resolution {
                let message = format!("another choice of proposal {id} is being tried");
                return Err(Failure::new(Exit::Failed, message)
                    .advise("wait until that trial has ended, or stop it where it was begun"));
            }
            if cancel.is_cancelled() {
                return Err(Failure::new(Exit::Interrupted, "stopped: nothing was kept"));
            }
            has_waited = true;
            (trying, _) =
                reviews.trial_ended.wait_timeout(trying, LOOK_EVERY).unwrap_or_else(PoisonError::into_inner);
        }
        if has_waited && is_held() {
            return Ok(None);
        }
        trying.insert(id, resolution.clone());
        Ok(Some(Trying { reviews, id }))
    }
}

impl Drop for Trying<'_> {
    fn drop(&mut self) {
        self.reviews.trying().remove(&self.id);
        self.reviews.trial_ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use change_journal::Journal;
    use change_review::{Instead, ProposalId, Resolution};
    use wap_core::CancelFlag;

    use super::Trying;
    use crate::failure::Exit;
    use crate::review::Reviews;
    use crate::{HostOptions, WorkspacePaths};

    #[test]
    fn the_trials_of_a_proposal_are_one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let paths = WorkspacePaths::find(&HostOptions::new(folder.path())).unwrap();
        let reviews = Reviews::open(&Journal::in_memory().unwrap(), &paths, None);
        let (everything, id, never) = (Resolution::default(), ProposalId(7), CancelFlag::new());
        let part = Resolution([(1, Instead::Nothing)].into());
        let first = Trying::begin(&reviews, id, &everything, &never).unwrap();
        assert!(first.is_some());
        // Another choice is refused at once; another proposal is not.
        let refused = Trying::begin(&reviews, id, &part, &never).err().unwrap();
        assert!(refused.message.contains("another choice of proposal 7 is being tried"), "{refused:?}");
        assert!(refused.advice.is_some());
        assert!(Trying::begin(&reviews, ProposalId(8), &part, &never).unwrap().is_some());
        // The same choice waits, until it is given up,
        let given_up = CancelFlag::new();
        given_up.cancel();
        let stopped = Trying::begin(&reviews, id, &everything, &given_up).err().unwrap();
        assert_eq!(stopped.exit, Exit::Interrupted);
        // or until the first trial has ended, here without an overlay: it is tried once more.
        thread::scope(|scope| {
            let second =
                scope.spawn(|| Trying::begin(&reviews, id, &everything, &never).map(|begun| begun.is_some()));
            drop(first);
            assert!(second.join().unwrap().unwrap());
        });
        assert!(Trying::begin(&reviews, id, &part, &never).unwrap().is_some());
    }
}
