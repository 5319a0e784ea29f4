//! Requests to undo changes, and their answers, as plain values: the owner of the state folder carries them out.

use std::collections::BTreeSet;

use change_journal::{
    ChangeNumber, ChangeState, EntryKind, JournalError, JournalReader, RecordedChange, RunFilter, RunNumber,
};
use local_workspace::{LocalWorkspace, ObstacleKind, Undo, UndoError, UndoObstacle, Undone, undone_by};
use rel_path::RelPath;
use serde::{Deserialize, Serialize};
use tag_session::{SessionError, read_session};
use tagproto::{Session, SessionId};
use wap_core::{Call, ConversationId};

use crate::failure::{Exit, Failure};
use crate::last_change::older_work::older_work;
use crate::last_change::{explain, last, nothing, whole};
use crate::owner::undo_advice::{is_behind_link, way_past};
use crate::secret_use::SecretRules;
use crate::state::bookkeeping::Bookkeeping;

/// A request to undo; without any field the last reply, or the later work of another client.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoRequest {
    /// The number of a change; the number of an undo means all of that undo.
    #[serde(default)]
    pub change: Option<u64>,
    /// True to undo everything that the reply, the call or the command of that change did.
    #[serde(default)]
    pub whole: bool,
    /// The number of a run of which every change is undone.
    #[serde(default)]
    pub run: Option<u64>,
    /// True for the last reply that has changed anything.
    #[serde(default)]
    pub reply: bool,
    /// The session, or the client by its name in the journal, of which every change is undone.
    #[serde(default)]
    pub session: Option<String>,
    /// True to undo the work that the session continued as well.
    #[serde(default)]
    pub with_origin: bool,
}

/// The outcome of an undo.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UndoAnswer {
    /// The paths that were undone.
    pub undone: Undone,
    /// The number of the change with which this undo is reverted; `None` if nothing was changed.
    pub taken_back_by: Option<u64>,
    /// True if the rest of the undone reply is still to be carried out.
    pub reply_is_open: bool,
    /// The paths for which only bookkeeping was undone; folders end with a slash.
    #[serde(default)]
    pub bookkeeping: BTreeSet<String>,
}

/// The refusal of an undo: nothing was changed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UndoRefusal {
    exit: u8,
    /// The refusal in one sentence.
    pub message: String,
    /// The way out; `None` if there is none.
    pub advice: Option<String>,
    /// The paths that prevent it.
    pub obstacles: Vec<Obstacle>,
}

/// A path that prevents an undo.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Obstacle {
    /// The canonical path.
    pub path: String,
    /// The reason why it prevents the undo.
    pub why: String,
    /// The difference from the state that the undo expects; empty if there is none to show.
    pub diff: String,
    /// The same for a model, without secrets; `None` if secrets are shown to models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visible_diff: Option<String>,
}

impl UndoRequest {
    /// Returns whether the newest work is meant, rather than one that the request names.
    fn names_nothing(&self) -> bool {
        self.change.is_none() && self.run.is_none() && self.session.is_none()
    }
}

impl UndoRefusal {
    /// Adds to the advice the undo of the newest older work without obstacles.
    fn with_older_work(
        mut self,
        journal: &JournalReader,
        workspace: &LocalWorkspace,
        chosen: &Undo,
    ) -> UndoRefusal {
        let older = (!self.obstacles.is_empty()).then(|| older_work(journal, workspace, chosen));
        if let Some(Ok(Some(change))) = older {
            let path = RelPath::from_bytes(&change.path).unwrap_or_default();
            let undo = format!("`agentd undo {} --whole` undoes older work, of `{path}`", change.number);
            let advice = self.advice.take();
            self.advice = Some(
                advice.map_or_else(|| undo.clone(), |advice| format!("{advice}; or leave that, and {undo}")),
            );
        }
        self
    }

    /// Returns the failure with which a program ends.
    pub fn into_failure(self) -> Failure {
        let exit = if self.exit == Exit::Usage as u8 { Exit::Usage } else { Exit::Failed };
        Failure { exit, message: self.message, advice: self.advice }
    }
}

