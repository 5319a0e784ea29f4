//! The section of a suite of scripts: sums of each group, and the differences by their reasons. A list of its own has every case.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::super::way::Way;
use super::reasons::Reasons;
use super::record::{Difference, Records, ScriptRecord};
use super::tap::CaseOutcome;
use crate::repository::page::{cell, marked_cell};

/// The sums and the differences of a suite.
pub(super) struct ScriptReport {
    /// The tables, as text of the page.
    pub(super) text: String,
    /// Every difference with the numbers of its cases, as values that are separated by tabs.
    pub(super) cases: String,
    /// The number of differences without a reason.
    pub(super) unexplained: usize,
}

#[derive(Default)]
struct Sums {
    scripts: usize,
    cases: usize,
    passed: usize,
    failed: usize,
    skipped: usize,
    milliseconds: BTreeMap<Way, u64>,
    differences: BTreeMap<Way, usize>,
}

impl Sums {
    fn add(&mut self, record: &ScriptRecord) {
        self.scripts += 1;
        for outcome in record.plain().cases.values() {
            self.cases += 1;
            match outcome {
                CaseOutcome::Passed | CaseOutcome::PassedUnexpectedly => self.passed += 1,
                CaseOutcome::Failed | CaseOutcome::FailedAsKnown => self.failed += 1,
                CaseOutcome::Skipped(_) => self.skipped += 1,
            }
        }
        for (way, milliseconds) in &record.milliseconds {
            *self.milliseconds.entry(*way).or_default() += milliseconds;
        }
        for difference in record.differences() {
            *self.differences.entry(difference.way).or_default() += 1;
        }
    }

    fn row(&self, name: &str, ways: &[Way]) -> String {
        let mut row = format!(
            "| {} | {} | {} | {} | {} | {} |",
            cell(name),
            self.scripts,
            self.cases,
            self.passed,
            self.failed,
            self.skipped
        );
        for way in ways {
            let count = self.differences.get(way).copied().unwrap_or_default();
            let _ = write!(row, " {count} |");
        }
        for way in [&Way::Plain].into_iter().chain(ways) {
            let milliseconds = self.milliseconds.get(way).copied().unwrap_or_default();
            let _ = write!(row, " {} s |", milliseconds.div_ceil(1000));
        }
        row
    }
}

/// Renders the records; `group` names the group of a script.
pub(super) fn report(
    records: &Records,
    ways: &[Way],
    reasons: &Reasons,
    group: impl Fn(&str) -> String,
) -> ScriptReport {
    let mut groups: BTreeMap<String, Sums> = BTreeMap::new();
    let mut all = Sums::default();
    for record in records.all() {
        groups.entry(group(&record.script)).or_default().add(record);
        all.add(record);
    }
    let mut text = table_head(ways);
    for (name, sums) in &groups {
        let _ = writeln!(text, "{}", sums.row(name, ways));
    }
    let _ = writeln!(text, "{}", all.row("all", ways));
    let rows = difference_rows(records, reasons);
    text.push_str(&reason_table(&rows));
    let unexplained = rows.iter().filter(|row| row.reason.is_none()).map(|row| row.numbers.len()).sum();
    ScriptReport { text, cases: case_list(&rows), unexplained }
}

/// The differences that one reason explains at one level.
#[derive(Default)]
struct Explained<'a> {
    scripts: BTreeSet<&'a str>,
    cases: usize,
}

