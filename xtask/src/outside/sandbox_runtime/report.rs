//! The report of the suite's test runner, line by line.

/// A test with its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    /// Its name, without those of its groups.
    pub(super) name: String,
    /// The failed expectation, in one line; `None` if the test has passed.
    pub(super) failure: Option<String>,
}

/// Reads the outcomes of the tests that run commands; those of single functions are left out.
pub(super) fn outcomes(report: &str) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    let mut failure: Vec<&str> = Vec::new();
    for line in report.lines() {
        if let Some(passed) = line.strip_prefix("(pass) ") {
            outcomes.extend(name(passed).map(|name| Outcome { name, failure: None }));
            failure.clear();
        } else if let Some(failed) = line.strip_prefix("(fail) ") {
            let failure = std::mem::take(&mut failure).join("; ");
            outcomes.extend(name(failed).map(|name| Outcome { name, failure: Some(failure) }));
        } else if ["error: ", "Expected", "Received"].iter().any(|start| line.starts_with(start)) {
            failure.push(line.strip_prefix("error: ").unwrap_or(line));
        }
    }
    outcomes
}

/// Returns the name of a test out of `group > group > name [time]`; `None` for one that runs no command.
fn name(line: &str) -> Option<String> {
    let (groups, name) = line.rsplit_once(" > ")?;
    let name = name.rsplit_once(" [").map_or(name, |(name, _)| name);
    groups.contains("Integration").then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Outcome, outcomes};

    const REPORT: &str = "\
sandbox.test.ts:
(pass) Integration Tests > Files > may write [591.96ms]
231 |           timeout: 10000,
error: expect(received).toBe(expected)

Expected: 0
Received: 56

      at <anonymous> (sandbox.test.ts:236:31)
(fail) Integration Tests > Network > may ask (once) [786.18ms]
(pass) Patterns - Unit Tests > a pattern [0.1ms]

 2 pass
 1 fail
";

    #[test]
    fn each_test_has_its_failure() {
        let failure = "expect(received).toBe(expected); Expected: 0; Received: 56".to_owned();
        assert_eq!(
            outcomes(REPORT),
            [
                Outcome { name: "may write".to_owned(), failure: None },
                Outcome { name: "may ask (once)".to_owned(), failure: Some(failure) },
            ]
        );
    }
}
