//! The review as questions, line by line, for terminals that only print.

use std::collections::BTreeSet;

use change_review::{Comment, HunkId, ProposalId, Side, StepVerdict, steps_mark};
use wap_core::CancelFlag;
use workspace_host::{
    DecidedProposal, ListProposals, SaveDraft, SharedSessions, ShowProposal, ShownProposal, TryProposal,
};

use crate::commands::review::decision::{decide, in_one_line};
use crate::commands::review::{needs_a_trial, printed};
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::Console;
use crate::views::progress::one_line;
use crate::views::typed_line::{typed_decision, typed_line};

/// Asks about one proposal, or about each that waits.
pub(super) fn review_plainly(
    console: Console,
    sessions: &SharedSessions,
    id: Option<ProposalId>,
    cancel: &CancelFlag,
) -> Outcome {
    let ids: Vec<ProposalId> = match id {
        Some(id) => vec![id],
        None => {
            let all = sessions.call(&ListProposals, cancel)?;
            all.into_iter().filter(|one| one.is_pending).map(|one| one.id).collect()
        }
    };
    if ids.is_empty() {
        console.notice("no proposal waits for a review");
    }
    for id in ids {
        let review = sessions.call(&ShowProposal(id), cancel)?;
        printed::title(console, &review.proposal);
        if !review.proposal.is_pending() {
            console.notice(&format!("proposal {id} is over already"));
            continue;
        }
        let mut questions = Questions { console, sessions, cancel, review };
        if questions.steps()? == Next::Quit || questions.end()? == Next::Quit {
            break;
        }
    }
    Ok(if cancel.is_cancelled() { Exit::Interrupted } else { Exit::Done })
}

/// The next step after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Continue,
    /// The draft is kept.
    Quit,
}

/// The subject of a comment: a step, or one of its hunks.
#[derive(Clone, Copy)]
struct Subject {
    step: usize,
    hunk: Option<usize>,
}

/// The questions about one proposal.
struct Questions<'a> {
    console: Console,
    sessions: &'a SharedSessions,
    cancel: &'a CancelFlag,
    review: ShownProposal,
}

