//! Finds envelopes in a text.

mod json_end;
mod prefix;

use crate::header::Header;
use crate::yaml::almost_yaml::{after_dash, indentation, split_key};
use json_end::json_end;
use prefix::Prefix;

/// The keys at the left margin of an envelope.
const TOP_KEYS: [&str; 7] = ["role", "request_id", "needs", "context", "version", "results", "meta"];
/// The work limit of searching the ends of possible JSON, in lengths of the text.
const JSON_SEARCHES: usize = 4;

/// A possible envelope.
#[derive(Debug)]
pub(crate) struct EnvelopeText {
    /// The header; `None` for JSON without one.
    pub(crate) header: Option<Header>,
    /// The line of the header, or the first line of the JSON; 1-based.
    pub(crate) line: u32,
    /// The text after the header, without quote marks at the start of its lines.
    pub(crate) body: String,
    /// The first line of the body; 1-based.
    pub(crate) body_line: u32,
    /// The number of characters removed from the start of each line.
    pub(crate) taken: u32,
    /// The line of a need after the end of the body, which is therefore not part of it; 1-based.
    pub(crate) need_after: Option<u32>,
}

/// Iterates over the envelopes of a text, in time linear in its length.
pub(crate) struct EnvelopeTexts<'a> {
    lines: Vec<&'a str>,
    at: usize,
    /// The remaining bytes that the search for ends of JSON may scan.
    json_bytes: usize,
}

impl<'a> EnvelopeTexts<'a> {
    pub(crate) fn new(text: &'a str) -> EnvelopeTexts<'a> {
        let lines: Vec<&str> = text.lines().map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
        EnvelopeTexts { lines, at: 0, json_bytes: text.len().saturating_mul(JSON_SEARCHES) }
    }

    /// Returns the envelope that begins at the first non-blank line.
    pub(crate) fn first(&mut self) -> Option<EnvelopeText> {
        self.at = self.lines.iter().position(|line| !line.trim().is_empty())?;
        self.envelope_here()
    }

    fn envelope_here(&mut self) -> Option<EnvelopeText> {
        let prefix = Prefix::of(self.lines[self.at]);
        let line = prefix.strip(self.lines[self.at])?;
        if let Some(header) = Header::parse_decorated(line) {
            return Some(self.after_header(header, &prefix));
        }
        line.trim_start().starts_with('{').then(|| self.json(None, self.at, self.at, &prefix))?
    }

    fn after_header(&mut self, header: Header, prefix: &Prefix) -> EnvelopeText {
        let header_at = self.at;
        self.at += 1;
        let mut first = self.next_text(self.at, prefix);
        // A fence may separate the header from its body.
        if let Some(fence) = first
            && is_fence(self.stripped(fence, prefix).unwrap_or_default())
            && self.next_text(fence + 1, prefix).is_some_and(|next| self.is_body(next, prefix))
        {
            self.at = fence + 1;
            first = self.next_text(self.at, prefix);
        }
        // So may a YAML document marker.
        if let Some(mark) = first
            && self.stripped(mark, prefix).is_some_and(|line| line.trim_end() == "---")
            && self.next_text(mark + 1, prefix).is_some_and(|next| self.is_body(next, prefix))
        {
            self.at = mark + 1;
            first = self.next_text(self.at, prefix);
        }
        if let Some(start) = first
            && self.stripped(start, prefix).is_some_and(|line| line.trim_start().starts_with('{'))
            && let Some(json) = self.json(Some(header), header_at, start, prefix)
        {
            return json;
        }
        let (start, end) = self.lines_of_body(prefix);
        let body = self.lines[start..end].iter().map(|line| prefix.strip(line).unwrap_or_default());
        EnvelopeText {
            header: Some(header),
            line: number(header_at),
            body: body.flat_map(|line| [line, "\n"]).collect(),
            body_line: number(start),
            taken: prefix.characters(),
            need_after: self.need_after(end, prefix).map(number),
        }
    }

    /// Returns the first line from `end` on that begins a need, before the next fence or header.
    fn need_after(&self, end: usize, prefix: &Prefix) -> Option<usize> {
        let lines = (end..self.lines.len()).map_while(|at| Some((at, self.stripped(at, prefix)?.trim())));
        lines
            .take_while(|(_, line)| !is_fence(line) && Header::parse_decorated(line).is_none())
            .find(|(_, line)| is_need(line))
            .map(|(at, _)| at)
    }

    /// Returns true if a line can be the first of a body.
    fn is_body(&self, at: usize, prefix: &Prefix) -> bool {
        let line = self.stripped(at, prefix).unwrap_or_default().trim_start();
        line.starts_with('{') || split_key(line).is_some_and(|(key, _)| TOP_KEYS.contains(&key))
    }

    fn stripped(&self, at: usize, prefix: &Prefix) -> Option<&'a str> {
        prefix.strip(self.lines.get(at)?)
    }

