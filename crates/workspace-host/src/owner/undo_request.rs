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
use crate::last_change::{explain, last, whole};
use crate::owner::checkout_command::{checkout_command, way_back};
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
    let choose = |journal: &JournalReader| {
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
    let undone = undone.map_err(|refusal: UndoRefusal| match &chosen {
        Some(chosen) if is_newest => refusal.with_older_work(journal, workspace, chosen),
        _ => refusal,
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
    } else if all(&|why| matches!(why, ObstacleKind::Closed(_))) {
        failure.advise(
            "make those paths changeable for this user, and undo again; or undo the other changes one by one, by their \
             numbers in `agentd log`",
        )
    } else if all(&|why| !matches!(why, ObstacleKind::NotKept | ObstacleKind::SpecialFile)) {
        failure.advise(way_past(obstacles))
    } else {
        // Those cannot be restored at all.
        failure.advise("undo the other changes one by one, by their numbers in `agentd log`")
    };
    UndoRefusal { obstacles: obstacles.iter().map(obstacle).collect(), ..failure.into() }
}

/// Returns the advice for an undo that later changes, ours or those of other programs, obstruct.
fn way_past(obstacles: &[UndoObstacle]) -> String {
    let later: BTreeSet<ChangeNumber> = obstacles
        .iter()
        .filter_map(|obstacle| match obstacle.why {
            ObstacleKind::LaterChange(number) => Some(number),
            _ => None,
        })
        .collect();
    // The newest first: it may be on top of an older one.
    let mut undos = later.iter().rev().map(|number| format!("`agentd undo {number}`"));
    let named = undos.by_ref().take(NAMED_UNDOS).collect::<Vec<_>>().join(", then ");
    let more = match undos.count() {
        0 => String::new(),
        more => format!(", and {more} more changes, which are listed above"),
    };
    // Files of one branch are not restored into another, even if that is checked out again.
    let others: BTreeSet<Option<String>> = obstacles.iter().filter_map(former_checkout).collect();
    if !others.is_empty() {
        let commands: Vec<_> = others.into_iter().flatten().collect();
        let back = match commands.is_empty() {
            true => String::new(),
            false => format!(": {}", commands.join("; ")),
        };
        return format!(
            "the change checked out something else, and the repository was used since{back}; revert commits with git"
        );
    }
    let checkouts: BTreeSet<String> = obstacles.iter().filter_map(checkout).collect();
    if !checkouts.is_empty() {
        // Most of the changes revert with the branch.
        let checkouts = checkouts.into_iter().collect::<Vec<_>>().join(", ");
        let undos = if later.is_empty() { String::new() } else { format!(", {named}{more}") };
        let taken: BTreeSet<String> = obstacles.iter().filter_map(other_tree).collect();
        let taken: String = taken.into_iter().collect();
        return format!(
            "{taken}check out what was checked out then: {checkouts}{undos}; then undo again (where git refuses the checkout, commit \
             or stash your changes first)"
        );
    }
    let is_other = |obstacle: &UndoObstacle| !matches!(obstacle.why, ObstacleKind::LaterChange(_));
    match (later.is_empty(), obstacles.iter().any(is_other)) {
        (true, _) => "restore those files to how the change left them, and undo again".to_owned(),
        (false, false) => format!("undo the later changes first: {named}{more}; then undo again"),
        (false, true) => format!(
            "undo the later changes first: {named}{more}; restore the other files to how the change left them; then undo again"
        ),
    }
}

/// Returns the command that restores the checkout at the time of a change.
fn checkout(obstacle: &UndoObstacle) -> Option<String> {
    let ObstacleKind::OtherBranch { branch, tree, .. } = &obstacle.why else { return None };
    Some(format!("`{}`", checkout_command(tree, branch)))
}

/// Returns the step that is first required in another working tree, which has the branch checked out.
fn other_tree(obstacle: &UndoObstacle) -> Option<String> {
    let ObstacleKind::OtherBranch { branch, taken_by: Some(tree), .. } = &obstacle.why else { return None };
    Some(format!("check out another branch in `{tree}`, which has `{branch}` now; "))
}

/// Returns the sentence on the way back to the checkout before the changes, for a working tree that they have left at another
/// branch; an inner `None` if its name is not kept.
fn former_checkout(obstacle: &UndoObstacle) -> Option<Option<String>> {
    let ObstacleKind::OtherCheckout(checkout) = &obstacle.why else { return None };
    Some(way_back(checkout))
}

/// The number of undos that an advice names.
const NAMED_UNDOS: usize = 3;

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
