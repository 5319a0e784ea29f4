//! Searching.

use std::borrow::Cow;

use regex::Regex;
use wap_core::{
    Call, ExploreFiles, Limits, QueryType, ReadFile, SearchFiles, SearchFilesResponse, SearchMatch, WapError,
    Workspace,
};

use super::PlaceholderWorkspace;
use super::expression::with_grouped_markers;
use super::putting_back::PuttingBack;
use super::veil::{MOST_KEPT_BYTES, Veil};
use crate::key_lines::KeyLines;
use crate::new_values::NewValues;
use crate::withheld::{Verdict, warning};
use crate::{Secrets, markers};

/// The files that are withheld only if they contain a secret, including copies such as `ca.pem.orig~` and `#.npmrc#`,
/// and a few others.
const IF_KEYED: &str = "*.{[pP][eE][mM],[nN][pP][mM][rR][cC],[gG][pP][gG].[kK][eE][yY],\
     [pP][eE][mM][~#.]*,[nN][pP][mM][rR][cC][~#.]*,[gG][pP][gG].[kK][eE][yY][~#.]*}";

/// The maximum number of bytes of a query with the values of its placeholders.
const MOST_QUERY_BYTES: usize = 64 * 1_024;

/// The maximum number of them that a search examines, in path order; it skips further ones.
const MOST_LOOKED_AT: usize = 64;

impl<W: Workspace> PlaceholderWorkspace<W> {
    pub(super) fn search_masked(
        &self,
        secrets: &Secrets,
        call: &Call<'_>,
        request: &SearchFiles,
    ) -> Result<SearchFilesResponse, WapError> {
        let veil = Veil::new(&self.inner, secrets, call, None);
        // The engine would refuse this: check before the work on each path.
        request.check_bounds()?;
        let putting_back = PuttingBack::new(secrets);
        let paths = request.paths.iter().map(|path| putting_back.name(path, "paths"));
        let (shown_query, query) = match request.query_type {
            QueryType::Literal => {
                let query = putting_back.at_most(&request.query, "query", MOST_QUERY_BYTES);
                (Cow::Borrowed(&*request.query), query)
            }
            QueryType::Regex => {
                let grouped = with_grouped_markers(&request.query, "query")?;
                let query = putting_back
                    .written(&grouped, "query", MOST_QUERY_BYTES, |value| Cow::Owned(regex::escape(value)));
                (grouped, query)
            }
        };
        let mut request_below = SearchFiles {
            paths: paths.collect::<Result<_, _>>()?,
            query: query?,
            withheld: Some(self.withheld.passed_over(Vec::new())),
            ..request.clone()
        };
        let named = request_below.paths.len();
        // A folder may have the name of such a file.
        request_below
            .paths
            .retain(|path| !self.is_withheld(call, secrets, path) || self.read_path(call, path).is_none());
        let left_out = named - request_below.paths.len();
        let is_nothing_left = request_below.paths.is_empty() && left_out > 0;
        let hits = match is_nothing_left {
            true => Ok(SearchFilesResponse::default()),
            false => self.search_visible(secrets, call, request_below),
        };
        let hits = hits.map_err(|error| veil.all(error))?;
        let SearchFilesResponse { matches, is_truncated, total_matches, skipped, mut warnings, .. } = hits;
        let count = matches.len();
        let visible = Visible::of(&shown_query, request.query_type);
        let mut masked = Vec::with_capacity(count);
        // The matches are sorted by path, so that each file is examined once.
        let of_files: Vec<(&[SearchMatch], Veil<'_, W>)> = matches
            .chunk_by(|one, next| one.path == next.path)
            .filter(|in_file| !self.is_withheld(call, secrets, &in_file[0].path))
            .map(|in_file| (in_file, Veil::new(&self.inner, secrets, call, Some(in_file[0].path.as_str()))))
            .collect();
        let mut values = NewValues::default();
        let mut left = MOST_KEPT_BYTES;
        for (in_file, of_file) in &of_files {
            secrets.add_values(&in_file[0].path, &KeyLines::default(), &mut values);
            for hits in *in_file {
                let is_cut = lines_of(hits).any(is_cut);
                let text = lines_of(hits).collect::<Vec<_>>().join("\n");
                left -= of_file.add_values_of_lines(&text, is_cut, &mut values, left);
            }
        }
        secrets.keep_all(&values);
        for (in_file, of_file) in of_files {
            masked.extend(in_file.iter().filter_map(|hits| mask_match(&of_file, hits, &visible)));
        }
        if left_out > 0 {
            warnings.push(warning(left_out));
        }
        Ok(SearchFilesResponse {
            total_matches: total_matches - (count - masked.len()) as u64,
            matches: masked,
            is_truncated,
            skipped,
            warnings: veil.all(warnings),
            has_undecided: false,
        })
    }

    /// Searches all files except withheld ones: neither the number of matches, nor the choice of matches that fit, nor
    /// a warning may depend on the content of such a file.
    fn search_visible(
        &self,
        secrets: &Secrets,
        call: &Call<'_>,
        mut request: SearchFiles,
    ) -> Result<SearchFilesResponse, WapError> {
        let hits = self.inner.search_files(call, &request)?;
        if !hits.has_undecided {
            return Ok(hits);
        }
        let harmless = self.harmless_files(call, secrets, &request);
        if harmless.is_empty() {
            return Ok(hits);
        }
        request.withheld = Some(self.withheld.passed_over(harmless));
        self.inner.search_files(call, &request)
    }

    /// Returns the files of a search with credential names but without secrets. They do not depend on the query.
    fn harmless_files(&self, call: &Call<'_>, secrets: &Secrets, request: &SearchFiles) -> Vec<String> {
        let mut named: Vec<String> = Vec::new();
        for path in request.paths.iter().take(MOST_LOOKED_AT) {
            let below = ExploreFiles {
                path: path.clone(),
                pattern: Some(IF_KEYED.to_owned()),
                recursive: Some(request.recursive.unwrap_or(true)),
                exclude_patterns: request.exclude_patterns.clone(),
                respect_gitignore: Some(request.respect_gitignore.unwrap_or(false)),
                ..ExploreFiles::default()
            };
            match self.inner.explore_files(call, &below) {
                Ok(listed) => named.extend(listed.files.into_iter().map(|file| file.path)),
                // A file.
                Err(_) => named.extend(self.read_path(call, path)),
            }
        }
        named.retain(|path| self.withheld.verdict(path) == Verdict::IfSecret);
        named.sort_unstable();
        named.dedup();
        named.truncate(MOST_LOOKED_AT);
        named.retain(|path| !self.is_withheld(call, secrets, path));
        named
    }

    /// Returns the path of the file that a path resolves to; `None` if there is no file.
    fn read_path(&self, call: &Call<'_>, path: &str) -> Option<String> {
        let request =
            ReadFile { path: path.to_owned(), start_line: Some(1), end_line: Some(1), ..ReadFile::default() };
        Some(self.inner.read_file(call, &request).ok()?.metadata.path)
    }
}

/// Decides whether a match is in the text that a model sees. A match within a secret would reveal the secret, letter by
/// letter.
struct Visible {
    query: Regex,
    /// True if the query has placeholders. Where a value is not hidden, a match would reveal that it is the value.
    has_markers: bool,
}

impl Visible {
    fn of(query: &str, query_type: QueryType) -> Visible {
        // A placeholder has no metacharacter.
        let pattern = match query_type {
            QueryType::Literal => Cow::Owned(regex::escape(query)),
            QueryType::Regex => Cow::Borrowed(query),
        };
        // A pattern that only the engine understands shows no line with a secret.
        let nothing = || Regex::new("[^\\s\\S]").expect("matches nothing");
        let has_markers = markers(query).next().is_some();
        let query = Regex::new(&pattern).unwrap_or_else(|_| nothing());
        Visible { query, has_markers }
    }

