//! Proposals, a queue in memory, and the screen as text.

use std::collections::VecDeque;

use change_review::{
    CommandStep, Content, Draft, FileStep, Proposal, ProposalId, ProposedStep, Selection, SinceReview, State,
    StepEffect, StepOutcome, StepVerdict, Tried, steps_mark,
};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use review_view::{Event, Key, OpenedProposal, Palette, Request, ReviewView};

/// A step that changes a file.
pub(crate) fn file_step(step: u32, path: &str, before: Option<&str>, after: Option<&str>) -> ProposedStep {
    let file = FileStep::between(path, before.map(str::as_bytes), after.map(str::as_bytes));
    let verb = match (before, after) {
        (None, _) => "create",
        (_, None) => "delete",
        _ => "change",
    };
    ProposedStep { step, title: format!("{verb} {path}"), effect: StepEffect::File(file), problem: None }
}

/// A step that runs a command.
pub(crate) fn command_step(step: u32, command: &str) -> ProposedStep {
    let effect = CommandStep { command: command.to_owned(), ..CommandStep::default() };
    let title = format!("run {}", command.lines().next().unwrap_or_default());
    ProposedStep { step, title, effect: StepEffect::Command(effect), problem: None }
}

/// A proposal that waits.
pub(crate) fn proposal(id: u64, subject: &str, steps: Vec<ProposedStep>) -> Proposal {
    Proposal {
        id: ProposalId(id),
        conversation: "s1".to_owned(),
        front_end: "session".to_owned(),
        came_at: 1_700_000_000,
        subject: subject.to_owned(),
        content: Content::Calls { run: "r".to_owned(), calls: Vec::new() },
        steps,
        is_tried: false,
        state: State::Pending,
    }
}

/// Twenty lines, each with its number.
pub(crate) fn lines() -> String {
    (1..=20).map(|line| format!("let line_{line} = {line};\n")).collect()
}

/// A change of two hunks, a new file, a lock file and a command.
pub(crate) fn usual() -> Proposal {
    let before = lines();
    let after = before
        .replace("let line_3 = 3;\n", "let third = 3;\nlet more = 0;\n")
        .replace("let line_15 = 15;\n", "");
    let lock = file_step(2, "Cargo.lock", Some("a\nb\n"), Some("a\nB\n"));
    let steps = vec![
        file_step(0, "src/lib.rs", Some(&before), Some(&after)),
        file_step(1, "src/new.rs", None, Some("//! New.\nfn new() {}\n")),
        lock,
        command_step(3, "cargo test --lib\necho done"),
    ];
    proposal(3, "reply to message 2: rename the third line", steps)
}

/// A queue in memory that answers the requests of a view.
pub(crate) struct Host {
    pub(crate) view: ReviewView,
    pub(crate) proposals: Vec<Kept>,
    requests: VecDeque<Request>,
    /// The requests that were carried out.
    pub(crate) done: Vec<Request>,
    pub(crate) has_quit: bool,
    /// The exit code and output of every command of a trial.
    pub(crate) trial: (i32, String),
}

/// A proposal with its draft and trial.
pub(crate) struct Kept {
    pub(crate) proposal: Proposal,
    pub(crate) draft: Draft,
    pub(crate) tried: Option<Tried>,
    pub(crate) since: Option<SinceReview>,
}

impl Host {
    pub(crate) fn new(proposals: Vec<Proposal>) -> Host {
        let kept = |proposal| Kept { proposal, draft: Draft::default(), tried: None, since: None };
        let (view, requests) = ReviewView::new(None, Palette::plain());
        let mut host = Host {
            view,
            proposals: proposals.into_iter().map(kept).collect(),
            requests: requests.into(),
            done: Vec::new(),
            has_quit: false,
            trial: (0, "ok".to_owned()),
        };
        host.list();
        host.answer_all();
        host
    }

    /// Lists the queue to the view.
    pub(crate) fn list(&mut self) {
        let all = self.proposals.iter().map(|kept| kept.proposal.summary()).collect();
        self.send(Event::Listed(all));
    }

    pub(crate) fn send(&mut self, event: Event) {
        self.requests.extend(self.view.handle(event));
    }

    /// Presses a key; its requests wait.
    pub(crate) fn press(&mut self, key: Key) {
        self.send(Event::Key(key));
    }

    /// Presses the keys of a text, with all answers after each.
    pub(crate) fn keys(&mut self, keys: &str) -> &mut Host {
        for character in keys.chars() {
            self.key(if character == '\n' { Key::Enter } else { Key::Character(character) });
        }
        self
    }

    /// Presses a key and carries out what it asks for.
    pub(crate) fn key(&mut self, key: Key) -> &mut Host {
        self.press(key);
        self.answer_all();
        self
    }

