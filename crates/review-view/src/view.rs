//! The state of the view: keys and answers change it, and it returns requests to its program.

mod keys;

use change_review::{ProposalEnd, ProposalId, ProposalSummary, Tried};
use ratatui::Frame;

use crate::choice::{needs_a_trial, taken};
use crate::draw;
use crate::event::{Event, Key, OpenedProposal, Request};
use crate::line_editor::LineEditor;
use crate::opened::{Opened, Subject};
use crate::palette::Palette;

/// The view of the review queue.
#[derive(Clone, Debug)]
pub struct ReviewView {
    pub(crate) palette: Palette,
    /// The waiting proposals; `None` until they are listed.
    pub(crate) queue: Option<Vec<ProposalSummary>>,
    pub(crate) opened: Option<Opened>,
    /// The proposal that is being read.
    pub(crate) opening: Option<ProposalId>,
    pub(crate) mode: Mode,
    pub(crate) notice: Option<Notice>,
    /// The running trial.
    pub(crate) trial: Option<RunningTrial>,
    /// The proposal to land after its trial has ended: confirmation follows when its real steps are read.
    lands_when_read: Option<ProposalId>,
    /// The decision that is being carried out.
    pub(crate) deciding: Option<ProposalId>,
    /// The proposals that were decided by this view.
    pub(crate) decided: Vec<ProposalId>,
    /// The number of ticks, for the spinner.
    pub(crate) ticks: usize,
    /// The rows of the proposal that fit on the screen.
    pub(crate) height: usize,
    /// True while a save was refused and the draft is read again.
    is_refused: bool,
}

/// The meaning of the keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Browse,
    /// A comment is being typed.
    Type(LineEditor, Subject),
    /// A decision waits for a yes.
    Confirm(Decision),
    Help,
}

/// A decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Land,
    SendBack,
}

/// A line about an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) text: String,
    pub(crate) is_bad: bool,
}

/// A running trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RunningTrial {
    pub(crate) id: ProposalId,
    /// True if the user wants to land the choice.
    pub(crate) lands: bool,
    pub(crate) is_stopped: bool,
    /// The row of the cursor when it began: if the cursor has moved since, it stays.
    pub(crate) cursor: usize,
}

impl ReviewView {
    /// Begins a view, with one proposal or with the oldest waiting one. Also returns the first requests.
    #[must_use]
    pub fn new(id: Option<ProposalId>, palette: Palette) -> (ReviewView, Vec<Request>) {
        let view = ReviewView {
            palette,
            queue: None,
            opened: None,
            opening: id,
            mode: Mode::Browse,
            notice: None,
            trial: None,
            lands_when_read: None,
            deciding: None,
            decided: Vec::new(),
            ticks: 0,
            height: 1,
            is_refused: false,
        };
        (view, id.map(Request::Open).into_iter().collect())
    }

    /// Handles an event, and returns requests in order.
    pub fn handle(&mut self, event: Event) -> Vec<Request> {
        match event {
            Event::Key(key) => return self.press(&key),
            Event::Tick => self.ticks = self.ticks.wrapping_add(1),
            Event::Listed(all) => return self.list(all),
            Event::Opened(read) => return self.read(*read),
            Event::Saved { id, draft } => {
                if let Some(opened) = self.opened_of(id) {
                    opened.confirm(&draft);
                }
            }
            Event::SaveRefused { id, why } => {
                self.complain(format!("not saved: {why}"));
                if self.opened_of(id).is_some() && !self.is_refused {
                    self.is_refused = true;
                    return vec![Request::Open(id)];
                }
            }
            Event::Tried { id, outcome } => return self.tried(id, outcome),
            Event::Decided { id, outcome } => return self.decided(id, outcome),
            Event::Failed(why) => {
                self.opening = None;
                self.is_refused = false;
                self.complain(why);
            }
        }
        Vec::new()
    }

    /// Draws the view.
    pub fn draw(&mut self, frame: &mut Frame<'_>) {
        draw::view(self, frame);
    }

