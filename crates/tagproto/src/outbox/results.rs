//! Results as lines of an outbox.

use std::borrow::Cow;

use super::budget::Allowance;
use super::line_text::{fold, seen_lines_trimmed, visible_lines};
use super::structure::{EFFECT, FAILED, FURTHER, NOTE, OUTPUT, REFUSED, SUCCEEDED};
use crate::{BlockKind, CommandResult, CommandType};

/// The maximum number of results that an outbox shows; failures take precedence.
pub(super) const MOST_RESULTS: usize = 200;

/// Writes the results, or some of them with a line that counts the rest.
pub(super) fn write_results(out: &mut String, results: &[CommandResult], allowance: &Allowance) {
    let selected = select_results(results, allowance.results.min(MOST_RESULTS));
    for index in &selected {
        write_result(out, &results[*index], allowance.output_characters);
    }
    let left_out = results.len() - selected.len();
    if left_out > 0 {
        let failures = |results: &mut dyn Iterator<Item = &CommandResult>| {
            results.filter(|result| !result.success).count()
        };
        let failed =
            failures(&mut results.iter()) - failures(&mut selected.iter().map(|index| &results[*index]));
        let (succeeded, are) = (left_out - failed, if left_out == 1 { "result is" } else { "results are" });
        write_note(out, &format!("{left_out} more {are} not shown: {succeeded} succeeded, {failed} failed"));
    }
}

/// Selects at most `most` results and returns their indexes in order. Failures take precedence over successes; of too many of
/// either, the first and the last are selected.
fn select_results(results: &[CommandResult], most: usize) -> Vec<usize> {
    if results.len() <= most {
        return (0..results.len()).collect();
    }
    // A model can infer successes from the files; a failure that it does not see is repeated.
    let (failed, succeeded): (Vec<usize>, Vec<usize>) =
        (0..results.len()).partition(|index| !results[*index].success);
    let mut selected = both_ends(&failed, most);
    selected.extend(both_ends(&succeeded, most - selected.len()));
    selected.sort_unstable();
    selected
}

/// Returns the first and the last of some indexes, `most` in total.
fn both_ends(indexes: &[usize], most: usize) -> Vec<usize> {
    if indexes.len() <= most {
        return indexes.to_vec();
    }
    let (head, tail) = (most.div_ceil(2), most / 2);
    [&indexes[..head], &indexes[indexes.len() - tail..]].concat()
}

/// Writes a note among the results.
pub(super) fn write_note(out: &mut String, note: &str) {
    out.push_str(NOTE);
    out.push_str(&shortened_own_line(&fold(note)));
    out.push('\n');
}

/// Writes a result: its mark and summary, then the output. Further lines of both are indented.
fn write_result(out: &mut String, result: &CommandResult, limit_characters: usize) {
    out.push_str(if result.success { SUCCEEDED } else { FAILED });
    out.push_str(result.command_type.name());
    out.push(':');
    let shorten_line =
        if quotes_the_reply(result.command_type) { shortened_line } else { shortened_own_line };
    write_lines(out, &shortened(&seen_lines_trimmed(&visible_lines(&result.summary)), shorten_line));
    let output = visible_lines(&result.output);
    let output = output.trim_matches('\n');
    if !output.is_empty() {
        out.push_str(OUTPUT);
        // The next edit refers to the text that explains a failed one, so that text is never cut.
        let may_cut = result.command_type == CommandType::Block(BlockKind::RunCommand);
        match cut_note(output, limit_characters) {
            Some(cut) if may_cut => write_lines(out, &cut),
            _ => write_lines(out, output),
        }
    }
    // Outside of the indented output, so that no command can print one.
    for note in &result.notes {
        out.push_str(NOTE);
        out.push_str(EFFECT);
        out.push_str(&fold(&visible_lines(note)));
        out.push('\n');
    }
    for denied in &result.denied {
        write_note(out, &format!("{REFUSED}{}", visible_lines(denied)));
    }
}

