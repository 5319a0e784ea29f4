//! The opened proposal: its draft, its rows and the cursor.

use change_review::{
    Comment, CommentPosition, Draft, HunkId, Proposal, ProposedStep, Selection, Side, SinceReview,
    StepOutcome, Tried,
};

use crate::choice::{self, hunks};
use crate::event::OpenedProposal;
use crate::rows::{Arrangement, LineSource, Row, RowKind, Rows, Stop, rows};

/// A proposal on the screen.
#[derive(Clone, Debug)]
pub(crate) struct Opened {
    pub(crate) proposal: Proposal,
    /// The draft as it is now. Its revision is the one that it has when every requested save is done.
    pub(crate) draft: Draft,
    pub(crate) positions: Vec<CommentPosition>,
    pub(crate) tried: Option<Tried>,
    pub(crate) since: Option<SinceReview>,
    pub(crate) arrangement: Arrangement,
    pub(crate) rows: Rows,
    /// The row of the cursor.
    pub(crate) cursor: usize,
    /// The first row on the screen.
    pub(crate) scroll: usize,
    /// The cells that are scrolled away to the left.
    pub(crate) sideways: usize,
    /// Comments that were written here and that no answer has confirmed.
    unconfirmed: Vec<Comment>,
    /// The comment that is typed, on the lines as they were when that began.
    begun: Option<Comment>,
}

/// The number of a step, and the name of its hunk.
type StopName = (Option<u32>, Option<HunkId>);

/// The subject of a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// A step as a whole, by its index.
    Step(usize),
    /// Lines of a step.
    Lines(usize, Side, usize, usize),
    /// An existing comment, by its index.
    Comment(usize),
    /// All of it.
    Everything,
}

/// The differences to a proposal that was read before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changed {
    /// The steps, because the folder has changed.
    pub(crate) steps: bool,
    /// The steps, because another window has tried everything: they are now the real ones.
    pub(crate) tried: bool,
    /// The draft, because another window saved it.
    pub(crate) draft: bool,
    /// Comments of this window are not in the draft that was saved elsewhere, and were added to it.
    pub(crate) keeps_comments: bool,
}

impl Opened {
    pub(crate) fn new(read: OpenedProposal) -> Opened {
        let OpenedProposal { proposal, draft, tried, since } = read;
        let mut opened = Opened {
            proposal,
            draft,
            positions: Vec::new(),
            tried,
            since,
            arrangement: Arrangement::default(),
            rows: Rows::default(),
            cursor: 0,
            scroll: 0,
            sideways: 0,
            unconfirmed: Vec::new(),
            begun: None,
        };
        opened.rebuild();
        opened.cursor = opened.rows.stops.first().map_or(0, |stop| stop.row);
        opened
    }

    /// Applies a repeated read. `is_refused` is true if a save was refused: then the draft that was read applies.
    /// `is_trying` is true while a trial of this window runs.
    pub(crate) fn read_again(&mut self, read: OpenedProposal, is_refused: bool, is_trying: bool) -> Changed {
        let has_other_steps = read.proposal.steps != self.proposal.steps;
        let is_own_trial = is_trying || is_same_trial(self.tried.as_ref(), read.tried.as_ref());
        let mut changed = Changed {
            steps: has_other_steps && !read.proposal.is_tried,
            tried: has_other_steps && read.proposal.is_tried && !is_own_trial,
            ..Changed::default()
        };
        let is_elsewhere = read.draft.revision > self.draft.revision;
        // A draft with a smaller revision was read before a pending save.
        let is_same = Draft { revision: self.draft.revision, ..read.draft.clone() } == self.draft;
        if is_same && !is_refused {
            // Planning again moves a draft to its next revision.
            self.draft.revision = self.draft.revision.max(read.draft.revision);
        } else if is_refused || is_elsewhere {
            changed.draft = true;
            self.draft = read.draft;
            for comment in std::mem::take(&mut self.unconfirmed) {
                if !self.draft.comments.contains(&comment) {
                    self.draft.comments.push(comment);
                    changed.keeps_comments = true;
                }
            }
        }
        // Based on the steps of the current rows: a hunk has another number among the new ones.
        let kept = self.kept();
        self.proposal = read.proposal;
        self.tried = read.tried;
        self.since = read.since;
        self.rebuild_at(kept);
        changed
    }

