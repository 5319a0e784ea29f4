//! `modifyFile`: targeted changes of lines.

use serde::{Deserialize, Serialize};

use crate::{FileVersion, JudgedFile, SeenVersions};

/// Changes some lines of a file, all or nothing.
///
/// Operations apply in order. Line numbers mean the file as it was before the call, or the version named by
/// `expectedVersion`. Source: WAP 1.0, `modifyFile`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ModifyFile {
    /// Path of the file.
    #[cfg_attr(feature = "schema", schemars(description = "", length(min = 1)))]
    pub path: String,
    /// At least one.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub operations: Vec<ModifyOperation>,
    /// Extension: the version that the line numbers mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<FileVersion>,
    /// Extension for dialects: the text that the line numbers of later operations mean; absent means the file before the
    /// call. Not in the schema: a model is given one rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub line_numbers: Option<LineNumbers>,
    /// Extension for adapters: the versions that the line numbers may mean. Not in the schema.
    #[serde(default, rename = "seen", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub seen_versions: Option<SeenVersions>,
    /// Extension for adapters: the file on which the change was judged. Not in the schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub judged: Option<JudgedFile>,
    /// Extension for adapters: the treatment of new lines that begin with the numbers of a view; absent means that they are refused.
    /// Not in the schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub view_numbers: Option<ViewNumbers>,
}

/// The treatment of new lines that all begin with the numbers (`12|`) that a view shows for the lines they replace. Near lines of
/// the file that have such numbers themselves, they are content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ViewNumbers {
    /// The call is refused.
    #[default]
    Refuse,
    /// In operations by line numbers, the numbers are removed with a warning. If the file has no text, or has such numbers
    /// elsewhere, the call is refused nevertheless.
    TakeOff,
}

/// The text that the line numbers of several operations mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LineNumbers {
    /// The file as it was before the call, or the expected version. Two operations on the same lines conflict.
    #[default]
    BeforeTheCall,
    /// Each operation means the text after the previous ones. Several such operations are not carried over to a file that has
    /// changed since the expected version: that is a conflict.
    InTurn,
}

/// One change of a file. Line numbers are 1-based and ranges inclusive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(description = ""))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ModifyOperation {
    /// Replaces lines. One trailing newline adds no line; an empty text is one blank line.
    Replace {
        /// First line.
        #[cfg_attr(feature = "schema", schemars(description = "", range(min = 1)))]
        start_line: i64,
        /// Last line, inclusive.
        #[cfg_attr(feature = "schema", schemars(description = "", range(min = 1)))]
        end_line: i64,
        /// The new lines.
        #[cfg_attr(feature = "schema", schemars(description = ""))]
        new_content: String,
        /// Extension: its first line.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        was: Option<String>,
    },
    /// Inserts lines after a line; 0 inserts at the top.
    Insert {
        /// The line before the new ones.
        #[cfg_attr(feature = "schema", schemars(description = "", range(min = 0)))]
        after_line: i64,
        /// The new lines.
        #[cfg_attr(feature = "schema", schemars(description = ""))]
        new_content: String,
        /// Extension: that line.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        was: Option<String>,
    },
    /// Deletes lines.
    Delete {
        /// First line.
        #[cfg_attr(feature = "schema", schemars(description = "", range(min = 1)))]
        start_line: i64,
        /// Last line, inclusive.
        #[cfg_attr(feature = "schema", schemars(description = "", range(min = 1)))]
        end_line: i64,
        /// Extension: its first line.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        was: Option<String>,
    },
    /// Extension: replaces a text that occurs once.
    ReplaceText {
        /// As it is in the file.
        old_text: String,
        /// Its replacement.
        #[cfg_attr(feature = "schema", schemars(description = ""))]
        new_text: String,
        /// If it occurs more often: how often.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expected_matches: Option<u32>,
        /// For adapters: the text is whole lines, in the whole file or within some lines.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(skip))]
        whole_lines: Option<WholeLines>,
    },
    /// Replaces what a regular expression matches.
    RegexReplace {
        /// No look-around and no back-references.
        pattern: String,
        /// With `$1`, `$&`, `$$` and `$<name>` as in JavaScript.
        replacement: String,
        /// Any of `g i m s u`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        flags: Option<String>,
    },
}

/// The lines of a file among which whole lines are searched for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WholeLines {
    /// The first and the last line, 1-based and inclusive; `None` for the whole file.
    pub within: Option<(i64, i64)>,
    /// Lines that precede them, in order; whitespace at their ends is ignored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub behind: Vec<String>,
    /// True if the old text is one line after which lines are added unchanged. Whitespace at its ends is ignored.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub adds_behind: bool,
}

