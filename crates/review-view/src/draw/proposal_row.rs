//! One row of the proposal.

use change_review::{CommandStep, CommentPosition, FileStep, ProposedStep, Side, StepEffect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::choice::{Taken, hunks, is_of_this_choice, taken};
use crate::cut_line::cut_line;
use crate::opened::Opened;
use crate::palette::Palette;
use crate::rows::{self, LineSource, Row, RowKind};

/// The minimum number of cells of a line number.
const FEWEST_DIGITS: usize = 3;

/// The maximum number of cells of a variable's name.
const MOST_NAME_CELLS: usize = 40;

/// Draws rows of a proposal.
pub(super) struct RowPainter<'a> {
    opened: &'a Opened,
    palette: Palette,
    /// The cells of a row.
    width: usize,
    /// The cells of a line number.
    digits: usize,
    /// True if the last trial was of the current choice.
    is_trial_current: bool,
}

/// A row before it is cut: the fixed part, and the text that scrolls sideways.
struct Painted<'a> {
    fixed: Vec<(String, Style)>,
    text: &'a str,
    style: Style,
}

impl<'a> RowPainter<'a> {
    pub(super) fn new(opened: &'a Opened, palette: Palette, width: usize) -> RowPainter<'a> {
        let most = opened.rows.all.iter().skip(opened.scroll).take(1_000).filter_map(|row| match row.kind {
            RowKind::Line(line) => line.numbers.into_iter().max(),
            _ => None,
        });
        let digits = most.max().unwrap_or(0).to_string().len().max(FEWEST_DIGITS);
        let is_trial_current =
            is_of_this_choice(&opened.draft.selection, &opened.proposal.steps, opened.tried.as_ref());
        RowPainter { opened, palette, width, digits, is_trial_current }
    }

    /// Returns a row ready for drawing.
    pub(super) fn line(&self, row: Row, is_at_cursor: bool) -> Line<'static> {
        let step = row.step.and_then(|step| self.opened.proposal.steps.get(step as usize));
        let painted = self.painted(row, step);
        let mark = if is_at_cursor { "▌" } else { " " };
        let mut spans = vec![Span::styled(mark, self.palette.strong())];
        let mut left = self.width.saturating_sub(1);
        for (piece, style) in painted.fixed {
            let cut = cut_line(&piece, 0, left);
            left -= cut.cells;
            spans.push(Span::styled(cut.text, style));
        }
        let is_scrolled =
            self.opened.sideways > 0 && (scrolls(row.kind) || cut_line(painted.text, 0, left).is_cut);
        let sideways = if is_scrolled { self.opened.sideways } else { 0 };
        let mut cut = cut_line(painted.text, sideways, left);
        if cut.is_cut && left > 0 {
            cut = cut_line(painted.text, sideways, left - 1);
            cut.text.push('…');
            // A wide character may have left a cell free.
            cut.cells += 1;
        }
        let rest = left.saturating_sub(cut.cells);
        spans.push(Span::styled(cut.text, painted.style));
        if is_at_cursor {
            spans.push(Span::raw(" ".repeat(rest)));
            return Line::from(spans).patch_style(self.palette.chosen());
        }
        Line::from(spans)
    }

