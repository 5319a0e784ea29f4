//! What an agent is sent: one text with all that was said.

use super::{ContextWindow, History, Speaker, Summarizer, TokenCounter};
use crate::Warning;

/// A line of a prompt that is none of anybody's words begins so.
const MARK: &str = "[[";

/// The longest notes that stand in a prompt, to keep room for them.
const NOTES: &str =
    "[[history_truncated: messages left out: 100000]]\n\n[[history_truncated: messages cut: 100000]]\n\n";

/// What an agent is sent, made to fit into its window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// The system's prompt, then every message beneath a line with its speaker, the newest last.
    ///
    /// A line such as `[[agent]]` stands at the left margin, and no line of a message does that begins with two brackets: it
    /// has a blank in front. So nothing that was said, and nothing that stands in a repository, passes for another speaker.
    pub text: String,
    /// About how many tokens that is.
    pub tokens: u64,
    /// Whether it is within the window's threshold. It is, unless the system's prompt alone is too long.
    pub fits: bool,
    /// What was left out without a summary; the text says so too.
    pub warnings: Vec<Warning>,
}

impl History {
    /// Makes the history fit into a window, as [`History::fit`] does, and writes it down for an agent that keeps nothing
    /// between calls.
    ///
    /// What counts is the text as it is written, headings included.
    pub fn prompt(
        &mut self,
        system: &str,
        window: &ContextWindow,
        counter: &dyn TokenCounter,
        summarizer: &mut dyn Summarizer,
    ) -> Prompt {
        let fixed = format!("{NOTES}{system}");
        let fitted = self.fit(&fixed, "", window, &AsWritten(counter), summarizer);
        let mut text = String::new();
        if !system.trim().is_empty() {
            text.push_str(system.trim_end());
            text.push_str("\n\n");
        }
        for warning in &fitted.warnings {
            text.push_str(&format!("{MARK}{warning}]]\n\n"));
        }
        text.push_str(&self.written());
        let tokens = counter.count(&text);
        Prompt { text, tokens, fits: fitted.fits, warnings: fitted.warnings }
    }
}

impl History {
    /// Writes the messages down as [`Prompt::text`] has them.
    #[must_use]
    pub fn written(&self) -> String {
        let mut text = String::new();
        for message in self.messages() {
            text.push_str(&heading(message.speaker));
            push_words(&mut text, &message.text);
            text.push('\n');
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        text
    }
}

fn heading(speaker: Speaker) -> String {
    let name = match speaker {
        Speaker::User => "user",
        Speaker::Agent => "agent",
        Speaker::Codali => "codali",
        Speaker::Summary => "summary of what was said before",
    };
    format!("{MARK}{name}]]\n")
}

/// Adds a message. Whatever breaks lines for somebody is taken for the beginning of a line.
fn push_words(prompt: &mut String, words: &str) {
    let breaks =
        |one: char| matches!(one, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}');
    for line in words.trim_end().split_inclusive(breaks) {
        if line.starts_with(MARK) {
            prompt.push(' ');
        }
        prompt.push_str(line);
    }
    prompt.push('\n');
}

/// Counts a message as it is written.
struct AsWritten<'a>(&'a dyn TokenCounter);

impl TokenCounter for AsWritten<'_> {
    fn count(&self, text: &str) -> u64 {
        if text.is_empty() {
            return 0;
        }
        let mut written = heading(Speaker::Summary);
        push_words(&mut written, text);
        written.push('\n');
        self.0.count(&written)
    }
}
