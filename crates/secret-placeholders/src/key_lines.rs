//! The lines of a file that belong to private keys.

use std::collections::HashMap;

use crate::detector::{Span, merge};
use crate::private_key;

/// Recognises lines of a file's private keys in an answer that quotes the file without the first and last line of a key.
///
/// The map of placeholders is unsuitable for this: it may be full, and finds no short value without its surroundings.
#[derive(Debug, Default)]
pub(crate) struct KeyLines(HashMap<String, Vec<Span>>);

impl KeyLines {
    /// Adds the lines of the keys of a text.
    pub(crate) fn add(&mut self, text: &str) {
        let mut keys = Vec::new();
        private_key::find(text, &mut keys);
        let mut keys = merge(keys).into_iter().peekable();
        while let Some(first) = keys.next() {
            let bytes = text.as_bytes();
            let start = memchr::memrchr(b'\n', &bytes[..first.range.start]).map_or(0, |at| at + 1);
            let end = line_end(text, first.range.start);
            let mut hidden = Vec::new();
            let mut part = Some(first);
            while let Some(Span { range, kind }) = part {
                hidden.push(Span { range: range.start - start..range.end - start, kind });
                part = keys.next_if(|next| next.range.start < end);
            }
            self.0.entry(bare(&text[start..end]).to_owned()).or_insert(hidden);
        }
    }

    /// Adds the parts of a text that such lines hide.
    pub(crate) fn find(&self, text: &str, hits: &mut Vec<Span>) {
        if self.0.is_empty() {
            return;
        }
        let mut start = 0;
        while start < text.len() {
            let end = line_end(text, start);
            let parts = self.0.get(bare(&text[start..end])).into_iter().flatten();
            hits.extend(parts.map(|Span { range, kind }| Span {
                range: start + range.start..start + range.end,
                kind: kind.clone(),
            }));
            start = end + 1;
        }
    }
}

fn line_end(text: &str, from: usize) -> usize {
    memchr::memchr(b'\n', &text.as_bytes()[from..]).map_or(text.len(), |at| from + at)
}

/// Returns a line without the rest of its line break, which an answer may omit.
fn bare(line: &str) -> &str {
    line.trim_end_matches('\r')
}