    pub(crate) fn kept(&mut self, id: ProposalId) -> &mut Kept {
        self.proposals
            .iter_mut()
            .find(|kept| kept.proposal.id == id)
            .expect("the view knows listed ones only")
    }

    pub(crate) fn answer_all(&mut self) {
        while self.answer_one() {}
    }

    /// Carries out the oldest request. Returns false if none waits.
    pub(crate) fn answer_one(&mut self) -> bool {
        let Some(request) = self.requests.pop_front() else { return false };
        self.done.push(request.clone());
        match request {
            Request::Open(id) => self.show(id),
            Request::Save { id, draft } => {
                let kept = self.kept(id);
                let answer = if kept.proposal.is_pending() && kept.draft.revision == draft.revision {
                    kept.draft = Draft { revision: draft.revision + 1, ..draft };
                    Event::Saved { id, draft: kept.draft.clone() }
                } else {
                    Event::SaveRefused { id, why: "saved by another window".to_owned() }
                };
                self.send(answer);
            }
            Request::Try { id, selection } => {
                let outcome = self.tried(id, selection);
                self.kept(id).tried = Some(outcome.clone());
                self.send(Event::Tried { id, outcome: Ok(outcome) });
            }
            Request::StopTrial => {}
            Request::Decide { id, draft, mark, sends_back } => {
                let kept = self.kept(id);
                if !sends_back && mark != steps_mark(&kept.proposal.steps) {
                    self.send(Event::Decided { id, outcome: Err("the steps are others now".to_owned()) });
                    return true;
                }
                if kept.draft != draft {
                    self.send(Event::Decided { id, outcome: Err("the draft has changed".to_owned()) });
                    return true;
                }
                kept.proposal.state = State::Decided(change_review::Decision {
                    resolution: change_review::Resolution::of(&draft.selection, &kept.proposal.steps),
                    review: String::new(),
                    has_landed: !sends_back,
                    answers: serde_json::Value::Null,
                    is_answered: false,
                    is_closed: false,
                });
                let word = if sends_back { "sent back" } else { "landed" };
                self.send(Event::Decided { id, outcome: Ok(format!("proposal {id} {word}")) });
            }
            Request::Quit => self.has_quit = true,
        }
        true
    }

    /// Sends a proposal to the view, as if it was asked for.
    pub(crate) fn show(&mut self, id: ProposalId) {
        let Kept { proposal, draft, tried, since } = self.kept(id);
        let opened = OpenedProposal {
            proposal: proposal.clone(),
            draft: draft.clone(),
            tried: tried.clone(),
            since: since.clone(),
        };
        self.send(Event::Opened(Box::new(opened)));
    }

    fn tried(&mut self, id: ProposalId, selection: Selection) -> Tried {
        let (exit_code, output) = self.trial.clone();
        let outcome = |step: &ProposedStep| {
            let is_left_out = *selection.verdict(step.step) == StepVerdict::LeaveOut;
            let outcome =
                StepOutcome { step: step.step, is_left_out, success: !is_left_out, ..StepOutcome::default() };
            match (&step.effect, is_left_out) {
                (_, true) => StepOutcome { summary: "left out".to_owned(), ..outcome },
                (StepEffect::File(file), _) => {
                    StepOutcome { summary: format!("wrote {}", file.path), ..outcome }
                }
                (StepEffect::Command(_), _) => StepOutcome {
                    success: exit_code == 0,
                    summary: format!("exit code {exit_code}"),
                    output: output.clone(),
                    exit_code: Some(exit_code),
                    duration_ms: Some(1_250),
                    ..outcome
                },
            }
        };
        let steps = self.kept(id).proposal.steps.clone();
        Tried {
            steps: steps.iter().map(outcome).collect(),
            selection: selection.normal(&steps),
            files: vec![FileStep::between("src/lib.rs", Some(b"1\n"), Some(b"2\n"))],
            is_held: true,
            ..Tried::default()
        }
    }

    /// Returns the screen of this size as text, without trailing spaces.
    pub(crate) fn screen(&mut self, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| self.view.draw(frame)).unwrap();
        let buffer = terminal.backend().buffer();
        let mut screen = String::new();
        for y in 0..height {
            let mut line = String::new();
            let mut x = 0;
            while x < width {
                let symbol = buffer[(x, y)].symbol();
                line.push_str(symbol);
                // The second cell of a wide character is not a space.
                x += u16::try_from(unicode_width::UnicodeWidthStr::width(symbol).max(1)).unwrap();
            }
            screen.push_str(line.trim_end());
            screen.push('\n');
        }
        screen
    }
}