impl From<UndoError> for UndoRefusal {
    fn from(error: UndoError) -> UndoRefusal {
        refused(&error)
    }
}

impl From<Failure> for UndoRefusal {
    fn from(failure: Failure) -> UndoRefusal {
        let Failure { exit, message, advice } = failure;
        UndoRefusal { exit: exit as u8, message, advice, obstacles: Vec::new() }
    }
}

/// Carries out a request, as a separate run. Quotations in a refusal are masked by these rules.
pub(crate) fn carry_out(
    journal: &JournalReader,
    workspace: &LocalWorkspace,
    rules: &SecretRules,
    request: &UndoRequest,
    call: &Call<'_>,
) -> Result<UndoAnswer, UndoRefusal> {
    // The closure runs only for a new request. A repeated one is answered from the record: by now, "the last
    // change" would be another.
    let mut bookkeeping = BTreeSet::new();
    let mut chosen = None;
    let mut unanswered = None;
    let choose = |journal: &JournalReader| {
        if request.names_nothing() {
            unanswered = workspace.unanswered_undo().map_err(unreadable)?;
        }
        if unanswered.is_some() {
            return Err(nothing().into());
        }
        let what = meant(journal, workspace, rules, request)?;
        chosen = Some(what.clone());
        // Before the undo: it may remove the very `.gitignore` that makes these changes bookkeeping.
        bookkeeping = bookkeeping_of(journal, workspace, &what).map_err(unreadable)?;
        Ok::<_, UndoRefusal>(what)
    };
    let view = |text: &str| rules.mask_file_text(text);
    let view = rules.secrets.is_some().then_some(&view as &dyn Fn(&str) -> String);
    let undone = workspace.undo_what(call, choose, view);
    // A user who names the change has a reason for it.
    let is_newest = *request == UndoRequest::default();
    let undone = undone.or_else(|refusal: UndoRefusal| match (unanswered, &chosen) {
        (Some(unanswered), _) => Ok(unanswered),
        (None, Some(chosen)) if is_newest => Err(refusal.with_older_work(journal, workspace, chosen)),
        (None, _) => Err(refusal),
    })?;
    let changes = journal.changes_of_run(RunNumber(undone.run)).map_err(unreadable)?;
    let taken_back_by =
        changes.iter().rev().find(|change| change.undoes.is_some()).map(|change| change.number.0);
    let reply_is_open = request.reply && is_open(journal, &changes).map_err(unreadable)?;
    Ok(UndoAnswer { undone, taken_back_by, reply_is_open, bookkeeping })
}

/// Returns the paths of which an undo reverts only bookkeeping.
fn bookkeeping_of(
    journal: &JournalReader,
    workspace: &LocalWorkspace,
    what: &Undo,
) -> Result<BTreeSet<String>, JournalError> {
    let changes: Vec<RecordedChange> = match what {
        Undo::Run(run) => journal.changes_of_run(*run)?,
        Undo::Changes(numbers) => {
            let changes = numbers.iter().map(|number| journal.change(*number));
            changes.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect()
        }
        Undo::Conversation(id) => {
            let filter = RunFilter { conversation: Some(id.0.clone()), ..RunFilter::default() };
            let runs = journal.runs(&filter, u32::MAX)?;
            let changes = runs.iter().map(|run| journal.changes_of_run(run.number));
            changes.collect::<Result<Vec<_>, _>>()?.concat()
        }
    };
    let mut judge = Bookkeeping::new(journal, workspace.git_ignores());
    let (mut bookkeeping, mut on_purpose) = (BTreeSet::new(), BTreeSet::new());
    for change in &changes {
        let mut path = RelPath::from_bytes(&change.path).unwrap_or_default().to_string();
        if [&change.before, &change.after].into_iter().flatten().all(|side| side.kind == EntryKind::Folder) {
            path.push('/');
        }
        if judge.holds(change)? {
            bookkeeping.insert(path)
        } else {
            on_purpose.insert(path)
        };
    }
    Ok(bookkeeping.difference(&on_purpose).cloned().collect())
}