    /// Notes that a draft was saved.
    pub(crate) fn confirm(&mut self, saved: &Draft) {
        self.unconfirmed.retain(|comment| !saved.comments.contains(comment));
    }

    /// Rebuilds the rows. The cursor stays at its hunk.
    pub(crate) fn rebuild(&mut self) {
        let kept = self.kept();
        self.rebuild_at(kept);
    }

    /// Returns the hunk of the cursor, and the rows from its head to the cursor.
    fn kept(&self) -> Option<(StopName, usize)> {
        self.stop().map(|stop| (self.name(stop), self.cursor.saturating_sub(stop.row)))
    }

    fn rebuild_at(&mut self, kept: Option<(StopName, usize)>) {
        self.positions =
            self.draft.comments.iter().map(|comment| comment.position(&self.proposal.steps)).collect();
        self.rows = {
            let trial_and_news = (self.tried.as_ref(), self.since.as_ref());
            rows(&self.proposal.steps, &self.draft, &self.positions, trial_and_news, &self.arrangement)
        };
        if let Some(((step, hunk), offset)) = kept {
            let stops = self.rows.stops.iter();
            let exact = stops.clone().position(|stop| self.name(*stop) == (step, hunk.clone()));
            let nearest = exact.or_else(|| stops.clone().position(|stop| self.name(*stop).0 == step));
            if let Some(index) = nearest {
                let end = self.rows.stops.get(index + 1).map_or(self.rows.all.len(), |next| next.row);
                let row = self.rows.stops[index].row;
                self.cursor = (row + offset).min(end.saturating_sub(1)).max(row);
            }
        }
        self.cursor = self.cursor.min(self.rows.all.len().saturating_sub(1));
    }

    /// Returns the name of a stop that stays when rows are added.
    fn name(&self, stop: Stop) -> StopName {
        let step = self.proposal.steps.get(stop.step);
        let hunk = step.and_then(|step| hunks(step).get(stop.hunk?)).map(|hunk| hunk.id.clone());
        (step.map(|step| step.step), hunk)
    }

    /// Returns the last stop at or before the cursor; `None` outside of all steps.
    pub(crate) fn stop(&self) -> Option<Stop> {
        self.row()?.step?;
        let after = self.rows.stops.partition_point(|stop| stop.row <= self.cursor);
        self.rows.stops.get(after.saturating_sub(1)).copied()
    }

    /// Moves to the next stop, or to the previous one.
    pub(crate) fn move_by_stop(&mut self, is_forward: bool) {
        let stops = &self.rows.stops;
        let wanted = match is_forward {
            true => stops.get(stops.partition_point(|stop| stop.row <= self.cursor)),
            false => stops[..stops.partition_point(|stop| stop.row < self.cursor)].last(),
        };
        if let Some(stop) = wanted {
            self.cursor = stop.row;
        }
    }

    /// Moves by rows.
    pub(crate) fn move_by_rows(&mut self, rows: isize) {
        let last = self.rows.all.len().saturating_sub(1);
        self.cursor = self.cursor.saturating_add_signed(rows).min(last);
    }

    /// Returns the row of the cursor.
    pub(crate) fn row(&self) -> Option<Row> {
        self.rows.all.get(self.cursor).copied()
    }

    /// Moves to the outcome of the last trial: to the first step that failed, or else to the last command.
    pub(crate) fn move_to_outcome(&mut self) {
        let outcomes = self.tried.as_ref().map(|tried| tried.steps.as_slice()).unwrap_or_default();
        let row = |wanted: &dyn Fn(&StepOutcome) -> bool, is_last: bool| {
            let mut rows = self.rows.all.iter().enumerate().filter(|(_, row)| {
                matches!(row.kind, RowKind::Outcome(index) if outcomes.get(index as usize).is_some_and(wanted))
            });
            let entry = if is_last { rows.next_back() } else { rows.next() };
            entry.map(|(row, _)| row)
        };
        let failed = row(&|outcome| !outcome.success && !outcome.is_left_out, false);
        let wanted = failed.or_else(|| row(&|outcome| outcome.exit_code.is_some(), true));
        self.cursor = wanted.unwrap_or(self.cursor);
    }

    /// Takes the step or hunk at the cursor, or leaves it out.
    pub(crate) fn toggle(&mut self) {
        if let Some(stop) = self.stop() {
            choice::toggle(&mut self.draft.selection, &self.proposal.steps, stop.step, stop.hunk);
        }
    }

