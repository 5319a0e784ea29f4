//! The protocol's own text within an outbox, which filters of text leave unchanged.

use std::collections::HashSet;
use std::iter;
use std::ops::Range;

use super::render::{FIRST_LINES, LAST_LINES};
use super::structure::{
    ANSWER, AS_BEFORE, AS_IN, ASK_AGAIN, BUT_FOR_THESE, CONTEXT, CONTINUATION, EFFECT, EMPTY_WORKSPACE,
    FAILED, FILES, HEADER, LISTING, NOTE, OUTPUT, PROMPT, PROTOCOL, REFUSED, RESULTS, REVIEW, SHOWN_LINES,
    SHOWN_PARTS, SUCCEEDED, SUGGESTED, SURROUNDINGS, TASK, WORK, fence_dashes,
};
use crate::protocol_text::SHORT_PROTOCOL_TEXT;
use crate::{CommandType, Session, protocol_text};

/// The line for the protocol's own text in the input of the filter, which does not resemble a line of a file.
const BETWEEN: &str = "[]";

/// The starts of header lines with text of the user or the workspace.
const FIELDS: [&str; 2] = ["Task: ", "Sandbox: "];

/// The line and the byte range from which a text for the filter comes; `None` for a separator.
type Origin = Option<(usize, Range<usize>)>;

/// Applies a filter to an outbox, except to the protocol's own text: the fields of the header, headings, rules, fences, line
/// numbers and the marks of results. The model has to read these unchanged, and they are the same in every outbox of the session,
/// so other text that looks like them gives nothing away.
///
/// The filter receives all other text at once and has to keep the number of lines; otherwise it is applied to the whole outbox.
#[must_use]
pub fn filtered_outbox(outbox: &str, session: &Session, filter: impl Fn(&str) -> String) -> String {
    let lines: Vec<&str> = outbox.split('\n').collect();
    let mut own = OwnText::of(session);
    let mut foreign: Vec<(&str, Origin)> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Parts { foreign: ranges, is_apart } = own.parts(line);
        if ranges.is_empty() || is_apart {
            foreign.push((BETWEEN, None));
        }
        for range in ranges {
            foreign.push((&line[range.clone()], Some((index, range))));
            if is_apart {
                foreign.push((BETWEEN, None));
            }
        }
    }
    let texts: Vec<&str> = foreign.iter().map(|(text, _)| *text).collect();
    let filtered = filter(&texts.join("\n"));
    if filtered.split('\n').count() != foreign.len() {
        return filter(outbox);
    }
    let mut replaced: Vec<Vec<(Range<usize>, &str)>> = vec![Vec::new(); lines.len()];
    for (text, (_, origin)) in filtered.split('\n').zip(foreign) {
        if let Some((line, range)) = origin {
            replaced[line].push((range, text));
        }
    }
    let joined: Vec<String> =
        lines.iter().zip(replaced).map(|(line, parts)| with_parts(line, &parts)).collect();
    joined.join("\n")
}

/// Returns a line with some of its ranges, in ascending order, replaced.
fn with_parts(line: &str, parts: &[(Range<usize>, &str)]) -> String {
    let (mut text, mut end) = (String::new(), 0);
    for (range, part) in parts {
        text.push_str(&line[end..range.start]);
        text.push_str(part);
        end = range.end;
    }
    text.push_str(&line[end..]);
    text
}

/// The parts of a line that are not the protocol's own.
struct Parts {
    foreign: Vec<Range<usize>>,
    /// True if they do not continue the text of the adjacent lines.
    is_apart: bool,
}

impl Parts {
    fn one(range: Range<usize>, is_apart: bool) -> Parts {
        Parts { foreign: iter::once(range).collect(), is_apart }
    }

    fn after(line: &str, own: usize) -> Parts {
        Parts::one(own..line.len(), false)
    }
}

/// The protocol's own text, and the position within a shown file.
struct OwnText {
    lines: HashSet<String>,
    /// The expected number of the next line of a shown file.
    next: Option<u64>,
}

