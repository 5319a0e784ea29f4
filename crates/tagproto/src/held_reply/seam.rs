//! The seam between a held reply and its continuation.

use std::collections::HashSet;

use super::greeting::{Around, is_greeting, is_greeting_before_lines};
use super::held_lines::HeldLines;
use super::next_reply::NextReply;
use super::shift::{Shift, unindent};
use super::weight;
use crate::{
    outbox::{LAST_LINES, visible_lines},
    repair::{Fence, closing_kind, opening_kind},
    reply::read_blocks,
};

/// The minimum number of non-blank characters of a shorter overlap with which a continuation may begin.
const SHORT_OVERLAP_CHARACTERS: usize = 8;
/// The minimum number of non-blank characters of a cut-off line by which its continuation is recognised after fences.
const CUT_LINE_CHARACTERS: usize = 3;
/// The number of lines after the seam that are searched for words of the model.
const LINES_AFTER: usize = 12;

/// The seam of a reply with the held reply.
pub(super) enum Seam<'a> {
    /// The requested lines are not in a position to continue the held reply.
    None,
    /// The requested lines are in such a position, but the lines around them contradict it.
    Unclear,
    /// The reply continues after the requested lines.
    At {
        /// The lines after the seam.
        continuation: Vec<&'a str>,
    },
}

