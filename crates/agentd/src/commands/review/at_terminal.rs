//! The queue as a view that fills the terminal: its threads, and the calls that the view requests.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use change_review::ProposalId;
use review_view::{Event, OpenedProposal, Palette, Request, ReviewView};
use wap_core::CancelFlag;
use workspace_host::{ListProposals, SaveDraft, SharedSessions, ShowProposal, ShownProposal, TryProposal};

use crate::commands::review::decision::{decide, in_one_line};
use crate::exit::{Exit, Failure};
use crate::views::console::Console;
use crate::views::screen::{Screen, Typed};

/// The longest wait for a key, while an answer is expected and otherwise.
const BUSY_WAIT: Duration = Duration::from_millis(20);
const IDLE_WAIT: Duration = Duration::from_millis(100);

/// The time between two pictures of a spinner.
const TICK: Duration = Duration::from_millis(120);

/// The time between two lists of the queue.
const POLL: Duration = Duration::from_secs(1);

/// The proposal is planned again this many times the time that planning takes, so that a large one does not keep a core busy.
const REST: u32 = 20;

/// A request with the flag that stops it.
struct Work {
    request: Request,
    stop: CancelFlag,
}

/// When the view ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// When the user quits.
    WithTheUser,
    /// When the proposal that it was opened with is decided here, too.
    WithTheDecision,
}

/// Shows the queue until the user quits. The decisions are printed then.
///
/// # Errors
///
/// If the terminal cannot be used.
pub(crate) fn review_at_terminal(
    console: Console,
    sessions: &SharedSessions,
    id: Option<ProposalId>,
    ends_by: Ends,
    cancel: &CancelFlag,
) -> Result<(), Failure> {
    let mut screen = Screen::open().map_err(unusable)?;
    let palette = if console.has_colours() { Palette::coloured() } else { Palette::plain() };
    let (view, first) = ReviewView::new(id, palette);
    let (requests, requested) = channel();
    let (sender, events) = channel();
    let (ended, end) = channel();
    let looked_at = Mutex::new(None);
    let mut ends = Vec::new();
    let ran = thread::scope(|scope| {
        let host = Host { sessions, cancel, events: sender.clone() };
        scope.spawn(move || host.carry_out_all(scope, &requested));
        let poll = Poll { sessions, cancel, events: sender, looked_at: &looked_at };
        scope.spawn(move || poll.until(&end));
        let only = id.filter(|_| ends_by == Ends::WithTheDecision);
        let mut filled =
            FilledScreen { view, requests, trial: None, only, looked_at: &looked_at, ends: &mut ends };
        filled.request(first);
        let ran = filled.run(&mut screen, &events, cancel);
        drop(ended);
        if let Some(trial) = &filled.trial {
            trial.cancel();
        }
        // Before the threads end: a landing that is on its way may take a while.
        drop(screen);
        ran
    });
    // Saves and decisions that were requested before the end were carried out.
    ends.extend(events.try_iter().filter_map(|event| match event {
        Event::Decided { outcome, .. } => Some(outcome.unwrap_or_else(|why| why)),
        Event::SaveRefused { why, .. } => Some(format!("the last change of the draft was not saved: {why}")),
        _ => None,
    }));
    ends.iter().for_each(|line| console.notice(line));
    ran.map_err(unusable)
}

fn unusable(error: io::Error) -> Failure {
    Failure::new(Exit::Failed, format!("the terminal cannot be used: {error}"))
        .advise("`agentd review --plain` asks line by line")
}

/// The view on the screen.
struct FilledScreen<'a> {
    view: ReviewView,
    requests: Sender<Work>,
    /// The flag that stops the trial that was requested last.
    trial: Option<CancelFlag>,
    /// The proposal whose decision ends the view.
    only: Option<ProposalId>,
    /// The proposal that the view shows, for the polls.
    looked_at: &'a Mutex<Option<ProposalId>>,
    /// The results of the decisions, a line each.
    ends: &'a mut Vec<String>,
}

