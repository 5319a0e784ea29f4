//! A code index whose answers hold no secrets.

use std::ops::Deref;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use wap_core::{
    Call, CodeHit, CodeIndex, DiagnoseImpact, DiagnoseImpactResponse, IndexError, ListSymbols,
    ListSymbolsResponse, ReadAst, ReadAstResponse, ReadImpact, ReadImpactResponse, ReadSnippet,
    ReadSnippetResponse, SearchCode, SearchCodeResponse,
};

use crate::exposure::exposed;
use crate::key_lines::KeyLines;
use crate::new_values::NewValues;
use crate::private_key::has_body_line;
use crate::surroundings::{CUT, Surroundings, without_cut_secrets};
use crate::withheld::{Verdict, Withheld};
use crate::{Secrets, json};

/// The lines on both sides of a piece among which the first and the last line of a private key are looked for: the whole file, and
/// those of which an index gives as many in any case.
const MOST_AROUND_LINES: u32 = 1_000_000;
const AROUND_LINES: u32 = 200;

/// The most bytes of a query or name into which values are put back; with more of them, they are left out.
const MOST_REQUEST_BYTES: usize = 64 * 1_024;

/// A code index for a model: masks what another one answers, and leaves out files of credentials. `I` is a pointer to that.
///
/// Without [`Secrets`] everything passes as it is.
#[derive(Clone, Debug)]
pub struct PlaceholderIndex<I> {
    inner: I,
    secrets: Option<Arc<Secrets>>,
    withheld: Withheld,
}

impl<I: Deref<Target: CodeIndex>> PlaceholderIndex<I> {
    /// Returns an index over another one; `None` shows secrets as they are.
    pub fn new(inner: I, secrets: Option<Arc<Secrets>>, withheld: Withheld) -> PlaceholderIndex<I> {
        PlaceholderIndex { inner, secrets, withheld }
    }

    fn masked<T: Serialize + DeserializeOwned>(&self, answer: T) -> T {
        match &self.secrets {
            Some(secrets) => json::masked(answer, &|text| secrets.mask(text)),
            None => answer,
        }
    }

    fn restored(&self, text: &str) -> String {
        let restored = self.secrets.as_ref().and_then(|secrets| {
            // Hits of a short value would tell which of the visible words it is.
            let restored = secrets.restore_within(text, MOST_REQUEST_BYTES).ok()?;
            exposed(secrets, text).is_none().then(|| restored.into_owned())
        });
        restored.unwrap_or_else(|| text.to_owned())
    }

    /// Returns an error without secrets: what the request named, in the words of the request.
    fn failed(&self, named: &str, error: IndexError) -> IndexError {
        let Some(secrets) = &self.secrets else { return error };
        let mask = |text: String| {
            let is_named =
                secrets.restore_within(named, MOST_REQUEST_BYTES).is_ok_and(|restored| restored == text);
            if is_named { named.to_owned() } else { secrets.mask(&text).into_owned() }
        };
        match error {
            IndexError::UnknownDocument { doc_id } => IndexError::UnknownDocument { doc_id: mask(doc_id) },
            IndexError::UnknownFile { file } => IndexError::UnknownFile { file: mask(file) },
            IndexError::UnknownLanguage { file } => IndexError::UnknownLanguage { file: mask(file) },
            IndexError::Failed { cause } => IndexError::Failed { cause: secrets.mask(&cause).into_owned() },
            error => error,
        }
    }

    fn is_visible(&self, path: &str) -> bool {
        // Without a look at the content: an index has better files to offer.
        self.secrets.is_none() || self.withheld.verdict(path) == Verdict::Visible
    }

    /// Refuses a file of credentials like one that is not in the index.
    fn check_visible(&self, named: &str, file: &str) -> Result<(), IndexError> {
        if self.is_visible(file) { Ok(()) } else { Err(IndexError::UnknownFile { file: named.to_owned() }) }
    }
}

impl<I: Deref<Target: CodeIndex>> PlaceholderIndex<I> {
    /// Masks lines of a piece of a file together with those [`around`](Self::lines_around) them; `None` if they are shown as they are.
    fn masked_lines(&self, file: Option<String>, lines: &str) -> Option<String> {
        let secrets = self.secrets.as_ref()?;
        let is_cut = lines.contains(CUT);
        let mut keys = KeyLines::default();
        let mut around = Vec::new();
        if let Some(file) = file {
            keys.add(&file);
            around.push(Surroundings::new(secrets, file));
        }
        let kept = if is_cut { without_cut_secrets(secrets, lines, &around, |_| 0) } else { None };
        Some(secrets.mask_with(kept.as_deref().unwrap_or(lines), &keys).into_owned())
    }

