//! Quoted blocks in a reply that also has unquoted text: the model quotes earlier text, or an action that it would not take.

use super::lines_outside;
use crate::repair::{Fence, Thinking, opening};
use crate::{BlockKind, Dialect, Item, ParseError, ParseErrorKind, RepairKind};

/// Turns quoted blocks that act, or end the session, into errors unless the whole reply is quoted. Takes time linear in the text.
pub(super) fn report(text: &str, items: &mut [Item<'_>]) {
    let are_quoted: Vec<bool> = items.iter().map(|item| is_quoted(&text[item.span().range()])).collect();
    let counts = |item: &Item<'_>| item.kind().acts() || item.kind() == BlockKind::Done;
    let has_quoted = items.iter().zip(&are_quoted).any(|(item, is_quoted)| *is_quoted && counts(item));
    if !has_quoted || are_quoted.iter().all(|is_quoted| *is_quoted) && !has_other_text(text, items) {
        return;
    }
    for (item, _) in items.iter_mut().zip(are_quoted).filter(|(_, is_quoted)| *is_quoted) {
        if matches!(item, Item::Block(_)) && counts(item) {
            let (span, lines, command) = (item.span(), item.lines(), item.kind());
            *item = Item::Error(ParseError { command, kind: ParseErrorKind::OnlyQuoted, span, lines });
        }
    }
}

fn is_quoted(block: &str) -> bool {
    let first = block.split('\n').next().unwrap_or(block);
    first.contains('>') && opening(first).is_some_and(|opening| opening.damage.contains(RepairKind::Quote))
}

/// Checks for an unquoted line outside of blocks and thinking.
fn has_other_text(text: &str, items: &[Item<'_>]) -> bool {
    let mut thinking = Thinking::of(Dialect::Agentd);
    let mut lines = lines_outside(text, items.iter().map(Item::span), &mut thinking);
    lines.any(|(_, line)| {
        let content = text[line.start..line.end].trim_start_matches('\u{feff}').trim();
        !content.is_empty() && !content.starts_with('>') && Fence::read(content).is_none()
    })
}
