//! Word search.
//!
//! The store ranks files by their words. The current content of the best ones is then read and scored by its
//! passages and definitions, so that a hit never shows text that has been removed.

mod excerpt;
mod matches;
mod passage;
mod queried_name;
pub(crate) mod query;
mod query_words;
mod ranking;

use std::time::Instant;

use memchr::memmem;
use wap_core::{Call, CodeHit, IndexError, SearchCode, SearchCodeResponse};

use crate::error::store_failed;
use crate::hidden_parts::VisibleContent;
use crate::index::{LocalIndex, check};
use crate::lines::Lines;
use crate::outline::Definition;
use crate::search::matches::Matches;
use crate::search::queried_name::QueriedName;
use crate::search::query::Term;
use crate::store::doc_id;
use crate::store::packed_outline::definitions;
use crate::words;

/// The least number of files that are read for a search.
const CANDIDATES: u32 = 24;
/// The most files that are read while they are small: by its words alone, a small file is ranked badly.
const SMALL_CANDIDATES: u32 = 100;
/// The number of bytes after which no more files than [`CANDIDATES`] are read.
const SMALL_BYTES: usize = 64 << 10;
/// The estimated number of bytes of a token.
const BYTES_PER_TOKEN: usize = 4;

/// The most files that are read because they may define the queried name.
const DEFINING: u32 = 24;

/// The candidates of a search, by file number.
struct Candidates {
    terms: Vec<Term>,
    /// The best files by their words.
    by_words: Vec<i64>,
    /// Files that may define the queried name.
    by_name: Vec<i64>,
}

/// A scored file.
struct ScoredFile {
    hit: CodeHit,
    is_stale: bool,
    length_bytes: usize,
}

/// Returns the number of files that are read for `limit` hits, regardless of their length.
fn least_candidates(limit: u32) -> u32 {
    limit.saturating_mul(2).clamp(CANDIDATES, 200)
}

impl LocalIndex {
    pub(crate) fn search_words(
        &self,
        call: &Call<'_>,
        request: &SearchCode,
    ) -> Result<SearchCodeResponse, IndexError> {
        let began = Instant::now();
        check(call, began)?;
        let limit = request.limit.max(1);
        let queried = QueriedName::of(&request.query);
        let Candidates { terms, by_words, by_name } =
            self.candidates(call, request, queried.as_ref(), limit)?;
        let mut scored: Vec<ScoredFile> = Vec::new();
        let (mut read, mut bytes_read) = (Vec::new(), 0);
        for candidate in by_words {
            if read.len() >= least_candidates(limit) as usize && bytes_read >= SMALL_BYTES {
                break;
            }
            check(call, began)?;
            read.push(candidate);
            let of_file = self.score_file(candidate, &terms, queried.as_ref(), false)?;
            bytes_read += of_file.as_ref().map_or(0, |one| one.length_bytes);
            scored.extend(of_file);
        }
        for candidate in by_name.into_iter().filter(|candidate| !read.contains(candidate)) {
            check(call, began)?;
            scored.extend(self.score_file(candidate, &terms, queried.as_ref(), true)?);
        }
        scored.sort_by(|left, right| {
            right.hit.score.total_cmp(&left.hit.score).then_with(|| left.hit.path.cmp(&right.hit.path))
        });
        scored.truncate(limit as usize);
        let mut stale: Vec<String> =
            scored.iter().filter(|one| one.is_stale).map(|one| one.hit.path.clone()).collect();
        // The hits are ordered by score, but the list of stale paths must not depend on it.
        stale.sort();
        let hits =
            scored.into_iter().map(|one| CodeHit { score: rounded(one.hit.score), ..one.hit }).collect();
        Ok(SearchCodeResponse { hits, freshness: self.freshness(stale)? })
    }

