//! The failures of a long test run, repeated at its end.

/// Collects what the test harness says about failed tests from its standard output, line by line.
///
/// A run continues after a failure, so the reasons would otherwise stand thousands of lines above the end of a log.
#[derive(Debug, Default)]
pub struct TestFailures {
    text: String,
    is_inside: bool,
}

impl TestFailures {
    /// Takes the next line, without its end.
    pub fn see(&mut self, line: &str) {
        self.is_inside |= line == "failures:";
        if self.is_inside {
            self.text.push_str(line);
            self.text.push('\n');
        }
        if line.starts_with("test result: ") {
            self.is_inside = false;
        }
    }

    /// Returns every block from `failures:` to `test result:`, in their order; empty if no test has failed.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}
