//! A workspace whose changes and commands first wait for a person.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use change_review::{Decision, ProposalId, ProposedCall, State};
use tagproto::UnobservedExecution;
use wap_core::{
    Call, CommandObserver, ConversationId, ExecuteCommand, ExecuteCommandResponse, ExploreFiles,
    ExploreFilesResponse, FileChange, FileChanged, FileStates, JudgedFile, Moment, ReadFile,
    ReadFileResponse, Reason, SearchFiles, SearchFilesResponse, StopProcess, StopProcessResponse, WapError,
    Workspace, WorkspaceInfo,
};

use crate::failure::Failure;
use crate::owner::session_call::{SessionCall, SessionRefusal};
use crate::owner::session_progress::Watching;
use crate::owner::shared_workspace::SharedWorkspace;
use crate::review::CallAnswer;
use crate::review::calls::{AnsweredProposal, AwaitReview, ProposeCalls};

/// The time for which a call waits for a reviewer if its client does not state its own limit: clients give up after 60
/// seconds.
const USUAL_WAIT: Duration = Duration::from_secs(45);

/// The polling interval for a proposal, about which the owner of the state folder answers at once.
const PAUSE: Duration = Duration::from_millis(100);

/// The part of a call's time reserved for its answer.
const MARGIN: Duration = Duration::from_secs(2);

/// The changes that wait for a person before they are carried out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReviewPolicy {
    /// Changes and commands.
    All,
    /// Commands.
    Commands,
    /// None.
    #[default]
    None,
}

impl fmt::Display for ReviewPolicy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            ReviewPolicy::All => "all",
            ReviewPolicy::Commands => "commands",
            ReviewPolicy::None => "none",
        })
    }
}

impl FromStr for ReviewPolicy {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<ReviewPolicy, &'static str> {
        let all = [ReviewPolicy::All, ReviewPolicy::Commands, ReviewPolicy::None];
        all.into_iter().find(|policy| policy.to_string() == text).ok_or("give all, commands or none")
    }
}

/// A workspace whose clients' changes and commands become proposals. A call waits for the reviewer as long as its
/// client waits, then answers [`Reason::PendingReview`] with the number of the proposal; repeating the request
/// continues to wait for the same proposal.
#[derive(Debug)]
pub struct ReviewedWorkspace {
    shared: Arc<SharedWorkspace>,
    policy: ReviewPolicy,
    front_end: String,
    /// The maximum number of files that a command deletes without a review; `None` for any number.
    pub(super) most_deletions: Option<usize>,
}

impl ReviewedWorkspace {
    /// Adds a review to a workspace.
    #[must_use]
    pub fn new(
        shared: Arc<SharedWorkspace>,
        policy: ReviewPolicy,
        front_end: impl Into<String>,
    ) -> ReviewedWorkspace {
        ReviewedWorkspace { shared, policy, front_end: front_end.into(), most_deletions: None }
    }

    /// Makes commands that delete more files than this wait for the reviewer, whatever the policy.
    #[must_use]
    pub fn with_most_deletions(self, most_deletions: Option<usize>) -> ReviewedWorkspace {
        ReviewedWorkspace { most_deletions, ..self }
    }

    pub(super) fn request<C: SessionCall>(
        &self,
        request: &C,
        call: &Call<'_>,
    ) -> Result<C::Answer, WapError> {
        let mut observer = UnobservedExecution;
        let mut watching = Watching::new(&[], &mut observer);
        match self.shared.session_call(request, call, &mut watching) {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(SessionRefusal { message, .. })) | Err(Failure { message, .. }) => {
                Err(WapError::new(Reason::Busy, format!("the change cannot be reviewed now: {message}")))
            }
        }
    }

    /// Proposes a call; `None` if there is nothing to review.
    pub(super) fn propose(
        &self,
        call: &Call<'_>,
        proposed: ProposedCall,
    ) -> Result<Option<ProposalId>, WapError> {
        let request = ProposeCalls {
            conversation: call.origin.conversation.0.clone(),
            front_end: self.front_end.clone(),
            calls: vec![proposed],
            run: uuid::Uuid::new_v4().to_string(),
        };
        Ok(self.request(&request, call)?.map(|proposal| proposal.id))
    }

    /// Submits a call for review, and returns the answer with the review; `None` if there is nothing to review.
    fn reviewed(
        &self,
        call: &Call<'_>,
        proposed: ProposedCall,
    ) -> Result<Option<(CallAnswer, String)>, WapError> {
        let Some(id) = self.propose(call, proposed)? else { return Ok(None) };
        self.outcome(id, call).map(Some)
    }

    /// Waits for the decision about a proposal, and returns the answer to its call with the review.
    fn outcome(&self, id: ProposalId, call: &Call<'_>) -> Result<(CallAnswer, String), WapError> {
        let decision = self.wait(id, call)?;
        let Decision { answers, review, .. } = decision;
        let answers: Vec<CallAnswer> = serde_json::from_value(answers).unwrap_or_default();
        // A call that was given up is repeated, in the newer era of MCP with the answer to a question: the repetition
        // receives the outcome.
        if !call.cancel.is_cancelled() {
            // A failure only means that a repeated request receives this answer once more.
            let _ = self.request(&AnsweredProposal(id), call);
        }
        let answer = answers.into_iter().next().ok_or_else(|| {
            WapError::new(Reason::OutcomeUnknown, "the review is over, and its outcome cannot be read")
        })?;
        Ok((answer, review))
    }

    fn wait(&self, id: ProposalId, call: &Call<'_>) -> Result<Decision, WapError> {
        let patience = call.time_left.map_or(USUAL_WAIT, |left| left.saturating_sub(MARGIN).min(USUAL_WAIT));
        let deadline = Instant::now() + patience;
        loop {
            let longest = deadline.saturating_duration_since(Instant::now());
            let proposal = self.request(&AwaitReview { id, longest }, call)?;
            if let State::Decided(decision) = proposal.state {
                return Ok(decision);
            }
            if call.cancel.is_cancelled() {
                let text = format!("cancelled; proposal {id} still waits for the user's review");
                return Err(WapError::new(Reason::Cancelled, text));
            }
            if Instant::now() >= deadline {
                // A trial may be running: it has effects outside of the folder, so only landing can be denied.
                let state = match proposal.state {
                    State::Landing { .. } => "is being carried out just now",
                    _ => "waits for the user, and nothing of it has landed",
                };
                let text = format!(
                    "proposal {id} {state}. The user can run `agentd review {id}` in the workspace. Make the same call again to \
                     wait for the outcome, or go on with reading"
                );
                return Err(WapError::new(Reason::PendingReview, text).with("proposal", id.to_string()));
            }
            thread::sleep(PAUSE);
        }
    }
}

