//! The measurements, with their targets.

use std::fmt;
use std::time::Duration;

use crate::turns::Turns;

/// The rows, in the order in which they were measured.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Row>,
    is_wrong: bool,
}

struct Row {
    what: String,
    ours: String,
    theirs: String,
    ratio: String,
    processor: String,
    goal: String,
    verdict: &'static str,
}

impl Table {
    /// A comparison; `most` is the largest ratio that is wanted.
    pub(crate) fn compared(&mut self, what: &str, program: &str, turns: &Turns, most: f64) {
        self.rows.push(Row {
            what: what.to_owned(),
            ours: milliseconds(turns.ours),
            theirs: format!("{program} {}", milliseconds(turns.theirs)),
            ratio: format!("{:.2}", turns.ratio),
            processor: turns.processor_ratio.map(|ratio| format!("{ratio:.2}")).unwrap_or_default(),
            goal: format!("<= {most:.2}"),
            verdict: verdict(turns.ratio <= most),
        });
    }

    /// A time next to another that was not measured alternately.
    pub(crate) fn ratio(&mut self, what: &str, ours: Duration, theirs: (&str, Duration), most: f64) {
        let ratio = ours.as_secs_f64() / theirs.1.as_secs_f64();
        let turns = Turns { ours, theirs: theirs.1, ratio, processor_ratio: None };
        self.compared(what, theirs.0, &turns, most);
    }

    /// A time; `most` is the longest that is wanted, if there is a goal.
    pub(crate) fn time(&mut self, what: &str, taken: Duration, most: Option<Duration>) {
        let ratio = most.map(|most| format!("{:.2}", taken.as_secs_f64() / most.as_secs_f64()));
        self.rows.push(Row {
            what: what.to_owned(),
            ours: milliseconds(taken),
            theirs: String::new(),
            ratio: ratio.unwrap_or_default(),
            processor: String::new(),
            goal: most.map(|most| format!("< {}", milliseconds(most))).unwrap_or_default(),
            verdict: most.map_or("", |most| verdict(taken < most)),
        });
    }

    /// A peak of memory, in bytes.
    pub(crate) fn memory(&mut self, what: &str, peak_bytes: u64, most_bytes: u64) {
        self.rows.push(Row {
            what: what.to_owned(),
            ours: format!("{:.1} MB", peak_bytes as f64 / 1e6),
            theirs: String::new(),
            ratio: format!("{:.2}", peak_bytes as f64 / most_bytes as f64),
            processor: String::new(),
            goal: format!("< {} MB", most_bytes / 1_000_000),
            verdict: verdict(peak_bytes < most_bytes),
        });
    }

    /// Something that could not be measured here.
    pub(crate) fn missing(&mut self, what: &str, why: &str) {
        self.rows.push(Row {
            what: what.to_owned(),
            ours: why.to_owned(),
            theirs: String::new(),
            ratio: String::new(),
            processor: String::new(),
            goal: String::new(),
            verdict: "not measured",
        });
    }

    /// Two results that should be the same.
    pub(crate) fn check(&mut self, what: &str, ours: u64, theirs: u64) {
        if ours != theirs {
            self.missing(what, &format!("DIFFERENT RESULTS: {ours} and {theirs}"));
            self.is_wrong = true;
        }
    }

    /// Checks whether all results that should be the same are.
    pub(crate) fn is_right(&self) -> bool {
        !self.is_wrong
    }
}

impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = |row: [&str; 7]| {
            let [what, ours, theirs, ratio, processor, goal, verdict] = row;
            writeln!(
                out,
                "{what:<44} {ours:>12} {theirs:>16} {ratio:>6} {processor:>6} {goal:>12}  {verdict}"
            )
        };
        line(["what", "ours", "beside", "ratio", "cpu", "goal", ""])?;
        for row in &self.rows {
            line([&row.what, &row.ours, &row.theirs, &row.ratio, &row.processor, &row.goal, row.verdict])?;
        }
        Ok(())
    }
}

fn verdict(is_met: bool) -> &'static str {
    if is_met { "met" } else { "NOT MET" }
}

fn milliseconds(time: Duration) -> String {
    let milliseconds = time.as_secs_f64() * 1e3;
    if milliseconds < 0.1 { format!("{:.2} us", milliseconds * 1e3) } else { format!("{milliseconds:.2} ms") }
}
