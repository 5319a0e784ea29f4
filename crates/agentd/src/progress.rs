//! Showing a reply being executed.

use std::time::Instant;

use tagproto::{Block, CommandResult, CommandType, ExecutionObserver, Item};
use wap_core::{FileChanged, OutputStream};

use crate::console::{Console, Spinner, Tone};

/// How many lines of a failed command's output are shown.
const OUTPUT_LINES: usize = 12;

/// How much of a command or text fits a line, in characters.
const LINE_CHARACTERS: usize = 70;

/// How much of the reason of a failure is shown, in characters: what to do stands at its end.
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
            && let Block::RunCommand { command } = &block.value
        {
            self.spinner = Some(self.console.spinner(&one_line(command)));
        }
    }

    fn output(&mut self, _: OutputStream, bytes: &[u8]) {
        if let Some(spinner) = &self.spinner
            && let Some(line) =
                String::from_utf8_lossy(bytes).lines().rev().find(|line| !line.trim().is_empty())
        {
            spinner.say(&one_line(line));
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
        let mut line = format!(
            "  {:<7} {:<12} {}",
            self.console.paint(tone, mark),
            result.command_type.name(),
            if result.success {
                one_line(&result.summary)
            } else {
                one_line_of(&result.summary, REASON_CHARACTERS)
            }
        );
        if let Some(counts) = changed.and_then(counts) {
            line.push_str(&self.console.paint(Tone::Faint, &format!("  {counts}")));
        }
        let is_command =
            matches!(item, Item::Block(block) if matches!(block.value, Block::RunCommand { .. }));
        if is_command {
            let seconds = self.started.elapsed().as_secs_f64();
            line.push_str(&self.console.paint(Tone::Faint, &format!("  {seconds:.1} s")));
        }
        self.console.progress(&line);
        if !result.success || matches!(result.command_type, CommandType::Block(tagproto::BlockKind::Message))
        {
            self.show(&result.output);
        }
    }
}

impl Progress {
    /// Shows the end of an output, where the reason of a failure usually stands.
    fn show(&self, output: &str) {
        let lines: Vec<_> = output.lines().filter(|line| !line.trim().is_empty()).collect();
        let shown = lines.len().min(OUTPUT_LINES);
        if shown < lines.len() {
            self.console.styled(Tone::Faint, &format!("          … {} more lines", lines.len() - shown));
        }
        for line in &lines[lines.len() - shown..] {
            self.console.styled(Tone::Faint, &format!("          {}", printable(line)));
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

/// A text on one line that fits a terminal and cannot control it.
pub(crate) fn one_line(text: &str) -> String {
    one_line_of(text, LINE_CHARACTERS)
}

fn one_line_of(text: &str, most_characters: usize) -> String {
    let flat = printable(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    if flat.chars().count() <= most_characters {
        return flat;
    }
    flat.chars().take(most_characters - 1).chain(['…']).collect()
}

/// A line without characters that control a terminal.
pub(crate) fn printable(line: &str) -> String {
    line.chars()
        .map(|character| if character.is_control() && character != '\t' { '\u{fffd}' } else { character })
        .collect()
}
