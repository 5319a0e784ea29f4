//! Verdicts on replies.

use super::case::Case;

/// The verdict on one reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    /// The file is what it has to be.
    Landed,
    /// Some edits landed, and the others were refused.
    Partly,
    /// Nothing was done, and the results say so.
    Refused,
    /// The lines of the reply are wrong, nothing in it says so, and it was carried out as it is.
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

impl Verdict {
    /// Judges the file after a reply by what each edit was said to have done.
    pub(super) fn of(case: &Case, is_done: &[bool], after: Option<&str>) -> Verdict {
        let Some(after) = after else { return Verdict::Wrong };
        if is_done.iter().all(|done| !done) {
            return if after == case.before { Verdict::Refused } else { Verdict::Wrong };
        }
        let is = |expected: Option<String>| expected.as_deref() == Some(after);
        if case.is_written_only(is_done) {
            let is_written = is(case.as_written(is_done));
            return if is_written { Verdict::AsWritten } else { Verdict::Wrong };
        }
        match (is(case.expected(is_done)), is_done.iter().all(|done| *done)) {
            (true, true) => Verdict::Landed,
            (true, false) => Verdict::Partly,
            (false, _) => Verdict::Wrong,
        }
    }

    /// Judges the file that another program has left, whatever that program reports.
    pub(super) fn of_file(case: &Case, after: &str) -> Verdict {
        let all = vec![true; case.edits()];
        if case.expected(&all).as_deref() == Some(after) {
            Verdict::Landed
        } else if after == case.before {
            Verdict::Refused
        } else {
            Verdict::Wrong
        }
    }
}
