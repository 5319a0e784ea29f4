//! Drawing: the queue, the proposal, and the key hints.

mod help;
mod proposal_row;
mod queue_list;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};

use self::proposal_row::RowPainter;
use crate::cut_line::cut_line;
use crate::opened::{Opened, Subject};
use crate::view::{Decision, Mode, ReviewView};

/// The width from which the queue is shown next to the proposal.
const WIDE: u16 = 100;

/// The width of the queue next to the proposal.
const QUEUE_WIDTH: u16 = 34;

/// The maximum number of rows of the queue above the proposal.
const QUEUE_ROWS: u16 = 4;

/// The rows that stay visible on each side of the cursor.
const MARGIN: usize = 5;

const SPINNER: [char; 4] = ['|', '/', '-', '\\'];

/// Draws everything.
pub(crate) fn view(view: &mut ReviewView, frame: &mut Frame<'_>) {
    let rows = [Constraint::Length(1), Constraint::Min(0), Constraint::Length(2)];
    let [title, middle, footer] = Layout::vertical(rows).areas(frame.area());
    title_line(view, frame, title);
    let is_wide = frame.area().width >= WIDE;
    let waiting = view.queue.as_ref().map_or(0, Vec::len);
    let (queue, rule, proposal) = if is_wide {
        let columns = [Constraint::Length(QUEUE_WIDTH), Constraint::Length(1), Constraint::Min(0)];
        let [queue, rule, proposal] = Layout::horizontal(columns).areas(middle);
        (queue, rule, proposal)
    } else {
        let rows = u16::try_from(waiting).unwrap_or(QUEUE_ROWS).clamp(1, QUEUE_ROWS);
        let rows = [Constraint::Length(rows), Constraint::Length(1), Constraint::Min(0)];
        let [queue, rule, proposal] = Layout::vertical(rows).areas(middle);
        (queue, rule, proposal)
    };
    queue_list::draw(view, frame, queue);
    let line = if is_wide { "│".to_owned() } else { "─".repeat(usize::from(rule.width)) };
    let rules: Vec<Line<'_>> =
        (0..rule.height).map(|_| Line::styled(line.clone(), view.palette.faint())).collect();
    frame.render_widget(Paragraph::new(rules), rule);
    opened(view, frame, proposal);
    footer_lines(view, frame, footer);
    if view.mode == Mode::Help {
        help::draw(view.palette, frame);
    }
}

fn title_line(view: &ReviewView, frame: &mut Frame<'_>, area: Rect) {
    let mut text = "review".to_owned();
    if let Some(opened) = &view.opened {
        let proposal = &opened.proposal;
        let (taken, all) = view.taken_steps();
        let comments = opened.draft.comments.len();
        let comments = match comments {
            0 => String::new(),
            1 => " · 1 comment".to_owned(),
            count => format!(" · {count} comments"),
        };
        text = format!(
            "#{}  {taken} of {all} steps taken{comments} · {} · {}",
            proposal.id, proposal.front_end, proposal.subject
        );
    }
    let line = fitted(&text, usize::from(area.width));
    frame.render_widget(Paragraph::new(Line::styled(line, view.palette.title())), area);
}

fn opened(view: &mut ReviewView, frame: &mut Frame<'_>, area: Rect) {
    view.height = usize::from(area.height);
    let palette = view.palette;
    let Some(opened) = &mut view.opened else {
        let text = match (&view.queue, view.opening) {
            (_, Some(_)) => "reading …",
            (None, None) => "reading the queue …",
            (Some(_), None) => "no proposal waits for a review; new ones appear here",
        };
        frame.render_widget(Paragraph::new(Line::styled(text, palette.faint())), area);
        return;
    };
    scroll(opened, usize::from(area.height));
    let painter = RowPainter::new(opened, palette, usize::from(area.width));
    let rows = opened.rows.all.iter().enumerate().skip(opened.scroll).take(usize::from(area.height));
    let lines: Vec<Line<'_>> = rows.map(|(index, row)| painter.line(*row, index == opened.cursor)).collect();
    frame.render_widget(Paragraph::new(lines), area);
}

