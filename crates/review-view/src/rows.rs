//! The rows of a proposal: the content of each terminal line, without the text itself.

mod files;

use std::collections::{BTreeMap, BTreeSet};

use change_review::{
    CommentPosition, Draft, FileClass, ProposedStep, Side, SinceReview, StepEffect, StepSince, Tried,
};

use self::files::FileRows;
use crate::order::Order;

/// The lines of an output that are shown while it is folded: the last ones, because a failure is reported there.
const FOLDED_OUTPUT: usize = 4;

/// The maximum number of characters of a comment in one row.
const COMMENT_CHARACTERS: usize = 72;

/// One row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// The index of the step that it belongs to; `None` after the last step.
    pub(crate) step: Option<u32>,
    pub(crate) kind: RowKind,
}

/// The bytes of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// The content of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowKind {
    /// The verdict on a step and its title.
    Step,
    /// The reason why the step would fail.
    Problem,
    /// A remark on the file.
    Note,
    /// The news of the step since the last review.
    Since,
    /// The folder of a command.
    Folder,
    /// The name of a command that is left running.
    Background,
    /// A variable of a command, by its index.
    Variable(u32),
    /// The text that shows that a background command is ready.
    Ready,
    /// A part of the command's text.
    Command(Span),
    /// The verdict on a hunk of the step.
    Hunk(u32),
    /// Lines that are the same and are not shown.
    Gap,
    /// A line of a file.
    Line(Line),
    /// The line above has no line end, unlike in the other text.
    NoLineEnd,
    /// The step's folded lines: their number.
    Folded(u32),
    /// A file that the command has changed in the trial.
    Effect(u32),
    /// The outcome of the step in the last trial, by its index there.
    Outcome(u32),
    /// A line of this outcome's output.
    Output(u32, Span),
    /// The output's folded lines: their number.
    FoldedOutput(u32),
    /// A part of a comment, by its index in the draft.
    Comment(u32, Span),
    /// The comment on the whole proposal.
    Summary(Span),
    /// The title of the files that the trial has changed.
    TrialFiles,
    /// A file that the trial has changed.
    TrialFile(u32),
    /// A step of the last review that is not proposed again, by its index.
    Dropped(u32),
    Blank,
}

/// A line of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) source: LineSource,
    /// The hunk that it belongs to; `None` for unchanged lines, and for files without hunks.
    pub(crate) hunk: Option<u32>,
    /// The text that the line is taken from: for unchanged lines, the text after the step.
    pub(crate) side: Side,
    pub(crate) span: Span,
    /// Its number before and after the step, 1-based; 0 if it is missing.
    pub(crate) numbers: [u32; 2],
    /// True if a carriage return at its end is shown: other lines of the file do not end like this.
    pub(crate) shows_return: bool,
}

/// The change that a line belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineSource {
    /// The step's own.
    Step,
    /// The file that a command has changed, by its index.
    Effect(u32),
    /// The difference to the last review.
    SinceReview,
}

/// A row at which j and k stop, and the item that the space bar toggles there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stop {
    pub(crate) row: usize,
    /// The index of the step.
    pub(crate) step: usize,
    /// The index of the hunk; `None` for the step as a whole.
    pub(crate) hunk: Option<usize>,
}

/// The order of the steps, and the parts that are unfolded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arrangement {
    pub(crate) order: Order,
    /// True if changes are shown relative to the last review, if there was one.
    pub(crate) is_since: bool,
    /// True if generated and lock files are unfolded.
    pub(crate) shows_generated: bool,
    /// The numbers of the steps whose folded parts were unfolded one by one.
    pub(crate) unfolded: BTreeSet<u32>,
}

/// All rows of a proposal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    pub(crate) all: Vec<Row>,
    pub(crate) stops: Vec<Stop>,
}

