//! The prompt for an agent: one text with the whole history.

use super::{ContextWindow, History, Speaker, Summarizer, TokenCounter};
use crate::Warning;

/// The prefix of lines that separate messages in a prompt.
const MARK: &str = "[[";

/// The longest notes in a prompt, to reserve room for them.
const NOTES: &str =
    "[[history_truncated: messages left out: 100000]]\n\n[[history_truncated: messages cut: 100000]]\n\n";

/// The prompt for an agent, fitted into its window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// The system prompt, then every message below a line with its speaker, the newest last.
    ///
    /// Only speaker lines such as `[[agent]]` begin with two brackets: a message line that begins like that is prefixed with a
    /// space. So no message, and no content of a repository, can pose as another speaker.
    pub text: String,
    /// The approximate number of tokens.
    pub tokens: u64,
    /// True if it is within the window's threshold. False only if the system prompt alone is too long.
    pub fits: bool,
    /// Warnings about messages dropped so far, or cut now, without a summary; they are also in the text.
    pub warnings: Vec<Warning>,
}

impl History {
    /// Fits the history into a window, as [`History::fit`] does, and renders it for an agent without memory
    /// between calls.
    ///
    /// The size is that of the rendered text, headings included.
    pub fn prompt(
        &mut self,
        system: &str,
        window: &ContextWindow,
        counter: &dyn TokenCounter,
        summarizer: &mut dyn Summarizer,
    ) -> Prompt {
        // The notes are only known after fitting, so their longest form is reserved.
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
    /// Renders the messages in the format of [`Prompt::text`].
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

/// Appends a message. Every character that some reader treats as a line break begins a new line.
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

/// Counts a message in its rendered form.
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
