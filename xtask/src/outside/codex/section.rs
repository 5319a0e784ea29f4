//! The section about Codex's scenarios.

use std::fmt::Write as _;

use super::super::reply_reasons::ReplyReasons;
use super::{Compared, Comparison};
use crate::repository::page::{cell, marked_cell};
use crate::setup::client_packages::ReplayPeers;

const ABOUT: &str = "Each scenario of Codex is a few files, a patch, and the files afterwards. A session is shown the files and gets the patch as a reply;
its files are compared with those expected, byte by byte, without empty folders. Where nothing is to change, the session must
refuse the patch, too. `cargo xtask outside codex --from DIR` repeats the run, where DIR is a checkout of Codex or the folder of the scenarios.";

/// Renders the section, and counts the differences without a reason.
pub(super) fn section(provenance: &str, compared: &[Compared], reasons: &ReplyReasons) -> (String, usize) {
    let count = |wanted: &Comparison| compared.iter().filter(|one| one.comparison == *wanted).count();
    let (same, both_refuse) = (count(&Comparison::Same), count(&Comparison::BothRefuse));
    let all = compared.len();
    let mut text = format!("{ABOUT}\n\n{provenance}\n\n");
    text.push_str("| program | scenarios | files as expected | refused as expected | different |\n");
    text.push_str("| --- | --- | --- | --- | --- |\n");
    let different = all - same - both_refuse;
    let _ = writeln!(text, "| ours | {all} | {same} | {both_refuse} | {different} |");
    let met: Option<Vec<bool>> = compared.iter().map(|one| one.is_met_by_codex).collect();
    if let Some(met) = met {
        // Its reports are not looked at, so that its refusals are files as expected.
        let met = met.iter().filter(|is_met| **is_met).count();
        let _ = writeln!(text, "| {} | {all} | {met} | | {} |", ReplayPeers::CODEX, all - met);
    }
    let mut unexplained = 0;
    let mut rows = String::new();
    for one in compared {
        let Comparison::Different { theirs, ours } = &one.comparison else { continue };
        let reason = reasons.of(&one.name, theirs, ours);
        unexplained += usize::from(reason.is_none());
        let reason = marked_cell(reason.unwrap_or("**none known**"));
        let _ = writeln!(rows, "| {} | {theirs} | {} | {reason} |", cell(&one.name), cell(ours));
    }
    if !rows.is_empty() {
        let _ = write!(text, "\n| scenario | expected | ours | reason |\n| --- | --- | --- | --- |\n{rows}");
    }
    (text, unexplained)
}

#[cfg(test)]
mod tests {
    use super::{Compared, Comparison, ReplyReasons, section};

    #[test]
    fn a_section_has_the_sums_and_the_differences() {
        let one = |name: &str, comparison| Compared {
            name: name.to_owned(),
            comparison,
            is_met_by_codex: Some(name != "c"),
        };
        let theirs = "the files are changed";
        let different = Comparison::Different { theirs, ours: "refused: a|b".to_owned() };
        let compared = [one("a", Comparison::Same), one("b", Comparison::BothRefuse), one("c", different)];
        let (text, unexplained) = section("Version abc.", &compared, &ReplyReasons::default());
        assert_eq!(unexplained, 1);
        let expected = "\
| program | scenarios | files as expected | refused as expected | different |
| --- | --- | --- | --- | --- |
| ours | 3 | 1 | 1 | 1 |
| Codex 0.169.0 | 3 | 2 | | 1 |

| scenario | expected | ours | reason |
| --- | --- | --- | --- |
| c | the files are changed | refused: a\\|b | **none known** |
";
        assert_eq!(text.split_once("Version abc.\n\n").unwrap().1, expected);
        let reasons = ReplyReasons::parse("r", "[[reason]]\ntests = ['c']\ntext = 'Why.'\n").unwrap();
        assert_eq!(section("Version abc.", &compared, &reasons).1, 0);
    }
}
