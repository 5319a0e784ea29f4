//! The effect of each key.

use change_review::steps_mark;

use super::{Decision, Mode, ReviewView, is_no};
use crate::choice::needs_a_trial;
use crate::event::{Key, Request};
use crate::line_editor::LineEditor;
use crate::opened::{Opened, Subject};

/// The cells by which a line scrolls sideways.
const SIDEWAYS: usize = 8;

/// The farthest cell to which a line scrolls.
const MOST_SIDEWAYS: usize = 1 << 20;

impl ReviewView {
    pub(super) fn press(&mut self, key: &Key) -> Vec<Request> {
        // The user continues with something else.
        self.lands_when_read = None;
        match &mut self.mode {
            Mode::Help => {
                self.mode = Mode::Browse;
                Vec::new()
            }
            Mode::Type(editor, subject) => match key {
                Key::Enter => {
                    let (text, subject) = (editor.text(), *subject);
                    self.mode = Mode::Browse;
                    self.write(subject, &text)
                }
                Key::Escape | Key::Interrupt => {
                    self.mode = Mode::Browse;
                    Vec::new()
                }
                key => {
                    editor.press(key);
                    Vec::new()
                }
            },
            Mode::Confirm(decision) => {
                let decision = *decision;
                match key {
                    Key::Character('y' | 'Y') => {
                        self.mode = Mode::Browse;
                        self.confirmed(decision)
                    }
                    key if is_no(key) => {
                        self.mode = Mode::Browse;
                        self.say("nothing was done; the draft is kept");
                        Vec::new()
                    }
                    // Look at it before deciding.
                    key => self.look(key),
                }
            }
            Mode::Browse => self.browse(key),
        }
    }

    fn browse(&mut self, key: &Key) -> Vec<Request> {
        match key {
            Key::Character('q') => vec![Request::Quit],
            Key::Escape | Key::Interrupt => match &mut self.trial {
                Some(trial) => {
                    trial.is_stopped = true;
                    vec![Request::StopTrial]
                }
                None if *key == Key::Interrupt => vec![Request::Quit],
                None => {
                    self.notice = None;
                    Vec::new()
                }
            },
            Key::Character('?') => {
                self.mode = Mode::Help;
                Vec::new()
            }
            Key::Tab | Key::BackTab => {
                self.notice = None;
                self.open_next(*key == Key::Tab)
            }
            Key::Character(' ') => self.change(Opened::toggle),
            Key::Character('a') => self.change(Opened::take_all),
            Key::Character('x') => self.change(Opened::take_nothing),
            Key::Character('d') => match self.opened.as_ref().and_then(Opened::subject) {
                Some(subject @ Subject::Comment(_)) if self.is_open() => self.write(subject, ""),
                Some(Subject::Comment(_)) => Vec::new(),
                _ => {
                    self.say("d removes the comment at the cursor; there is none");
                    Vec::new()
                }
            },
            Key::Character('n') => {
                let subject = self.opened.as_ref().and_then(Opened::subject);
                if subject.is_none() {
                    self.say("there is nothing to comment on at the cursor; S writes about all of it");
                }
                self.begin_to_type(subject)
            }
            Key::Character('S') => self.begin_to_type(Some(Subject::Everything)),
            Key::Character('t') if self.is_open() => self.start_trial(false),
            Key::Character('l') if self.is_open() => self.begin_to_land(),
            Key::Character('b') if self.is_open() => {
                self.notice = None;
                self.mode = Mode::Confirm(Decision::SendBack);
                Vec::new()
            }
            Key::Character('o') => {
                self.reshow(|opened| opened.arrangement.order = opened.arrangement.order.next())
            }
            Key::Character('v') => {
                let has_since = self.opened.as_ref().is_some_and(|opened| opened.since.is_some());
                if !has_since {
                    self.say("no part of this was sent back before");
                    return Vec::new();
                }
                self.reshow(|opened| opened.arrangement.is_since = !opened.arrangement.is_since)
            }
            Key::Character('f') => {
                self.reshow(|opened| opened.arrangement.shows_generated = !opened.arrangement.shows_generated)
            }
            key => self.look(key),
        }
    }

