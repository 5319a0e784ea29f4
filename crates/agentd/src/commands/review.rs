//! `agentd review`: the queue of changes that wait for a person.

pub(crate) mod asking;
pub(crate) mod at_terminal;
pub(crate) mod carry_out;
mod decision;
pub(crate) mod options;
mod plain;
mod printed;
pub(crate) mod waiting;

use change_review::{
    Comment, Draft, ProposalEnd, ProposalId, ProposalSummary, QueueError, Selection, Side, StepVerdict,
    Tried, steps_mark,
};
use wap_core::CancelFlag;
use workspace_host::{
    DecideProposal, DecidedProposal, DropProposal, ListProposals, SaveDraft, SessionRefusal, SharedSessions,
    ShowProposal, ShownProposal, TryProposal, WorkspacePaths,
};

use crate::commands::review::at_terminal::{Ends, review_at_terminal};
use crate::commands::review::options::{CommentOption, ReviewOptions, StepChoice};
use crate::commands::session::cancel_flag;
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::Console;
use crate::views::count::counted;
use crate::views::progress::one_line;
use crate::views::screen;

/// Lists the queue, shows a proposal, or decides on it.
pub(crate) fn review(common: &CommonOptions, console: Console, options: &ReviewOptions) -> Outcome {
    let paths = WorkspacePaths::find(&common.host())?;
    if !paths.has_sessions() {
        if let Some(id) = options.id {
            return Err(SessionRefusal::from(QueueError::Unknown { id }).into_failure());
        }
        list(console, &[]);
        return Ok(Exit::Done);
    }
    let cancel = cancel_flag()?;
    let form = form(console, options);
    // A view stays for long, so that other processes have to be served meanwhile.
    let stays = form != Form::Printed;
    let sessions = SharedSessions::open(&common.host(), paths, &console.shared(), stays)?;
    match form {
        Form::Filled => {
            review_at_terminal(console, &sessions, options.id, Ends::WithTheUser, &cancel)?;
            return Ok(if cancel.is_cancelled() { Exit::Interrupted } else { Exit::Done });
        }
        Form::Plain => return plain::review_plainly(console, &sessions, options.id, &cancel),
        Form::Printed => {}
    }
    let Some(id) = options.id else {
        let mut all = sessions.call(&ListProposals, &cancel)?;
        all.retain(|proposal| options.all || proposal.is_pending || proposal.fault.is_some());
        list(console, &all);
        return Ok(Exit::Done);
    };
    if options.drop {
        sessions.call(&DropProposal(id), &cancel)?;
        console.progress(&format!("what cannot be read of proposal {id} was dropped"));
        return Ok(Exit::Done);
    }
    let mut review = drafted(&sessions, id, options, &cancel)?;
    let mut trial = None;
    if options.try_it || (options.land && needs_a_trial(&review)) {
        let request = TryProposal { id, selection: review.draft.selection.clone() };
        let tried = sessions.call(&request, &cancel)?;
        if !options.land {
            if console.json {
                console.json_result(&tried);
            } else {
                printed::tried(console, &review.proposal, &tried);
            }
            return Ok(Exit::Done);
        }
        trial = Some(tried);
        // A trial of everything has replaced the planned steps by the real ones.
        review = sessions.call(&ShowProposal(id), &cancel)?;
    }
    if options.land || options.send_back {
        let (sends_back, revision) = (options.send_back, review.draft.revision);
        let mark = steps_mark(&review.proposal.steps);
        let decided = sessions.call(&DecideProposal { id, sends_back, revision, mark }, &cancel);
        return match decided {
            Ok(decided) => Ok(report(console, &decided, trial.as_ref())),
            Err(failure) => {
                // A landing repeats the results of its trial, so they have not been printed yet.
                if let Some(tried) = trial.filter(|_| !console.json) {
                    printed::tried(console, &review.proposal, &tried);
                }
                Err(failure)
            }
        };
    }
    if console.json {
        console.json_result(&review);
    } else {
        printed::proposal(console, &review, options.since);
    }
    Ok(Exit::Done)
}

/// The form of the printed queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// A view that fills the terminal.
    Filled,
    /// Questions, line by line.
    Plain,
    /// Printed once.
    Printed,
}

fn form(console: Console, options: &ReviewOptions) -> Form {
    if options.plain {
        return Form::Plain;
    }
    if console.json || !options.only_looks() || !screen::is_at_terminal() {
        return Form::Printed;
    }
    if screen::is_dumb() { Form::Plain } else { Form::Filled }
}