    /// Gives placeholders to the values of all pieces of an answer, and of what is around them, at once.
    fn keep_values(&self, hits: &[CodeHit], files: &[Option<String>]) {
        let Some(secrets) = &self.secrets else { return };
        let mut values = NewValues::default();
        for (hit, file) in hits.iter().zip(files) {
            // Where a piece is cut, a part of a value is not one.
            let lines = Some(&hit.snippet).filter(|lines| !lines.contains(CUT));
            for text in [&hit.doc_id, &hit.path].into_iter().chain(lines).chain(file) {
                secrets.add_values(text, &KeyLines::default(), &mut values);
            }
        }
        secrets.keep_all(&values);
    }

    /// Returns the file of a piece, or the lines around it if the index does not give as many. `None` if the piece is looked at alone: it
    /// was not cut, and has no line that may be a part of a private key.
    fn lines_around(&self, call: &Call<'_>, doc_id: &str, lines: &str) -> Option<String> {
        if self.secrets.is_none() || !lines.contains(CUT) && !has_body_line(lines) {
            return None;
        }
        let count = u32::try_from(lines.lines().count()).unwrap_or(u32::MAX);
        let read = |around: u32| {
            let window_lines = count.saturating_add(around.saturating_mul(2));
            self.inner.snippet(call, &ReadSnippet { doc_id: doc_id.to_owned(), window_lines }).ok()
        };
        let around = read(MOST_AROUND_LINES).or_else(|| read(AROUND_LINES));
        around.map(|around| around.content)
    }
}

impl<I: Deref<Target: CodeIndex> + Send + Sync> CodeIndex for PlaceholderIndex<I> {
    fn search(&self, call: &Call<'_>, request: &SearchCode) -> Result<SearchCodeResponse, IndexError> {
        let restored = SearchCode { query: self.restored(&request.query), limit: request.limit };
        let mut response =
            self.inner.search(call, &restored).map_err(|error| self.failed(&request.query, error))?;
        response.hits.retain(|hit| self.is_visible(&hit.path));
        let files: Vec<Option<String>> =
            response.hits.iter().map(|hit| self.lines_around(call, &hit.doc_id, &hit.snippet)).collect();
        self.keep_values(&response.hits, &files);
        // Taken out of the answer: its other texts are masked, and what is masked would be masked again.
        let mask = |(hit, file): (&mut CodeHit, Option<String>)| {
            self.masked_lines(file, &hit.snippet).inspect(|_| hit.snippet.clear())
        };
        let masked: Vec<Option<String>> = response.hits.iter_mut().zip(files).map(mask).collect();
        let mut response = self.masked(response);
        for (hit, masked) in response.hits.iter_mut().zip(masked) {
            hit.snippet = masked.unwrap_or_else(|| std::mem::take(&mut hit.snippet));
        }
        Ok(response)
    }

    fn snippet(&self, call: &Call<'_>, request: &ReadSnippet) -> Result<ReadSnippetResponse, IndexError> {
        let restored = ReadSnippet { doc_id: self.restored(&request.doc_id), ..request.clone() };
        let read = self.inner.snippet(call, &restored).map_err(|error| self.failed(&request.doc_id, error));
        let mut read = read?;
        if !self.is_visible(&read.path) {
            return Err(IndexError::UnknownDocument { doc_id: request.doc_id.clone() });
        }
        let file = self.lines_around(call, &restored.doc_id, &read.content);
        let masked = self.masked_lines(file, &read.content);
        let content = masked.unwrap_or_else(|| read.content.clone());
        read.content.clear();
        Ok(ReadSnippetResponse { content, ..self.masked(read) })
    }

    fn symbols(&self, call: &Call<'_>, request: &ListSymbols) -> Result<ListSymbolsResponse, IndexError> {
        let restored = ListSymbols { file: self.restored(&request.file) };
        self.check_visible(&request.file, &restored.file)?;
        let listed =
            self.inner.symbols(call, &restored).map_err(|error| self.failed(&request.file, error))?;
        Ok(self.masked(listed))
    }

    fn ast(&self, call: &Call<'_>, request: &ReadAst) -> Result<ReadAstResponse, IndexError> {
        let restored = ReadAst { file: self.restored(&request.file), ..request.clone() };
        self.check_visible(&request.file, &restored.file)?;
        let read = self.inner.ast(call, &restored).map_err(|error| self.failed(&request.file, error))?;
        Ok(self.masked(read))
    }

    fn impact(&self, call: &Call<'_>, request: &ReadImpact) -> Result<ReadImpactResponse, IndexError> {
        let restored = ReadImpact { file: self.restored(&request.file), ..request.clone() };
        let read = self.inner.impact(call, &restored).map_err(|error| self.failed(&request.file, error))?;
        Ok(self.masked(read))
    }

    fn impact_diagnostics(
        &self,
        call: &Call<'_>,
        request: &DiagnoseImpact,
    ) -> Result<DiagnoseImpactResponse, IndexError> {
        let named = request.file.as_deref().unwrap_or_default();
        let file = request.file.as_ref().map(|file| self.restored(file));
        let read = self.inner.impact_diagnostics(call, &DiagnoseImpact { file, ..request.clone() });
        Ok(self.masked(read.map_err(|error| self.failed(named, error))?))
    }
}