/// Returns the rows of a proposal.
pub(crate) fn rows(
    steps: &[ProposedStep],
    draft: &Draft,
    positions: &[CommentPosition],
    (tried, since): (Option<&Tried>, Option<&SinceReview>),
    arrangement: &Arrangement,
) -> Rows {
    let mut rows = Rows::default();
    let comments = draft.comments.iter().zip(positions).enumerate();
    let mut by_step: BTreeMap<u32, Vec<(usize, Side, CommentPosition)>> = BTreeMap::new();
    for (index, (comment, position)) in comments {
        by_step.entry(comment.step).or_default().push((index, comment.side, *position));
    }
    for line in wrapped(&draft.summary) {
        rows.all.push(Row { step: None, kind: RowKind::Summary(line) });
    }
    if !draft.summary.is_empty() {
        rows.all.push(Row { step: None, kind: RowKind::Blank });
    }
    let dropped = since.map_or(0, |since| since.dropped.len());
    rows.all.extend((0..dropped).map(|index| Row { step: None, kind: RowKind::Dropped(small(index)) }));
    if dropped > 0 {
        rows.all.push(Row { step: None, kind: RowKind::Blank });
    }
    for index in arrangement.order.of(steps) {
        let step = &steps[index];
        let mut builder = StepRows {
            rows: &mut rows,
            step: index,
            draft,
            comments: by_step.remove(&step.step).unwrap_or_default(),
        };
        builder.step(step, (tried, since), arrangement);
    }
    // Comments on steps that are no longer there.
    for (index, ..) in by_step.into_values().flatten() {
        for line in wrapped(&draft.comments[index].text) {
            rows.all.push(Row { step: None, kind: RowKind::Comment(small(index), line) });
        }
    }
    if let Some(tried) = tried.filter(|tried| !tried.files.is_empty()) {
        rows.all.push(Row { step: None, kind: RowKind::TrialFiles });
        let files =
            (0..tried.files.len()).map(|file| Row { step: None, kind: RowKind::TrialFile(small(file)) });
        rows.all.extend(files);
    }
    rows
}

/// Adds the rows of one step.
struct StepRows<'a> {
    rows: &'a mut Rows,
    /// Its index.
    step: usize,
    draft: &'a Draft,
    /// Its comments that no row shows yet.
    comments: Vec<(usize, Side, CommentPosition)>,
}

