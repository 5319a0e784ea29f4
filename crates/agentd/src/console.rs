//! Where `agentd` writes: results to standard output, progress and diagnostics to standard error.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

/// A text without characters that control a terminal, but for the ends of lines and tabs.
fn for_terminal(text: &str) -> String {
    let is_shown = |character: char| !character.is_control() || matches!(character, '\n' | '\t');
    let text = text.replace("\r\n", "\n");
    text.chars().map(|character| if is_shown(character) { character } else { '\u{fffd}' }).collect()
}

/// The two output streams and how much to say on them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Console {
    /// Print results as JSON.
    pub json: bool,
    quiet: bool,
    verbose: bool,
    colours: bool,
    live: bool,
    /// Whether results are read by a person.
    is_read: bool,
}

/// How a piece of progress looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Good,
    Bad,
    Faint,
    Strong,
}

impl Console {
    pub(crate) fn new(json: bool, quiet: bool, verbose: bool) -> Console {
        let terminal = io::stderr().is_terminal();
        let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Console {
            json,
            quiet,
            verbose,
            colours: terminal && !no_colour,
            live: terminal && !quiet,
            is_read: io::stdout().is_terminal(),
        }
    }

    /// Whether nothing but results is to be printed.
    pub(crate) fn is_quiet(self) -> bool {
        self.quiet
    }

    /// Prints a line of the result. A reader that went away is not an error.
    pub(crate) fn result(self, text: &str) {
        // At once, so that lines of several threads stay apart.
        let end = if text.ends_with('\n') { "" } else { "\n" };
        let _ = self.raw_result(format!("{text}{end}").as_bytes());
    }

    /// Prints bytes as they are; to a terminal only those that do not control it, since results hold what models, agents and
    /// repositories have written.
    ///
    /// # Errors
    /// A reader that went away, for instance.
    pub(crate) fn raw_result(self, bytes: &[u8]) -> io::Result<()> {
        let mut output = io::stdout().lock();
        if self.is_read {
            output.write_all(for_terminal(&String::from_utf8_lossy(bytes)).as_bytes())?;
        } else {
            output.write_all(bytes)?;
        }
        output.flush()
    }

    /// Prints the result as one JSON value.
    pub(crate) fn json_result<T: Serialize>(self, value: &T) {
        self.result(&serde_json::to_string_pretty(value).expect("results have string keys"));
    }

    /// Prints a line of progress.
    pub(crate) fn progress(self, text: &str) {
        self.styled(Tone::Plain, text);
    }

    /// Prints a line of progress that only `-v` shows.
    pub(crate) fn detail(self, text: &str) {
        if self.verbose {
            self.styled(Tone::Faint, text);
        }
    }

    /// Prints a line of progress in a tone.
    pub(crate) fn styled(self, tone: Tone, text: &str) {
        if !self.quiet {
            self.line(&self.paint(tone, text));
        }
    }

    /// Prints what must be seen even with `--quiet`.
    pub(crate) fn notice(self, text: &str) {
        self.line(text);
    }

    /// Colours a text for standard error.
    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Plain => return text.to_owned(),
            _ if !self.colours => return text.to_owned(),
            Tone::Good => "32",
            Tone::Bad => "31",
            Tone::Faint => "2",
            Tone::Strong => "1",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }

    /// Shows a spinner with the time that has passed, on a terminal; elsewhere nothing.
    pub(crate) fn spinner(self, text: &str) -> Spinner {
        if !self.live {
            return Spinner { bar: None };
        }
        let bar = ProgressBar::new_spinner();
        let style = ProgressStyle::with_template("  {spinner} {msg} {elapsed:.dim}")
            .expect("the template names only known fields");
        bar.set_style(style);
        bar.set_message(text.to_owned());
        bar.enable_steady_tick(Duration::from_millis(120));
        Spinner { bar: Some(bar) }
    }

    /// Shows a progress bar, on a terminal; elsewhere nothing.
    pub(crate) fn bar(self, text: &str) -> Bar {
        if !self.live {
            return Bar { bar: None };
        }
        let style = ProgressStyle::with_template("  {msg} {wide_bar} {pos}/{len} {elapsed:.dim}")
            .expect("the template names only known fields");
        let bar = ProgressBar::new(0).with_style(style).with_message(text.to_owned());
        Bar { bar: Some(bar) }
    }

    fn line(self, text: &str) {
        let _ = writeln!(io::stderr().lock(), "{text}");
    }
}

/// A progress bar that is gone when it is dropped.
#[derive(Debug)]
pub(crate) struct Bar {
    bar: Option<ProgressBar>,
}

impl Bar {
    /// Shows how much is done of how much.
    pub(crate) fn show(&self, done: u64, total: u64) {
        if let Some(bar) = &self.bar {
            bar.set_length(total);
            bar.set_position(done);
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A spinner that is gone when it is dropped.
#[derive(Debug)]
pub(crate) struct Spinner {
    bar: Option<ProgressBar>,
}

impl Spinner {
    /// Replaces the text, the last line of output for instance.
    pub(crate) fn say(&self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(text.to_owned());
        }
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::for_terminal;

    #[test]
    fn nothing_that_controls_a_terminal_gets_there() {
        let cases = [
            ("plain\ttext\r\nöäü 🙂\n", "plain\ttext\nöäü 🙂\n"),
            ("\u{1b}[2Jgone\u{1b}]0;title\u{7}", "\u{fffd}[2Jgone\u{fffd}]0;title\u{fffd}"),
            ("\u{9b}31m over\rwritten\u{8}\u{7f}", "\u{fffd}31m over\u{fffd}written\u{fffd}\u{fffd}"),
        ];
        for (text, expected) in cases {
            assert_eq!(for_terminal(text), expected);
        }
    }
}