impl HeldLines<'_> {
    /// Finds the last lines in a reply with nothing before them that reads as a tag, except for held lines directly in front of
    /// them, or the opening tag.
    ///
    /// All of them together count anywhere, a part of them only at the start.
    pub(super) fn seam<'a>(&self, last_at: usize, next: &NextReply<'a>) -> Seam<'a> {
        let last = &self.lines[last_at..];
        if let Some((at, end)) = whole_lines(last, next).or_else(|| self.decorated_lines(last, next)) {
            let Some(before) = self.lines_before(last_at, at, next) else { return Seam::None };
            // In this case, the block with the lines may also be the open block, written anew.
            let starts_at_tag =
                before > 0 && last_at <= self.open_line && self.is_open_tag(next.lines[at - before]);
            let began_earlier = before == 0 && at > next.begin && self.has_in_block(next.lines[at - 1]);
            let may_lack_lines =
                self.may_be_cut_line(next.lines[at - before]) && !self.continues_cut_line(&next.lines[end..]);
            let is_certain = !starts_at_tag
                && !began_earlier
                && !may_lack_lines
                && self.is_greeting(last_at, next, at - before, end);
            return self.seam_at(last_at, at - before, end, is_certain, next);
        }
        let rest = &next.lines[next.begin..];
        let fewest = self.fewest_unmistakable();
        let mut parts = (1..last.len()).map(|count| &last[count..]).take_while(|part| part.len() >= fewest);
        let part = parts.find(|part| weight(part) >= SHORT_OVERLAP_CHARACTERS && rest.starts_with(part));
        let Some(part) = part else { return Seam::None };
        // A part is not what was requested: the reply may just as well begin with the line in which the held reply was cut off,
        // or after it.
        let end = next.begin + part.len();
        let is_certain = !self.may_be_cut_line(part[0]) && self.continues_cut_line(&next.lines[end..]);
        self.seam_at(last_at, next.begin, end, is_certain, next)
    }

    /// Returns the number of lines before the last lines in a reply that belong to them; `None` if text before these reads as a
    /// tag.
    fn lines_before(&self, last_at: usize, at: usize, next: &NextReply<'_>) -> Option<usize> {
        let repeats_tag = at > 0 && self.is_open_tag(next.lines[at - 1]) && self.are_in_the_middle(last_at);
        let before = match repeats_tag {
            true => 1,
            false => self.held_lines_before(last_at, &next.lines[..at]),
        };
        is_prose(&next.raw[..at - before]).then_some(before)
    }

    /// Returns the number of lines at the end of `before` that also precede the last lines in the held reply. If they reach its
    /// first block, it is the held reply again; if they reach the open tag, it is that block written anew.
    fn held_lines_before(&self, last_at: usize, before: &[&str]) -> usize {
        let held = self.lines[..last_at].iter().rev();
        let same = held.zip(before.iter().rev()).take_while(|(held, next)| held == next).count();
        let first = last_at - same;
        let is_unmistakable = || !self.has_blocks() || self.lines.len() - first >= self.fewest_unmistakable();
        let is_continued = same > 0 && first > self.begin() && first != self.open_line;
        if is_continued && is_unmistakable() { same } else { 0 }
    }

    fn seam_at<'a>(
        &self,
        last_at: usize,
        start: usize,
        end: usize,
        is_certain: bool,
        next: &NextReply<'a>,
    ) -> Seam<'a> {
        // From the first block, the lines are the whole held reply: the next lines may differ.
        let is_at_the_tag = last_at <= self.begin()
            || self
                .cut_tag()
                .is_none_or(|tag| first_text(&next.lines[end..]).is_some_and(|line| line.starts_with(tag)));
        if !is_certain || !is_at_the_tag || self.is_opened_again(&next.lines[end..]) {
            return Seam::Unclear;
        }
        let added = self.lines_added_after(&self.lines[last_at..], start, end, next);
        let continuation = added.and_then(|added| self.continuation(start, end, end + added, next));
        continuation.map_or(Seam::Unclear, |continuation| Seam::At { continuation })
    }

    /// Checks whether the text before the lines of the seam, which begin at `start`, is a greeting and does not occur in the open
    /// block.
    fn is_greeting(&self, last_at: usize, next: &NextReply<'_>, start: usize, end: usize) -> bool {
        let before = next.begin.min(start)..start;
        // Text of the block cannot end in its own opening tag.
        let is_at_the_tag = last_at <= self.open_line || self.is_open_tag(next.lines[start]);
        if is_at_the_tag && is_greeting(&next.raw[before.clone()]) {
            return true;
        }
        let following = first_text(&next.lines[end..]).filter(|_| !self.cut_line.is_empty());
        let block = self.lines.get(self.open_line + 1..).unwrap_or_default();
        let is_in_fence = open_fence(block.iter().take(last_at.saturating_sub(self.open_line + 1))).is_some();
        let around = Around {
            rest_of_cut_line: following.and_then(|line| line.strip_prefix(self.cut_line)),
            opens_fence: !is_in_fence && open_fence(next.lines[before.clone()].iter()).is_some(),
        };
        let block_lines: HashSet<&str> =
            block.iter().copied().filter(|line| !line.is_empty() && Fence::read(line).is_none()).collect();
        !next.lines[before.clone()].iter().any(|line| block_lines.contains(line))
            && is_greeting_before_lines(&next.raw[before], &around)
    }

    /// Finds the requested lines in back-ticks or quoted, directly before the continuation of the cut-off line.
    fn decorated_lines(&self, last: &[&str], next: &NextReply<'_>) -> Option<(usize, usize)> {
        let quoted = |line: &str| line.strip_prefix('>').map(str::trim_start).map(str::to_owned);
        let in_ticks = |line: &str| Some(line.strip_prefix('`')?.strip_suffix('`')?.to_owned());
        let is_at = |at: &usize| {
            let Some(lines) = next.lines.get(*at..*at + last.len()) else { return false };
            let is = |plain: fn(&str) -> Option<String>| {
                lines.iter().zip(last).all(|(line, last)| plain(line).as_deref() == Some(*last))
            };
            (is(quoted) || last.len() == 1 && is(in_ticks))
                && self.continues_cut_line(&next.lines[*at + last.len()..])
        };
        let mut starts =
            (0..next.lines.len()).filter(|at| !next.is_thought[*at] && !self.cut_line.is_empty());
        starts.find(is_at).map(|at| (at, at + last.len()))
    }

    /// Returns the number of lines directly after the seam that are not text of the open block: blank lines and fences before the
    /// continuation of the cut-off line. `None` if they may include words of the model.
    fn lines_added_after(
        &self,
        last: &[&str],
        start: usize,
        end: usize,
        next: &NextReply<'_>,
    ) -> Option<usize> {
        let lines = &next.lines[end..];
        let body = &lines[..self.closer(lines).unwrap_or(lines.len())];
        let is_text = |line: &str| !line.is_empty() && line != LAST_LINES;
        let is_fence = |line: &str| Fence::read(line).is_some();
        let first = body.iter().position(|line| is_text(line)).filter(|_| self.open_kind.is_some());
        let Some(first) = first else { return Some(0) };
        if self.may_be_cut_line(body[first]) {
            return Some(first);
        }
        let text = body.iter().position(|line| is_text(line) && !is_fence(line));
        if let Some(text) = text.filter(|text| self.may_be_cut_line(body[*text])) {
            return (weight(&[self.cut_line]) >= CUT_LINE_CHARACTERS).then_some(text);
        }
        let around = open_fence(next.lines[..start].iter());
        let closes = |around| Fence::read(body[first]).is_some_and(|fence| fence.closes(around));
        if around.is_some_and(closes) && open_fence(self.lines[self.open_line + 1..].iter()).is_none() {
            return None;
        }
        // Text of the block should begin like the cut-off line, but the model may have changed its mind.
        let following = &body[first + 1..body.len().min(first + 1 + LINES_AFTER)];
        let is_announcement = |text: usize| {
            let next = body.get(text + 1);
            body[text].ends_with(':')
                && body[text].contains(' ')
                && next.is_some_and(|line| line.is_empty() || is_fence(line))
        };
        let is_doubtful = following.iter().any(|line| self.may_be_cut_line(line))
            || text.is_some_and(is_announcement)
            || (0..following.len()).any(|at| following[at..].starts_with(last));
        (self.cut_line.is_empty() || !is_doubtful).then_some(0)
    }

    /// Returns the first line that closes the open block.
    fn closer(&self, lines: &[&str]) -> Option<usize> {
        lines.iter().position(|line| self.open_kind.is_some() && closing_kind(line) == self.open_kind)
    }

    /// Returns the lines after the seam, starting at `from`, without the mark of the message after the requested lines, and
    /// without the end of a fence that was opened before them and closed before the closing tag. Common indentation is removed;
    /// `None` if the indentation of the lines is unclear.
    fn continuation<'a>(
        &self,
        start: usize,
        end: usize,
        from: usize,
        next: &NextReply<'a>,
    ) -> Option<Vec<&'a str>> {
        let mut continuation = next.raw[from..].to_vec();
        let lines = &next.lines[from..];
        let mut closer = self.closer(lines).unwrap_or(lines.len());
        if closer < lines.len()
            && let Some(last) = lines[..closer].iter().rposition(|line| !line.is_empty())
            && let Some(around) = open_fence(next.lines[..start].iter().chain(&next.lines[end..from]))
            && Fence::read(lines[last]).is_some_and(|fence| fence.closes(around))
            && open_fence(self.lines[self.open_line + 1..].iter().chain(&lines[..last])).is_none()
        {
            continuation.remove(last);
            closer -= 1;
        }
        let is_shifted_clearly = match self.shift(&next.raw, start, end, from) {
            Shift::None => true,
            Shift::In(indent) => unindent(&mut continuation, closer, indent),
            Shift::Unclear => false,
        };
        let is_clear = is_shifted_clearly && !self.has_lost_indentation(&continuation[..closer]);
        if lines.first() == Some(&LAST_LINES) {
            continuation.remove(0);
        }
        is_clear.then_some(continuation)
    }

    /// Checks whether the continuation has an opening tag of the open block's kind before its closing tag: then the lines were
    /// only quoted, and whole blocks follow.
    fn is_opened_again(&self, continuation: &[&str]) -> bool {
        let Some(kind) = self.open_kind else { return false };
        let (opens, closes) =
            (|line: &str| opening_kind(line) == Some(kind), |line: &str| closing_kind(line) == Some(kind));
        continuation.iter().find(|line| opens(line) || closes(line)).is_some_and(|line| opens(line))
    }

    /// Checks whether a line may also be the line in which the reply was cut off.
    fn may_be_cut_line(&self, line: &str) -> bool {
        !self.cut_line.is_empty() && line.starts_with(self.cut_line)
    }

    /// Checks whether lines begin with the part of the cut-off line that had arrived.
    fn continues_cut_line(&self, lines: &[&str]) -> bool {
        first_text(lines).is_some_and(|line| line.starts_with(self.cut_line))
    }

    /// Checks whether a line occurs in the open block.
    fn has_in_block(&self, line: &str) -> bool {
        !line.is_empty() && self.lines.get(self.open_line + 1..).is_some_and(|body| body.contains(&line))
    }
}