/// Scrolls so that the cursor is visible, with a few rows around it and as much of its hunk as fits.
fn scroll(opened: &mut Opened, height: usize) {
    let height = height.max(1);
    let rows = opened.rows.all.len();
    let margin = MARGIN.min(height.saturating_sub(1) / 2);
    let after = opened.rows.stops.partition_point(|stop| stop.row <= opened.cursor);
    let end = opened.rows.stops.get(after).map_or(rows, |stop| stop.row);
    // At the head of a hunk, its lines should be visible, too.
    let is_at_stop = after > 0 && opened.rows.stops[after - 1].row == opened.cursor;
    let below = opened.cursor + 1 + margin;
    let wanted = if is_at_stop { end.min(opened.cursor + height - height / 4).max(below) } else { below };
    opened.scroll = opened.scroll.max(wanted.min(rows).saturating_sub(height));
    opened.scroll = opened.scroll.min(opened.cursor.saturating_sub(margin)).min(rows.saturating_sub(1));
}

fn footer_lines(view: &ReviewView, frame: &mut Frame<'_>, area: Rect) {
    let [upper, lower] = Layout::vertical([Constraint::Length(1), Constraint::Length(1)]).areas(area);
    let width = usize::from(area.width);
    let palette = view.palette;
    let put = |frame: &mut Frame<'_>, area: Rect, text: &str, style: Style| {
        frame.render_widget(Paragraph::new(Line::styled(fitted(text, width), style)), area);
    };
    if let Mode::Type(editor, subject) = &view.mode {
        put(
            frame,
            upper,
            &format!("{}  (Enter saves, Esc cancels)", subject_title(view, *subject)),
            palette.note(),
        );
        return type_line(editor.text(), &editor.before_cursor(), frame, lower);
    }
    let spinner = SPINNER[view.ticks % SPINNER.len()];
    match (&view.mode, &view.notice, &view.trial, view.deciding) {
        (_, _, _, Some(id)) => put(frame, upper, &format!("{spinner} deciding on {id} …"), palette.note()),
        (_, _, Some(trial), _) => {
            let text = if trial.is_stopped { "stopping" } else { "trying" };
            let text = format!("{spinner} {text} #{} …  Esc stops it", trial.id);
            put(frame, upper, &text, palette.note());
        }
        (_, Some(notice), ..) => {
            put(frame, upper, &notice.text, if notice.is_bad { palette.bad() } else { palette.good() });
        }
        _ => {}
    }
    match &view.mode {
        Mode::Confirm(decision) => put(frame, lower, &question(view, *decision), palette.strong()),
        _ => {
            let keys = "j/k move  space take  n comment  t try  l land  b back  tab next  ? help  q quit";
            put(frame, lower, keys, palette.faint());
        }
    }
}

fn question(view: &ReviewView, decision: Decision) -> String {
    let (taken, all) = view.taken_steps();
    match decision {
        Decision::Land if taken == all => format!("land all {all} steps? [y/N]"),
        Decision::Land => format!("land {taken} of {all} steps and send the rest back? [y/N]"),
        Decision::SendBack => "carry out nothing and send the comments back? [y/N]".to_owned(),
    }
}

fn subject_title(view: &ReviewView, subject: Subject) -> String {
    let step = |index: usize| {
        let opened = view.opened.as_ref();
        let title =
            opened.and_then(|opened| opened.proposal.steps.get(index)).map(|step| step.title.as_str());
        title.unwrap_or_default().to_owned()
    };
    match subject {
        Subject::Everything => "comment on everything".to_owned(),
        Subject::Comment(_) => "change the comment".to_owned(),
        Subject::Step(index) => format!("comment on {}", step(index)),
        Subject::Lines(index, _, first, last) if first == last => {
            format!("comment on line {first}: {}", step(index))
        }
        Subject::Lines(index, _, first, last) => {
            format!("comment on lines {first} to {last}: {}", step(index))
        }
    }
}

/// Draws the typed line, so that its cursor is visible.
fn type_line(text: String, before_cursor: &str, frame: &mut Frame<'_>, area: Rect) {
    frame.render_widget(Clear, area);
    let width = usize::from(area.width).saturating_sub(3);
    let column = cut_line(before_cursor, 0, usize::MAX / 8).cells;
    let skipped = column.saturating_sub(width);
    let visible = cut_line(&text, skipped, width);
    let line = Line::from(vec![Span::raw("> "), Span::raw(visible.text)]);
    frame.render_widget(Paragraph::new(line), area);
    let cursor = u16::try_from(2 + column - skipped).unwrap_or(0).min(area.width.saturating_sub(1));
    frame.set_cursor_position(Position::new(area.x + cursor, area.y));
}

/// Returns a text as one line that fits.
fn fitted(text: &str, width: usize) -> String {
    let cut = cut_line(text, 0, width);
    if !cut.is_cut {
        return cut.text;
    }
    let cut = cut_line(text, 0, width.saturating_sub(1));
    format!("{}…", cut.text)
}