impl StepRows<'_> {
    fn step(
        &mut self,
        step: &ProposedStep,
        (tried, since): (Option<&Tried>, Option<&SinceReview>),
        arrangement: &Arrangement,
    ) {
        self.stop(None);
        self.push(RowKind::Step);
        if step.problem.is_some() {
            self.push(RowKind::Problem);
        }
        if since.is_some() {
            self.push(RowKind::Since);
        }
        let since = since.and_then(|since| since.steps.get(&step.step)).filter(|_| arrangement.is_since);
        let is_unfolded = arrangement.unfolded.contains(&step.step);
        match &step.effect {
            StepEffect::File(file) => {
                if file.note.is_some() {
                    self.push(RowKind::Note);
                }
                if let Some(StepSince { changed, .. }) = since {
                    if let Some(changed) = changed {
                        FileRows::new(changed).add(self, LineSource::SinceReview);
                    }
                    return self.end(step, tried, is_unfolded);
                }
                let text = file.after.as_deref().or(file.before.as_deref()).unwrap_or_default();
                let mut lines = FileRows::new(file);
                if !arrangement.shows_generated && !is_unfolded && FileClass::of(&file.path, text).is_folded()
                {
                    self.push(RowKind::Folded(lines.changed_lines()));
                } else {
                    lines.add(self, LineSource::Step);
                }
            }
            StepEffect::Command(command) => {
                if command.folder.is_some() {
                    self.push(RowKind::Folder);
                }
                if command.background.is_some() {
                    self.push(RowKind::Background);
                }
                for index in 0..command.environment.len() {
                    self.push(RowKind::Variable(small(index)));
                }
                if command.ready.is_some() {
                    self.push(RowKind::Ready);
                }
                for line in lines_of(&command.command) {
                    self.push(RowKind::Command(line));
                }
                for (index, effect) in command.effects.iter().enumerate() {
                    self.push(RowKind::Effect(small(index)));
                    if is_unfolded {
                        FileRows::new(effect).add(self, LineSource::Effect(small(index)));
                    }
                }
            }
        }
        self.end(step, tried, is_unfolded);
    }

    /// Adds the rows below the change: comments and the outcome of the trial.
    fn end(&mut self, step: &ProposedStep, tried: Option<&Tried>, is_unfolded: bool) {
        self.remaining_comments();
        let outcomes = tried.map(|tried| tried.steps.as_slice()).unwrap_or_default();
        let outcome = outcomes.iter().enumerate().find(|(_, outcome)| outcome.step == step.step);
        if let Some((index, outcome)) = outcome {
            self.push(RowKind::Outcome(small(index)));
            let lines: Vec<Span> = lines_of(&outcome.output).collect();
            let skipped = if is_unfolded { 0 } else { lines.len().saturating_sub(FOLDED_OUTPUT) };
            if skipped > 0 {
                self.push(RowKind::FoldedOutput(small(skipped)));
            }
            for line in &lines[skipped..] {
                self.push(RowKind::Output(small(index), *line));
            }
        }
        self.push(RowKind::Blank);
    }

    fn push(&mut self, kind: RowKind) {
        self.rows.all.push(Row { step: Some(small(self.step)), kind });
    }

    fn stop(&mut self, hunk: Option<usize>) {
        self.rows.stops.push(Stop { row: self.rows.all.len(), step: self.step, hunk });
    }

    /// Adds the comments that end at a line of a text.
    fn comments_at(&mut self, side: Side, line: u32) {
        let at = |(_, of, position): &(usize, Side, CommentPosition)| {
            *of == side && matches!(position, CommentPosition::Lines { last, .. } if small(*last) == line)
        };
        if self.comments.is_empty() {
            return;
        }
        let (here, later) = std::mem::take(&mut self.comments).into_iter().partition(at);
        self.comments = later;
        self.add_comments(here);
    }

    /// Adds the comments on the step as a whole, on lines that are not shown, and those that are outdated.
    fn remaining_comments(&mut self) {
        let rest = std::mem::take(&mut self.comments);
        self.add_comments(rest);
    }

    fn add_comments(&mut self, comments: Vec<(usize, Side, CommentPosition)>) {
        for (index, ..) in comments {
            for line in wrapped(&self.draft.comments[index].text) {
                self.push(RowKind::Comment(small(index), line));
            }
        }
    }
}

/// Returns the lines of a text.
fn lines_of(text: &str) -> impl Iterator<Item = Span> + '_ {
    let mut start = 0;
    text.split_inclusive('\n').map(move |line| {
        let span = Span { start: small(start), end: small(start + line.len()) };
        start += line.len();
        span
    })
}

/// Returns the lines of a text, wrapped between words; one line for an empty text.
fn wrapped(text: &str) -> Vec<Span> {
    let mut lines = Vec::new();
    for line in lines_of(text) {
        let mut start = line.start as usize;
        let end = line.end as usize;
        while let Some((cut, _)) = text[start..end].char_indices().nth(COMMENT_CHARACTERS) {
            let at_space = text[start..start + cut].rfind(' ').filter(|space| *space > 0);
            let cut = start + at_space.map_or(cut, |space| space + 1);
            lines.push(Span { start: small(start), end: small(cut) });
            start = cut;
        }
        lines.push(Span { start: small(start), end: line.end });
    }
    lines
}

/// Returns a number in the form used by rows. Queues do not keep texts of more than 4 GB.
fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl Span {
    /// Returns the part of a text; an empty one if the text is too short.
    pub(crate) fn of(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}