/// An operation as it arrives. Flat, so that an error can name the field: a tagged enum reads its fields from a
/// buffer that knows no names.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireOperation {
    #[serde(rename = "type")]
    operation_type: WireType,
    start_line: Option<i64>,
    end_line: Option<i64>,
    after_line: Option<i64>,
    new_content: Option<String>,
    was: Option<String>,
    old_text: Option<String>,
    new_text: Option<String>,
    expected_matches: Option<u32>,
    whole_lines: Option<WholeLines>,
    pattern: Option<String>,
    replacement: Option<String>,
    flags: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum WireType {
    Replace,
    Insert,
    Delete,
    ReplaceText,
    RegexReplace,
}

impl<'de> Deserialize<'de> for ModifyOperation {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<ModifyOperation, D::Error> {
        fn need<T, E: serde::de::Error>(field: &'static str, value: Option<T>) -> Result<T, E> {
            value.ok_or_else(|| E::missing_field(field))
        }
        let wire = WireOperation::deserialize(deserializer)?;
        // Fields of other variants are ignored here, as serde does; `UnknownArguments` reports them to the caller.
        Ok(match wire.operation_type {
            WireType::Replace => ModifyOperation::Replace {
                start_line: need("startLine", wire.start_line)?,
                end_line: need("endLine", wire.end_line)?,
                new_content: need("newContent", wire.new_content)?,
                was: wire.was,
            },
            WireType::Insert => ModifyOperation::Insert {
                after_line: need("afterLine", wire.after_line)?,
                new_content: need("newContent", wire.new_content)?,
                was: wire.was,
            },
            WireType::Delete => ModifyOperation::Delete {
                start_line: need("startLine", wire.start_line)?,
                end_line: need("endLine", wire.end_line)?,
                was: wire.was,
            },
            WireType::ReplaceText => ModifyOperation::ReplaceText {
                old_text: need("oldText", wire.old_text)?,
                new_text: need("newText", wire.new_text)?,
                expected_matches: wire.expected_matches,
                whole_lines: wire.whole_lines,
            },
            WireType::RegexReplace => ModifyOperation::RegexReplace {
                pattern: need("pattern", wire.pattern)?,
                replacement: need("replacement", wire.replacement)?,
                flags: wire.flags,
            },
        })
    }
}

/// The result of `modifyFile`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ModifyFileResponse {
    /// Always true: a failure is an error.
    pub success: bool,
    /// Canonical path of the file.
    pub path: String,
    /// Extension: the version of the file after the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<FileVersion>,
    /// Extension: the version that was changed; not the expected one if another process changed the file in between.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_version: Option<FileVersion>,
    /// Extension: how later lines moved, in the order of the lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shifts: Vec<LineShift>,
    /// Extension: where the lines of operations were whose numbers meant another version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub carried: Vec<CarriedLines>,
    /// Extension: what each regular expression matched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replacements: Vec<RegexReplacements>,
    /// Extension: lines that are new or different.
    #[serde(default)]
    pub lines_added: u32,
    /// Extension: lines that are gone or different.
    #[serde(default)]
    pub lines_removed: u32,
    /// Extension: the changed lines as they are now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<ChangedLines>,
    /// Extension: what the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The changed lines of a file with a little context, for a model to check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ChangedLines {
    /// The first line of `text`, 1-based; 0 if the file is now empty.
    pub first_line: u64,
    /// The last line of `text`, inclusive; 0 if the file is now empty.
    pub last_line: u64,
    /// The lines as a numbered view, and how later lines moved.
    pub text: String,
    /// Signs of a wrong line number, and the first new error of syntax.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Lines that an operation addressed under other numbers: those of the file before the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CarriedLines {
    /// The operation, counted from 1.
    pub operation: u64,
    /// The first line, 1-based; for an insertion the line that it went after.
    pub first_line: u64,
    /// The last line, inclusive.
    pub last_line: u64,
}

/// A line of the file that is like a pattern without a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NearLine {
    /// Its number, 1-based.
    pub line: u64,
    /// Its text, of which a long line shows the beginning.
    pub text: String,
}

/// The matches of a regular expression of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RegexReplacements {
    /// The operation, counted from 1.
    pub operation: u64,
    /// The number of replaced matches; without the flag `g` at most one.
    pub replaced: u64,
    /// The number of all matches.
    pub matches: u64,
    /// Without a match, the lines that contain most of the pattern's words, in the order of the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<NearLine>,
}

impl RegexReplacements {
    /// Returns a note for the model unless every match was replaced.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let RegexReplacements { operation, replaced, matches, .. } = self;
        // A count for every pattern would bury the two cases that need action by the model.
        match matches {
            0 => Some(format!("operation {operation}: the pattern matches nothing")),
            _ if replaced < matches => Some(format!(
                "operation {operation}: replaced {replaced} of {matches} matches; the flag g replaces all"
            )),
            _ => None,
        }
    }
}

/// Lines of the old text from `from_line` on are now `by` further down, until the next shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LineShift {
    /// First old line that moved, 1-based.
    pub from_line: u64,
    /// By how many lines; negative is upwards.
    pub by: i64,
}
