//! The hard limits of every answer.

use serde::{Deserialize, Serialize};

/// Hard limits of a workspace, with the recommended values of WAP 1.0 as defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Limits {
    /// Largest text that `readFile` returns, in bytes of the file.
    pub max_file_size: u64,
    /// Most entries that `exploreFiles` returns.
    pub max_directory_entries: u32,
    /// Most matches that `searchFiles` returns.
    pub max_search_results: u32,
    /// Most bytes of each of standard output and standard error that `executeCommand` returns.
    pub max_output_size: u64,
    /// Longest time that a command may run when the caller names none, in milliseconds.
    pub max_execution_time: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            max_file_size: 1_048_576,
            max_directory_entries: 500,
            max_search_results: 100,
            max_output_size: 1_048_576,
            max_execution_time: 30_000,
        }
    }
}

impl Limits {
    /// Largest request, in bytes of its content, that an engine accepts: 16 MiB.
    pub const MAX_REQUEST_BYTES: u64 = 16 * 1_048_576;
    /// Largest message that carries such a request as JSON, in bytes: every byte of the content may take six.
    pub const MAX_MESSAGE_BYTES: u64 = 6 * Self::MAX_REQUEST_BYTES + 65_536;
    /// Most values of a message as JSON, keys and folds counted: 100,000.
    pub const MAX_MESSAGE_VALUES: usize = 100_000;
    /// Most operations of one `modifyFile`.
    pub const MAX_OPERATIONS: usize = 1_000;
    /// Most `paths` of one `searchFiles`.
    pub const MAX_PATHS: usize = 1_000;
    /// Most `excludePatterns` of one `searchFiles` or `exploreFiles`.
    pub const MAX_PATTERNS: usize = 1_000;
    /// Longest exclusion pattern, in bytes: 4 KiB.
    pub const MAX_PATTERN_BYTES: usize = 4_096;
    /// Most bytes of all exclusion patterns, or of all regular expressions, of one request: 64 KiB.
    pub const MAX_PATTERNS_BYTES: usize = 65_536;
    /// Most line shifts that `modifyFile` reports; those further down are left out, with a warning.
    pub const MAX_SHIFTS: usize = 1_000;
    /// Most context lines around a match that `searchFiles` returns.
    pub const MAX_CONTEXT_LINES: u32 = 20;
    /// Longest `matchText` or context line, in characters.
    pub const MAX_MATCH_CHARACTERS: usize = 1_000;
    /// Longest timeout of a command, in milliseconds: one hour.
    pub const MAX_TIMEOUT_MILLISECONDS: u64 = 3_600_000;
}