/// Finds all requested lines in a reply, unchanged or as the message showed them; returns the index of the first line and of the
/// line after them.
fn whole_lines(last: &[&str], next: &NextReply<'_>) -> Option<(usize, usize)> {
    let mut starts = (0..next.lines.len()).filter(|at| !next.is_thought[*at]);
    if let Some(at) = starts.find(|at| next.lines[*at..].starts_with(last)) {
        return Some((at, at + last.len()));
    }
    // A line with a character that breaks lines was shown as several lines.
    let rendered: Vec<String> = last.iter().map(|line| visible_lines(line)).collect();
    let rendered: Vec<&str> = rendered.iter().flat_map(|line| line.split('\n').map(str::trim)).collect();
    let are_at = |at: &usize| {
        let lines = next.lines.get(*at..*at + rendered.len());
        lines.is_some_and(|lines| {
            lines.iter().zip(&rendered).all(|(line, rendered)| stands_for(line, rendered))
        })
    };
    let mut starts = (0..next.lines.len()).filter(|at| !next.is_thought[*at]);
    starts.find(are_at).map(|at| (at, at + rendered.len()))
}

/// The marks of a placeholder, with which a message shows a secret.
const PLACEHOLDER: (&str, &str) = ("⟦secret:", "⟧");

/// Checks whether a line is the rendered line, perhaps with placeholders instead of secrets.
fn stands_for(line: &str, rendered: &str) -> bool {
    let (first, mut rest) = line.split_once(PLACEHOLDER.0).unwrap_or((line, ""));
    if first.len() == line.len() {
        return line == rendered;
    }
    let Some(mut left) = rendered.strip_prefix(first) else { return false };
    while let Some((_, tail)) = rest.split_once(PLACEHOLDER.1) {
        // A secret has at least one character.
        let Some(secret) = left.chars().next() else { return false };
        left = &left[secret.len_utf8()..];
        let Some((text, next)) = tail.split_once(PLACEHOLDER.0) else { return left.ends_with(tail) };
        let Some(at) = left.find(text) else { return false };
        (left, rest) = (&left[at + text.len()..], next);
    }
    false
}

