//! What a response says about itself: codes with details.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! codes {
    ($($(#[$doc:meta])* $code:ident $name:literal,)+) => {
        /// What a warning is about. The same codes say why a result failed and why a request was refused.
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
    /// There is no request in the text.
    NoRequest "no_request",
    /// There are several requests in the text.
    MultipleEnvelopes "multiple_envelopes",
    /// The request has no usable name.
    MissingRequestId "missing_request_id",
    /// No need of the request can be answered.
    NoValidNeed "no_valid_need",
    /// The envelope is no YAML.
    InvalidYaml "invalid_yaml",
    /// The envelope is larger or deeper than is read.
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
    /// `file.read` failed for a reason that has no code of its own.
    FileReadFailed "file_read_failed",
    /// `file.list` failed for a reason that has no code of its own.
    FileListFailed "file_list_failed",
    /// `file.diff` failed.
    FileDiffFailed "file_diff_failed",
    /// A file has changed since it was indexed.
    DocdexIndexStale "docdex_index_stale",
    /// The index is not complete yet.
    DocdexIndexBuilding "docdex_index_building",
    /// There is nothing in the index.
    DocdexIndexEmpty "docdex_index_empty",
    /// There is no such file or folder.
    FileNotFound "file_not_found",
    /// The path names a folder or something special.
    NotAFile "not_a_file",
    /// The path leads out of the workspace.
    PathOutsideWorkspace "path_outside_workspace",
    /// The file is not text.
    BinaryFile "binary_file",
    /// A result was cut.
    Truncated "truncated",
    /// A number was brought into its range.
    Clamped "clamped",
    /// There is nobody to answer needs of this type.
    UnsupportedNeed "unsupported_need",
    /// A need lacks something, or is nothing that can be read.
    InvalidNeed "invalid_need",
    /// A field was left out because its value cannot be used.
    InvalidField "invalid_field",
    /// Searching the web is switched off.
    WebDisabled "web_disabled",
    /// The response's size or time was used up.
    BudgetExhausted "budget_exhausted",
    /// One need took too long.
    NeedTimeout "need_timeout",
    /// Messages were left out of a history.
    HistoryTruncated "history_truncated",
    /// The critic's result is FAIL.
    CriticFailed "critic_failed",
}

impl WarningCode {
    /// Returns the code of a name.
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

/// One warning: `code` or `code: detail`, or the text of another implementation as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Bare(WarningCode),
    Detailed(WarningCode, String),
    /// Nothing that begins with a code of ours.
    Foreign(String),
}

impl Warning {
    /// Returns a warning without a detail.
    #[must_use]
    pub fn new(code: WarningCode) -> Warning {
        Warning { kind: Kind::Bare(code) }
    }

    /// Returns a warning with a detail, which must not hold a path of the machine.
    pub fn with(code: WarningCode, detail: impl Into<String>) -> Warning {
        Warning { kind: Kind::Detailed(code, detail.into()) }
    }

    /// Reads a warning; a text that begins with no code of ours is kept as it is.
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