    fn shows(&self, masked: &str) -> bool {
        self.query.is_match(masked)
    }
}

/// Returns the lines of a match, with those around it.
fn lines_of(hits: &SearchMatch) -> impl Iterator<Item = &str> {
    let SearchMatch { context_before, context_after, match_text, .. } = hits;
    context_before.iter().chain([match_text]).chain(context_after).map(String::as_str)
}

/// Masks a match with the lines around it; `None` if it is within a secret.
fn mask_match<W: Workspace>(
    veil: &Veil<'_, W>,
    hits: &SearchMatch,
    visible: &Visible,
) -> Option<SearchMatch> {
    let SearchMatch { line, context_before, match_text, .. } = hits;
    let lines: Vec<&str> =
        lines_of(hits).map(|line| if is_cut(line) { veil.before_cut(line) } else { line }).collect();
    // With a line feed between two lines, as in the joined text.
    let whole = lines_of(hits).map(|line| line.len() + 1).sum::<usize>() - 1;
    let first = i64::try_from(*line).unwrap_or(i64::MAX).saturating_sub(context_before.len() as i64);
    let text = lines.join("\n");
    let masked = match veil.excerpt(&text, first) {
        Cow::Borrowed(text) if text.len() == whole => {
            if visible.has_markers && !visible.shows(match_text) {
                return None;
            }
            return Some(SearchMatch { path: veil.text(&hits.path).into_owned(), ..hits.clone() });
        }
        masked => masked,
    };
    let mut masked = masked.split('\n').map(str::to_owned);
    let context_before: Vec<String> = masked.by_ref().take(context_before.len()).collect();
    let masked_match = masked.next().unwrap_or_default();
    if (visible.has_markers || masked_match != *match_text) && !visible.shows(&masked_match) {
        // The match may be past the cut of a long line.
        let is_past_cut = is_cut(match_text)
            && veil.whole_line(*line).is_some_and(|whole| whole != *match_text && visible.shows(&whole));
        if !is_past_cut {
            return None;
        }
    }
    let path = veil.text(&hits.path).into_owned();
    Some(SearchMatch {
        path,
        line: *line,
        match_text: masked_match,
        context_before,
        context_after: masked.collect(),
    })
}

/// Checks whether an engine may have cut a line.
fn is_cut(line: &str) -> bool {
    line.len() >= Limits::MAX_MATCH_CHARACTERS && line.chars().count() >= Limits::MAX_MATCH_CHARACTERS
}
