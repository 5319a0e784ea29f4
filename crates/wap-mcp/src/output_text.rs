//! Renders outputs of commands as text for a model: the start and the end of an output that does not fit, and how to read the
//! rest.

use std::fmt::Write as _;

use serde_json::json;

use crate::page::{PageLimit, head, line_count, tail};
use crate::recent_outputs::RecentOutputs;
use crate::text::end_line;

/// The lines before outputs. Everything after the first of them comes from the command, whatever it looks like.
const STDOUT: &str = "[standard output]\n";
const STDERR: &str = "[standard error]\n";
const BOTH: &str = "[output]\n";

/// Writes both outputs of a command, each as far as it fits.
pub(crate) fn streams(
    text: &mut String,
    stdout: &str,
    stderr: &str,
    outputs: &RecentOutputs,
    limit: PageLimit,
) {
    // Errors are mostly short and name the cause, so they come first; standard output has the remaining space.
    let for_errors = limit.characters() / 2;
    let errors = stderr.chars().count().min(for_errors);
    if !stdout.is_empty() {
        text.push_str(STDOUT);
        stream(text, stdout, outputs, limit.characters().saturating_sub(errors));
    }
    if !stderr.is_empty() {
        end_line(text);
        text.push_str(STDERR);
        stream(
            text,
            stderr,
            outputs,
            limit.characters().saturating_sub(stdout.chars().count()).max(for_errors),
        );
    }
}

/// Writes the merged output of a process, as far as it fits.
pub(crate) fn joined_streams(text: &mut String, output: &str, outputs: &RecentOutputs, limit: PageLimit) {
    if !output.is_empty() {
        text.push_str(BOTH);
        stream(text, output, outputs, limit.characters());
    }
}

/// Writes the start and the end of an output, with more of the end, where programs report failures.
fn stream(text: &mut String, output: &str, outputs: &RecentOutputs, characters: usize) {
    if output.chars().count() <= characters {
        text.push_str(output);
        return;
    }
    let (start, lines) = head(output, characters / 4);
    let end = tail(&output[start.len()..], characters - characters / 4);
    let middle = &output[start.len()..output.len() - end.len()];
    // A line that is truncated at the start or at the end counts as left out.
    let first = if start.ends_with('\n') { lines + 1 } else { lines };
    let last = line_count(&output[..output.len() - end.len()]);
    text.push_str(start);
    end_line(text);
    let omitted = middle.len();
    if middle.contains('\n') {
        // Keep it under a name, since the command cannot be run again just to read the middle.
        let arguments = json!({ "path": outputs.keep(output), "startLine": first, "endLine": last });
        let _ = writeln!(text, "[{omitted} bytes are left out; read them with readFile {arguments}]");
    } else {
        // The middle of a line cannot be read by line numbers.
        let _ = writeln!(
            text,
            "[{omitted} bytes of line {last} are left out, which is longer than an answer may be: run the command with \
             its output through fold or cut]"
        );
    }
    text.push_str(end);
}

#[cfg(test)]
mod tests {
    use wap_core::ReadFile;

    use super::stream;
    use crate::recent_outputs::RecentOutputs;

    /// Returns the text of an output within 400 characters, and the lines that its note names.
    fn written(output: &str) -> (String, Option<String>) {
        let (mut text, outputs) = (String::new(), RecentOutputs::default());
        stream(&mut text, output, &outputs, 400);
        let arguments = text.split_once("readFile ").and_then(|(_, rest)| rest.split_once("]\n"));
        let part = arguments.map(|(arguments, _)| {
            let request: ReadFile = serde_json::from_str(arguments).unwrap();
            outputs.read(&request).unwrap().unwrap().content
        });
        (text, part)
    }

    #[test]
    fn left_out_parts_are_within_the_named_lines() {
        let short: String = (1..200).map(|number| format!("line {number}\n")).collect();
        let (long, longer) = ("x".repeat(1_000), "y".repeat(2_000));
        for output in [
            short.clone(),
            format!("{long}\nmiddle\nend\n"),
            format!("start\n{short}{long}"),
            format!("{long}\nmiddle\n{longer}"),
            format!("start\n{long}\nend\n"),
        ] {
            let (text, part) = written(&output);
            let (start, rest) = text.split_once('[').unwrap();
            let end = rest.split_once("]\n").unwrap().1;
            let start = if output.starts_with(start) { start } else { start.trim_end_matches('\n') };
            let middle = &output[start.len()..output.len() - end.len()];
            let part = part.unwrap();
            assert!(part.contains(middle), "{} of {middle:.60}: {part:.60}", middle.len());
        }
    }

    #[test]
    fn the_middle_of_one_line_is_not_promised() {
        let long = "x".repeat(2_000);
        for (output, line) in [(format!("{long}\n"), 1), (format!("start\nmiddle\n{long}"), 3)] {
            let (text, part) = written(&output);
            assert_eq!(part, None);
            assert!(text.contains(&format!(" bytes of line {line} are left out")), "{text}");
            assert!(text.contains("fold or cut"), "{text}");
        }
    }
}
