//! The reasons of known differences: data, in a file for each suite.

use serde::Deserialize;

use super::record::Difference;
use crate::TaskError;

/// The reasons of a suite's differences.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reasons {
    #[serde(default, rename = "reason")]
    reasons: Vec<Reason>,
}

/// One reason. A difference has it if everything fits that is given.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reason {
    /// The beginnings of the scripts' names; all scripts if there is none.
    #[serde(default)]
    scripts: Vec<String>,
    /// The numbers of the cases; all if there is none.
    #[serde(default)]
    cases: Vec<u32>,
    /// The levels; all if there is none.
    #[serde(default)]
    levels: Vec<String>,
    /// A part of what is said of the plain outcome.
    #[serde(default)]
    plain: String,
    /// A part of what is said of the confined outcome.
    #[serde(default)]
    confined: String,
    /// The reason, for the page.
    text: String,
}

impl Reasons {
    /// Reads the reasons of a file.
    ///
    /// # Errors
    ///
    /// [`TaskError::NotToml`].
    pub(super) fn parse(file: &str, text: &str) -> Result<Reasons, TaskError> {
        toml::from_str(text)
            .map_err(|error| TaskError::NotToml { file: file.to_owned(), why: error.to_string() })
    }

    /// Returns the first reason that fits a difference.
    pub(super) fn of(&self, script: &str, difference: &Difference) -> Option<&str> {
        let fits = |reason: &&Reason| {
            let is_one_of = |numbers: &[u32]| difference.case.is_some_and(|case| numbers.contains(&case));
            (reason.scripts.is_empty() || reason.scripts.iter().any(|start| script.starts_with(start)))
                && (reason.cases.is_empty() || is_one_of(&reason.cases))
                && (reason.levels.is_empty() || reason.levels.contains(&difference.way.to_string()))
                && difference.plain.contains(&reason.plain)
                && difference.confined.contains(&reason.confined)
        };
        self.reasons.iter().find(fits).map(|reason| reason.text.as_str())
    }
}

#[cfg(test)]
mod tests {
    use sandbox_exec::Level;

    use super::super::super::way::Way;
    use super::{Difference, Reasons};

    #[test]
    fn the_first_reason_that_fits_is_given() {
        let text = "[[reason]]\nscripts = ['t01']\ncases = [2]\nlevels = ['full']\ntext = 'first'\n\
                    [[reason]]\nconfined = 'SOCKET'\ntext = 'second'\n";
        let reasons = Reasons::parse("reasons", text).unwrap();
        let difference = |level, case, confined: &str| {
            let plain = "passed".to_owned();
            Difference { way: Way::Confined(level), case, plain, confined: confined.to_owned() }
        };
        let full = Level::Full;
        assert_eq!(reasons.of("t0100-a", &difference(full, Some(2), "failed")), Some("first"));
        assert_eq!(reasons.of("t0100-a", &difference(full, Some(3), "failed")), None);
        assert_eq!(reasons.of("t0100-a", &difference(full, None, "ended early")), None);
        assert_eq!(reasons.of("t0200-a", &difference(full, Some(2), "failed")), None);
        assert_eq!(reasons.of("t0100-a", &difference(Level::Landlock, Some(2), "failed")), None);
        let skipped = difference(Level::Landlock, Some(2), "skipped (missing UNIX_SOCKETS)");
        assert_eq!(reasons.of("t0100-a", &skipped), Some("second"));
        assert!(Reasons::parse("reasons", "[[reason]]\nwhy = 'x'\n").is_err());
    }
}
