//! The crates whose mutants are tried.

/// A crate whose mutants are tried with its own tests.
#[derive(Debug)]
pub(super) struct Subject {
    pub(super) package: &'static str,
    /// The reason why its mutants are worth the time.
    pub(super) purpose: &'static str,
    /// Names of tests that take seconds. They run only for mutants that the other ones do not catch.
    slow_tests: &'static [&'static str],
}

/// The crates of which others rely on every line, in the order in which they are tried.
pub(super) const SUBJECTS: [Subject; 6] = [
    Subject {
        package: "text-edit",
        purpose: "edits of bytes",
        slow_tests: &["comparison_of_large_unlike_texts_ends", "regex_cost::"],
    },
    Subject { package: "cocode-env", purpose: "the contract of agents and the verdict", slow_tests: &[] },
    Subject { package: "rel-path", purpose: "paths and protected names", slow_tests: &[] },
    Subject { package: "sandbox-fs", purpose: "files beneath one folder", slow_tests: &["race::"] },
    Subject { package: "codali-envelope", purpose: "envelopes", slow_tests: &[] },
    Subject { package: "tagproto", purpose: "bracket tags and foreign formats", slow_tests: &[] },
];

/// The tests of one pass over the mutants that were not caught yet.
#[derive(Debug)]
pub(super) struct Pass {
    /// Names of tests that do not run.
    pub(super) skipped: &'static [&'static str],
    /// The number of cases of each property, instead of the number that the property states.
    pub(super) cases: Option<u32>,
}

/// The cases of the first pass. They are the first ones of the whole test, so what they catch is caught.
const FEW_CASES: u32 = 256;

impl Subject {
    /// Returns the passes: a quick one, which catches most, and one with all tests as they are.
    pub(super) fn passes(&self) -> [Pass; 2] {
        [Pass { skipped: self.slow_tests, cases: Some(FEW_CASES) }, Pass { skipped: &[], cases: None }]
    }
}