/// Renders how many differences each reason explains at each level.
fn reason_table(rows: &[Row<'_>]) -> String {
    let mut sums: BTreeMap<(Reverse<Way>, Option<&str>), Explained<'_>> = BTreeMap::new();
    for row in rows {
        let sum = sums.entry((Reverse(row.way), row.reason)).or_default();
        sum.scripts.insert(row.script);
        sum.cases += row.numbers.len();
    }
    let mut table = String::new();
    if !sums.is_empty() {
        table.push_str(
            "\n| level | reason of a difference | scripts | cases |\n| --- | --- | ---: | ---: |\n",
        );
    }
    for ((Reverse(way), reason), sum) in &sums {
        let reason = marked_cell(reason.unwrap_or("**none known**"));
        // Writing to a string does not fail.
        let _ = writeln!(table, "| {way} | {reason} | {} | {} |", sum.scripts.len(), sum.cases);
    }
    table
}

/// Renders every difference on a line of its own.
fn case_list(rows: &[Row<'_>]) -> String {
    let mut list = "script\tlevel\tcases\tplain\tconfined\n".to_owned();
    let value = |text: &str| text.replace(['\t', '\n'], " ");
    for row in rows {
        let Row { script, way, plain, confined, .. } = row;
        let _ = writeln!(list, "{script}\t{way}\t{}\t{}\t{}", row.cases(), value(plain), value(confined));
    }
    list
}

fn table_head(ways: &[Way]) -> String {
    let mut head = "| scripts | number | cases | pass plainly | fail plainly | skip plainly |".to_owned();
    for way in ways {
        let _ = write!(head, " other at {way} |");
    }
    for way in [&Way::Plain].into_iter().chain(ways) {
        let _ = write!(head, " time {way} |");
    }
    let columns = head.matches('|').count() - 1;
    format!("{head}\n|{}\n", " --- |".repeat(columns))
}

/// Differences of one script that are alike.
struct Row<'a> {
    script: &'a str,
    way: Way,
    plain: String,
    confined: String,
    reason: Option<&'a str>,
    numbers: Vec<Option<u32>>,
}

impl Row<'_> {
    /// Returns the numbers of the cases, with ranges.
    fn cases(&self) -> String {
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for number in self.numbers.iter().flatten() {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == *number => *last = *number,
                _ => ranges.push((*number, *number)),
            }
        }
        let range = |(first, last): &(u32, u32)| {
            if first == last { first.to_string() } else { format!("{first}–{last}") }
        };
        let end = self.numbers.contains(&None).then(|| "end".to_owned());
        ranges.iter().map(range).chain(end).collect::<Vec<_>>().join(", ")
    }

    fn is_like(&self, difference: &Difference, reason: Option<&str>) -> bool {
        self.way == difference.way
            && self.plain == difference.plain
            && self.confined == difference.confined
            && self.reason == reason
    }
}

fn difference_rows<'a>(records: &'a Records, reasons: &'a Reasons) -> Vec<Row<'a>> {
    let mut rows: Vec<Row<'a>> = Vec::new();
    for record in records.all() {
        let first = rows.len();
        for difference in record.differences() {
            let reason = reasons.of(&record.script, &difference);
            if let Some(row) = rows[first..].iter_mut().find(|row| row.is_like(&difference, reason)) {
                row.numbers.push(difference.case);
                continue;
            }
            let Difference { way, case, plain, confined } = difference;
            rows.push(Row { script: &record.script, way, plain, confined, reason, numbers: vec![case] });
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use sandbox_exec::Level;

    use super::super::record::{Records, ScriptRecord};
    use super::super::tap::parse;
    use super::{Reasons, Way, report};

    #[test]
    fn a_section_has_the_sums_and_the_differences() {
        let full = Way::Confined(Level::Full);
        let mut records = Records::open(None, "1").unwrap();
        let plain = "ok 1\nok 2\nok 3\nnot ok 4\nok 5 # skip (missing A)\nok 6\n1..6\n";
        let confined = "not ok 1\nnot ok 2\nok 3\nnot ok 4\nok 5\n";
        for (script, confined) in [("a1", plain), ("b1", confined)] {
            let record = ScriptRecord {
                version: "1".to_owned(),
                script: script.to_owned(),
                attempts: 1,
                outcomes: [(Way::Plain, parse(plain)), (full, parse(confined))].into(),
                remarks: Default::default(),
                milliseconds: [(Way::Plain, 1500), (full, 2000)].into(),
            };
            records.add(record).unwrap();
        }
        let text = "[[reason]]\nplain = 'missing A'\ntext = 'A is there.'\n";
        let reasons = Reasons::parse("reasons", text).unwrap();
        let report = report(&records, &[full], &reasons, |script| script[..1].to_owned());
        assert_eq!(report.unexplained, 4);
        let expected = "\
| scripts | number | cases | pass plainly | fail plainly | skip plainly | other at full | time plain | time full |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
| a | 1 | 6 | 4 | 1 | 1 | 0 | 2 s | 2 s |
| b | 1 | 6 | 4 | 1 | 1 | 5 | 2 s | 2 s |
| all | 2 | 12 | 8 | 2 | 2 | 5 | 3 s | 4 s |

| level | reason of a difference | scripts | cases |
| --- | --- | ---: | ---: |
| full | **none known** | 1 | 4 |
| full | A is there. | 1 | 1 |
";
        assert_eq!(report.text, expected);
        let cases = "\
script\tlevel\tcases\tplain\tconfined
b1\tfull\t1–2\tpassed\tfailed
b1\tfull\t5\tskipped (missing A)\tpassed
b1\tfull\t6\tpassed\tnot run
b1\tfull\tend\tcomplete\tended early
";
        assert_eq!(report.cases, cases);
    }
}
