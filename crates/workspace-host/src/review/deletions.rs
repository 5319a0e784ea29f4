//! Commands that delete many files wait for a person; others land at once, exactly as they were tried.

use change_review::{FileChangeKind, ProposalId, ProposedCall, Tried, steps_mark};
use wap_core::{Call, CancelFlag, ExecuteCommand, Reason, WapError};

use super::calls::{DecideProposal, ShowProposal, ShownProposal, TryProposal};
use super::reviewed_workspace::ReviewedWorkspace;

/// The maximum number of trials of a command because the folder has changed during one.
const MOST_TRIALS: usize = 3;

impl ShownProposal {
    /// Returns the trial of everything that is held for landing; `None` if there is none.
    #[must_use]
    pub fn held_trial(&self) -> Option<&Tried> {
        self.tried.as_ref().filter(|tried| tried.is_held && self.proposal.is_tried)
    }

    /// Returns the files that the held trial has deleted.
    #[must_use]
    pub fn deletions(&self) -> Vec<&str> {
        let files = self.held_trial().into_iter().flat_map(|tried| &tried.files);
        files.filter(|file| file.kind == FileChangeKind::Deleted).map(|file| file.path.as_str()).collect()
    }
}

impl ReviewedWorkspace {
    /// Proposes a command and tries it. If it deletes few enough files, it lands as it was tried; otherwise, or if it
    /// is left running, its proposal waits for the person.
    pub(super) fn propose_unless_harmless(
        &self,
        call: &Call<'_>,
        command: &ExecuteCommand,
        most: usize,
    ) -> Result<Option<ProposalId>, WapError> {
        let Some(id) = self.propose(call, ProposedCall::Command(command.clone()))? else { return Ok(None) };
        // A command that is left running cannot be tried, and can delete anything later.
        if command.background.is_some() {
            return Ok(Some(id));
        }
        for _ in 0..MOST_TRIALS {
            let mut view = self.request(&ShowProposal(id), call)?;
            // It was decided in the meantime, or a person has begun to choose from it.
            if !view.proposal.is_pending() || !view.draft.selection.0.is_empty() {
                return Ok(Some(id));
            }
            if view.held_trial().is_none() {
                let tried = TryProposal { id, selection: view.draft.selection.clone() };
                if let Err(error) = self.request(&tried, call) {
                    self.take_back(id, call);
                    return Err(untried(&error, call));
                }
                view = self.request(&ShowProposal(id), call)?;
            }
            if view.held_trial().is_none() {
                continue;
            }
            if view.deletions().len() > most {
                return Ok(Some(id));
            }
            let (revision, mark) = (view.draft.revision, steps_mark(&view.proposal.steps));
            // A refusal means that the folder has changed during the trial.
            if self.request(&DecideProposal { id, sends_back: false, revision, mark }, call).is_ok() {
                return Ok(Some(id));
            }
        }
        self.take_back(id, call);
        let text = "other programs change the folder while this is tried, and commands are tried first here, because those that \
            delete many files wait for the user; nothing was done: make the call again";
        Err(WapError::new(Reason::Conflict, text))
    }

    /// Sends back a command that could not be tried, so that it does not wait for a person who was not asked.
    fn take_back(&self, id: ProposalId, call: &Call<'_>) {
        let never = CancelFlag::new();
        let call = Call { cancel: &never, ..*call };
        if let Ok(view) = self.request(&ShowProposal(id), &call)
            && view.proposal.is_pending()
        {
            let revision = view.draft.revision;
            // A proposal that cannot be sent back waits for the review, where a person sees it.
            let _ =
                self.request(&DecideProposal { id, sends_back: true, revision, mark: String::new() }, &call);
        }
    }
}

fn untried(error: &WapError, call: &Call<'_>) -> WapError {
    if call.cancel.is_cancelled() {
        return WapError::new(Reason::Cancelled, "cancelled; nothing was done");
    }
    let text = format!(
        "commands are tried out first here, because those that delete many files wait for the user, and this one could not be \
         tried: {}; nothing was done",
        error.message()
    );
    WapError::new(Reason::SandboxUnavailable, text)
}
