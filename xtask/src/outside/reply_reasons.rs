//! The reasons of known differences between what a program and ours make of a reply: data, in a file for each suite.

use std::path::Path;

use serde::Deserialize;

use crate::TaskError;

/// All reasons.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReplyReasons {
    #[serde(default, rename = "reason")]
    reasons: Vec<ReplyReason>,
}

/// One reason. A difference has it if everything fits that is given.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReplyReason {
    /// The ends of the tests' names; all tests if there is none.
    #[serde(default)]
    tests: Vec<String>,
    /// The beginning of what the other program does.
    #[serde(default)]
    theirs: String,
    /// A part of what we do.
    #[serde(default)]
    ours: String,
    /// The reason, for the page.
    text: String,
}

impl ReplyReasons {
    /// Reads the reasons of a file, which is relative to the repository.
    ///
    /// # Errors
    ///
    /// [`TaskError::Unreadable`], [`TaskError::NotToml`].
    pub(super) fn read(root: &Path, file: &str) -> Result<ReplyReasons, TaskError> {
        let path = root.join(file);
        let text = std::fs::read_to_string(&path).map_err(|source| TaskError::Unreadable { path, source })?;
        ReplyReasons::parse(file, &text)
    }

    /// Reads the reasons of a text.
    ///
    /// # Errors
    ///
    /// [`TaskError::NotToml`].
    pub(super) fn parse(file: &str, text: &str) -> Result<ReplyReasons, TaskError> {
        let not_toml =
            |error: toml::de::Error| TaskError::NotToml { file: file.to_owned(), why: error.to_string() };
        toml::from_str(text).map_err(not_toml)
    }

    /// Returns the first reason that fits.
    pub(super) fn of(&self, test: &str, theirs: &str, ours: &str) -> Option<&str> {
        let fits = |reason: &&ReplyReason| {
            (reason.tests.is_empty() || reason.tests.iter().any(|end| test.ends_with(end)))
                && theirs.starts_with(&reason.theirs)
                && ours.contains(&reason.ours)
        };
        self.reasons.iter().find(fits).map(|reason| reason.text.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::ReplyReasons;

    #[test]
    fn the_first_reason_that_fits_is_given() {
        let text = "[[reason]]\ntests = ['twice']\ntext = 'first'\n[[reason]]\ntheirs = 'refused'\nours = '1 edit'\ntext = 'second'\n";
        let reasons = ReplyReasons::parse("reasons", text).unwrap();
        assert_eq!(reasons.of("m.C.test_twice", "a", "b"), Some("first"));
        assert_eq!(reasons.of("m.C.test_once", "refused", "1 edit"), Some("second"));
        assert_eq!(reasons.of("m.C.test_once", "1 edit", "1 edit"), None);
        assert!(ReplyReasons::parse("reasons", "[[reason]]\n").is_err());
    }
}