    /// Returns the next non-blank line, as long as lines have this prefix.
    fn next_text(&self, from: usize, prefix: &Prefix) -> Option<usize> {
        let mut at = from;
        while self.stripped(at, prefix)?.trim().is_empty() {
            at += 1;
        }
        Some(at)
    }

    /// Returns the lines of a body, and moves past them.
    fn lines_of_body(&mut self, prefix: &Prefix) -> (usize, usize) {
        let start = self.at;
        let Some(first) = self.next_text(start, prefix) else { return (start, start) };
        // The body ends at the first line at this margin that cannot continue it, such as prose of the reply.
        let margin = indentation(self.stripped(first, prefix).unwrap_or_default());
        let mut is_after_blank = false;
        while let Some(line) = self.stripped(self.at, prefix) {
            if line.trim().is_empty() {
                is_after_blank = true;
            } else if indentation(line) <= margin && !self.continues(line, prefix, is_after_blank) {
                break;
            } else {
                is_after_blank = false;
            }
            self.at += 1;
        }
        // The closing fence is skipped, or it would open the next block.
        let end = self.at;
        if self.stripped(end, prefix).is_some_and(is_fence) {
            self.at += 1;
        }
        (start, end)
    }

    /// Returns true if a line at the left margin belongs to the body.
    fn continues(&self, line: &str, prefix: &Prefix, is_after_blank: bool) -> bool {
        let line = line.trim();
        if is_fence(line) || Header::parse_decorated(line).is_some() || matches!(line, "---" | "...") {
            return false;
        }
        if line.starts_with('#') {
            // It is a comment if the envelope continues after it, otherwise a heading of the reply.
            let next = self.next_text(self.at + 1, prefix).and_then(|next| self.stripped(next, prefix));
            return next.is_some_and(|next| {
                indentation(next) > 0
                    || is_top_line(next.trim())
                    || (next.trim().starts_with('#') && !is_after_blank)
            });
        }
        if is_after_blank {
            return is_top_line(line);
        }
        let may_be_key = line.ends_with(':') || line.contains(": ") || split_key(line).is_some();
        may_be_key || after_dash(line).is_some() || line.starts_with(['[', ']', '{', '}'])
    }

    /// Reads the JSON that begins in line `start`; `None` if it is never closed.
    fn json(
        &mut self,
        header: Option<Header>,
        line: usize,
        start: usize,
        prefix: &Prefix,
    ) -> Option<EnvelopeText> {
        let mut body = String::new();
        let mut end = json_end();
        for at in start..self.lines.len() {
            let Some(text) = self.stripped(at, prefix) else { break };
            // Every `{` may start a search to the end of the text, so all searches share one budget.
            self.json_bytes = self.json_bytes.checked_sub(text.len() + 1)?;
            if let Some(closed) = end.push(text) {
                body.push_str(&text[..closed]);
                self.at = at + 1;
                let taken = prefix.characters();
                return Some(EnvelopeText {
                    header,
                    line: number(line),
                    body,
                    body_line: number(start),
                    taken,
                    need_after: None,
                });
            }
            body.push_str(text);
            body.push('\n');
        }
        None
    }
}

impl Iterator for EnvelopeTexts<'_> {
    type Item = EnvelopeText;

    fn next(&mut self) -> Option<EnvelopeText> {
        while self.at < self.lines.len() {
            if let Some(envelope) = self.envelope_here() {
                return Some(envelope);
            }
            self.at += 1;
        }
        None
    }
}

/// Returns true if a line begins or ends a fenced block.
fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}

/// Returns true if a line begins a need of a possible type.
fn is_need(line: &str) -> bool {
    let need = after_dash(line).and_then(|(item, _)| split_key(item)).filter(|(key, _)| *key == "type");
    need.is_some_and(|(_, kind)| {
        let kind = kind.trim_start_matches(['"', '\'']);
        ["docdex.", "file.", "command.", "agent."].iter().any(|family| kind.starts_with(family))
    })
}

/// Returns true if a line after a blank one continues an envelope: one of its keys, or another need.
fn is_top_line(line: &str) -> bool {
    if let Some((item, _)) = after_dash(line) {
        return item.is_empty()
            || item.starts_with('{')
            || split_key(item).is_some_and(|(key, _)| key == "type");
    }
    split_key(line).is_some_and(|(key, _)| TOP_KEYS.contains(&key))
}

fn number(index: usize) -> u32 {
    u32::try_from(index + 1).unwrap_or(u32::MAX)
}