/// Returns the first line that is not blank, a fence, or the mark of the message.
fn first_text<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let is_text = |line: &&&str| !line.is_empty() && Fence::read(line).is_none() && **line != LAST_LINES;
    lines.iter().find(is_text).copied()
}

/// Returns the fence that lines open and do not close.
fn open_fence<'l>(lines: impl Iterator<Item = &'l &'l str>) -> Option<Fence> {
    lines.filter_map(|line| Fence::read(line)).fold(None, |open, fence| match open {
        Some(opening) if fence.closes(opening) => None,
        Some(opening) => Some(opening),
        None => Some(fence),
    })
}

/// Checks whether no line of a text reads as a tag.
fn is_prose(lines: &[&str]) -> bool {
    let text = lines.join("\n");
    let reply = read_blocks(&text);
    reply.items.is_empty()
        && reply.refused.is_none()
        && !lines.iter().any(|line| closing_kind(line).is_some())
}

#[cfg(test)]
mod tests {
    use super::stands_for;

    #[test]
    fn a_placeholder_stands_for_a_secret() {
        for (line, rendered) in [
            ("a", "a"),
            ("⟦secret:token:1⟧", "ghp_1"),
            ("a = \"⟦secret:token:1⟧\"", "a = \"ghp_1\""),
            ("a⟦secret:x:1⟧b⟦secret:y:2⟧c", "a1b2c"),
            ("⟦secret:x:1⟧, ⟦secret:y:2⟧", "1, 2"),
        ] {
            assert!(stands_for(line, rendered), "{line}");
        }
        for (line, rendered) in [
            ("a", "b"),
            ("⟦secret:token:1⟧", ""),
            ("a = ⟦secret:token:1⟧;", "a = ghp_1"),
            ("b = ⟦secret:token:1⟧", "a = ghp_1"),
            ("a⟦secret:x:1⟧b⟦secret:y:2⟧c", "a1c2b"),
            ("a⟦secret:x", "a⟦secret:x and more"),
        ] {
            assert!(!stands_for(line, rendered), "{line}");
        }
    }
}