    fn candidates(
        &self,
        call: &Call<'_>,
        request: &SearchCode,
        queried: Option<&QueriedName<'_>>,
        limit: u32,
    ) -> Result<Candidates, IndexError> {
        let failed = |error: rusqlite::Error| store_failed(&error);
        let reader = self.store.reader();
        // A cancelled call interrupts the query itself, which may scan many files.
        let interrupt = reader.get_interrupt_handle();
        let _guard = call.cancel.on_cancel(Box::new(move || interrupt.interrupt()));
        let terms = query::terms(&reader, &request.query).map_err(failed)?;
        if terms.is_empty() {
            return Ok(Candidates { terms, by_words: Vec::new(), by_name: Vec::new() });
        }
        let least = least_candidates(limit);
        let wanted = least.max(SMALL_CANDIDATES);
        let [body, often, definitions, path] = ranking::PICKED_BY;
        // SQLite recompiles the statement for a bound limit each time, so the limit is part of the text.
        let sql = format!(
            "SELECT rowid FROM words WHERE words MATCH ?1 AND rank MATCH 'bm25({body:.2}, {often:.2}, {definitions:.2}, {path:.2})'
            ORDER BY rank LIMIT {wanted}"
        );
        let mut statement = reader.prepare_cached(&sql).map_err(failed)?;
        let mut by_words = Vec::new();
        for text in query::match_texts(&terms) {
            let rows = statement.query_map([text], |row| row.get(0));
            by_words = rows.and_then(Iterator::collect::<Result<Vec<_>, _>>).map_err(failed)?;
            if by_words.len() >= least as usize {
                break;
            }
        }
        let mut by_name = Vec::new();
        if let Some(word) = queried.and_then(QueriedName::word) {
            let sql = format!(
                "SELECT rowid FROM words WHERE words MATCH ?1 AND rank MATCH 'bm25(0.0, 0.0, 1.0, 0.0)'
                ORDER BY rank LIMIT {DEFINING}"
            );
            let mut statement = reader.prepare_cached(&sql).map_err(failed)?;
            let rows = statement.query_map([format!("definitions : \"{word}\"")], |row| row.get(0));
            by_name = rows.and_then(Iterator::collect::<Result<Vec<i64>, _>>).map_err(failed)?;
        }
        Ok(Candidates { terms, by_words, by_name })
    }

    /// Scores the current content of a file; `None` if the file no longer exists, or does not define the queried name although
    /// `has_to_define` is set.
    fn score_file(
        &self,
        candidate: i64,
        terms: &[Term],
        queried: Option<&QueriedName<'_>>,
        has_to_define: bool,
    ) -> Result<Option<ScoredFile>, IndexError> {
        let stored = self.store.file_by_id(candidate).map_err(|error| store_failed(&error))?;
        let Some(stored) = stored else { return Ok(None) };
        let mut defined = definitions(&stored.definitions);
        // Most candidates by name end here, unread.
        let path = self.source.visible_text(&stored.path);
        let of_name = |defined: &[Definition]| {
            queried.map_or_else(Vec::new, |queried| queried.definitions(&path, defined))
        };
        if has_to_define && of_name(&defined).is_empty() {
            return Ok(None);
        }
        let Some(present) = self.present(&stored.path) else { return Ok(None) };
        // Hidden parts do not count: neither a hit nor its rank may depend on them.
        let visible = self.source.visible(&present.content);
        if visible.has_hidden() {
            // The stored definitions may predate the hiding.
            defined.retain(|definition| is_visible(definition, &visible));
        }
        let named = of_name(&defined);
        if has_to_define && named.is_empty() {
            return Ok(None);
        }
        let is_stale = stored.hash != Some(present.hash);
        let lines = Lines::new(&present.content);
        let defines_queried = !named.is_empty();
        if is_stale {
            // The stored lines of definitions do not fit the current text.
            defined.clear();
        } else if defines_queried {
            defined = named;
        }
        let matches = Matches::find(&lines, &visible.bytes, terms);
        if visible.has_hidden() && matches.matches.is_empty() && !has_term(&path, terms) {
            return Ok(None);
        }
        let passage = passage::find(&lines, &matches, &defined);
        let piece = lines.bytes_of(passage.first, passage.last);
        let token_estimate = piece.len().div_ceil(BYTES_PER_TOKEN) as u64;
        let hit = CodeHit {
            doc_id: doc_id::write(&stored.path, passage.first, passage.last),
            score: ranking::score(&path, present.content.len(), terms, &matches, &passage, defines_queried),
            path: stored.path,
            snippet: excerpt::excerpt(&present.content, &visible, piece, terms),
            line_start: passage.first as u64,
            line_end: passage.last as u64,
            token_estimate,
        };
        Ok(Some(ScoredFile { hit, is_stale, length_bytes: present.content.len() }))
    }
}

/// Rounds a score to three decimals after sorting: more cost a reader tokens without a benefit.
fn rounded(score: f64) -> f64 {
    (score * 1000.0).round() / 1000.0
}

/// Checks whether the name of a definition is visible in its text.
fn is_visible(definition: &Definition, visible: &VisibleContent<'_>) -> bool {
    let (start, end) = definition.signature;
    let text = visible.bytes.get(start as usize..end as usize).unwrap_or_default();
    memmem::find(text, definition.name.as_bytes()).is_some()
}

/// Checks whether a path has a word of the query.
fn has_term(path: &str, terms: &[Term]) -> bool {
    let (mut folded, mut has_term) = (String::new(), false);
    for name in words::names(path) {
        words::words_of_name(name, &mut folded, &mut |word| {
            has_term |= terms.iter().any(|term| term.word == word);
        });
    }
    has_term
}