impl OwnText {
    fn of(session: &Session) -> OwnText {
        let header = [
            format!("Session: {}", session.session_id),
            format!("Sequence: {}", session.sequence_number),
            format!("Reply-To: {}", session.reply_to()),
        ];
        let marks = [
            HEADER,
            PROTOCOL,
            CONTEXT,
            PROMPT,
            LISTING,
            SUGGESTED,
            RESULTS,
            FILES,
            SURROUNDINGS,
            WORK,
            REVIEW,
            ANSWER,
            AS_BEFORE,
            BUT_FOR_THESE,
            TASK,
            EMPTY_WORKSPACE,
            CONTINUATION,
            FIRST_LINES,
            LAST_LINES,
        ];
        let rules = [protocol_text(session.dialect), SHORT_PROTOCOL_TEXT];
        let lines = rules.into_iter().flat_map(str::lines).chain(marks).map(str::to_owned);
        OwnText { lines: header.into_iter().chain(lines).collect(), next: None }
    }

    fn parts(&mut self, line: &str) -> Parts {
        if !line.is_empty() && self.lines.contains(line) {
            return Parts { foreign: Vec::new(), is_apart: false };
        }
        if line.starts_with('-')
            && let Some(fence) = self.fence(line)
        {
            return fence;
        }
        if let Some(own) = self.number(line) {
            return Parts::after(line, own);
        }
        if let Some(own) = reference(line) {
            return Parts::one(0..own, true);
        }
        Parts::after(line, start(line))
    }

    /// Returns the path and the note of a fence; `None` for any other line.
    fn fence(&mut self, line: &str) -> Option<Parts> {
        let dashes = fence_dashes(line);
        let mark = format!(" {}", line.get(..dashes).filter(|mark| !mark.is_empty())?);
        let rest = line.get(dashes + 1..)?;
        let (is_end, path) = rest.strip_prefix("end ").map_or((false, rest), |path| (true, path));
        let from = line.len() - path.len();
        let to = from + path.rfind(&mark)?;
        let note = to + mark.len();
        let range = line[note..].strip_prefix(' ').and_then(first_number);
        self.next = (!is_end).then(|| range.unwrap_or(1));
        let mut parts = Parts::one(from..to, true);
        if note < line.len() && range.is_none() {
            parts.foreign.push(note..line.len());
        }
        Some(parts)
    }

    /// Returns the length of the number in front of a line of a shown file; `None` unless it is the expected number.
    fn number(&mut self, line: &str) -> Option<usize> {
        let number = self.next?.to_string();
        let spaces = line.len() - line.trim_start_matches(' ').len();
        line[spaces..].strip_prefix(&number)?.strip_prefix('|')?;
        self.next = self.next.map(|next| next.saturating_add(1));
        Some(spaces + number.len() + 1)
    }
}

/// Returns the first line number in the text after a fence; `None` for any other text.
fn first_number(text: &str) -> Option<u64> {
    let number = |text: &str| text.parse::<u64>().ok();
    if let Some(lines) = text.strip_prefix(SHOWN_LINES) {
        let (range, total) = lines.strip_suffix(')')?.split_once(" of ")?;
        let (first, last) = range.split_once('-')?;
        number(total)?;
        number(last)?;
        return number(first);
    }
    number(text.strip_prefix(SHOWN_PARTS)?.strip_suffix(" lines)")?)?;
    Some(1)
}

/// Returns the length of the path in front of a reference to an earlier message; `None` for other lines.
fn reference(line: &str) -> Option<usize> {
    let at = line.rfind(AS_IN)?;
    let message = line[at + AS_IN.len()..].strip_suffix(ASK_AGAIN)?;
    message.parse::<u32>().ok()?;
    Some(at)
}

/// Returns the length of the protocol's own text at the start of a line.
fn start(line: &str) -> usize {
    if let Some(field) = FIELDS.into_iter().chain([OUTPUT]).find(|field| line.starts_with(field)) {
        return field.len();
    }
    for mark in [SUCCEEDED, FAILED] {
        let name = line.strip_prefix(mark).and_then(|rest| rest.split_once(':')).map(|(name, _)| name);
        if let Some(name) = name.filter(|name| name.parse::<CommandType>().is_ok()) {
            return mark.len() + name.len() + 1;
        }
    }
    let Some(note) = line.strip_prefix(NOTE) else { return 0 };
    let kind = [EFFECT, REFUSED].into_iter().find(|kind| note.starts_with(kind));
    NOTE.len() + kind.map_or(0, str::len)
}
