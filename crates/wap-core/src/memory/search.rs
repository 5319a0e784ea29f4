//! Lines that match.

use regex::bytes::{Regex, RegexBuilder};

use super::edit::check_text;
use super::lines::{split, without_ending};
use crate::{Limits, QueryType, Reason, SearchFiles, SearchMatch, WapError};

/// A compiled search.
pub(super) struct Search {
    regex: Regex,
    context_lines: usize,
}

impl Search {
    pub(super) fn new(request: &SearchFiles) -> Result<Search, WapError> {
        if request.query.is_empty() {
            return Err(WapError::new(Reason::EmptyQuery, "the query is empty"));
        }
        let pattern = match request.query_type {
            QueryType::Regex => request.query.clone(),
            QueryType::Literal => regex::escape(&request.query),
        };
        let regex = RegexBuilder::new(&pattern)
            .build()
            .map_err(|error| WapError::new(Reason::InvalidRegex, format!("cannot use the query: {error}")))?;
        let context = request.context_lines.unwrap_or(i64::from(SearchFiles::DEFAULT_CONTEXT_LINES));
        let context = usize::try_from(context).map_err(|_| {
            WapError::new(Reason::InvalidField, "contextLines is negative").with("field", "contextLines")
        })?;
        Ok(Search { regex, context_lines: context.min(Limits::MAX_CONTEXT_LINES as usize) })
    }

    /// Returns the matching lines of a file; `None` if it is not text.
    pub(super) fn matches(&self, path: &str, bytes: &[u8]) -> Option<Vec<SearchMatch>> {
        check_text(path, bytes).ok()?;
        let lines: Vec<&[u8]> = split(bytes).into_iter().map(without_ending).collect();
        let shown = |range: std::ops::Range<usize>| lines[range].iter().map(|line| cut(line)).collect();
        let found = lines.iter().enumerate().filter(|(_, line)| self.regex.is_match(line));
        let matches = found.map(|(index, line)| SearchMatch {
            path: path.to_owned(),
            line: index as u64 + 1,
            match_text: cut(line),
            context_before: shown(index.saturating_sub(self.context_lines)..index),
            context_after: shown(index + 1..(index + 1 + self.context_lines).min(lines.len())),
        });
        Some(matches.collect())
    }
}

fn cut(line: &[u8]) -> String {
    String::from_utf8_lossy(line).chars().take(Limits::MAX_MATCH_CHARACTERS).collect()
}
