//! Splits a page into paragraphs, so that a phrase is found across the end of a line.

use super::plain_words::Passage;

/// Returns the runs of lines that are not blank. A row of a table, an item of a list and a heading each begin a new one.
pub(super) fn paragraphs(page: &str) -> Vec<Passage<'_>> {
    let mut paragraphs: Vec<Passage<'_>> = Vec::new();
    let mut continues = false;
    for (line_index, line) in page.lines().enumerate() {
        let text = line.trim_start();
        if text.is_empty() {
            continues = false;
            continue;
        }
        match paragraphs.last_mut() {
            Some(last) if continues && !begins_paragraph(text) => last.lines.push(line),
            _ => paragraphs.push(Passage { line_index, is_doc: false, lines: vec![line] }),
        }
        continues = true;
    }
    paragraphs
}

fn begins_paragraph(text: &str) -> bool {
    ["|", "#", "- ", "* ", "```"].iter().any(|mark| text.starts_with(mark))
}
