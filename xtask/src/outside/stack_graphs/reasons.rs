//! The reasons of known differences: data, by the text of the line.

use regex::Regex;
use serde::Deserialize;

use super::Missing;
use crate::TaskError;

/// The reasons, in the order of the file.
#[derive(Debug, Default)]
pub(super) struct Reasons(Vec<(Reason, Regex)>);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default, rename = "reason")]
    reasons: Vec<Reason>,
}

/// One reason. A difference has it if everything fits that is given.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reason {
    /// The languages; all if there is none.
    #[serde(default)]
    languages: Vec<String>,
    /// The ends of the fixtures' names; all if there is none.
    #[serde(default)]
    fixtures: Vec<String>,
    /// A pattern of what is missing, with `@` in place of the name that is defined.
    pattern: String,
    /// The reason, for the page.
    text: String,
}

impl Reasons {
    /// Reads the reasons of a file.
    ///
    /// # Errors
    ///
    /// [`TaskError::NotToml`], for a pattern that is none, too.
    pub(super) fn parse(file: &str, text: &str) -> Result<Reasons, TaskError> {
        let wrong = |why: String| TaskError::NotToml { file: file.to_owned(), why };
        let read: File = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
        let compiled = read.reasons.into_iter().map(|reason| {
            // The name is in front of the line, so that a pattern can repeat it.
            let pattern =
                Regex::new(&reason.pattern.replace('@', NAME)).map_err(|error| wrong(error.to_string()))?;
            Ok((reason, pattern))
        });
        compiled.collect::<Result<_, _>>().map(Reasons)
    }

    /// Returns the first reason that fits.
    pub(super) fn of(&self, language: &str, missing: &Missing) -> Option<&str> {
        let line = missing.marked_line();
        let fits = |(reason, pattern): &&(Reason, Regex)| {
            (reason.languages.is_empty() || reason.languages.iter().any(|one| one == language))
                && (reason.fixtures.is_empty()
                    || reason.fixtures.iter().any(|end| missing.fixture.ends_with(end)))
                && pattern.is_match(&line)
        };
        self.0.iter().find(fits).map(|(reason, _)| reason.text.as_str())
    }
}

/// The pattern of a marked name.
const NAME: &str = "\u{ab}[^\u{bb}]*\u{bb}";

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(name: &str, line: &str) -> Missing {
        Missing { fixture: "a/b.js".to_owned(), name: Some(name.to_owned()), line: line.to_owned() }
    }

    #[test]
    fn a_pattern_is_about_the_name_that_is_defined() {
        let text = "[[reason]]\nlanguages = ['javascript']\npattern = '^(?:let|var) @'\ntext = 'declared'\n\
                    [[reason]]\nfixtures = ['b.js']\npattern = '@ ='\ntext = 'assigned'\n";
        let reasons = Reasons::parse("reasons", text).unwrap();
        assert_eq!(reasons.of("javascript", &missing("x", "let x = y;")), Some("declared"));
        assert_eq!(reasons.of("typescript", &missing("x", "let x = y;")), Some("assigned"));
        assert_eq!(reasons.of("javascript", &missing("y", "let x = y;")), None);
        // A name within another one is not it.
        assert_eq!(reasons.of("javascript", &missing("x", "maxx = x;")), None);
        assert!(Reasons::parse("reasons", "[[reason]]\npattern = '('\ntext = ''\n").is_err());
    }
}
