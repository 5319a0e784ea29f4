//! Fits a history into a context window.

use super::{ContextWindow, History, Message, Speaker, Summarizer, TokenCounter};
use crate::{Warning, WarningCode};

/// The result of fitting a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fitted {
    /// The current message, cut if necessary.
    pub current: String,
    /// The number of tokens of the system prompt, the history and the current message together.
    pub tokens: u64,
    /// True if that is within the window's threshold. False only if the system prompt alone is too long.
    pub fits: bool,
    /// Warnings about messages that were dropped so far, or cut now, without a summary.
    pub warnings: Vec<Warning>,
}

impl History {
    /// Fits the history into a window, together with the system prompt and the current message.
    ///
    /// While it is too long, the older half is replaced by one summary. The newest request with its response
    /// stays unchanged. If summarizing fails, the oldest messages are dropped; if it is still too long, the
    /// longest texts are cut at line boundaries. Warnings report both.
    ///
    /// Source: Codali protocol, context history requirement; ruling in docs/codali.md.
    pub fn fit(
        &mut self,
        system: &str,
        current: &str,
        window: &ContextWindow,
        counter: &dyn TokenCounter,
        summarizer: &mut dyn Summarizer,
    ) -> Fitted {
        let mut fitting = Fitting {
            window,
            counter,
            usable: window.usable_tokens(),
            fixed: counter.count(system),
            current: current.to_owned(),
            left_out: 0,
            cut: 0,
            sizes: self.messages.iter().map(|message| counter.count(&message.text)).collect(),
            messages: &mut self.messages,
        };
        fitting.keep_newest();
        while fitting.is_too_long() && fitting.summarize(summarizer) {}
        fitting.leave_out_oldest();
        fitting.cut_longest();
        let (tokens, fits) = (fitting.tokens(), !fitting.is_too_long());
        let (left_out, cut, current) = (fitting.left_out, fitting.cut, fitting.current);
        // A truncated text contains a note about it. Nothing remains of an omitted message, so every prompt has to mention it.
        self.left_out = self.left_out.saturating_add(left_out as u64);
        let mut warnings = Vec::new();
        for (count, what) in [(self.left_out, "messages left out"), (cut as u64, "messages cut")] {
            if count > 0 {
                warnings.push(Warning::with(WarningCode::HistoryTruncated, format!("{what}: {count}")));
            }
        }
        Fitted { current, tokens, fits, warnings }
    }
}

struct Fitting<'a> {
    window: &'a ContextWindow,
    counter: &'a dyn TokenCounter,
    usable: u64,
    /// The tokens of the system prompt.
    fixed: u64,
    current: String,
    messages: &'a mut Vec<Message>,
    /// The tokens of each message.
    sizes: Vec<u64>,
    left_out: usize,
    cut: usize,
}

impl Fitting<'_> {
    fn tokens(&self) -> u64 {
        self.fixed + self.counter.count(&self.current) + self.sizes.iter().sum::<u64>()
    }

    fn is_too_long(&self) -> bool {
        self.tokens() > self.usable
    }

    fn keep_newest(&mut self) {
        let most = self.window.most_messages.unwrap_or(usize::MAX);
        let surplus = self.messages.len().saturating_sub(most);
        self.remove_oldest(surplus);
    }

    fn remove_oldest(&mut self, count: usize) {
        self.left_out += count;
        self.messages.drain(..count);
        self.sizes.drain(..count);
    }

    /// Returns the index of the newest request with its response; messages from there on stay.
    fn kept_from(&self) -> usize {
        let response = self.messages.iter().rposition(|message| message.speaker == Speaker::Codali);
        let request = response
            .and_then(|at| self.messages[..at].iter().rposition(|message| message.speaker == Speaker::Agent));
        request.or(response).unwrap_or(self.messages.len())
    }

    /// Replaces the older half by a summary; returns true if that made the history shorter.
    fn summarize(&mut self, summarizer: &mut dyn Summarizer) -> bool {
        let older = (self.messages.len() / 2).min(self.kept_from());
        let is_only_summary = older == 1 && self.messages[0].speaker == Speaker::Summary;
        if older == 0 || is_only_summary {
            return false;
        }
        let limit = self.window.summary_tokens;
        let Ok(text) = summarizer.summarize(&self.messages[..older], limit) else { return false };
        let text = bounded(text.trim(), limit, self.counter);
        let (size, replaced) = (self.counter.count(&text), self.sizes[..older].iter().sum::<u64>());
        // A summary that is not shorter would repeat this step forever.
        if text.is_empty() || size >= replaced {
            return false;
        }
        self.messages.splice(..older, [Message { speaker: Speaker::Summary, text }]);
        self.sizes.splice(..older, [size]);
        true
    }

    /// Drops the oldest messages, but never the newest request with its response, nor the newest message.
    fn leave_out_oldest(&mut self) {
        while self.is_too_long() && self.kept_from() > 0 && self.messages.len() > 1 {
            self.remove_oldest(1);
        }
    }

    /// Cuts the longest text until everything fits, at most once for each text.
    fn cut_longest(&mut self) {
        for _ in 0..=self.messages.len() {
            let tokens = self.tokens();
            if tokens <= self.usable {
                return;
            }
            let surplus = tokens - self.usable;
            let longest = (0..self.sizes.len()).max_by_key(|index| self.sizes[*index]);
            let current = self.counter.count(&self.current);
            match longest.filter(|index| self.sizes[*index] >= current) {
                Some(index) => {
                    let room = self.sizes[index].saturating_sub(surplus);
                    self.messages[index].text = cut(&self.messages[index].text, room, self.counter);
                    // Count again: the note about the cut takes tokens, and tokens may merge across it.
                    self.sizes[index] = self.counter.count(&self.messages[index].text);
                }
                None => self.current = cut(&self.current, current.saturating_sub(surplus), self.counter),
            }
            self.cut += 1;
        }
    }
}

/// Returns as many lines of a text as fit, and a line with the number of lines left out.
fn cut(text: &str, room: u64, counter: &dyn TokenCounter) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let shortened = |count: usize| {
        let kept = lines[..count].concat();
        let newline = if kept.is_empty() || kept.ends_with('\n') { "" } else { "\n" };
        format!("{kept}{newline}[{} of {} lines left out]\n", lines.len() - count, lines.len())
    };
    let fitting = fewest_not(lines.len(), |count| counter.count(&shortened(count)) > room);
    shortened(fitting.saturating_sub(1))
}

/// Cuts a summary to whole lines that fit, or to a part of the first line.
fn bounded(text: &str, limit: u64, counter: &dyn TokenCounter) -> String {
    if counter.count(text) <= limit {
        return text.to_owned();
    }
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let fitting = fewest_not(ends.len(), |lines| counter.count(&text[..ends[lines]]) > limit);
    if fitting > 0 {
        return text[..ends[fitting - 1]].to_owned();
    }
    let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let fitting = fewest_not(ends.len(), |characters| counter.count(&text[..ends[characters]]) > limit);
    text[..ends[fitting.saturating_sub(1)]].to_owned()
}

/// Returns the first of `0..count` that is too many, or `count`, by binary search; `is_too_many` must be monotonic.
fn fewest_not(count: usize, is_too_many: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low.midpoint(high);
        if is_too_many(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}
