//! The list of the proposals that wait.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::fitted;
use crate::view::ReviewView;

pub(super) fn draw(view: &ReviewView, frame: &mut Frame<'_>, area: Rect) {
    let queue = view.queue.as_deref().unwrap_or_default();
    let current = view.opening.or_else(|| view.opened_id());
    let at = current.and_then(|id| queue.iter().position(|one| one.id == id));
    let height = usize::from(area.height);
    let first = at.map_or(0, |at| (at + 1).saturating_sub(height));
    let width = usize::from(area.width);
    let mut lines = Vec::new();
    for (index, one) in queue.iter().enumerate().skip(first).take(height) {
        let is_current = Some(index) == at;
        let mark = if is_current { '>' } else { ' ' };
        let files = one.files;
        let commands = if one.commands > 0 { format!(" ${}", one.commands) } else { String::new() };
        let text = format!("{mark}#{} {files}f{commands}  {}", one.id, one.subject);
        let style = if is_current { view.palette.strong() } else { view.palette.faint() };
        lines.push(Line::styled(fitted(&text, width), style));
    }
    if queue.is_empty() {
        lines.push(Line::styled(fitted("nothing waits", width), view.palette.faint()));
    }
    frame.render_widget(Paragraph::new(lines), area);
}
