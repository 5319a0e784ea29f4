//! Searching by words.
//!
//! The store ranks files by their words; the best of them are then looked at as they are now, for where in them the words
//! stand together and whether they define what is asked for. So a hit never shows text that is not there any more.

mod asked_name;
mod excerpt;
mod matches;
mod passage;
pub(crate) mod query;
mod query_words;
mod ranking;

use std::time::Instant;

use wap_core::{Call, CodeHit, IndexError, SearchCode, SearchCodeResponse};

use crate::error::store_failed;
use crate::index::{LocalIndex, check};
use crate::lines::Lines;
use crate::search::asked_name::AskedName;
use crate::search::matches::Matches;
use crate::search::query::Term;
use crate::store::doc_id;
use crate::store::packed_outline::definitions;

/// How many files are looked at for a few hits.
const CANDIDATES: u32 = 24;
/// How many bytes a token is.
const BYTES_PER_TOKEN: usize = 4;

/// How many files are looked at because they may define the name that is asked for.
const DEFINING: u32 = 24;

/// Files that may be worth showing, by number.
struct Candidates {
    terms: Vec<Term>,
    /// Those that the store finds best by their words.
    by_words: Vec<i64>,
    /// Others that may define the name that is asked for.
    by_name: Vec<i64>,
}

/// A file that was looked at.
struct Seen {
    hit: CodeHit,
    is_stale: bool,
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
        let asked = AskedName::of(&request.query);
        let Candidates { terms, by_words, by_name } =
            self.candidates(call, request, asked.as_ref(), limit)?;
        let mut seen = Vec::new();
        for candidate in by_words {
            check(call, began)?;
            seen.extend(self.look_at(candidate, &terms, asked.as_ref(), false)?);
        }
        for candidate in by_name {
            check(call, began)?;
            seen.extend(self.look_at(candidate, &terms, asked.as_ref(), true)?);
        }
        seen.sort_by(|left: &Seen, right: &Seen| {
            right.hit.score.total_cmp(&left.hit.score).then_with(|| left.hit.path.cmp(&right.hit.path))
        });
        seen.truncate(limit as usize);
        let mut stale: Vec<String> =
            seen.iter().filter(|one| one.is_stale).map(|one| one.hit.path.clone()).collect();
        stale.sort();
        let hits = seen.into_iter().map(|one| one.hit).collect();
        Ok(SearchCodeResponse { hits, freshness: self.freshness(stale)? })
    }

    fn candidates(
        &self,
        call: &Call<'_>,
        request: &SearchCode,
        asked: Option<&AskedName<'_>>,
        limit: u32,
    ) -> Result<Candidates, IndexError> {
        let failed = |error: rusqlite::Error| store_failed(&error);
        let reader = self.store.reader();
        let interrupt = reader.get_interrupt_handle();
        let _guard = call.cancel.on_cancel(Box::new(move || interrupt.interrupt()));
        let terms = query::terms(&reader, &request.query).map_err(failed)?;
        if terms.is_empty() {
            return Ok(Candidates { terms, by_words: Vec::new(), by_name: Vec::new() });
        }
        let wanted = limit.saturating_mul(2).clamp(CANDIDATES, 200);
        let [body, often, definitions, path] = ranking::PICKED_BY;
        // A limit that is bound would have the statement compiled anew each time.
        let sql = format!(
            "SELECT rowid FROM words WHERE words MATCH ?1 AND rank MATCH 'bm25({body:.2}, {often:.2}, {definitions:.2}, {path:.2})'
            ORDER BY rank LIMIT {wanted}"
        );
        let mut statement = reader.prepare_cached(&sql).map_err(failed)?;
        let mut found = Vec::new();
        for text in query::match_texts(&terms) {
            let rows = statement.query_map([text], |row| row.get(0));
            found = rows.and_then(Iterator::collect::<Result<Vec<_>, _>>).map_err(failed)?;
            if found.len() >= wanted as usize {
                break;
            }
        }
        let mut by_name = Vec::new();
        if let Some(word) = asked.and_then(AskedName::word) {
            let sql = format!(
                "SELECT rowid FROM words WHERE words MATCH ?1 AND rank MATCH 'bm25(0.0, 0.0, 1.0, 0.0)'
                ORDER BY rank LIMIT {DEFINING}"
            );
            let mut statement = reader.prepare_cached(&sql).map_err(failed)?;
            let rows = statement.query_map([format!("definitions : \"{word}\"")], |row| row.get(0));
            by_name = rows.and_then(Iterator::collect::<Result<Vec<i64>, _>>).map_err(failed)?;
            by_name.retain(|file| !found.contains(file));
        }
        Ok(Candidates { terms, by_words: found, by_name })
    }

    /// Looks at a file as it is now; `None` if it is gone, or has to define the name that is asked for and does not.
    fn look_at(
        &self,
        candidate: i64,
        terms: &[Term],
        asked: Option<&AskedName<'_>>,
        has_to_define: bool,
    ) -> Result<Option<Seen>, IndexError> {
        let stored = self.store.file_by_id(candidate).map_err(|error| store_failed(&error))?;
        let Some(stored) = stored else { return Ok(None) };
        let mut defined = definitions(&stored.definitions);
        let named = asked.map_or_else(Vec::new, |asked| asked.definitions(&stored.path, &defined));
        if has_to_define && named.is_empty() {
            return Ok(None);
        }
        let Some(present) = self.present(&stored.path) else { return Ok(None) };
        let is_stale = stored.hash != Some(present.hash);
        let lines = Lines::new(&present.content);
        let defines_asked = !named.is_empty();
        if is_stale {
            // Lines of definitions mean the text that was stored.
            defined.clear();
        } else if defines_asked {
            defined = named;
        }
        let matches = Matches::find(&lines, &present.content, terms);
        let passage = passage::find(&lines, &matches, &defined);
        let piece = lines.range(passage.first, passage.last);
        let hit = CodeHit {
            doc_id: doc_id::write(&stored.path, passage.first, passage.last),
            score: ranking::score(
                &stored.path,
                present.content.len(),
                terms,
                &matches,
                &passage,
                defines_asked,
            ),
            path: stored.path,
            snippet: excerpt::excerpt(piece, terms),
            line_start: passage.first as u64,
            line_end: passage.last as u64,
            token_estimate: piece.len().div_ceil(BYTES_PER_TOKEN) as u64,
        };
        Ok(Some(Seen { hit, is_stale }))
    }
}