    /// Handles keys that only move and unfold.
    fn look(&mut self, key: &Key) -> Vec<Request> {
        let page = isize::try_from(self.height.saturating_sub(2).max(1)).unwrap_or(1);
        let Some(opened) = &mut self.opened else { return Vec::new() };
        match key {
            Key::Character('j') => opened.move_by_stop(true),
            Key::Character('k') => opened.move_by_stop(false),
            Key::Down => opened.move_by_rows(1),
            Key::Up => opened.move_by_rows(-1),
            Key::PageDown => opened.move_by_rows(page),
            Key::PageUp => opened.move_by_rows(-page),
            Key::Home | Key::Character('g') => opened.move_by_rows(isize::MIN),
            Key::End | Key::Character('G') => opened.move_by_rows(isize::MAX),
            Key::Left | Key::Character('<') => opened.sideways = opened.sideways.saturating_sub(SIDEWAYS),
            Key::Right | Key::Character('>') => {
                opened.sideways = (opened.sideways + SIDEWAYS).min(MOST_SIDEWAYS);
            }
            Key::Enter => opened.toggle_fold(),
            _ => {}
        }
        Vec::new()
    }

    fn reshow(&mut self, change: impl Fn(&mut Opened)) -> Vec<Request> {
        if let Some(opened) = &mut self.opened {
            change(opened);
            opened.rebuild();
            let order = opened.arrangement.order.name();
            let folds = if opened.arrangement.shows_generated { "shown" } else { "folded" };
            let since = if opened.arrangement.is_since { "; changes since your last review" } else { "" };
            self.say(format!("steps {order}; generated and lock files {folds}{since}"));
        }
        Vec::new()
    }

    /// Changes the choice and saves it.
    fn change(&mut self, change: impl Fn(&mut Opened)) -> Vec<Request> {
        if !self.is_open() {
            return Vec::new();
        }
        self.notice = None;
        let Some(opened) = &mut self.opened else { return Vec::new() };
        let before = opened.draft.selection.clone();
        change(opened);
        if opened.draft.selection == before {
            return Vec::new();
        }
        opened.rebuild();
        self.save()
    }

    fn begin_to_type(&mut self, subject: Option<Subject>) -> Vec<Request> {
        if self.is_open()
            && let (Some(subject), Some(opened)) = (subject, &mut self.opened)
        {
            self.notice = None;
            opened.begin(subject);
            self.mode = Mode::Type(LineEditor::with(&opened.text_of(subject)), subject);
        }
        Vec::new()
    }

    fn write(&mut self, subject: Subject, text: &str) -> Vec<Request> {
        if !self.is_open() {
            return Vec::new();
        }
        let Some(opened) = &mut self.opened else { return Vec::new() };
        if opened.write(subject, text) { self.save() } else { Vec::new() }
    }

    fn begin_to_land(&mut self) -> Vec<Request> {
        let Some(opened) = &self.opened else { return Vec::new() };
        let steps = &opened.proposal.steps;
        if opened.draft.selection.takes_nothing_of(steps) {
            self.say("nothing is taken: b sends the proposal back");
            return Vec::new();
        }
        if needs_a_trial(&opened.draft.selection, steps, opened.tried.as_ref()) {
            return self.start_trial(true);
        }
        self.notice = None;
        self.mode = Mode::Confirm(Decision::Land);
        Vec::new()
    }

    fn confirmed(&mut self, decision: Decision) -> Vec<Request> {
        if !self.is_open() {
            return Vec::new();
        }
        let Some(opened) = &self.opened else { return Vec::new() };
        let (id, draft) = (opened.proposal.id, opened.draft.clone());
        self.deciding = Some(id);
        self.notice = None;
        let mark = steps_mark(&opened.proposal.steps);
        vec![Request::Decide { id, draft, mark, sends_back: decision == Decision::SendBack }]
    }
}
