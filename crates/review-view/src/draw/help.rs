//! The list of the keys.

use ratatui::Frame;
use ratatui::layout::{Constraint, Flex, Layout};
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear, Paragraph};

use crate::palette::Palette;

const KEYS: [(&str, &str); 20] = [
    ("j k", "next and previous hunk or step"),
    ("arrows, PgUp PgDn", "by lines; sideways in long lines"),
    ("g G", "first and last line"),
    ("space", "take the hunk or step, or leave it out"),
    ("a x", "take all, take none"),
    ("n", "comment on the line, hunk or step at the cursor"),
    ("n, d", "on a comment: change it, remove it"),
    ("S", "comment on everything"),
    ("t", "try the choice; Esc stops the trial"),
    ("l", "land the choice; it is tried first if it runs commands"),
    ("b", "send everything back with the comments"),
    ("Enter", "unfold the output and files of the step, or fold them"),
    ("f", "show generated and lock files, or fold them"),
    ("v", "changes since your last review, or the whole ones"),
    ("o", "order: as proposed, for reading, by path"),
    ("Tab", "next proposal; with shift the previous one"),
    ("Esc", "stop the trial, cancel a comment"),
    ("?", "this list"),
    ("q", "quit; the draft is kept"),
    ("", "any key closes this list"),
];

/// The width of the box.
const WIDTH: u16 = 76;

/// The cells of the keys.
const KEY_CELLS: usize = 18;

pub(super) fn draw(palette: Palette, frame: &mut Frame<'_>) {
    let height = u16::try_from(KEYS.len()).unwrap_or(0) + 2;
    let [area] = Layout::vertical([Constraint::Max(height)]).flex(Flex::Center).areas(frame.area());
    let [area] = Layout::horizontal([Constraint::Max(WIDTH)]).flex(Flex::Center).areas(area);
    let lines: Vec<Line<'_>> =
        KEYS.iter().map(|(key, what)| Line::raw(format!(" {key:<KEY_CELLS$} {what}"))).collect();
    frame.render_widget(Clear, area);
    let block = Block::bordered().title(" keys ").border_style(palette.faint());
    frame.render_widget(Paragraph::new(lines).block(block), area);
}
