//! The text of a file by which a change to it is judged.

use wap_core::{Call, FileVersion, JudgedFile, QueryType, ReadFile, Reason, SearchFiles, Workspace};

use crate::private_key::BOUNDARY;
use crate::workspace::PlaceholderWorkspace;

/// The size limit of files that are searched whole.
const MOST_TEXT_BYTES: usize = 16 << 20;

/// The maximum number of reads for a whole text: one returns up to a mebibyte, and two together more than that, since
/// lines are kept whole. The first may be refused or repeated.
const MOST_READINGS: usize = 2 * (MOST_TEXT_BYTES >> 20) + 2;

/// The known part of a file for judging.
pub(super) enum WholeText {
    Text {
        /// The canonical path.
        path: String,
        text: String,
        /// The version of the text; `None` for a file that is not shown as it is.
        version: Option<FileVersion>,
    },
    /// It is missing or not a text: the engine refuses the edit. `None` if that cannot be determined.
    None(Option<JudgedFile>),
    TooLarge,
}

impl WholeText {
    /// Returns the file for which a judgement holds; `None` if that is unknown.
    pub(super) fn judged(&self) -> Option<JudgedFile> {
        match self {
            WholeText::Text { version, .. } => version.clone().map(JudgedFile::Version),
            WholeText::None(judged) => judged.clone(),
            WholeText::TooLarge => None,
        }
    }

    /// Like [`judged`](Self::judged), for an append: the lines before it do not matter if they are finished.
    pub(super) fn judged_for_append(&self) -> Option<JudgedFile> {
        match self {
            WholeText::Text { text, .. } if text.is_empty() || text.ends_with('\n') => {
                Some(JudgedFile::WholeLines)
            }
            WholeText::None(Some(JudgedFile::Absent)) => Some(JudgedFile::WholeLines),
            _ => self.judged(),
        }
    }
}

impl<W: Workspace> PlaceholderWorkspace<W> {
    /// Reads a file whole.
    pub(super) fn whole_text(&self, call: &Call<'_>, path: &str) -> WholeText {
        let mut text = String::new();
        let mut first = None;
        // The version of the first part, if a file is read in parts: if it differs in the end, the parts may not match.
        let mut before = None;
        for _ in 0..MOST_READINGS {
            let request = ReadFile {
                path: path.to_owned(),
                start_line: first,
                end_line: first.map(|_| i64::MAX),
                line_numbers: None,
            };
            let read = match self.inner.read_file(call, &request) {
                Ok(read) => read,
                Err(error) if error.reason() == Reason::FileTooLarge && first.is_none() => {
                    before = Some(self.version(call, path));
                    first = Some(1);
                    continue;
                }
                Err(error) if error.reason() == Reason::FileTooLarge => break,
                Err(error) if error.reason() == Reason::FileNotFound => {
                    return WholeText::None(Some(JudgedFile::Absent));
                }
                Err(_) => return WholeText::None(self.version(call, path).map(JudgedFile::Version)),
            };
            if read.is_truncated && before.is_none() {
                before = Some(read.version.or_else(|| self.version(call, path)));
                first = Some(1);
                continue;
            }
            text.push_str(&read.content);
            if text.len() > MOST_TEXT_BYTES {
                break;
            }
            let path = read.metadata.path;
            if !read.is_truncated {
                let version = match before {
                    None => read.version,
                    Some(before) if before == self.version(call, &path) => before,
                    Some(_) => break,
                };
                return WholeText::Text { path, text, version };
            }
            if read.returned_lines == 0 || !text.ends_with('\n') {
                break;
            }
            let next = i64::try_from(read.returned_lines).unwrap_or(i64::MAX);
            first = Some(first.unwrap_or(1).saturating_add(next));
        }
        WholeText::TooLarge
    }

    /// Returns the version of a file that was read in parts.
    fn version(&self, call: &Call<'_>, path: &str) -> Option<FileVersion> {
        let states = self.inner.file_states(call, &[path.to_owned()], None).ok()?;
        states.files.into_iter().next()??.version
    }

    /// Checks whether a file that cannot be read whole may have the first or the last line of a private key.
    pub(super) fn may_hold_key(&self, call: &Call<'_>, path: &str) -> bool {
        let request = SearchFiles {
            paths: vec![path.to_owned()],
            query: BOUNDARY.to_owned(),
            query_type: QueryType::Literal,
            recursive: Some(false),
            exclude_patterns: None,
            context_lines: Some(0),
            respect_gitignore: Some(false),
            withheld: None,
        };
        // A file that could not be searched to its end may contain a boundary.
        !self.inner.search_files(call, &request).is_ok_and(|hits| {
            hits.total_matches == 0
                && !hits.is_truncated
                && hits.skipped.is_empty()
                && hits.warnings.is_empty()
        })
    }

    /// Checks whether the last line of a file is finished; false if that cannot be determined.
    pub(super) fn ends_with_line(&self, call: &Call<'_>, path: &str) -> bool {
        let read = |line| {
            let request = ReadFile {
                path: path.to_owned(),
                start_line: Some(line),
                end_line: Some(line),
                line_numbers: None,
            };
            self.inner.read_file(call, &request)
        };
        // The refusal of a line past the end states the number of lines, while an answer may count only as far as it
        // had to read.
        let Err(error) = read(i64::MAX) else { return false };
        let last = error.detail("totalLines").and_then(serde_json::Value::as_i64);
        let last = last.and_then(|last| read(last).ok());
        last.is_some_and(|last| !last.is_truncated && last.content.ends_with('\n'))
    }
}