/// Checks whether the run whose changes were reverted is a reply that is not finished.
fn is_open(journal: &JournalReader, changes: &[RecordedChange]) -> Result<bool, JournalError> {
    let Some(undone) = changes.iter().find_map(|change| change.undoes) else { return Ok(false) };
    let Some(change) = journal.change(undone)? else { return Ok(false) };
    let run = journal.run(change.run)?;
    Ok(run.is_some_and(|run| run.finished_at.is_none() && run.key.sequence > 0))
}

fn meant(
    journal: &JournalReader,
    workspace: &LocalWorkspace,
    rules: &SecretRules,
    request: &UndoRequest,
) -> Result<Undo, UndoRefusal> {
    if let Some(number) = request.change {
        if request.whole {
            return Ok(whole(journal, workspace.git_ignores(), ChangeNumber(number))?);
        }
        return of_number(journal, ChangeNumber(number));
    }
    if let Some(number) = request.run {
        return of_run(journal, RunNumber(number));
    }
    if let Some(id) = &request.session {
        let id: SessionId = match id.parse() {
            Ok(id) => id,
            Err(error) => return of_client(journal, id, &error),
        };
        let session = read_session(journal, id)
            .map_err(|error: SessionError| crate::session_failure::explain(error))?;
        return match request.with_origin {
            true => with_origin(journal, &session),
            false => Ok(Undo::Conversation(ConversationId(id.to_string()))),
        };
    }
    Ok(last(journal, workspace.git_ignores(), request.reply, &|run| workspace.carries_out(run), rules)?)
}

/// Returns the undo of all changes of a client other than a session, by its name in the journal.
fn of_client(
    journal: &JournalReader,
    name: &str,
    no_session: &dyn std::error::Error,
) -> Result<Undo, UndoRefusal> {
    let filter = RunFilter { conversation: Some(name.to_owned()), ..RunFilter::default() };
    if journal.runs(&filter, 1).map_err(unreadable)?.is_empty() {
        let message = format!("'{name}': {no_session}, and no client of this name has done anything");
        return Err(Failure::new(Exit::Usage, message)
            .advise("`agentd log` names sessions and clients")
            .into());
    }
    Ok(Undo::Conversation(ConversationId(name.to_owned())))
}

/// The longest chain of conversations that continue each other.
const LONGEST_CHAIN: usize = 100;