    pub(crate) fn take_all(&mut self) {
        self.draft.selection = Selection::default();
    }

    pub(crate) fn take_nothing(&mut self) {
        self.draft.selection = Selection::nothing(&self.proposal.steps);
    }

    /// Unfolds the step at the cursor, or folds it.
    pub(crate) fn toggle_fold(&mut self) {
        let step = self.stop().and_then(|stop| self.proposal.steps.get(stop.step));
        if let Some(step) = step.map(|step| step.step) {
            if !self.arrangement.unfolded.remove(&step) {
                self.arrangement.unfolded.insert(step);
            }
            self.rebuild();
        }
    }

    /// Returns the subject of a comment at the cursor; `None` if there is none.
    pub(crate) fn subject(&self) -> Option<Subject> {
        let row = self.row()?;
        match row.kind {
            RowKind::Comment(index, _) => return Some(Subject::Comment(index as usize)),
            RowKind::Summary(_) => return Some(Subject::Everything),
            _ => {}
        }
        let index = row.step? as usize;
        let step = self.proposal.steps.get(index)?;
        Some(match row.kind {
            RowKind::Line(line) if line.source == LineSource::Step => {
                let number = line.numbers[usize::from(line.side == Side::After)] as usize;
                Subject::Lines(index, line.side, number, number)
            }
            RowKind::Hunk(hunk) => {
                let hunk = hunks(step).get(hunk as usize)?;
                let (side, first, count) = match hunk.new_count {
                    0 => (Side::Before, hunk.old_first, hunk.old_count),
                    count => (Side::After, hunk.new_first, count),
                };
                Subject::Lines(index, side, first, first + count - 1)
            }
            _ => Subject::Step(index),
        })
    }

    /// Returns the text that a subject has already.
    pub(crate) fn text_of(&self, subject: Subject) -> String {
        match subject {
            Subject::Comment(index) => {
                self.draft.comments.get(index).map(|comment| comment.text.clone()).unwrap_or_default()
            }
            Subject::Everything => self.draft.summary.clone(),
            Subject::Step(_) | Subject::Lines(..) => String::new(),
        }
    }

    /// Records the lines of a comment before it is typed: they may have other numbers when it is written.
    pub(crate) fn begin(&mut self, subject: Subject) {
        self.begun = match subject {
            Subject::Step(index) | Subject::Lines(index, ..) => {
                self.proposal.steps.get(index).map(|step| comment(step, subject, ""))
            }
            Subject::Comment(_) | Subject::Everything => None,
        };
    }

    /// Writes a text about a subject. An empty text removes the existing one. Returns true if the draft has changed.
    pub(crate) fn write(&mut self, subject: Subject, text: &str) -> bool {
        let before = self.draft.clone();
        let text = text.trim();
        match subject {
            Subject::Everything => text.clone_into(&mut self.draft.summary),
            Subject::Comment(index) if index < self.draft.comments.len() => {
                if text.is_empty() {
                    let removed = self.draft.comments.remove(index);
                    self.unconfirmed.retain(|comment| *comment != removed);
                } else {
                    text.clone_into(&mut self.draft.comments[index].text);
                    self.unconfirmed.push(self.draft.comments[index].clone());
                }
            }
            Subject::Comment(_) => {}
            Subject::Step(_) | Subject::Lines(..) if text.is_empty() => {}
            Subject::Step(_) | Subject::Lines(..) => {
                let Some(begun) = self.begun.take() else { return false };
                let comment = Comment { text: text.to_owned(), ..begun };
                self.unconfirmed.push(comment.clone());
                self.draft.comments.push(comment);
            }
        }
        let has_changed = self.draft != before;
        if has_changed {
            self.rebuild();
        }
        has_changed
    }
}

/// Checks whether two reads are of the same trial, held or not.
fn is_same_trial(one: Option<&Tried>, other: Option<&Tried>) -> bool {
    let (Some(one), Some(other)) = (one, other) else { return false };
    (&one.selection, &one.steps, &one.files) == (&other.selection, &other.steps, &other.files)
}

/// Returns a comment on lines, or on the step if it no longer has these lines.
fn comment(step: &ProposedStep, subject: Subject, text: &str) -> Comment {
    let on_lines = match subject {
        Subject::Lines(_, side, first, last) => Comment::on_lines(step, side, (first, last), text),
        _ => None,
    };
    on_lines.unwrap_or_else(|| Comment::on_step(step, text))
}