impl Questions<'_> {
    /// Asks about each step.
    fn steps(&mut self) -> Result<Next, Failure> {
        let mut index = 0;
        while index < self.review.proposal.steps.len() {
            printed::step(self.console, &self.review, index, false);
            let number = self.review.proposal.steps[index].step;
            let has_hunks = printed::hunks(&self.review.proposal.steps[index]).len() > 1;
            let by_hunk = if has_hunks { "[h]unk by hunk, " } else { "" };
            let answer = self.ask(&format!("take it? [y]es, [n]o, {by_hunk}[c]omment, [q]uit "));
            let is_done = match answer.as_deref() {
                None | Some("q") => return Ok(Next::Quit),
                Some("y") => self.choose(number, StepVerdict::Take)?,
                Some("n") => self.choose(number, StepVerdict::LeaveOut)?,
                Some("h") if has_hunks => match self.hunks(index)? {
                    Some(taken) => self.choose(number, StepVerdict::Hunks(taken))?,
                    None => return Ok(Next::Quit),
                },
                Some("c") => {
                    self.comment(Subject { step: index, hunk: None })?;
                    false
                }
                Some(_) => false,
            };
            index += usize::from(is_done);
        }
        Ok(Next::Continue)
    }

    /// Asks about each hunk of a step, and returns those that are taken; `None` if the user quits.
    fn hunks(&mut self, index: usize) -> Result<Option<BTreeSet<HunkId>>, Failure> {
        let mut taken = BTreeSet::new();
        let mut number = 0;
        loop {
            // A comment may have read the proposal again.
            let step = self.review.proposal.steps.get(index);
            let Some((hunk, step)) = step.and_then(|step| Some((printed::hunks(step).get(number)?, step)))
            else {
                return Ok(Some(taken));
            };
            let is_taken = self.review.draft.selection.takes_hunk(step.step, &hunk.id);
            printed::hunk(self.console, number + 1, hunk, is_taken);
            let id = hunk.id.clone();
            match self.ask("take this hunk? [y]es, [n]o, [c]omment, [q]uit ").as_deref() {
                None | Some("q") => return Ok(None),
                Some("y") => {
                    taken.insert(id);
                    number += 1;
                }
                Some("n") => number += 1,
                Some("c") => self.comment(Subject { step: index, hunk: Some(number) })?,
                Some(_) => {}
            }
        }
    }

    /// Asks what is done with the choice.
    fn end(&mut self) -> Result<Next, Failure> {
        loop {
            match self.ask("\n[t]ry, [l]and, send [b]ack, keep as [d]raft ").as_deref() {
                None => return Ok(Next::Quit),
                Some("d") => return Ok(Next::Continue),
                Some("t") => self.try_out()?,
                Some("l") => {
                    let steps = &self.review.proposal.steps;
                    if self.review.draft.selection.takes_nothing_of(steps) {
                        self.console.notice("nothing is taken: [b] sends the proposal back");
                        continue;
                    }
                    if needs_a_trial(&self.review) {
                        self.try_out()?;
                        if needs_a_trial(&self.review) {
                            continue;
                        }
                    }
                    if self.is_sure("land it? [y/N] ") && self.decide(false)? {
                        return Ok(Next::Continue);
                    }
                }
                Some("b") if self.is_sure("carry out nothing and send the comments back? [y/N] ") => {
                    if self.decide(true)? {
                        return Ok(Next::Continue);
                    }
                }
                Some(_) => {}
            }
        }
    }

    /// Asks for a word; `None` at the end of the input and if the process is asked to end.
    fn ask(&self, question: &str) -> Option<String> {
        if self.cancel.is_cancelled() {
            return None;
        }
        typed_decision(question, self.cancel).map(|line| line.trim().to_lowercase())
    }

    fn is_sure(&self, question: &str) -> bool {
        matches!(self.ask(question).as_deref(), Some("y" | "yes"))
    }

    /// Saves a verdict. Returns false if it has to be asked about again.
    fn choose(&mut self, step: u32, verdict: StepVerdict) -> Result<bool, Failure> {
        let selection = &mut self.review.draft.selection;
        selection.0.insert(step, verdict);
        *selection = selection.normal(&self.review.proposal.steps);
        self.save()
    }

    fn comment(&mut self, subject: Subject) -> Result<(), Failure> {
        let Some(text) = typed_line("comment (Enter alone: none): ", self.cancel) else { return Ok(()) };
        let Some(step) = self.review.proposal.steps.get(subject.step) else { return Ok(()) };
        if text.trim().is_empty() {
            return Ok(());
        }
        let hunk = subject.hunk.and_then(|hunk| printed::hunks(step).get(hunk));
        let on_lines = hunk.and_then(|hunk| {
            let (side, first, count) = match hunk.new_count {
                0 => (Side::Before, hunk.old_first, hunk.old_count),
                count => (Side::After, hunk.new_first, count),
            };
            Comment::on_lines(step, side, (first, first + count - 1), text.trim())
        });
        let comment = on_lines.unwrap_or_else(|| Comment::on_step(step, text.trim()));
        self.review.draft.comments.push(comment);
        self.save().map(drop)
    }

    /// Saves the draft and reads the proposal again. Returns false if another window has saved a different one, or if the
    /// folder has changed: then what was asked has to be asked again.
    fn save(&mut self) -> Result<bool, Failure> {
        let id = self.review.proposal.id;
        let request = SaveDraft { id, draft: self.review.draft.clone() };
        let refused = self.sessions.call(&request, self.cancel).err();
        if let Some(refused) = &refused {
            self.console.notice(&format!("not saved: {}", one_line(&refused.message)));
        }
        let read = self.sessions.call(&ShowProposal(id), self.cancel)?;
        let is_planned_again = read.proposal.steps != self.review.proposal.steps;
        if is_planned_again {
            self.console.notice(match read.proposal.is_tried {
                true => "another window has tried all of it: the steps are the real ones now",
                false => "the folder has changed: the proposal was planned again",
            });
        }
        self.review = read;
        if !self.review.proposal.is_pending() {
            return Err(Failure::new(Exit::Failed, format!("proposal {id} was decided elsewhere")));
        }
        Ok(refused.is_none() && !is_planned_again)
    }

    fn try_out(&mut self) -> Result<(), Failure> {
        let id = self.review.proposal.id;
        let request = TryProposal { id, selection: self.review.draft.selection.clone() };
        let _spinner = self.console.spinner("trying");
        match self.sessions.call(&request, self.cancel) {
            Ok(tried) => {
                printed::tried(self.console, &self.review.proposal, &tried);
                self.review = self.sessions.call(&ShowProposal(id), self.cancel)?;
            }
            Err(failure) => self.console.notice(&format!("not tried: {}", one_line(&failure.message))),
        }
        Ok(())
    }

    /// Decides. Returns false if that was refused, and the proposal waits on.
    fn decide(&mut self, sends_back: bool) -> Result<bool, Failure> {
        let id = self.review.proposal.id;
        let mark = steps_mark(&self.review.proposal.steps);
        match decide(self.sessions, id, (&self.review.draft, mark), sends_back, self.cancel) {
            Ok(decided) => {
                self.report(&decided);
                Ok(true)
            }
            Err(failure) => {
                self.console.notice(&failure.message);
                self.review = self.sessions.call(&ShowProposal(id), self.cancel)?;
                if !self.review.proposal.is_pending() {
                    return Err(Failure::new(Exit::Failed, format!("proposal {id} was decided elsewhere")));
                }
                Ok(false)
            }
        }
    }

    fn report(&self, decided: &DecidedProposal) {
        let outcomes = decided.carried.steps.iter().map(|step| &step.outcome);
        printed::outcomes(self.console, &decided.proposal, outcomes);
        self.console.notice(&in_one_line(decided));
    }
}
