//! The section about aider's tests, and the file with the replies that are read differently.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use super::super::reply_reasons::ReplyReasons;
use super::Compared;
use super::comparison::Comparison;
use super::record::Call;
use crate::TaskError;
use crate::repository::page::{cell, marked_cell};

/// The test that reads a recorded chat, reply by reply.
const CHAT: &str = "test_process_markdown";

const ABOUT: &str = "aider's own tests of its coders are run, and a session gets the same inputs as the coders. The edits that both read out of a reply (path,
lines to find, new lines), or the files after it, are compared. The chat that aider has recorded is one of the tests: its replies are read
one by one. Tests of functions without a counterpart in a session compare nothing. `cargo xtask outside aider --from DIR` repeats
the run, where DIR is a checkout of aider or its repository.";

/// A test with aider's outcome and ours.
type Row<'a> = (String, &'a str, &'a str);

#[derive(Default)]
struct Sums {
    tests: usize,
    failed: usize,
    calls: usize,
    no_edit: usize,
    same: usize,
    both_refuse: usize,
    different: usize,
}

/// Renders the section, and counts the differences without a reason.
pub(super) fn section(version: &str, compared: &[Compared], reasons: &ReplyReasons) -> (String, usize) {
    let mut sums: BTreeMap<String, Sums> = BTreeMap::new();
    for one in compared {
        let sums = sums.entry(group(&one.test)).or_default();
        if let Call::End { why } = &one.call {
            sums.tests += 1;
            sums.failed += usize::from(why.is_some());
        }
        sums.calls += usize::from(one.comparison != Comparison::Nothing);
        sums.no_edit += usize::from(one.comparison == Comparison::NoEdit);
        sums.same += usize::from(one.comparison == Comparison::Same);
        sums.both_refuse += usize::from(one.comparison == Comparison::BothRefuse);
        sums.different += usize::from(matches!(one.comparison, Comparison::Different { .. }));
    }
    let mut text = format!("{ABOUT}\n\nVersion {version}.\n\n");
    text.push_str(
        "| tests | number | failed here | compared | no edit | the same | both refuse | different |\n",
    );
    text.push_str("| --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (group, sums) in &sums {
        let group = cell(group);
        let Sums { tests, failed, calls, no_edit, same, both_refuse, different } = sums;
        let _ = writeln!(
            text,
            "| {group} | {tests} | {failed} | {calls} | {no_edit} | {same} | {both_refuse} | {different} |"
        );
    }
    let mut unexplained = 0;
    let mut rows: BTreeMap<Row<'_>, (Option<&str>, Vec<usize>)> = BTreeMap::new();
    for one in compared {
        let Comparison::Different { theirs, ours } = &one.comparison else { continue };
        let reason = reasons.of(&one.test, theirs, ours);
        unexplained += usize::from(reason.is_none());
        let test = one.test.rsplit('.').next().unwrap_or_default();
        rows.entry((test.to_owned(), theirs, ours)).or_insert((reason, Vec::new())).1.push(one.number);
    }
    if !rows.is_empty() {
        text.push_str("\n| test | calls | aider | ours | reason |\n| --- | --- | --- | --- | --- |\n");
    }
    for ((test, theirs, ours), (reason, numbers)) in &rows {
        let numbers = numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        let reason = marked_cell(reason.unwrap_or("**none known**"));
        let (test, theirs, ours) = (cell(test), cell(theirs), cell(ours));
        let _ = writeln!(text, "| {test} | {numbers} | {theirs} | {ours} | {reason} |");
    }
    (text, unexplained)
}

/// Names the file of a test; the recorded chat is a group of its own.
fn group(test: &str) -> String {
    let file = test.split('.').next().unwrap_or_default();
    if test.ends_with(CHAT) { format!("{file}: the recorded chat") } else { file.to_owned() }
}

/// Writes what was compared and differs into a file, one JSON object on each line, with the replies.
///
/// # Errors
///
/// [`TaskError::Unwritable`].
pub(super) fn keep_details(file: &Path, compared: &[Compared]) -> Result<(), TaskError> {
    let mut text = String::new();
    for one in compared {
        let Comparison::Different { theirs, ours } = &one.comparison else { continue };
        let detail = serde_json::json!({
            "test": one.test, "call": one.number, "aider": theirs, "ours": ours, "given": format!("{:#?}", one.call),
        });
        let _ = writeln!(text, "{detail}");
    }
    std::fs::write(file, text).map_err(|source| TaskError::Unwritable { path: file.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::{Call, Compared, Comparison, ReplyReasons, section};

    #[test]
    fn a_section_has_the_sums_and_the_differences() {
        let one = |test: &str, number, comparison| {
            let call = match &comparison {
                Comparison::Nothing => Call::End { why: None },
                _ => Call::Blocks { reply: "x".to_owned(), result: None },
            };
            Compared { test: test.to_owned(), number, call, comparison }
        };
        let different = || Comparison::Different { theirs: "refused".to_owned(), ours: "1 edit".to_owned() };
        let compared = [
            one("test_a.T.test_one", 1, Comparison::Same),
            one("test_a.T.test_one", 2, Comparison::BothRefuse),
            one("test_a.T.test_one", 3, Comparison::Nothing),
            one("test_b.T.test_process_markdown", 1, different()),
            one("test_b.T.test_process_markdown", 7, different()),
            one("test_b.T.test_process_markdown", 8, Comparison::Nothing),
        ];
        let (text, unexplained) = section("abc", &compared, &ReplyReasons::default());
        assert_eq!(unexplained, 2);
        let tables = text.split_once("Version abc.\n\n").unwrap().1;
        let expected = "\
| tests | number | failed here | compared | no edit | the same | both refuse | different |
| --- | --- | --- | --- | --- | --- | --- | --- |
| test_a | 1 | 0 | 2 | 0 | 1 | 1 | 0 |
| test_b: the recorded chat | 1 | 0 | 2 | 0 | 0 | 0 | 2 |

| test | calls | aider | ours | reason |
| --- | --- | --- | --- | --- |
| test_process_markdown | 1, 7 | refused | 1 edit | **none known** |
";
        assert_eq!(tables, expected);
        let reasons = ReplyReasons::parse("r", "[[reason]]\ntheirs = 'refused'\ntext = 'Why.'\n").unwrap();
        assert_eq!(section("abc", &compared, &reasons).1, 0);
    }
}
