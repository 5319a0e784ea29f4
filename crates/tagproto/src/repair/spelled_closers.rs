//! Look-up of closing tags that are not in upper case, which distinguish a block from `[done]` in prose.

use std::collections::HashMap;

use crate::repair::{
    outline::lines_from,
    tag_line::{self, Closing, Opening},
};

/// The last position of each closing tag by its spelling and damage. Collected once, at the first such opening tag: a search for
/// each opening tag would be quadratic.
#[derive(Debug, Default)]
pub(crate) struct SpelledClosers {
    last: Option<HashMap<String, Vec<(Closing, usize)>>>,
}

impl SpelledClosers {
    /// Checks whether a line at or after `from` closes `opening`.
    pub(crate) fn closes_from(&mut self, text: &str, from: usize, opening: &Opening<'_>) -> bool {
        let last = self.last.get_or_insert_with(|| collect(text));
        let spelled = last.get(&*opening.name).map(Vec::as_slice).unwrap_or_default();
        spelled.iter().any(|(closing, at)| *at >= from && opening.is_closed_by(closing))
    }
}

fn collect(text: &str) -> HashMap<String, Vec<(Closing, usize)>> {
    let mut last: HashMap<String, Vec<(Closing, usize)>> = HashMap::new();
    for line in lines_from(text, 0) {
        let Some(closing) = tag_line::closing(&text[line.start..line.end]) else { continue };
        if closing.name == closing.kind.name() {
            continue;
        }
        let spelled = last.entry(closing.name.clone()).or_default();
        match spelled.iter_mut().find(|(earlier, _)| earlier.damage == closing.damage) {
            Some((_, at)) => *at = line.start,
            None => spelled.push((closing, line.start)),
        }
    }
    last
}
