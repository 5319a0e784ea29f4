//! Showing a reply being executed.

use std::time::Instant;

use review_view::marked_text;
use tagproto::{Block, BlockKind, CommandResult, CommandType, ExecutionObserver, Item};
use wap_core::{FileChanged, OutputStream, visible_line};

use crate::views::console::{Console, Spinner, Tone};
use crate::views::terminal_text::{LineWidth, labelled, visible};

/// The number of shown lines of a failed command's output.
const OUTPUT_LINES: usize = 12;

/// The most characters of a command or text on a line.
const LINE_CHARACTERS: usize = 70;

/// The most characters of a failure's reason, which ends with the advice.
const REASON_CHARACTERS: usize = 500;

/// Writes a line for each block when it has ended, and a spinner while a command runs.
pub(crate) struct Progress {
    console: Console,
    spinner: Option<Spinner>,
    started: Instant,
}

impl Progress {
    pub(crate) fn new(console: Console) -> Progress {
        Progress { console, spinner: None, started: Instant::now() }
    }
}

impl ExecutionObserver for Progress {
    fn block_started(&mut self, _: usize, item: &Item<'_>) {
        self.started = Instant::now();
        if let Item::Block(block) = item
            && let Block::RunCommand { command, .. } = &block.value
        {
            self.spinner = Some(self.console.spinner(&one_line(command)));
        }
    }

    fn output(&mut self, _: OutputStream, bytes: &[u8]) {
        if let Some(spinner) = &self.spinner
            && let Some(line) =
                String::from_utf8_lossy(bytes).lines().rev().find(|line| !line.trim().is_empty())
        {
            spinner.say(&short_output(line));
        }
    }

    fn block_finished(
        &mut self,
        _: usize,
        item: &Item<'_>,
        result: &CommandResult,
        changed: Option<&FileChanged>,
    ) {
        self.spinner = None;
        let (mark, tone) = if result.success { ("ok", Tone::Good) } else { ("failed", Tone::Bad) };
        if is_for_the_user(result) {
            return self.show_whole(mark, tone, result);
        }
        let name = format!(" {:<12} ", result.command_type.name());
        let summary = summary_line(result, if result.success { LINE_CHARACTERS } else { REASON_CHARACTERS });
        let mark = format!("{mark:<7}");
        let counts = changed.and_then(counts).map(|counts| format!("  {counts}")).unwrap_or_default();
        let is_command =
            matches!(item, Item::Block(block) if matches!(block.value, Block::RunCommand { .. }));
        let took = if is_command {
            format!("  {:.1} s", self.started.elapsed().as_secs_f64())
        } else {
            String::new()
        };
        self.console.progress_row(&[
            (Tone::Plain, "  "),
            (tone, &mark),
            (Tone::Plain, &name),
            (Tone::Plain, &summary),
            (Tone::Faint, &counts),
            (Tone::Faint, &took),
        ]);
        if !result.success {
            let lines: Vec<&str> = result.output.lines().filter(|line| !line.trim().is_empty()).collect();
            self.show_lines(&lines);
        }
        let notes: Vec<String> = result.notes.iter().map(|note| format!("note: {note}")).collect();
        self.show_lines(&notes.iter().map(String::as_str).collect::<Vec<_>>());
        for refusal in &result.denied {
            self.console.styled(Tone::Faint, &format!("          refused: {}", printable(refusal)));
        }
    }
}

impl Progress {
    /// Shows the model's texts for the user.
    fn show_whole(&self, mark: &str, tone: Tone, result: &CommandResult) {
        let mark = format!("{mark:<7}");
        let label = format!("  {mark} {:<12} ", result.command_type.name());
        for line in labelled(&label, &result.summary, LineWidth::of_progress()) {
            match line.strip_prefix("  ").and_then(|rest| rest.strip_prefix(&mark)) {
                Some(rest) => {
                    self.console.progress_row(&[(Tone::Plain, "  "), (tone, &mark), (Tone::Plain, rest)]);
                }
                None => self.console.progress(&line),
            }
        }
    }

    /// Shows the last of some lines of an output, which usually have the reason of a failure.
    fn show_lines(&self, lines: &[&str]) {
        let count = lines.len().min(OUTPUT_LINES);
        if count < lines.len() {
            self.console.styled(Tone::Faint, &format!("          … {} more lines", lines.len() - count));
        }
        for line in &lines[lines.len() - count..] {
            self.console.styled(Tone::Faint, &format!("          {}", visible(line)));
        }
    }
}

