//! The section of the page.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::reasons::Reasons;
use super::{Listed, OfLanguage};
use crate::repository::page::{cell, marked_cell};

pub(super) const HEADING: &str = "Fixtures of stack-graphs";

const ABOUT: &str = "Each fixture is a few files in which names are marked with the lines that define them. The marks determine the definitions that an outline
should list, and the files that depend on each other. A definition counts if the outline has its name on its line; a dependency, if the
index follows it from file to file within eight steps. The index does not resolve single names, so the targets of names are not compared.
Outlines leave out names of imports, parameters and variables within functions on purpose. `cargo xtask outside stack-graphs --from DIR`
repeats it.";

/// The cases of a language that have the same reason; each case without a reason is a row of its own.
struct Row {
    count: usize,
    /// The first of them.
    example: String,
}

/// Renders the section, and counts the differences without a reason.
pub(super) fn section(
    version: &str,
    languages: &BTreeMap<String, OfLanguage>,
    reasons: &Reasons,
) -> (String, usize) {
    let mut text = format!("{ABOUT}\n\nVersion {version}.\n\n");
    text.push_str("| language | fixtures | definitions | listed | of imports | within functions | missing | dependencies | found |\n");
    text.push_str("| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (language, one) in languages {
        let count = |listed| one.definitions.get(&listed).copied().unwrap_or_default();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            cell(language),
            one.fixtures,
            one.definitions.values().sum::<usize>(),
            count(Listed::Yes),
            count(Listed::Import),
            count(Listed::Local),
            count(Listed::No),
            one.dependencies,
            one.followed,
        );
    }
    let mut unexplained = 0;
    let mut rows: BTreeMap<(&str, Result<&str, String>), Row> = BTreeMap::new();
    for (language, one) in languages {
        for missing in &one.missing {
            let example = format!("{}: {}", missing.fixture, missing.line);
            let reason = reasons.of(language, missing).ok_or_else(|| example.clone());
            unexplained += usize::from(reason.is_err());
            rows.entry((language, reason)).or_insert(Row { count: 0, example }).count += 1;
        }
    }
    if !rows.is_empty() {
        text.push_str("\n| language | missing | reason | for example |\n| --- | --- | --- | --- |\n");
        for ((language, reason), Row { count, example }) in rows {
            let reason = marked_cell(reason.unwrap_or("**none known**"));
            let _ = writeln!(text, "| {} | {count} | {reason} | {} |", cell(language), cell(&example));
        }
    }
    (text, unexplained)
}

#[cfg(test)]
mod tests {
    use super::super::Missing;
    use super::*;

    #[test]
    fn a_section_has_the_sums_and_what_is_missing_by_reason() {
        let missing = |name: &str, line: &str| Missing {
            fixture: "a.js".to_owned(),
            name: Some(name.to_owned()),
            line: line.to_owned(),
        };
        let one = OfLanguage {
            fixtures: 2,
            definitions: BTreeMap::from([(Listed::Yes, 3), (Listed::No, 3)]),
            dependencies: 4,
            followed: 4,
            missing: vec![missing("x", "x = 1;"), missing("y", "y = 1;"), missing("z", "odd z")],
        };
        let reasons = Reasons::parse("r", "[[reason]]\npattern = '@ ='\ntext = 'Assigned.'\n").unwrap();
        let (text, unexplained) = section("abc", &BTreeMap::from([("javascript".to_owned(), one)]), &reasons);
        assert_eq!(unexplained, 1);
        let expected = "\
| language | fixtures | definitions | listed | of imports | within functions | missing | dependencies | found |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
| javascript | 2 | 6 | 3 | 0 | 0 | 3 | 4 | 4 |

| language | missing | reason | for example |
| --- | --- | --- | --- |
| javascript | 2 | Assigned. | a.js: x = 1; |
| javascript | 1 | **none known** | a.js: odd z |
";
        assert_eq!(text.split_once("Version abc.\n\n").unwrap().1, expected);
    }
}