/// Puts the choices and comments of the command line into the draft, and returns the proposal with it.
fn drafted(
    sessions: &SharedSessions,
    id: ProposalId,
    options: &ReviewOptions,
    cancel: &CancelFlag,
) -> Result<ShownProposal, Failure> {
    let review = sessions.call(&ShowProposal(id), cancel)?;
    let mut draft = review.draft.clone();
    for choice in &options.leave_out {
        choose(&review, &mut draft.selection, choice, false)?;
    }
    for choice in &options.take {
        choose(&review, &mut draft.selection, choice, true)?;
    }
    for comment in &options.comment {
        draft.comments.push(comment_of(&review, comment)?);
    }
    if let Some(say) = &options.say {
        draft.summary.clone_from(say);
    }
    if draft == review.draft {
        return Ok(review);
    }
    let draft: Draft = sessions.call(&SaveDraft { id, draft }, cancel)?;
    drop(draft);
    sessions.call(&ShowProposal(id), cancel)
}

/// Takes a step or a hunk, or leaves it out.
fn choose(
    review: &ShownProposal,
    selection: &mut Selection,
    choice: &StepChoice,
    takes: bool,
) -> Result<(), Failure> {
    let StepChoice { step, hunk } = *choice;
    let unknown = |what: String| {
        Failure::new(Exit::Usage, what)
            .advise("`agentd review ID` lists the steps and hunks with their numbers")
    };
    let number = step.checked_sub(1).ok_or_else(|| unknown("steps are counted from 1".to_owned()))?;
    let steps = &review.proposal.steps;
    let step = steps.get(number).ok_or_else(|| unknown(format!("there is no step {step}")))?;
    let Some(hunk) = hunk else {
        let verdict = if takes { StepVerdict::Take } else { StepVerdict::LeaveOut };
        selection.0.insert(step.step, verdict);
        return Ok(());
    };
    let hunks = printed::hunks(step);
    let chosen = hunk.checked_sub(1).and_then(|index| hunks.get(index));
    let chosen = chosen.ok_or_else(|| unknown(format!("step {} has no hunk {hunk}", number + 1)))?;
    let mut taken: std::collections::BTreeSet<_> = hunks
        .iter()
        .filter(|hunk| selection.takes_hunk(step.step, &hunk.id))
        .map(|hunk| hunk.id.clone())
        .collect();
    if takes {
        taken.insert(chosen.id.clone());
    } else {
        taken.remove(&chosen.id);
    }
    selection.0.insert(step.step, StepVerdict::Hunks(taken));
    Ok(())
}

fn comment_of(review: &ShownProposal, comment: &CommentOption) -> Result<Comment, Failure> {
    let CommentOption { step, lines, text } = comment;
    let chosen = step.checked_sub(1).and_then(|number| review.proposal.steps.get(number));
    let chosen = chosen.ok_or_else(|| Failure::new(Exit::Usage, format!("there is no step {step}")))?;
    match lines {
        None => Ok(Comment::on_step(chosen, text.clone())),
        Some(lines) => Comment::on_lines(chosen, Side::After, *lines, text.clone()).ok_or_else(|| {
            Failure::new(Exit::Usage, format!("step {step} has no lines {} to {}", lines.0, lines.1))
                .advise("lines are those of the file as the step leaves it, counted from 1")
        }),
    }
}

/// Checks whether the choice runs a command that has not been tried.
fn needs_a_trial(review: &ShownProposal) -> bool {
    let selection = review.draft.selection.normal(&review.proposal.steps);
    let is_tried = review.tried.as_ref().is_some_and(|tried| tried.is_held && tried.selection == selection);
    let runs = review
        .proposal
        .steps
        .iter()
        .any(|step| step.path().is_none() && *selection.verdict(step.step) == StepVerdict::Take);
    runs && !is_tried
}

fn list(console: Console, proposals: &[ProposalSummary]) {
    if console.json {
        console.json_result(&proposals);
        return;
    }
    if proposals.is_empty() {
        console.notice("no proposal waits for a review");
    }
    for proposal in proposals {
        if let Some(fault) = &proposal.fault {
            let (id, fault) = (proposal.id, one_line(fault));
            console.result(&format!("{id:>4}  damaged    {fault}  (`agentd review {id} --drop` removes it)"));
            continue;
        }
        let ProposalSummary { id, front_end, subject, files, commands, is_pending, end, .. } = proposal;
        let state = match (is_pending, end) {
            (true, _) => "waits",
            (false, None) => "landing",
            (false, Some(ProposalEnd::Landed)) => "landed",
            (false, Some(ProposalEnd::SentBack)) => "sent back",
            (false, Some(ProposalEnd::Closed)) => "closed",
        };
        let (files, commands) = (counted(*files, "file"), counted(*commands, "command"));
        let subject = one_line(subject);
        console.result(&format!("{id:>4}  {state:<9}  {front_end:<8}  {files}, {commands}  {subject}"));
    }
}

/// Reports the end of a proposal, and the files that its commands changed if they ran in a trial right before it.
fn report(console: Console, decided: &DecidedProposal, trial: Option<&Tried>) -> Exit {
    if console.json {
        console.json_result(decided);
    } else {
        printed::outcomes(console, &decided.proposal, decided.carried.steps.iter().map(|step| &step.outcome));
        printed::changed_files(console, trial);
        console.progress(&decision::in_one_line(decided));
    }
    Exit::Done
}