/// The maximum number of lines of a summary. A summary that quotes a longer command or message is shortened, since the model
/// wrote it.
const SUMMARY_LINES: usize = 20;
/// The number of lines kept at the start of a longer summary. At its end only the last line is kept, with the exit of a command.
const SUMMARY_HEAD_LINES: usize = 10;
/// The maximum number of characters of a line of a summary that quotes the reply.
const SUMMARY_LINE_CHARACTERS: usize = 400;
/// The maximum number of characters of a path or another word in other summaries and in notes. These are instructions, which
/// have to stay whole.
const WORD_CHARACTERS: usize = 200;
/// The maximum number of characters of a line of these: more than any of them has without the paths in it.
const OWN_LINE_CHARACTERS: usize = 2_000;
/// The number of characters kept at the end of a line or word.
const TAIL_CHARACTERS: usize = 100;

/// Checks whether a summary consists of text of the reply: a command or a message.
fn quotes_the_reply(command_type: CommandType) -> bool {
    [BlockKind::RunCommand, BlockKind::Message, BlockKind::Done]
        .map(CommandType::Block)
        .contains(&command_type)
}

/// Joins the lines of a summary, without the middle of a long summary and of long lines.
fn shortened(lines: &[&str], shorten_line: fn(&str) -> Cow<'_, str>) -> String {
    let joined = |lines: &[&str]| lines.iter().copied().map(shorten_line).collect::<Vec<_>>().join("\n");
    if lines.len() <= SUMMARY_LINES {
        return joined(lines);
    }
    let (head, rest) = lines.split_at(SUMMARY_HEAD_LINES);
    let (last, middle) = rest.split_last().expect("the summary has more lines than its head");
    format!("{}\n[... {} lines left out ...]\n{}", joined(head), middle.len(), shorten_line(last))
}

fn shortened_line(line: &str) -> Cow<'_, str> {
    without_middle(line, SUMMARY_LINE_CHARACTERS)
}

/// Shortens the paths and other long words of a line.
fn shortened_own_line(line: &str) -> Cow<'_, str> {
    if line.len() <= WORD_CHARACTERS {
        return Cow::Borrowed(line);
    }
    let words: Vec<_> = line.split(' ').map(|word| without_middle(word, WORD_CHARACTERS)).collect();
    without_middle(&words.join(" "), OWN_LINE_CHARACTERS).into_owned().into()
}

/// Returns a text without its middle if it has more than `most` characters.
fn without_middle(text: &str, most: usize) -> Cow<'_, str> {
    let characters = text.chars().count();
    if characters <= most {
        return Cow::Borrowed(text);
    }
    let head: String = text.chars().take(most - TAIL_CHARACTERS).collect();
    let tail: String = text.chars().skip(characters - TAIL_CHARACTERS).collect();
    format!("{head} [... {} characters left out ...] {tail}", characters - most).into()
}

/// Appends the first line to the current line, and the others as new lines. Blank lines are not indented, so no line has trailing
/// whitespace.
fn write_lines(out: &mut String, text: &str) {
    for (index, line) in seen_lines_trimmed(text).into_iter().enumerate() {
        match (index, line.is_empty()) {
            (_, true) => {}
            (0, false) => out.push(' '),
            (_, false) => out.push_str(FURTHER),
        }
        out.push_str(line);
        out.push('\n');
    }
    if !out.ends_with('\n') {
        out.push('\n');
    }
}

/// Returns the end of an output with a line about the omission; `None` if the output is within the limit.
fn cut_note(output: &str, limit_characters: usize) -> Option<String> {
    let characters = output.chars().count();
    if characters <= limit_characters {
        return None;
    }
    // The end is kept, since it tends to have the errors and totals.
    let (tail_start, _) =
        output.char_indices().nth(characters - limit_characters).unwrap_or((output.len(), ' '));
    let tail = &output[tail_start..];
    // The first line of the tail is cut in the middle.
    let tail = tail.split_once('\n').map_or(tail, |(_, whole_lines)| whole_lines);
    let left_out = characters - tail.chars().count();
    Some(format!("[{left_out} characters left out to keep to the token budget]\n{tail}"))
}

#[cfg(test)]
mod tests {
    use super::write_result;
    use crate::{
        BlockKind, CommandResult, CommandType, ForeignFault, HunkFault, LineRange, ParseError,
        ParseErrorKind, Span, parse::error::EndDoubt,
    };

