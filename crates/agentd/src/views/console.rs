//! The output of `agentd`: results on standard output, progress and diagnostics on standard error.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use review_view::marked_text;
use serde::Serialize;
use workspace_host::{Notices, SharedNotices};

use crate::views::terminal_text::visible;
use crate::views::{error_output, screen};

/// The two output streams and how much to say on them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Console {
    /// Print results as JSON.
    pub json: bool,
    quiet: bool,
    verbose: bool,
    colours: bool,
    live: bool,
    /// True if results are written to a terminal.
    is_read: bool,
    /// True if results may have colours.
    has_coloured_results: bool,
}

/// The style of a piece of progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Good,
    Bad,
    Faint,
    Strong,
}

impl Notices for Console {
    fn notice(&self, line: &str) {
        Console::notice(*self, line);
    }

    fn progress(&self, line: &str) {
        Console::progress(*self, line);
    }

    fn detail(&self, line: &str) {
        Console::detail(*self, line);
    }
}

impl Console {
    /// Returns the console as the receiver of a workspace's notices.
    pub(crate) fn shared(self) -> SharedNotices {
        Arc::new(self)
    }

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
            has_coloured_results: io::stdout().is_terminal() && !no_colour,
        }
    }

    /// Returns the console for work whose progress is of no interest: its notices and results remain.
    pub(crate) fn without_progress(self) -> Console {
        Console { quiet: true, live: false, ..self }
    }

    /// Checks whether progress and results appear on a terminal, one below the other.
    pub(crate) fn is_one_screen(self) -> bool {
        self.live && self.is_read
    }

    /// Checks whether results may have colours.
    pub(crate) fn has_colours(self) -> bool {
        self.has_coloured_results
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
            output.write_all(visible(&String::from_utf8_lossy(bytes)).as_bytes())?;
        } else {
            output.write_all(bytes)?;
        }
        output.flush()
    }

    /// Prints text of a file or a difference: to a terminal with marks for all that it does not show, else as it is.
    pub(crate) fn file_result(self, text: &str) {
        if self.is_read { self.result(&marked_text(text)) } else { self.result(text) }
    }

    /// Prints the result as one JSON value.
    pub(crate) fn json_result<T: Serialize>(self, value: &T) {
        self.result(&serde_json::to_string_pretty(value).expect("results have string keys"));
    }

    /// Prints a line of the result from pieces, each in its tone.
    pub(crate) fn result_row(self, pieces: &[(Tone, &str)]) {
        let line = row(pieces, self.has_coloured_results);
        let mut output = io::stdout().lock();
        let _ = writeln!(output, "{}", line.trim_end()).and_then(|()| output.flush());
    }

    /// Prints a line of progress.
    pub(crate) fn progress(self, text: &str) {
        self.styled(Tone::Plain, text);
    }

    /// Prints a line of progress from pieces, each in its tone.
    pub(crate) fn progress_row(self, pieces: &[(Tone, &str)]) {
        if !self.quiet {
            self.line(&row(pieces, self.colours));
        }
    }

    /// Prints a line of progress that only `-v` shows.
    pub(crate) fn detail(self, text: &str) {
        if self.verbose {
            self.styled(Tone::Faint, text);
        }
    }

    /// Prints a line of progress in a tone.
    pub(crate) fn styled(self, tone: Tone, text: &str) {
        self.progress_row(&[(tone, text)]);
    }

    /// Prints a line that must be seen even with `--quiet`.
    pub(crate) fn notice(self, text: &str) {
        self.line(&visible(text));
    }

    /// Prints a line that must be seen even with `--quiet`, from pieces, each in its tone.
    pub(crate) fn notice_row(self, pieces: &[(Tone, &str)]) {
        self.line(&row(pieces, self.colours));
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
        bar.set_message(visible(text).into_owned());
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
        let bar = ProgressBar::new(0).with_style(style).with_message(visible(text).into_owned());
        Bar { bar: Some(bar) }
    }

    /// Prints a line that has no control characters but our own.
    fn line(self, text: &str) {
        if screen::hold(text) {
            return;
        }
        error_output::write_line(text);
    }
}

/// Joins pieces of a line. What comes from outside cannot control a terminal; only the tones do.
fn row(pieces: &[(Tone, &str)], has_colours: bool) -> String {
    let painted = pieces.iter().map(|(tone, text)| {
        let text = visible(text);
        match tone.code().filter(|_| has_colours) {
            Some(code) => format!("\x1b[{code}m{text}\x1b[0m"),
            None => text.into_owned(),
        }
    });
    painted.collect()
}

impl Tone {
    fn code(self) -> Option<&'static str> {
        match self {
            Tone::Plain => None,
            Tone::Good => Some("32"),
            Tone::Bad => Some("31"),
            Tone::Faint => Some("2"),
            Tone::Strong => Some("1"),
        }
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
        // A bar of nothing would be a full one.
        if let Some(bar) = self.bar.as_ref().filter(|_| total > 0) {
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
            bar.set_message(visible(text).into_owned());
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
    use super::{Tone, row};

    #[test]
    fn only_our_own_tones_control_a_terminal() {
        let pieces = [
            (Tone::Good, "ok\u{1b}[2J"),
            (Tone::Plain, " \u{1b}[31mpath\u{7}"),
            (Tone::Faint, "\u{202e}x\u{200b}"),
        ];
        assert_eq!(row(&pieces, false), "ok path\u{fffd}\u{fffd}x⟨200B⟩");
        assert_eq!(row(&pieces, true), "\u{1b}[32mok\u{1b}[0m path\u{fffd}\u{1b}[2m\u{fffd}x⟨200B⟩\u{1b}[0m");
    }
}
