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
    out.push_str(&shortened_line(&fold(note)));
    out.push('\n');
}

/// Writes a result: its mark and summary, then the output. Further lines of both are indented.
fn write_result(out: &mut String, result: &CommandResult, limit_characters: usize) {
    out.push_str(if result.success { SUCCEEDED } else { FAILED });
    out.push_str(result.command_type.name());
    out.push(':');
    write_lines(out, &shortened(&seen_lines_trimmed(&visible_lines(&result.summary))));
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
/// The maximum number of characters of a line of a summary or note, and the number kept at its end.
const SUMMARY_LINE_CHARACTERS: usize = 400;
const SUMMARY_LINE_TAIL_CHARACTERS: usize = 100;

/// Joins the lines of a summary, without the middle of a long summary and of long lines.
fn shortened(lines: &[&str]) -> String {
    let joined = |lines: &[&str]| lines.iter().copied().map(shortened_line).collect::<Vec<_>>().join("\n");
    if lines.len() <= SUMMARY_LINES {
        return joined(lines);
    }
    let (head, rest) = lines.split_at(SUMMARY_HEAD_LINES);
    let (last, middle) = rest.split_last().expect("the summary has more lines than its head");
    format!("{}\n[... {} lines left out ...]\n{}", joined(head), middle.len(), shortened_line(last))
}

fn shortened_line(line: &str) -> Cow<'_, str> {
    let characters = line.chars().count();
    if characters <= SUMMARY_LINE_CHARACTERS {
        return Cow::Borrowed(line);
    }
    let head_characters = SUMMARY_LINE_CHARACTERS - SUMMARY_LINE_TAIL_CHARACTERS;
    let head: String = line.chars().take(head_characters).collect();
    let tail: String = line.chars().skip(characters - SUMMARY_LINE_TAIL_CHARACTERS).collect();
    format!("{head} [... {} characters left out ...] {tail}", characters - SUMMARY_LINE_CHARACTERS).into()
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