fn counts(changed: &FileChanged) -> Option<String> {
    let (added, removed) = match changed {
        FileChanged::Written(written) => (written.lines_added, written.lines_removed),
        FileChanged::Modified(modified) => (modified.lines_added, modified.lines_removed),
        FileChanged::Deleted(_) => return None,
    };
    Some(format!("+{added} -{removed}"))
}

/// Checks whether a result is a text of the model for the user, which is always shown whole.
fn is_for_the_user(result: &CommandResult) -> bool {
    let texts = [BlockKind::Message, BlockKind::Done].map(CommandType::Block);
    result.success && texts.contains(&result.command_type)
}

/// Returns the lines that stand for a result among those that a command prints.
pub(crate) fn result_lines(indent: &str, result: &CommandResult) -> Vec<String> {
    let mark = if result.success { "OK" } else { "FAILED" };
    let label = format!("{indent}[{mark}] {}: ", result.command_type);
    if is_for_the_user(result) {
        return labelled(&label, &result.summary, LineWidth::of_results());
    }
    vec![format!("{label}{}", summary_line(result, LINE_CHARACTERS))]
}

/// The summary of a result on one line. That of a command keeps its exit code, however long the command is.
fn summary_line(result: &CommandResult, characters: usize) -> String {
    const EXIT: &str = "' (exit code ";
    let is_command = result.command_type == CommandType::Block(BlockKind::RunCommand);
    match result.summary.rsplit_once(EXIT).filter(|_| is_command) {
        Some((start, code)) => {
            let exit = format!("{EXIT}{code}");
            format!("{}{exit}", marked_line(start, characters.saturating_sub(exit.chars().count())))
        }
        None => marked_line(&result.summary, characters),
    }
}

/// Returns the line that ends a session; `summary` was shown whole with the results before, and is repeated here if it is short.
pub(crate) fn end_line(summary: &str) -> String {
    if summary.is_empty() || one_line(summary) != summary {
        return "done".to_owned();
    }
    format!("done: {summary}")
}

/// A text on one line that fits a terminal, with marks for what controls it or cannot be seen.
pub(crate) fn one_line(text: &str) -> String {
    marked_line(text, LINE_CHARACTERS)
}

fn marked_line(text: &str, characters: usize) -> String {
    // A carriage return is white space here, as the ends of lines are.
    visible_line(&marked_text(&text.replace('\r', "\n")), characters)
}

/// The same for the output of a program, whose colours are left out.
pub(crate) fn short_output(text: &str) -> String {
    visible(&visible_line(text, LINE_CHARACTERS)).into_owned()
}

/// A whole line with marks for what controls a terminal or cannot be seen: a path, a command, or a line of a file.
pub(crate) fn printable(line: &str) -> String {
    marked_text(line).into_owned()
}

#[cfg(test)]
mod tests {
    use tagproto::{BlockKind, CommandResult, CommandType};

    use super::{one_line, printable, result_lines, short_output};

    #[test]
    fn a_long_command_keeps_its_exit_code() {
        let result = |kind, summary: String| CommandResult {
            command_type: CommandType::Block(kind),
            success: true,
            summary,
            output: String::new(),
            notes: Vec::new(),
            denied: Vec::new(),
        };
        let command = "make test && ".repeat(20);
        let lines =
            result_lines("", &result(BlockKind::RunCommand, format!("Ran '{command}' (exit code 7)")));
        let [line] = lines.as_slice() else { panic!("{lines:?}") };
        assert!(line.starts_with("[OK] RUN_COMMAND: Ran 'make test && make"), "{line}");
        assert!(line.ends_with("' (exit code 7)") && line.chars().count() < 100, "{line}");
        // A file may have such a name, whose end is no exit code.
        let read = result(BlockKind::ReadFile, format!("Read '{command}' (exit code 7)"));
        assert!(!result_lines("", &read)[0].contains("exit code"));
    }

    #[test]
    fn a_line_shows_what_would_not_be_seen() {
        let line = "rm\u{200b} \u{1b}[8m-rf\u{202e}\r\n x\u{7}";
        assert_eq!(printable(line), "rm⟨200B⟩ ␛[8m-rf⟨202E⟩\r\n x␇");
        assert_eq!(one_line(line), "rm⟨200B⟩ ␛[8m-rf⟨202E⟩ x␇");
        assert_eq!(short_output(line), "rm⟨200B⟩ -rf\u{fffd} x\u{fffd}");
        // Characters that are not seen cannot push a text out of sight without a trace.
        assert!(one_line(&format!("{}rm", "\u{2060}".repeat(100))).starts_with("⟨2060⟩⟨2060⟩"));
    }
}
