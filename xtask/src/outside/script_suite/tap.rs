//! Reports of test scripts in the form "Test Anything", as git's tests and those of file systems print them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

/// The outcome of one case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum CaseOutcome {
    /// It passed.
    Passed,
    /// It failed.
    Failed,
    /// It failed, as its author knows.
    FailedAsKnown,
    /// Its author believes that it fails, but it passed.
    PassedUnexpectedly,
    /// It did not run, for the reason in parentheses at the end of its line; empty if there is none.
    Skipped(String),
}

impl fmt::Display for CaseOutcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CaseOutcome::Passed => formatter.write_str("passed"),
            CaseOutcome::Failed => formatter.write_str("failed"),
            CaseOutcome::FailedAsKnown => formatter.write_str("failed as known"),
            CaseOutcome::PassedUnexpectedly => formatter.write_str("passed unexpectedly"),
            CaseOutcome::Skipped(why) if why.is_empty() => formatter.write_str("skipped"),
            CaseOutcome::Skipped(why) => write!(formatter, "skipped ({why})"),
        }
    }
}

/// The outcome of one script.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ScriptOutcome {
    /// The cases by their numbers, 1-based.
    pub(super) cases: BTreeMap<u32, CaseOutcome>,
    /// The reason why the rest of the script was skipped.
    pub(super) skipped: Option<String>,
    /// True if the script announced as many cases as it has reported: it came to its end.
    pub(super) is_complete: bool,
}

static CASE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(not )?ok (\d+)\b([^#]*(?:#.*)?)$").expect("the expression is well-formed")
});
static PLAN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^1\.\.(\d+)(?:\s*#\s*(?i:skip)\S*\s*(.*))?$").expect("the expression is well-formed")
});
static DIRECTIVE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"#\s*(?i:(skip|todo))\b(?:.*\(([^()]*)\))?").expect("the expression is well-formed")
});

/// Reads the report that a script has printed. Lines of other kinds are passed over.
pub(super) fn parse(report: &str) -> ScriptOutcome {
    let mut outcome = ScriptOutcome::default();
    let mut announced = None;
    for line in report.lines() {
        if let Some(plan) = PLAN.captures(line) {
            announced = plan[1].parse().ok();
            outcome.skipped = plan.get(2).map(|why| why.as_str().to_owned());
        } else if let Some(case) = CASE.captures(line)
            && let Ok(number) = case[2].parse()
        {
            outcome.cases.insert(number, case_outcome(case.get(1).is_none(), &case[3]));
        }
    }
    outcome.is_complete = announced.is_some_and(|count: usize| count == outcome.cases.len());
    outcome
}

fn case_outcome(has_passed: bool, description: &str) -> CaseOutcome {
    let directive = DIRECTIVE.captures(description);
    let word = directive.as_ref().map(|matched| matched[1].to_ascii_lowercase());
    match (word.as_deref(), has_passed) {
        (Some("skip"), _) => {
            let why = directive.and_then(|matched| matched.get(2).map(|why| why.as_str().to_owned()));
            CaseOutcome::Skipped(why.unwrap_or_default())
        }
        (Some(_), true) => CaseOutcome::PassedUnexpectedly,
        (Some(_), false) => CaseOutcome::FailedAsKnown,
        (None, true) => CaseOutcome::Passed,
        (None, false) => CaseOutcome::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::CaseOutcome::{Failed, FailedAsKnown, Passed, PassedUnexpectedly, Skipped};
    use super::{ScriptOutcome, parse};

    #[test]
    fn every_kind_of_line_is_read() {
        let outcome = parse(
            "Initialized something\nok 1 - makes a file\nnot ok 2 - reads it\n#\n#\tcat file\n#\n\
             ok 3 # skip looks at it (missing FEATURE of FEATURE,!OTHER)\nnot ok 4 - breaks # TODO known breakage\n\
             ok 5 - repaired # TODO known breakage vanished\nok 6\nok 7 # SKIP\n# failed 1 among 7 test(s)\n1..7\n",
        );
        let expected = [
            Passed,
            Failed,
            Skipped("missing FEATURE of FEATURE,!OTHER".to_owned()),
            FailedAsKnown,
            PassedUnexpectedly,
            Passed,
            Skipped(String::new()),
        ];
        assert_eq!(outcome.cases.into_iter().collect::<Vec<_>>(), (1..).zip(expected).collect::<Vec<_>>());
        assert!(outcome.is_complete);
        assert_eq!(outcome.skipped, None);
    }

    #[test]
    fn a_script_that_skips_itself_is_complete() {
        let outcome = parse("1..0 # SKIP no daemon here\n");
        let skipped = Some("no daemon here".to_owned());
        assert_eq!(outcome, ScriptOutcome { cases: [].into(), skipped, is_complete: true });
        let outcome = parse("ok 1 - first\n1..1 # SKIP the rest\n");
        assert_eq!(outcome.skipped.as_deref(), Some("the rest"));
        assert!(outcome.is_complete);
    }

    #[test]
    fn a_script_that_ends_early_is_not_complete() {
        assert!(!parse("ok 1 - first\nFATAL: unexpected exit\n").is_complete);
        assert!(!parse("1..3\nok 1\nok 2\n").is_complete);
        assert!(!parse("").is_complete);
    }

    #[test]
    fn lines_of_inner_reports_do_not_count() {
        let outcome = parse("> ok 1 - inner\n    ok 2 - inner\nok 1 - outer says ok 3\n1..1\n");
        assert_eq!(outcome.cases.into_iter().collect::<Vec<_>>(), [(1, Passed)]);
        assert!(outcome.is_complete);
    }
}
