//! The interface between an engine that changes files and a parser of their languages.

use std::fmt;

/// A check of texts for syntax errors.
///
/// It runs after a change of a file, and bounds its own time: a slow check delays other changes.
pub trait SyntaxCheck: fmt::Debug + Send + Sync {
    /// Returns the first syntax error in `after`, if `before` has none; `None` also if the language is unknown, or the texts are
    /// too long to be parsed in time.
    ///
    /// `path` is canonical and relative to the root; its name determines the language.
    fn first_new_error(&self, path: &str, before: &str, after: &str) -> Option<SyntaxError>;
}

/// A syntax error in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The line, 1-based.
    pub line: u64,
    /// The column in characters, 1-based.
    pub column: u64,
    /// The name of the language in lower case.
    pub language: &'static str,
}

impl SyntaxError {
    /// Returns the note on a change that introduced this error and was kept.
    #[must_use]
    pub fn note(&self) -> String {
        let SyntaxError { line, column, language } = self;
        format!(
            "syntax error at line {line}, column {column}: the file parsed as {language} before and does not now; the change \
             was kept"
        )
    }
}