/// Returns a change that may wait for long. A file that changes before the review does not make the client propose the
/// change again: landing compares the file with the version that the reviewer has seen.
fn for_review(change: &FileChange) -> FileChange {
    let mut change = change.clone();
    let judged = match &mut change {
        FileChange::Write(write) => &mut write.judged,
        FileChange::Modify(modify) => &mut modify.judged,
        FileChange::Delete(_) => return change,
    };
    // A change judged without a file was not judged at all.
    *judged = judged.take().filter(|judged| !matches!(judged, JudgedFile::Version(_)));
    change
}

/// Puts the review before an error.
fn with_review(error: WapError, review: &str) -> WapError {
    if review.is_empty() {
        error
    } else {
        WapError::new(error.reason(), format!("{}\n\n{review}", error.message()))
    }
}

/// Puts the review among the warnings of an answer.
fn add_review(answer: &mut FileChanged, review: &str) {
    match answer {
        FileChanged::Written(written) => written.warnings.push(review.to_owned()),
        FileChanged::Modified(modified) => modified.warnings.push(review.to_owned()),
        FileChanged::Deleted(deleted) => deleted.warnings.push(review.to_owned()),
    }
}

impl Workspace for ReviewedWorkspace {
    fn workspace_info(&self, call: &Call<'_>) -> Result<WorkspaceInfo, WapError> {
        self.shared.workspace_info(call)
    }

    fn explore_files(
        &self,
        call: &Call<'_>,
        request: &ExploreFiles,
    ) -> Result<ExploreFilesResponse, WapError> {
        self.shared.explore_files(call, request)
    }

    fn read_file(&self, call: &Call<'_>, request: &ReadFile) -> Result<ReadFileResponse, WapError> {
        self.shared.read_file(call, request)
    }

    fn search_files(&self, call: &Call<'_>, request: &SearchFiles) -> Result<SearchFilesResponse, WapError> {
        self.shared.search_files(call, request)
    }

    fn file_states(
        &self,
        call: &Call<'_>,
        paths: &[String],
        since: Option<&Moment>,
    ) -> Result<FileStates, WapError> {
        self.shared.file_states(call, paths, since)
    }

    fn change_files(
        &self,
        call: &Call<'_>,
        changes: &[FileChange],
    ) -> Result<Vec<Result<FileChanged, WapError>>, WapError> {
        if self.policy != ReviewPolicy::All {
            return self.shared.change_files(call, changes);
        }
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        let changes = changes.iter().map(for_review).collect();
        let Some((answer, review)) = self.reviewed(call, ProposedCall::Changes(changes))? else {
            return Err(unreviewed());
        };
        let CallAnswer::Changes(answers) = answer else { return Err(mismatch()) };
        let mut answers = answers.map_err(|error| with_review(error, &review))?;
        // Once is enough: a client reads all answers of its call.
        if !review.is_empty()
            && let Some(first) = answers.first_mut()
        {
            match first {
                Ok(changed) => add_review(changed, &review),
                Err(error) => *error = with_review(error.clone(), &review),
            }
        }
        Ok(answers)
    }

    fn execute_command(
        &self,
        call: &Call<'_>,
        request: &ExecuteCommand,
        observer: &mut dyn CommandObserver,
    ) -> Result<ExecuteCommandResponse, WapError> {
        let Some(id) = (match (self.policy, self.most_deletions) {
            (ReviewPolicy::None, None) => return self.shared.execute_command(call, request, observer),
            (ReviewPolicy::None, Some(most)) => self.propose_unless_harmless(call, request, most)?,
            _ => self.propose(call, ProposedCall::Command(request.clone()))?,
        }) else {
            return Err(unreviewed());
        };
        let (answer, review) = self.outcome(id, call)?;
        let CallAnswer::Command(answer) = answer else { return Err(mismatch()) };
        let mut response = answer.map_err(|error| with_review(error, &review))?;
        if !review.is_empty() {
            response.warnings.push(review);
        }
        Ok(response)
    }

    fn stop_process(&self, call: &Call<'_>, request: &StopProcess) -> Result<StopProcessResponse, WapError> {
        if self.policy == ReviewPolicy::All {
            let text =
                "every change of this workspace waits for the user's review: ask the user to end the process";
            return Err(WapError::new(Reason::ReadOnly, text));
        }
        self.shared.stop_process(call, request)
    }

    fn end_conversation(&self, conversation: &ConversationId) {
        self.shared.end_conversation(conversation);
    }
}

/// Returns the error of a call that could not be submitted for review. It is never carried out instead.
fn unreviewed() -> WapError {
    WapError::new(Reason::Cancelled, "this could not be put before the user for review; nothing was done")
}

fn mismatch() -> WapError {
    WapError::new(Reason::OutcomeUnknown, "the answer of the review is that of another call")
}