/// Returns the undo of all changes of a session and of the work that it continued.
fn with_origin(journal: &JournalReader, session: &Session) -> Result<Undo, UndoRefusal> {
    let mut conversations = vec![session.session_id.to_string()];
    let mut from = session.handover.as_ref().map(|handover| handover.from.clone());
    while let Some(conversation) = from.filter(|_| conversations.len() < LONGEST_CHAIN) {
        let origin = conversation.parse().ok().and_then(|id| read_session(journal, id).ok());
        from = origin.and_then(|session| session.handover).map(|handover| handover.from);
        conversations.push(conversation);
    }
    let mut numbers = Vec::new();
    for conversation in conversations {
        let filter = RunFilter { conversation: Some(conversation), ..RunFilter::default() };
        for run in journal.runs(&filter, u32::MAX).map_err(unreadable)? {
            for change in journal.changes_of_run(run.number).map_err(unreadable)? {
                // A change that was undone since, or was never made because another program was first, needs no undo.
                if change.state != ChangeState::Conflicted
                    && undone_by(journal, change.number).map_err(unreadable)?.is_none()
                {
                    numbers.push(change.number);
                }
            }
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    match numbers.is_empty() {
        true => Err(explain(&UndoError::Nothing).into()),
        false => Ok(Undo::Changes(numbers)),
    }
}

/// Returns the undo of a change by its number; an undo is reverted as a whole, since it was all or nothing.
fn of_number(journal: &JournalReader, number: ChangeNumber) -> Result<Undo, UndoRefusal> {
    let change = journal.change(number).map_err(unreadable)?;
    let change = change.ok_or_else(|| refused(&UndoError::Unknown { number }))?;
    if change.undoes.is_none() {
        return Ok(Undo::Changes(vec![number]));
    }
    match undone_by(journal, number).map_err(unreadable)? {
        Some(by) => Err(refused(&UndoError::AlreadyUndone { number, by })),
        None => Ok(Undo::Run(change.run)),
    }
}

/// Returns the undo of a run by its number.
fn of_run(journal: &JournalReader, number: RunNumber) -> Result<Undo, UndoRefusal> {
    if journal.changes_of_run(number).map_err(unreadable)?.is_empty() {
        return Err(explain(&UndoError::Nothing).into());
    }
    Ok(Undo::Run(number))
}

fn refused(error: &UndoError) -> UndoRefusal {
    let UndoError::Obstacles(obstacles) = error else { return explain(error).into() };
    let obstacle = |obstacle: &UndoObstacle| Obstacle {
        path: obstacle.path.clone(),
        why: obstacle.why.to_string(),
        diff: obstacle.diff.to_string(),
        visible_diff: obstacle.visible_diff.as_deref().map(str::to_owned),
    };
    let failure = Failure::new(Exit::Failed, error.to_string());
    let all = |is_meant: &dyn Fn(&ObstacleKind) -> bool| obstacles.iter().all(|one| is_meant(&one.why));
    let failure = if all(&|why| matches!(why, ObstacleKind::NotEmpty)) {
        failure.advise(
            "empty those folders first, or undo what was done before with `agentd undo N --whole`, by its number in `agentd log`",
        )
    } else if all(&|why| matches!(why, ObstacleKind::AsBefore)) {
        failure.advise(
            "there is nothing left to undo in them as things are; if another branch is checked out, or the work is \
             stashed, go back to it first, and undo again",
        )
    } else if all(&|why| matches!(why, ObstacleKind::Closed(_))) && !all(&is_behind_link) {
        failure.advise(
            "make those paths changeable for this user, and undo again; or undo the other changes one by one, by their \
             numbers in `agentd log`",
        )
    } else if all(&|why| !matches!(why, ObstacleKind::NotKept | ObstacleKind::SpecialFile)) {
        let all: Vec<_> = obstacles.iter().map(|one| (one.path.as_str(), &one.why)).collect();
        failure.advise(way_past(&all))
    } else {
        // Those cannot be restored at all.
        failure.advise("undo the other changes one by one, by their numbers in `agentd log`")
    };
    UndoRefusal { obstacles: obstacles.iter().map(obstacle).collect(), ..failure.into() }
}

#[expect(clippy::needless_pass_by_value, reason = "it is used with map_err")]
fn unreadable(error: JournalError) -> UndoRefusal {
    Failure::new(Exit::Failed, format!("the journal cannot be read: {error}")).into()
}

#[cfg(test)]
mod tests {
    use change_journal::{
        ChangeRecord, ContentHash, EntryRecord, Journal, RunKey, RunState, StepKind, StepRecord,
    };
    use local_workspace::Undo;
    use tagproto::{Dialect, Session, SessionId};

    use super::with_origin;

    #[test]
    fn a_change_that_was_never_made_is_not_undone_with_its_session() {
        let journal = Journal::in_memory().unwrap();
        let session = Session::new(SessionId::from_random([1, 2, 3, 4]), "task", "", Dialect::Agentd, None);
        let conversation = session.session_id.to_string();
        let key = RunKey { conversation, sequence: 1, content: ContentHash::of(b"") };
        let RunState::New(run) = journal.begin_run(&key).unwrap() else { panic!("it is new") };
        let change = |path: &'static [u8]| {
            let changes = vec![ChangeRecord::intended(path, None, Some(EntryRecord::file(b"text")))];
            StepRecord { kind: StepKind::FileChange, description: "make", outcome: b"", changes }
        };
        let numbers = journal.record_steps(run.number(), 0, &[change(b"a"), change(b"b")]).unwrap();
        journal.publish_changes(&numbers[..1]).unwrap();
        journal.conflict_changes(&numbers[1..], b"").unwrap();
        // The marks are lazy, and on the disk with the next commit.
        journal.finish_run(run.number(), b"", &[]).unwrap();
        let Ok(undo) = with_origin(journal.reader(), &session) else { panic!("there is a change to undo") };
        assert_eq!(undo, Undo::Changes(vec![numbers[0]]));
    }
}