impl FilledScreen<'_> {
    fn run(&mut self, screen: &mut Screen, events: &Receiver<Event>, cancel: &CancelFlag) -> io::Result<()> {
        let mut has_changed = true;
        let mut ticked = Instant::now();
        while !cancel.is_cancelled() {
            if has_changed {
                screen.draw(|frame| self.view.draw(frame))?;
                has_changed = false;
            }
            let is_busy = self.view.is_busy();
            let mut typed = screen.typed(if is_busy { BUSY_WAIT } else { IDLE_WAIT })?;
            // Keys that were typed faster than a screen is drawn are taken together.
            while let Some(one) = typed {
                has_changed |= !matches!(one, Typed::Nothing);
                if let Typed::Key(key) = one
                    && self.handle(Event::Key(key))
                {
                    return Ok(());
                }
                typed = screen.typed(Duration::ZERO)?;
            }
            for event in events.try_iter() {
                if let Event::Decided { id, outcome: Ok(text) } = &event {
                    self.ends.push(text.clone());
                    if self.only == Some(*id) {
                        return Ok(());
                    }
                }
                self.handle(event);
                has_changed = true;
            }
            if is_busy && ticked.elapsed() >= TICK {
                ticked = Instant::now();
                self.handle(Event::Tick);
                has_changed = true;
            }
        }
        Ok(())
    }

    /// Hands an event to the view. Returns true if the user quits.
    fn handle(&mut self, event: Event) -> bool {
        let requests = self.view.handle(event);
        let quits = requests.contains(&Request::Quit);
        self.request(requests);
        *self.looked_at.lock().unwrap_or_else(PoisonError::into_inner) = self.view.opened_id();
        quits
    }

    fn request(&mut self, requests: Vec<Request>) {
        for request in requests {
            let stop = CancelFlag::new();
            match request {
                Request::Quit => {}
                Request::StopTrial => {
                    if let Some(trial) = &self.trial {
                        trial.cancel();
                    }
                }
                request => {
                    if matches!(request, Request::Try { .. }) {
                        self.trial = Some(stop.clone());
                    }
                    // The thread ends after this side only, unless it panicked: then the screen is gone, too.
                    let _ = self.requests.send(Work { request, stop });
                }
            }
        }
    }
}

/// Carries out the requests of the view.
#[derive(Clone)]
struct Host<'a> {
    sessions: &'a SharedSessions,
    cancel: &'a CancelFlag,
    events: Sender<Event>,
}

impl<'a> Host<'a> {
    fn carry_out_all<'scope>(self, scope: &'scope thread::Scope<'scope, 'a>, requests: &Receiver<Work>)
    where
        'a: 'scope,
    {
        for Work { request, stop } in requests {
            // A trial may take minutes; what the user does meanwhile is saved at once.
            if matches!(request, Request::Try { .. }) {
                let host = self.clone();
                scope.spawn(move || host.carry_out(request, &stop));
            } else {
                self.carry_out(request, &stop);
            }
        }
    }

    fn carry_out(&self, request: Request, stop: &CancelFlag) {
        let Host { sessions, cancel, .. } = *self;
        let event = match request {
            Request::Open(id) => match sessions.call(&ShowProposal(id), cancel) {
                Ok(review) => Event::Opened(Box::new(opened(review))),
                Err(failure) => Event::Failed(line(failure)),
            },
            Request::Save { id, draft } => match sessions.call(&SaveDraft { id, draft }, cancel) {
                Ok(draft) => Event::Saved { id, draft },
                Err(failure) => Event::SaveRefused { id, why: line(failure) },
            },
            Request::Try { id, selection } => {
                let outcome = sessions.call(&TryProposal { id, selection }, stop).map_err(line);
                Event::Tried { id, outcome }
            }
            Request::Decide { id, draft, mark, sends_back } => {
                let decided = decide(sessions, id, (&draft, mark), sends_back, cancel);
                Event::Decided { id, outcome: decided.map(|decided| in_one_line(&decided)).map_err(line) }
            }
            Request::StopTrial | Request::Quit => return,
        };
        let _ = self.events.send(event);
    }
}

fn opened(review: ShownProposal) -> OpenedProposal {
    let ShownProposal { proposal, draft, tried, since, .. } = review;
    OpenedProposal { proposal, draft, tried, since }
}

fn line(failure: Failure) -> String {
    match failure.advice {
        Some(advice) => format!("{}: {advice}", failure.message),
        None => failure.message,
    }
}

/// Looks for changes by other windows, other processes, and of the folder.
struct Poll<'a> {
    sessions: &'a SharedSessions,
    cancel: &'a CancelFlag,
    events: Sender<Event>,
    looked_at: &'a Mutex<Option<ProposalId>>,
}

impl Poll<'_> {
    fn until(&self, end: &Receiver<()>) {
        let mut queue = None;
        let mut failed = None;
        let mut last: Option<OpenedProposal> = None;
        let mut next_look = Instant::now();
        loop {
            match self.sessions.call(&ListProposals, self.cancel) {
                Ok(all) => {
                    failed = None;
                    if queue.as_ref() != Some(&all) {
                        queue = Some(all.clone());
                        let _ = self.events.send(Event::Listed(all));
                    }
                }
                Err(failure) => {
                    let why = line(failure);
                    if failed.as_ref() != Some(&why) {
                        failed = Some(why.clone());
                        let _ = self.events.send(Event::Failed(why));
                    }
                }
            }
            let id = *self.looked_at.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(id) = id
                && Instant::now() >= next_look
            {
                let started = Instant::now();
                // A failure is reported when the user does something.
                if let Ok(review) = self.sessions.call(&ShowProposal(id), self.cancel) {
                    let read = opened(review);
                    if last.as_ref() != Some(&read) {
                        last = Some(read.clone());
                        let _ = self.events.send(Event::Opened(Box::new(read)));
                    }
                }
                next_look = Instant::now() + started.elapsed() * REST;
            }
            // Until the other side is dropped.
            if !matches!(end.recv_timeout(POLL), Err(RecvTimeoutError::Timeout)) {
                return;
            }
        }
    }
}
