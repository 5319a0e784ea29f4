//! The marks that form the structure of an outbox, and the check for lines that resemble a mark.

/// The markers of the four sections, in their order.
pub(super) const HEADER: &str = "=== HEADER ===";
pub(super) const PROTOCOL: &str = "=== PROTOCOL ===";
pub(super) const CONTEXT: &str = "=== CONTEXT ===";
pub(super) const PROMPT: &str = "=== PROMPT ===";

/// The line of the header that a model repeats in its reply; a second such line would mislead it.
const REPLY_TO: &str = "Reply-To:";

/// The headings within the section CONTEXT, in their order.
pub(super) const LISTING: &str = "## Workspace Files";
/// Begins like [`LISTING`], so that it does not need its own check for lines that read as structure.
pub(super) const SUGGESTED: &str = "## Workspace Files for the Task";
pub(super) const RESULTS: &str = "## Previous Command Results";
pub(super) const FILES: &str = "## Requested File Contents";

/// The heading of the sentences about the surroundings of commands, after the rules.
pub(super) const SURROUNDINGS: &str = "SURROUNDINGS";

/// The heading of the work that a session continues.
pub(super) const WORK: &str = "## Work So Far";

/// The heading of the user's review of the last reply.
pub(super) const REVIEW: &str = "## Review";

/// The heading of the user's answers to the model's question.
pub(super) const ANSWER: &str = "## Answer from the user";

/// The first line of a list of changes.
pub(super) const AS_BEFORE: &str = "(as listed before)";
pub(super) const BUT_FOR_THESE: &str = "(as listed before, except for these)";
/// The mark after the path of an entry that no longer exists.
pub(super) const GONE: &str = "(gone)";
/// The line between the prompt and the task, where a later message repeats the task.
pub(super) const TASK: &str = "The task, from message 1:";

pub(super) const EMPTY_WORKSPACE: &str = "(empty workspace)";
pub(super) const SUCCEEDED: &str = "[OK] ";
pub(super) const FAILED: &str = "[FAILED] ";
/// The start of a note among the results.
pub(super) const NOTE: &str = "[NOTE] ";
/// The start of a note about a refusal to the command of the result above it.
pub(super) const REFUSED: &str = "refused: ";
/// The start of a note about an effect of the result above it.
pub(super) const EFFECT: &str = "effect: ";
/// The start of the output of a result.
pub(super) const OUTPUT: &str = "  Output:";
/// The indentation of further lines of a summary or of an output.
pub(super) const FURTHER: &str = "    ";
/// The indentation of a line of the listing, and of a line of the task that reads as structure.
pub(super) const INDENT: &str = "  ";
pub(super) const UNREADABLE: &str = "(file not found or access denied)";
/// The texts around the number of an earlier message that shows the same version of a file, after the file's path.
pub(super) const AS_IN: &str = "(as in message ";
pub(super) const ASK_AGAIN: &str = "; ask again to see it)";
/// The text between the opening fence and the range of lines.
pub(super) const SHOWN_LINES: &str = "(lines ";
/// The text between the opening fence of several ranges and the number of lines of the file.
pub(super) const SHOWN_PARTS: &str = "(parts of ";
/// The start of the line about suggested files that are not shown.
pub(super) const NOT_SHOWN: &str = "(others that may matter, not shown: ";
pub(super) const NO_FINAL_NEWLINE: &str = "no newline at end of file";
/// The note of a file with only CRLF line ends.
pub(super) const CRLF_LINES: &str = "lines end in CRLF";

/// The prompt of every outbox but the first.
pub(super) const CONTINUATION: &str = "Continue working on the task based on the results above. \
    If the task is complete, send [DONE] with a summary.";

/// The minimum number of dashes of a fence.
pub(super) const SHORTEST_FENCE: usize = 3;

/// Checks whether a reader might take a line for a part of the outbox's structure.
///
/// Whitespace around the line and the case of its letters make no difference: the reader to be protected is a model, not a
/// parser. So indenting a line does not change the result, which makes indentation reversible.
pub(super) fn reads_as_structure(line: &str) -> bool {
    // Invisible characters count as whitespace: they would hide a forged mark from this check but not from a model.
    let line = line.trim_matches(is_blank);
    fence_dashes(line) > 0
        || [SUCCEEDED, FAILED, NOTE].iter().any(|mark| starts_with_folded(line, mark.trim_end()))
        || [LISTING, RESULTS, FILES].iter().any(|heading| starts_with_folded(line, heading))
        || starts_with_folded(line, REPLY_TO)
        || is_section_marker(line)
}

/// Returns the number of dashes at the start of a line that could be a fence, else 0; leading whitespace makes no difference.
pub(super) fn fence_dashes(line: &str) -> usize {
    let line = line.trim_start_matches(is_blank);
    let dashes = line.bytes().take_while(|byte| *byte == b'-').count();
    let is_followed_by_blank = line[dashes..].starts_with(is_blank);
    if dashes >= SHORTEST_FENCE && is_followed_by_blank { dashes } else { 0 }
}

fn is_section_marker(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("==") else { return false };
    let name = rest.trim_matches(|character: char| character == '=' || is_blank(character));
    ["HEADER", "PROTOCOL", "CONTEXT", "PROMPT"].iter().any(|section| name.eq_ignore_ascii_case(section))
}

fn starts_with_folded(line: &str, mark: &str) -> bool {
    line.get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark))
}

/// Checks for whitespace and invisible characters.
fn is_blank(character: char) -> bool {
    character.is_whitespace()
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}')
}
