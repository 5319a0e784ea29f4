//! Warnings of a response: codes with details.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! codes {
    ($($(#[$doc:meta])* $code:ident $name:literal,)+) => {
        /// The code of a warning, of a failed result or of a refused request.
        ///
        /// Source: Codali protocol, response rules; ruling in docs/codali.md.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum WarningCode {
            $($(#[$doc])* $code,)+
        }

        impl WarningCode {
            /// Every code.
            pub const ALL: &[WarningCode] = &[$(WarningCode::$code,)+];

            /// Returns the code's name in an envelope.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(WarningCode::$code => $name,)+ }
            }
        }
    };
}

codes! {
    /// The text contains no request.
    NoRequest "no_request",
    /// The text contains several requests.
    MultipleEnvelopes "multiple_envelopes",
    /// The request has no valid id.
    MissingRequestId "missing_request_id",
    /// The request has no valid need.
    NoValidNeed "no_valid_need",
    /// The envelope is not valid YAML.
    InvalidYaml "invalid_yaml",
    /// The envelope exceeds a limit.
    TooLarge "too_large",
    /// `docdex.search` failed.
    DocdexSearchFailed "docdex_search_failed",
    /// `docdex.snippet` failed.
    DocdexSnippetFailed "docdex_snippet_failed",
    /// `docdex.open` failed.
    DocdexOpenFailed "docdex_open_failed",
    /// `docdex.symbols` failed.
    DocdexSymbolsFailed "docdex_symbols_failed",
    /// `docdex.ast` failed.
    DocdexAstFailed "docdex_ast_failed",
    /// `docdex.impact` failed.
    DocdexImpactFailed "docdex_impact_failed",
    /// `docdex.impact_diagnostics` failed.
    DocdexImpactDiagnosticsFailed "docdex_impact_diagnostics_failed",
    /// `docdex.tree` failed.
    DocdexTreeFailed "docdex_tree_failed",
    /// `docdex.web` failed.
    DocdexWebFailed "docdex_web_failed",
    /// `file.read` failed for another reason.
    FileReadFailed "file_read_failed",
    /// `file.list` failed for another reason.
    FileListFailed "file_list_failed",
    /// `file.diff` failed.
    FileDiffFailed "file_diff_failed",
    /// A file has changed since it was indexed.
    DocdexIndexStale "docdex_index_stale",
    /// The index is not complete yet.
    DocdexIndexBuilding "docdex_index_building",
    /// The index is empty.
    DocdexIndexEmpty "docdex_index_empty",
    /// The file or folder does not exist.
    FileNotFound "file_not_found",
    /// The path is a folder, a link or a special file.
    NotAFile "not_a_file",
    /// The path leads out of the workspace.
    PathOutsideWorkspace "path_outside_workspace",
    /// The file is not text.
    BinaryFile "binary_file",
    /// A result was truncated.
    Truncated "truncated",
    /// A number was clamped to its range.
    Clamped "clamped",
    /// Needs of this type are not supported.
    UnsupportedNeed "unsupported_need",
    /// A need lacks a field, or is unreadable.
    InvalidNeed "invalid_need",
    /// A field was dropped because its value is unusable.
    InvalidField "invalid_field",
    /// Web search is disabled.
    WebDisabled "web_disabled",
    /// The size or time limit of the response is used up.
    BudgetExhausted "budget_exhausted",
    /// A need exceeded its time limit.
    NeedTimeout "need_timeout",
    /// Messages were dropped from a history.
    HistoryTruncated "history_truncated",
    /// The critic's result is FAIL.
    CriticFailed "critic_failed",
}

impl WarningCode {
    /// Returns the code with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<WarningCode> {
        WarningCode::ALL.iter().copied().find(|code| code.name() == name)
    }
}

impl fmt::Display for WarningCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A warning: `code` or `code: detail`, or the text of another implementation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Bare(WarningCode),
    Detailed(WarningCode, String),
    /// A text without a known code.
    Foreign(String),
}

impl Warning {
    /// Creates a warning without a detail.
    #[must_use]
    pub fn new(code: WarningCode) -> Warning {
        Warning { kind: Kind::Bare(code) }
    }

    /// Creates a warning with a detail, which must not contain a path outside of the workspace.
    pub fn with(code: WarningCode, detail: impl Into<String>) -> Warning {
        Warning { kind: Kind::Detailed(code, detail.into()) }
    }

    /// Parses a warning; a text without a known code is preserved.
    #[must_use]
    pub fn parse(text: &str) -> Warning {
        let (name, detail) = match text.split_once(": ") {
            Some((name, detail)) => (name, Some(detail)),
            None => (text, None),
        };
        match (WarningCode::from_name(name), detail) {
            (None, _) => Warning { kind: Kind::Foreign(text.to_owned()) },
            (Some(code), None) => Warning::new(code),
            (Some(code), Some(detail)) => Warning::with(code, detail),
        }
    }

    /// Returns the code; `None` for the text of another implementation.
    #[must_use]
    pub fn code(&self) -> Option<WarningCode> {
        match &self.kind {
            Kind::Bare(code) | Kind::Detailed(code, _) => Some(*code),
            Kind::Foreign(_) => None,
        }
    }

    /// Returns the detail, or the whole text of another implementation.
    #[must_use]
    pub fn detail(&self) -> Option<&str> {
        match &self.kind {
            Kind::Bare(_) => None,
            Kind::Detailed(_, detail) => Some(detail),
            Kind::Foreign(text) => Some(text),
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Bare(code) => write!(formatter, "{code}"),
            Kind::Detailed(code, detail) => write!(formatter, "{code}: {detail}"),
            Kind::Foreign(text) => formatter.write_str(text),
        }
    }
}

impl Serialize for Warning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Warning {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Warning, D::Error> {
        Ok(Warning::parse(&String::deserialize(deserializer)?))
    }
}
