//! Verdicts on replies.

use super::case::Case;
use super::passage::lines;

/// The verdict on one reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    /// The file is what it has to be.
    Landed,
    /// Some edits landed, and the others were refused.
    Partly,
    /// Nothing was done, and the results say so.
    Refused,
    /// The reply is damaged, nothing in it says so, and it was carried out as it is.
    AsWritten,
    /// Anything else.
    Wrong,
}

/// A verdict, with the texts that the model reads.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) verdict: Verdict,
    pub(super) texts: Vec<String>,
    /// For each edit of the reply, whether it was said to be done.
    pub(super) is_done: Vec<bool>,
    /// The file afterwards, where it is not what it has to be.
    pub(super) after: Option<String>,
}

/// Checks that the lines differ from those that are expected by blanks alone, and that these are lines of nothing else or lines of
/// which the change is in them.
fn is_but_for_blanks(case: &Case, is_done: &[bool], after: &str) -> bool {
    let is_same = |(expected, line): (&str, &str)| {
        let is_lost = expected.trim().is_empty() || case.changes_blanks_of(expected);
        expected == line || expected.trim_end() == line.trim_end() && is_lost
    };
    case.expected(is_done).is_some_and(|expected| {
        let (expected, after) = (lines(&expected), lines(after));
        expected.len() == after.len() && expected.into_iter().zip(after).all(is_same)
    })
}

impl Verdict {
    /// Judges the file after a reply by what each edit was said to have done.
    pub(super) fn of(case: &Case, is_done: &[bool], after: Option<&str>) -> Verdict {
        let Some(after) = after else { return Verdict::Wrong };
        if is_done.iter().all(|done| !done) {
            return if after == case.before { Verdict::Refused } else { Verdict::Wrong };
        }
        let is = |expected: Option<String>| expected.as_deref() == Some(after);
        match (is(case.expected(is_done)), is_done.iter().all(|done| *done)) {
            (true, true) => Verdict::Landed,
            (true, false) => Verdict::Partly,
            (false, _) if case.is_written_only(is_done) && is(case.as_written(is_done)) => Verdict::AsWritten,
            (false, true) if case.has_lost_blanks() && is_but_for_blanks(case, is_done, after) => {
                Verdict::AsWritten
            }
            (false, true) if is(case.indented_anew()) => Verdict::AsWritten,
            (false, _) => Verdict::Wrong,
        }
    }

    /// Judges the file that another program has left by its lines, whatever that program reports: their ends, and that of the file,
    /// do not count.
    pub(super) fn of_file(case: &Case, after: &str) -> Verdict {
        let all = vec![true; case.edits()];
        if case.expected(&all).is_some_and(|expected| lines(&expected) == lines(after)) {
            Verdict::Landed
        } else if lines(after) == lines(&case.before) {
            Verdict::Refused
        } else {
            Verdict::Wrong
        }
    }
}