    fn painted(&self, row: Row, step: Option<&'a ProposedStep>) -> Painted<'a> {
        let palette = self.palette;
        let fixed = |pieces: &[(&str, Style)]| Painted {
            fixed: pieces.iter().map(|(text, style)| ((*text).to_owned(), *style)).collect(),
            text: "",
            style: Style::new(),
        };
        let plain = |text: &str, style: Style| fixed(&[(text, style)]);
        match (row.kind, step) {
            (RowKind::Step, Some(step)) => self.step(row, step),
            (RowKind::Problem, Some(step)) => {
                let problem = step.problem.as_deref().unwrap_or_default();
                Painted { text: problem, style: palette.bad(), ..plain("  would fail: ", palette.bad()) }
            }
            (RowKind::Note, Some(step)) => {
                let note = file(step).and_then(|file| file.note.as_deref()).unwrap_or_default();
                Painted { text: note, style: palette.note(), ..plain("  ! ", palette.note()) }
            }
            (RowKind::Since, Some(step)) => plain(&self.since(step), palette.note()),
            (RowKind::Dropped(index), _) => {
                let dropped = self.opened.since.as_ref().and_then(|since| since.dropped.get(index as usize));
                let text = dropped.map(String::as_str).unwrap_or_default();
                Painted { text, style: palette.faint(), ..plain("not proposed again: ", palette.faint()) }
            }
            (RowKind::Folder, Some(step)) => {
                let text = command(step).and_then(|command| command.folder.as_deref()).unwrap_or_default();
                Painted { text, ..plain("  in the folder ", palette.note()) }
            }
            (RowKind::Background, Some(step)) => {
                let text =
                    command(step).and_then(|command| command.background.as_deref()).unwrap_or_default();
                Painted { text, ..plain("  left running as ", palette.note()) }
            }
            (RowKind::Variable(index), Some(step)) => {
                let variable =
                    command(step).and_then(|command| command.environment.iter().nth(index as usize));
                let Some((name, value)) = variable else { return plain("", Style::new()) };
                // A long name must not push its value out of the row, or appear to be complete.
                let cut = cut_line(name, 0, MOST_NAME_CELLS);
                let end = if cut.is_cut { "…=" } else { "=" };
                let name = format!("{}{end}", cut.text);
                Painted { text: value, ..fixed(&[("  with ", palette.note()), (&name, palette.strong())]) }
            }
            (RowKind::Ready, Some(step)) => {
                let text = command(step).and_then(|command| command.ready.as_deref()).unwrap_or_default();
                Painted { text, ..plain("  ready as soon as it prints ", palette.note()) }
            }
            (RowKind::NoLineEnd, _) => plain("  \\ no line end after the last line", palette.faint()),
            (RowKind::Command(span), Some(step)) => {
                let StepEffect::Command(command) = &step.effect else { return plain("", Style::new()) };
                Painted { text: span.of(&command.command), ..plain("  $ ", palette.strong()) }
            }
            (RowKind::Hunk(index), Some(step)) => self.hunk(index as usize, step),
            (RowKind::Gap, _) => plain("  ⋮", palette.faint()),
            (RowKind::Line(line), Some(step)) => self.file_line(line, step),
            (RowKind::Folded(lines), _) => {
                let text =
                    format!("  … {lines} changed lines of a generated or lock file  (Enter shows them)");
                plain(&text, palette.faint())
            }
            (RowKind::Effect(index), Some(step)) => match effect(step, index) {
                Some(file) => self.counted("  changes", file),
                None => plain("", Style::new()),
            },
            (RowKind::Outcome(index), _) => self.outcome(index as usize),
            (RowKind::Output(index, span), _) => {
                let tried = self.opened.tried.as_ref();
                let output = tried.and_then(|tried| tried.steps.get(index as usize));
                let output = output.map(|outcome| outcome.output.as_str()).unwrap_or_default();
                Painted { text: span.of(output), ..plain("    ", palette.faint()) }
            }
            (RowKind::FoldedOutput(lines), _) => {
                plain(&format!("    … {lines} lines above  (Enter shows them)"), palette.faint())
            }
            (RowKind::Comment(index, span), _) => self.comment(index as usize, span),
            (RowKind::Summary(span), _) => {
                let text = span.of(&self.opened.draft.summary);
                Painted { text, style: palette.note(), ..plain("» ", palette.note()) }
            }
            (RowKind::TrialFiles, _) => plain("the trial changes", palette.strong()),
            (RowKind::TrialFile(index), _) => {
                let tried = self.opened.tried.as_ref();
                let file = tried.and_then(|tried| tried.files.get(index as usize));
                file.map_or_else(|| plain("", Style::new()), |file| self.counted(" ", file))
            }
            _ => plain("", Style::new()),
        }
    }

    fn step(&self, row: Row, step: &'a ProposedStep) -> Painted<'a> {
        let mark = match taken(&self.opened.draft.selection, step) {
            Taken::All => "[x] ",
            Taken::Part => "[~] ",
            Taken::Nothing => "[ ] ",
        };
        let number = row.step.map_or(0, |step| step + 1);
        let counts = file(step).map(|file| format!("{}  ", counts(file))).unwrap_or_default();
        let fixed = vec![
            (mark.to_owned(), self.palette.strong()),
            (format!("{number}. "), self.palette.strong()),
            (counts, self.palette.faint()),
        ];
        Painted { fixed, text: &step.title, style: self.palette.strong() }
    }

    /// Names a file after the numbers of its added and removed lines.
    fn counted(&self, what: &str, file: &'a FileStep) -> Painted<'a> {
        let style = self.palette.faint();
        Painted { fixed: vec![(format!("{what} {}  ", counts(file)), style)], text: &file.path, style }
    }

    /// Describes the news of a step since the last review.
    fn since(&self, step: &ProposedStep) -> String {
        let since = self.opened.since.as_ref().and_then(|since| since.steps.get(&step.step));
        let Some(since) = since else { return "  new since your last review".to_owned() };
        let Some(changed) = &since.changed else {
            return format!("  the same as at your review of #{}", since.review);
        };
        let what = if self.opened.arrangement.is_since { "shows the whole change" } else { "shows it" };
        let counts = counts(changed);
        format!("  {counts} since your review of #{}  (v {what})", since.review)
    }

    fn hunk(&self, index: usize, step: &'a ProposedStep) -> Painted<'a> {
        let all = hunks(step);
        let Some(hunk) = all.get(index) else {
            return Painted { fixed: Vec::new(), text: "", style: Style::new() };
        };
        let is_taken = self.opened.draft.selection.takes_hunk(step.step, &hunk.id);
        let mark = if is_taken { "[x]" } else { "[ ]" };
        let left_out = if is_taken { "" } else { "  left out" };
        let text = format!("  {mark} hunk {} of {}, line {}{left_out}", index + 1, all.len(), hunk.new_first);
        Painted { fixed: vec![(text, self.palette.title())], text: "", style: Style::new() }
    }

    fn file_line(&self, line: rows::Line, step: &'a ProposedStep) -> Painted<'a> {
        let file = match line.source {
            LineSource::Step => file(step),
            LineSource::Effect(index) => effect(step, index),
            LineSource::SinceReview => {
                let since = self.opened.since.as_ref().and_then(|since| since.steps.get(&step.step));
                since.and_then(|since| since.changed.as_ref())
            }
        };
        let text = file.and_then(|file| match line.side {
            Side::Before => file.before.as_deref(),
            Side::After => file.after.as_deref(),
        });
        let (marker, style) = match line.numbers {
            [_, 0] => ('-', self.palette.bad()),
            [0, _] => ('+', self.palette.good()),
            _ => (' ', Style::new()),
        };
        let all = hunks(step);
        let is_left_out = line.source == LineSource::Step
            && match line.hunk.and_then(|hunk| all.get(hunk as usize)) {
                Some(hunk) => !self.opened.draft.selection.takes_hunk(step.step, &hunk.id),
                None => taken(&self.opened.draft.selection, step) == Taken::Nothing,
            };
        let style = if is_left_out { self.palette.faint() } else { style };
        let digits = self.digits;
        let number = |number: u32| if number == 0 { String::new() } else { number.to_string() };
        let [old, new] = line.numbers.map(number);
        let gutter = format!("{old:>digits$} {new:>digits$} ");
        let fixed = vec![(gutter, self.palette.faint()), (marker.to_string(), style)];
        let text = text.map(|text| line.span.of(text)).unwrap_or_default();
        // Without the line feed, a carriage return before it is a character of the line.
        let text = if line.shows_return { text.strip_suffix('\n').unwrap_or(text) } else { text };
        Painted { fixed, text, style }
    }

    fn outcome(&self, index: usize) -> Painted<'a> {
        let tried = self.opened.tried.as_ref();
        let Some(outcome) = tried.and_then(|tried| tried.steps.get(index)) else {
            return Painted { fixed: Vec::new(), text: "", style: Style::new() };
        };
        let style = match (outcome.is_left_out, outcome.success) {
            (true, _) => self.palette.faint(),
            (false, true) => self.palette.good(),
            (false, false) => self.palette.bad(),
        };
        let mark = if outcome.success { "✓" } else { "✗" };
        let took = outcome
            .duration_ms
            .map(|time| format!("{}.{} s, ", time / 1_000, time % 1_000 / 100))
            .unwrap_or_default();
        let of = if self.is_trial_current { "tried" } else { "an earlier choice, tried" };
        let mark = if outcome.is_left_out { "·" } else { mark };
        Painted { fixed: vec![(format!("  {mark} {of}: {took}"), style)], text: &outcome.summary, style }
    }

    fn comment(&self, index: usize, span: rows::Span) -> Painted<'a> {
        let opened = self.opened;
        let at = match opened.positions.get(index) {
            _ if span.start > 0 => String::new(),
            Some(CommentPosition::Lines { first, last }) if first == last => format!("line {first}: "),
            Some(CommentPosition::Lines { first, last }) => format!("lines {first} to {last}: "),
            Some(CommentPosition::Outdated) => "outdated: ".to_owned(),
            Some(CommentPosition::Step) | None => String::new(),
        };
        let text = opened.draft.comments.get(index).map(|comment| span.of(&comment.text)).unwrap_or_default();
        let style = self.palette.note();
        Painted { fixed: vec![(format!("    » {at}"), style)], text, style }
    }
}

/// Checks whether the text of a row always scrolls sideways. Other rows do if they are too long.
fn scrolls(kind: RowKind) -> bool {
    matches!(kind, RowKind::Line(_) | RowKind::Command(_) | RowKind::Output(..) | RowKind::Problem)
}

fn command(step: &ProposedStep) -> Option<&CommandStep> {
    match &step.effect {
        StepEffect::Command(command) => Some(command),
        StepEffect::File(_) => None,
    }
}

fn file(step: &ProposedStep) -> Option<&FileStep> {
    match &step.effect {
        StepEffect::File(file) => Some(file),
        StepEffect::Command(_) => None,
    }
}

fn effect(step: &ProposedStep, index: u32) -> Option<&FileStep> {
    match &step.effect {
        StepEffect::Command(command) => command.effects.get(index as usize),
        StepEffect::File(_) => None,
    }
}

/// Returns the numbers of added and removed lines.
fn counts(file: &FileStep) -> String {
    let lines = |text: &Option<String>| text.as_deref().map_or(0, |text| text.lines().count());
    let (added, removed) = match file.hunks.is_empty() {
        true if file.before.is_none() || file.after.is_none() => (lines(&file.after), lines(&file.before)),
        true => (0, 0),
        false => {
            let hunks = file.hunks.iter();
            hunks.fold((0, 0), |sum, hunk| (sum.0 + hunk.new_count, sum.1 + hunk.old_count))
        }
    };
    format!("+{added} -{removed}")
}