    fn written(command_type: CommandType, summary: &str) -> String {
        let result = CommandResult {
            command_type,
            summary: summary.to_owned(),
            success: false,
            output: String::new(),
            notes: Vec::new(),
            denied: Vec::new(),
        };
        let mut out = String::new();
        write_result(&mut out, &result, usize::MAX);
        out
    }

    /// Returns the errors of blocks that have advice, with `path` as the path in each.
    fn errors(path: &str) -> Vec<ParseErrorKind> {
        let name = || path.to_owned();
        let fault = HunkFault::DividedTwice;
        let doubts = [
            EndDoubt::OwnTag,
            EndDoubt::LaterTag,
            EndDoubt::NoOpening,
            EndDoubt::TextAfter,
            EndDoubt::NextTag,
            EndDoubt::InFence,
            EndDoubt::OtherClosing,
            EndDoubt::InnerBlock,
            EndDoubt::AfterClosing,
        ];
        let foreign = [
            ForeignFault::Hunk { line_number: 1234, fault },
            ForeignFault::UnnamedDiff,
            ForeignFault::NoContext { line_number: 1234 },
            ForeignFault::NoEnd,
            ForeignFault::CutOff { path: name() },
            ForeignFault::AfterEnd { line_number: 1234, end: 5678 },
            ForeignFault::Unsigned { line_number: 1234 },
            ForeignFault::ShortHunk { line_number: 1234 },
            ForeignFault::Empty { path: name() },
            ForeignFault::NoLine { path: name() },
            ForeignFault::ToolCall { line_number: 1234 },
            ForeignFault::Rename { from: name(), to: name() },
            ForeignFault::TwoNames { old: name(), new: name() },
            ForeignFault::OmittedCode { path: name(), line: name() },
        ];
        let blocks = [
            ParseErrorKind::Unclosed { path: Some(name()), later_tags: 12 },
            ParseErrorKind::MissingLines { path: name() },
            ParseErrorKind::OmittedCode { path: name(), line_number: 1234 },
            ParseErrorKind::NumbersInBody { path: name() },
            ParseErrorKind::FenceInBody { path: Some(name()), line_number: 1234 },
            ParseErrorKind::NearMiss { written: "x".repeat(80), not_run: 12 },
            ParseErrorKind::StrayClosing { line_number: 1234 },
            ParseErrorKind::BlockInText { line_number: 1234 },
            ParseErrorKind::MaybeConsidered { line_number: 1234 },
            ParseErrorKind::Hunk { path: name(), line_number: 1234, fault },
            ParseErrorKind::AlongsideBlocks { path: Some(name()) },
        ];
        let unclear =
            doubts.map(|doubt| ParseErrorKind::EndUnclear { line_number: 1234, not_run: 12, doubt });
        let foreign = foreign.map(ParseErrorKind::Foreign);
        blocks.into_iter().chain(unclear).chain(foreign).collect()
    }

    fn message(kind: ParseErrorKind) -> String {
        let (span, lines) = (Span { start: 0, end: 0 }, LineRange { first: 1, last: 1 });
        ParseError { command: BlockKind::EditFile, kind, span, lines }.to_string()
    }

    #[test]
    fn an_error_with_a_long_path_is_whole() {
        for kind in errors(&format!("{}.rs", "a/".repeat(50))) {
            let message = message(kind);
            assert_eq!(
                written(CommandType::ParseError, &message),
                format!("[FAILED] PARSE_ERROR: {message}\n")
            );
        }
    }

    #[test]
    fn of_an_error_only_the_path_is_shortened() {
        for kind in errors(&"a/".repeat(2_000)) {
            let message = message(kind);
            let line = written(CommandType::ParseError, &message);
            assert!(line.chars().count() < 2_000, "{line}");
            let mut left = line.split_whitespace();
            let mut ours = message.split(' ').filter(|word| word.len() < 100);
            assert!(ours.all(|word| left.any(|other| other == word)), "{line}");
        }
    }

    #[test]
    fn a_long_line_of_a_command_is_shortened() {
        let run = CommandType::Block(BlockKind::RunCommand);
        let line = written(run, &format!("Ran '{}' (exit code 1)", "echo ".repeat(200)));
        assert!(line.contains(" characters left out ...] ") && line.chars().count() < 500, "{line}");
        assert!(line.ends_with("' (exit code 1)\n"), "{line}");
    }
}