    /// Checks whether a spinner is shown: the program should then send [`Event::Tick`] a few times a second.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.trial.is_some() || self.deciding.is_some() || self.opening.is_some()
    }

    /// Returns the opened proposal.
    #[must_use]
    pub fn opened_id(&self) -> Option<ProposalId> {
        self.opened.as_ref().map(|opened| opened.proposal.id)
    }

    /// Returns the draft of the opened proposal.
    #[must_use]
    pub fn draft(&self) -> Option<&change_review::Draft> {
        self.opened.as_ref().map(|opened| &opened.draft)
    }

    fn opened_of(&mut self, id: ProposalId) -> Option<&mut Opened> {
        self.opened.as_mut().filter(|opened| opened.proposal.id == id)
    }

    pub(crate) fn say(&mut self, text: impl Into<String>) {
        self.notice = Some(Notice { text: text.into(), is_bad: false });
    }

    fn complain(&mut self, text: impl Into<String>) {
        self.notice = Some(Notice { text: text.into(), is_bad: true });
    }

    fn list(&mut self, all: Vec<ProposalSummary>) -> Vec<Request> {
        if let Some(id) = self.opened_id()
            && self.deciding != Some(id)
            && !self.decided.contains(&id)
            && let Some(over) = all.iter().find(|one| one.id == id && !one.is_pending)
            && let Some(opened) = self.opened_of(id)
            && opened.proposal.is_pending()
        {
            let end = over.end.map_or("decided", ProposalEnd::words);
            // Its draft is over; the shown text stays until the user continues.
            self.decided.push(id);
            self.mode = Mode::Browse;
            self.complain(format!("proposal {id} was {end} elsewhere"));
        }
        if let Some(damaged) = all.iter().find(|one| one.fault.is_some())
            && self.queue.is_none()
        {
            let id = damaged.id;
            self.complain(format!("proposal {id} cannot be read: `agentd review {id} --drop` removes it"));
        }
        let pending: Vec<ProposalSummary> = all.into_iter().filter(|one| one.is_pending).collect();
        let listed = self.queue.as_deref().unwrap_or_default();
        let new = pending.iter().filter(|one| listed.iter().all(|other| other.id != one.id)).count();
        if self.queue.is_some() && new > 0 && self.notice.is_none() {
            self.say(format!("{new} more to review"));
        }
        self.queue = Some(pending);
        match (self.opened_id(), self.opening) {
            (None, None) => self.open_next(true),
            _ => Vec::new(),
        }
    }

    /// Opens the next waiting proposal, or the previous one.
    fn open_next(&mut self, is_forward: bool) -> Vec<Request> {
        let queue = self.queue.as_deref().unwrap_or_default();
        let current = self.opening.or_else(|| self.opened_id());
        let waiting: Vec<ProposalId> =
            queue.iter().map(|one| one.id).filter(|id| !self.decided.contains(id)).collect();
        let next = match (current, is_forward) {
            (None, _) => waiting.first(),
            (Some(current), true) => waiting.iter().find(|id| **id > current).or(waiting.first()),
            (Some(current), false) => waiting.iter().rev().find(|id| **id < current).or(waiting.last()),
        };
        match next.copied() {
            Some(id) if Some(id) != current => {
                self.opening = Some(id);
                vec![Request::Open(id)]
            }
            _ => Vec::new(),
        }
    }

    fn read(&mut self, read: OpenedProposal) -> Vec<Request> {
        let id = read.proposal.id;
        if self.opening == Some(id) {
            self.opening = None;
            if self.opened_id() != Some(id) {
                self.mode = Mode::Browse;
                self.is_refused = false;
                if !read.proposal.is_pending() && !self.decided.contains(&id) {
                    self.decided.push(id);
                    self.say(format!("proposal {id} is over already"));
                }
                self.opened = Some(Opened::new(read));
                return Vec::new();
            }
        }
        if self.opened_id() != Some(id) {
            return Vec::new();
        }
        let is_refused = std::mem::take(&mut self.is_refused);
        let is_trying = self.trial.is_some_and(|trial| trial.id == id);
        let Some(opened) = self.opened_of(id) else { return Vec::new() };
        let changed = opened.read_again(read, is_refused, is_trying);
        // The choice may have changed while it was tried.
        let is_what_lands =
            !needs_a_trial(&opened.draft.selection, &opened.proposal.steps, opened.tried.as_ref());
        if self.lands_when_read == Some(id) && is_what_lands && self.mode == Mode::Browse {
            self.lands_when_read = None;
            self.mode = Mode::Confirm(Decision::Land);
        }
        if changed.steps {
            // The choice that was about to land is no longer the reviewed one.
            if matches!(self.mode, Mode::Confirm(_)) {
                self.mode = Mode::Browse;
            }
            self.say("the folder has changed: the proposal was planned again");
        }
        if changed.tried {
            if matches!(self.mode, Mode::Confirm(_)) {
                self.mode = Mode::Browse;
            }
            self.say("another window has tried all of it: the steps are the real ones now");
        }
        if changed.draft {
            // The typed text may refer to a comment that now has another number.
            if matches!(self.mode, Mode::Type(_, Subject::Comment(_)) | Mode::Confirm(_)) {
                self.mode = Mode::Browse;
            }
            let more = if changed.keeps_comments { "; your comments were added to it" } else { "" };
            self.say(format!("the draft was saved by another window and was read again{more}"));
        }
        if changed.keeps_comments { self.save() } else { Vec::new() }
    }

    /// Returns the request that saves the draft, and counts its revision.
    fn save(&mut self) -> Vec<Request> {
        let Some(opened) = &mut self.opened else { return Vec::new() };
        let request = Request::Save { id: opened.proposal.id, draft: opened.draft.clone() };
        opened.draft.revision += 1;
        vec![request]
    }

    fn start_trial(&mut self, lands: bool) -> Vec<Request> {
        if self.trial.is_some() {
            self.complain("a trial runs already: Esc stops it");
            return Vec::new();
        }
        let Some(opened) = &self.opened else { return Vec::new() };
        let id = opened.proposal.id;
        let selection = opened.draft.selection.clone();
        if selection.takes_nothing_of(&opened.proposal.steps) {
            self.complain("nothing is taken: there is nothing to try");
            return Vec::new();
        }
        self.notice = None;
        self.trial = Some(RunningTrial { id, lands, is_stopped: false, cursor: opened.cursor });
        vec![Request::Try { id, selection }]
    }

    fn tried(&mut self, id: ProposalId, outcome: Result<Tried, String>) -> Vec<Request> {
        let running = self.trial.take_if(|trial| trial.id == id);
        let tried = match outcome {
            Ok(tried) => tried,
            Err(_) if running.is_some_and(|trial| trial.is_stopped) => {
                self.say("the trial was stopped");
                return Vec::new();
            }
            Err(why) => {
                self.complain(format!("not tried: {why}"));
                return Vec::new();
            }
        };
        let failed = tried.steps.iter().filter(|step| !step.success && !step.is_left_out).count();
        let done = tried.steps.iter().filter(|step| step.success).count();
        let text = match failed {
            0 => format!("tried: all {done} steps succeeded"),
            1 => format!("tried: 1 step failed, {done} succeeded"),
            _ => format!("tried: {failed} steps failed, {done} succeeded"),
        };
        self.notice = Some(Notice { text, is_bad: failed > 0 });
        let is_browsing = self.mode == Mode::Browse;
        let Some(opened) = self.opened_of(id) else { return Vec::new() };
        opened.tried = Some(tried);
        let has_stayed = running.is_some_and(|trial| trial.cursor == opened.cursor);
        opened.rebuild();
        if is_browsing && has_stayed {
            opened.move_to_outcome();
        }
        self.lands_when_read = running.filter(|trial| trial.lands && is_browsing).map(|trial| trial.id);
        // A trial of everything replaces the planned steps by the real ones.
        vec![Request::Open(id)]
    }

    fn decided(&mut self, id: ProposalId, outcome: Result<String, String>) -> Vec<Request> {
        self.deciding = self.deciding.filter(|deciding| *deciding != id);
        match outcome {
            Ok(text) => {
                self.decided.push(id);
                if let Some(queue) = &mut self.queue {
                    queue.retain(|one| one.id != id);
                }
                self.say(text);
                if self.opened_id() != Some(id) {
                    return Vec::new();
                }
                let next = self.open_next(true);
                if next.is_empty() {
                    self.opened = None;
                }
                next
            }
            Err(why) => {
                self.complain(why);
                if self.opened_id() == Some(id) { vec![Request::Open(id)] } else { Vec::new() }
            }
        }
    }

    /// Checks whether the opened proposal can be changed; reports the reason if not.
    fn is_open(&mut self) -> bool {
        let Some(id) = self.opened_id() else { return false };
        if self.deciding == Some(id) {
            self.complain("the decision is being carried out");
            return false;
        }
        // The next keys are meant for that proposal.
        if let Some(opening) = self.opening.filter(|opening| *opening != id) {
            self.complain(format!("proposal {opening} is being read: nothing was done"));
            return false;
        }
        if self.decided.contains(&id) {
            self.complain(format!("proposal {id} is over: Tab opens the next one"));
            return false;
        }
        true
    }

    /// Returns the number of steps that are taken, at least in part, and the total.
    pub(crate) fn taken_steps(&self) -> (usize, usize) {
        let Some(opened) = &self.opened else { return (0, 0) };
        let steps = &opened.proposal.steps;
        let nothing = crate::choice::Taken::Nothing;
        let count = steps.iter().filter(|step| taken(&opened.draft.selection, step) != nothing).count();
        (count, steps.len())
    }
}

/// Keys that mean no.
pub(crate) fn is_no(key: &Key) -> bool {
    matches!(key, Key::Escape | Key::Interrupt | Key::Enter | Key::Character('n' | 'N' | 'q'))
}
