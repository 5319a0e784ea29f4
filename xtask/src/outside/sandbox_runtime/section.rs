//! The section about the tests of sandbox-runtime.

use std::fmt::Write as _;

use super::super::reply_reasons::ReplyReasons;
use super::report::Outcome;
use crate::repository::page::{cell, marked_cell};

const ABOUT: &str = "The tests of sandbox-runtime that run commands in its sandbox run them by `agentd call` here; nothing else of them is changed. A command counts
as failed if one of its changes was not kept. Many tests want the exact words of its messages, so that more tests differ than commands are
not refused. `cargo xtask outside sandbox-runtime --from DIR` repeats the run, where DIR is a checkout; `cargo xtask setup outside`
installs the runner of its tests.";

/// Renders the section, and counts the differences without a reason.
pub(super) fn section(
    version: &str,
    files: &[(&str, Vec<Outcome>)],
    reasons: &ReplyReasons,
) -> (String, usize) {
    let mut text = format!("{ABOUT}\n\nVersion {version}.\n\n");
    text.push_str("| tests | number | passed | different |\n| --- | ---: | ---: | ---: |\n");
    let mut rows = String::new();
    let mut unexplained = 0;
    for (file, outcomes) in files {
        let failed = outcomes.iter().filter(|outcome| outcome.failure.is_some()).count();
        // Writing into a string cannot fail.
        let _ = writeln!(text, "| {file} | {} | {} | {failed} |", outcomes.len(), outcomes.len() - failed);
        for outcome in outcomes {
            let Some(failure) = &outcome.failure else { continue };
            let reason = reasons.of(&outcome.name, "", failure);
            unexplained += usize::from(reason.is_none());
            let reason = marked_cell(reason.unwrap_or("**none known**"));
            let _ = writeln!(rows, "| {} | {reason} |", cell(&outcome.name));
        }
    }
    if !rows.is_empty() {
        let _ = write!(text, "\n| test | reason of the difference |\n| --- | --- |\n{rows}");
    }
    (text, unexplained)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_has_the_sums_and_the_differences() {
        let one = |name: &str, failure: Option<&str>| Outcome {
            name: name.to_owned(),
            failure: failure.map(str::to_owned),
        };
        let files = [("a", vec![one("x", None), one("y|", Some("words"))])];
        let (text, unexplained) = section("abc", &files, &ReplyReasons::default());
        assert_eq!(unexplained, 1);
        let expected = "\
| tests | number | passed | different |
| --- | ---: | ---: | ---: |
| a | 2 | 1 | 1 |

| test | reason of the difference |
| --- | --- |
| y\\| | **none known** |
";
        assert_eq!(text.split_once("Version abc.\n\n").unwrap().1, expected);
        let reasons = ReplyReasons::parse("r", "[[reason]]\nours = 'word'\ntext = 'Why.'\n").unwrap();
        assert_eq!(section("abc", &files, &reasons).1, 0);
    }
}
