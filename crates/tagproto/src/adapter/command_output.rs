//! The output of a command, joined and bounded.

use crate::Dialect;

/// The maximum length of the output of one command, in characters.
const LIMIT_CHARACTERS: usize = 4_000;
/// The number of characters kept at the start, if head and tail are kept; errors tend to be at the end.
const HEAD_CHARACTERS: usize = 1_200;
/// The number of characters kept at the end, which leaves room for the line in between.
const TAIL_CHARACTERS: usize = 2_500;

/// Joins standard output and standard error with a newline, unless the latter is blank.
pub(super) fn joined(stdout: &str, stderr: &str) -> String {
    if stderr.trim().is_empty() { stdout.to_owned() } else { format!("{stdout}\n{stderr}") }
}

/// Bounds an output by the rule of the dialect. `whole_output` is the name under which READ_FILE returns all of it; with
/// `is_cut`, the engine has already left a part out.
pub(super) fn bounded(output: String, whole_output: Option<&str>, is_cut: bool, dialect: Dialect) -> String {
    let characters = output.chars().count();
    if characters <= LIMIT_CHARACTERS {
        return output;
    }
    match dialect {
        Dialect::CodingAgent => {
            let head: String = output.chars().take(LIMIT_CHARACTERS).collect();
            // The wording is the original's.
            format!("{head}\n... (output truncated)")
        }
        Dialect::Agentd => {
            let head = head(&output);
            let tail = tail(&output, characters);
            let left_out = characters - head.chars().count() - tail.chars().count();
            let way_out = match whole_output {
                Some(name) => format!("[READ_FILE path=\"{name}\"] shows the whole output"),
                None => "run the command again with less output to see them".to_owned(),
            };
            let gap = if head.ends_with('\n') { "" } else { "\n" };
            let more_than = if is_cut { "more than " } else { "" };
            format!("{head}{gap}[... {more_than}{left_out} characters left out; {way_out} ...]\n{tail}")
        }
    }
}

/// Returns the start of an output, up to the end of a line unless the lines are too long for that.
fn head(output: &str) -> &str {
    let head = &output[..offset_of(output, HEAD_CHARACTERS)];
    match head.rfind('\n') {
        // Cutting within a line loses less than dropping half of the head.
        Some(end) if end > head.len() / 2 => &head[..=end],
        _ => head,
    }
}

/// Returns the end of an output, from the start of a line unless the lines are too long for that.
fn tail(output: &str, characters: usize) -> &str {
    let tail = &output[offset_of(output, characters - TAIL_CHARACTERS)..];
    match tail.find('\n') {
        Some(end) if end < tail.len() / 2 => &tail[end + 1..],
        _ => tail,
    }
}

/// Returns the byte offset of a 0-based character index.
fn offset_of(text: &str, character: usize) -> usize {
    text.char_indices().nth(character).map_or(text.len(), |(offset, _)| offset)
}
