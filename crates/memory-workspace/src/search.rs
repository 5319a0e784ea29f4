//! Searches in the lines of files.

use std::borrow::Cow;
use std::collections::BTreeSet;

use regex::{Regex, RegexBuilder};
use text_edit::Source;
use wap_core::{
    Exclusions, Limits, QueryType, Reason, SearchFiles, SearchFilesResponse, SearchMatch, Skipped, WapError,
    holds_credentials_if_keyed,
};

use crate::listing::{Walk, ignore_warning};
use crate::tree::Tree;

pub(crate) fn search(
    tree: &Tree,
    limits: &Limits,
    request: &SearchFiles,
) -> Result<SearchFilesResponse, WapError> {
    request.check_bounds()?;
    let search = Search::new(request)?;
    let exclusions = Exclusions::for_request(request.exclude_patterns.as_deref())?;
    let recursive = request.recursive.unwrap_or(true);
    // A set, because the paths of a request may overlap, and a file is searched once.
    let mut files = BTreeSet::new();
    if request.paths.is_empty() {
        let error = WapError::new(Reason::InvalidField, "there are no paths to search in");
        return Err(error.with("field", "paths"));
    }
    for path in &request.paths {
        // A file that the caller names is searched regardless of the exclusions.
        let start = tree.existing_path(path)?;
        if let Some((file, _)) = tree.files().get_key_value(&start) {
            files.insert(file.as_str());
            continue;
        }
        let walk = Walk {
            tree,
            exclusions: recursive.then(|| exclusions.for_walk_from(&start)),
            max_depth: if recursive { usize::MAX } else { 1 },
        };
        files.extend(walk.entries(&start).into_iter().filter(|path| !tree.is_folder(path)));
    }
    let mut has_undecided = false;
    if let Some(withheld) = &request.withheld {
        let rule = withheld.rule()?;
        files.retain(|path| {
            let is_withheld = rule.withholds(path);
            has_undecided |= is_withheld && holds_credentials_if_keyed(path);
            !is_withheld
        });
    }
    let mut matches = Vec::new();
    let mut skipped = Skipped::default();
    let mut total = 0;
    for path in files {
        let Some(in_file) = search.matches(path, &tree.files()[path]) else {
            skipped.binary += 1;
            continue;
        };
        total += in_file.len() as u64;
        let room = (limits.max_search_results as usize).saturating_sub(matches.len());
        // Keep counting the total, so that the caller learns the number of omitted matches.
        matches.extend(in_file.into_iter().take(room));
    }
    let mut warnings = ignore_warning(tree, request.respect_gitignore);
    warnings.extend(SearchFilesResponse::cut_warning(matches.len(), total));
    Ok(SearchFilesResponse {
        is_truncated: total > matches.len() as u64,
        matches,
        total_matches: total,
        skipped,
        warnings,
        has_undecided,
    })
}

/// A compiled search.
struct Search {
    regex: Regex,
    context_lines: usize,
}

impl Search {
    fn new(request: &SearchFiles) -> Result<Search, WapError> {
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
    fn matches(&self, path: &str, bytes: &[u8]) -> Option<Vec<SearchMatch>> {
        let source = Source::parse(bytes).ok()?;
        let lines: Vec<Cow<'_, str>> =
            (1..=source.total_lines()).filter_map(|number| source.line_text(number)).collect();
        let context = |range: std::ops::Range<usize>| lines[range].iter().map(|line| cut(line)).collect();
        let hits = lines.iter().enumerate().filter(|(_, line)| self.regex.is_match(line));
        let matches = hits.map(|(index, line)| SearchMatch {
            path: path.to_owned(),
            line: index as u64 + 1,
            match_text: cut(line),
            context_before: context(index.saturating_sub(self.context_lines)..index),
            context_after: context(index + 1..(index + 1 + self.context_lines).min(lines.len())),
        });
        Some(matches.collect())
    }
}

fn cut(line: &str) -> String {
    line.chars().take(Limits::MAX_MATCH_CHARACTERS).collect()
}
