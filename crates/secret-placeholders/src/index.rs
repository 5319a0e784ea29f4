//! A code index whose answers contain no secrets.

mod file_text;
mod query_words;

use std::ops::{Deref, Range};
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use wap_core::{
    Call, CodeHit, CodeIndex, CodeSymbol, DiagnoseImpact, DiagnoseImpactResponse, IndexError, ListSymbols,
    ListSymbolsResponse, ReadAst, ReadAstResponse, ReadImpact, ReadImpactResponse, ReadSnippet,
    ReadSnippetResponse, SearchCode, SearchCodeResponse,
};

use self::file_text::FileText;
use self::query_words::QueryWords;
use crate::exposure::exposed;
use crate::key_lines::KeyLines;
use crate::new_values::NewValues;
use crate::private_key::has_body_line;
use crate::surroundings::{CUT, without_cut_end, without_cut_start};
use crate::withheld::{Verdict, Withheld};
use crate::{Secrets, json, markers};

/// The number of lines on each side of an excerpt that are searched for the boundaries of a private key: the whole
/// file, and the number that every index returns.
const MOST_AROUND_LINES: u32 = 1_000_000;
const AROUND_LINES: u32 = 200;

/// The maximum length of a query or name with restored values; in longer ones, placeholders are removed.
const MOST_REQUEST_BYTES: usize = 64 * 1_024;

/// A code index for a model: masks the answers of an inner index, and leaves out files of credentials. `I` is a pointer
/// to the inner index.
///
/// Without [`Secrets`], everything passes unchanged.
#[derive(Clone, Debug)]
pub struct PlaceholderIndex<I> {
    inner: I,
    /// A separate index from which files are read; `None` for the same.
    files: Option<I>,
    secrets: Option<Arc<Secrets>>,
    withheld: Withheld,
}

impl Secrets {
    /// Returns the bytes of a text that [`mask`](Self::mask) would replace, sorted and disjoint, without giving them
    /// placeholders: these must not be indexed.
    #[must_use]
    pub fn hidden_parts(&self, text: &str) -> Vec<Range<usize>> {
        self.ranges(text)
    }
}

impl<I: Deref<Target: CodeIndex>> PlaceholderIndex<I> {
    /// Returns an index over another; `None` shows secrets as they are.
    pub fn new(inner: I, secrets: Option<Arc<Secrets>>, withheld: Withheld) -> PlaceholderIndex<I> {
        PlaceholderIndex { inner, files: None, secrets, withheld }
    }

    /// Reads the files of an answer from another index: the inner one may not find files by path.
    #[must_use]
    pub fn reading_files_of(self, files: I) -> PlaceholderIndex<I> {
        PlaceholderIndex { files: Some(files), ..self }
    }

    fn masked<T: Serialize + DeserializeOwned>(&self, answer: T) -> T {
        match &self.secrets {
            Some(secrets) => json::masked(answer, &|text| secrets.mask(text)),
            None => answer,
        }
    }

    fn restored(&self, text: &str) -> String {
        let restored = self.secrets.as_ref().and_then(|secrets| {
            // Hits of a short value would reveal which of the visible words it is.
            let restored = secrets.restore_within(text, MOST_REQUEST_BYTES).ok()?;
            exposed(secrets, text).is_none().then(|| restored.into_owned())
        });
        restored.unwrap_or_else(|| text.to_owned())
    }

    /// Returns an error without secrets, which names the requested item as the request does.
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
        // By name alone, without reading the content: other files are more useful in an index.
        self.secrets.is_none() || self.withheld.verdict(path) == Verdict::Visible
    }

    /// Refuses a file of credentials like one that is not in the index.
    fn check_visible(&self, named: &str, file: &str) -> Result<(), IndexError> {
        if self.is_visible(file) { Ok(()) } else { Err(IndexError::UnknownFile { file: named.to_owned() }) }
    }
}

impl<I: Deref<Target: CodeIndex>> PlaceholderIndex<I> {
    /// Masks lines of a piece of a file together with those [`around`](Self::lines_around) them; `None` if they are
    /// shown unchanged.
    fn masked_lines(&self, file: Option<String>, lines: &str) -> Option<String> {
        let secrets = self.secrets.as_ref()?;
        let mut keys = KeyLines::default();
        if let Some(file) = &file {
            keys.add(file);
        }
        if !lines.contains(CUT) {
            return Some(secrets.mask_with(lines, &keys).into_owned());
        }
        let file = FileText::new(secrets, file.unwrap_or_default());
        let is_cut = |line: &&str| line.contains(CUT);
        // Cut lines are masked separately, and are left empty among the others.
        let others: Vec<&str> = lines.split('\n').map(|line| if is_cut(&line) { "" } else { line }).collect();
        let others = secrets.mask_with(&others.join("\n"), &keys).into_owned();
        let masked: Vec<String> = lines
            .split('\n')
            .zip(others.split('\n'))
            .map(
                |(line, masked)| {
                    if is_cut(&line) { masked_cut_line(secrets, &file, line) } else { masked.to_owned() }
                },
            )
            .collect();
        Some(masked.join("\n"))
    }

    /// Gives placeholders to the values of all excerpts of an answer and their surroundings at once.
    fn keep_values(&self, hits: &[CodeHit], files: &[Option<String>]) {
        let Some(secrets) = &self.secrets else { return };
        let mut values = NewValues::default();
        for (hit, file) in hits.iter().zip(files) {
            // Where an excerpt is cut, a part of a value is not a value.
            let lines = Some(&hit.snippet).filter(|lines| !lines.contains(CUT));
            for text in [&hit.doc_id, &hit.path].into_iter().chain(lines).chain(file) {
                secrets.add_values(text, &KeyLines::default(), &mut values);
            }
        }
        secrets.keep_all(&values);
    }

    /// Returns the text of a file to search for names, signatures and imports of an answer; `None` if it cannot be read
    /// whole.
    fn file_text(&self, call: &Call<'_>, secrets: &Secrets, path: &str) -> Option<FileText> {
        let files = self.files.as_ref().unwrap_or(&self.inner);
        let request = ReadSnippet { doc_id: path.to_owned(), window_lines: MOST_AROUND_LINES };
        let read =
            files.snippet(call, &request).ok().filter(|read| !read.is_truncated && read.path == path)?;
        let count = read.content.lines().count() as u64;
        let is_whole = read.total_lines.is_none_or(|total| total <= count);
        is_whole.then(|| FileText::new(secrets, read.content).collapsed())
    }

    /// Returns the file of an excerpt, or the lines around it if the index returns fewer. `None` if the excerpt is
    /// examined alone: it was not cut, and has no line that may be part of a private key.
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
        let Some(secrets) = &self.secrets else { return self.inner.search(call, request) };
        // The words of a restored value would match visible ones and so reveal them.
        let query = without_markers(&request.query);
        let words = QueryWords::of(&query);
        let searched = self.inner.search(call, &SearchCode { query, limit: request.limit });
        let mut response = searched.map_err(|error| self.failed(&request.query, error))?;
        response.hits.retain(|hit| self.is_visible(&hit.path));
        let files: Vec<Option<String>> =
            response.hits.iter().map(|hit| self.lines_around(call, &hit.doc_id, &hit.snippet)).collect();
        self.keep_values(&response.hits, &files);
        let mask = |(hit, file): (&CodeHit, Option<String>)| {
            self.masked_lines(file, &hit.snippet).unwrap_or_else(|| hit.snippet.clone())
        };
        let mut masked: Vec<String> = response.hits.iter().zip(files).map(mask).collect();
        // A hit that shows no word of the query would reveal that a value contains one.
        let shows = |hit: &CodeHit, masked: &str| {
            let path = secrets.mask(&hit.path);
            hit.snippet == masked && hit.path == path
                || [masked, &*path].iter().any(|text| words.may_stand_in(&without_markers(text)))
        };
        let is_visible: Vec<bool> =
            response.hits.iter().zip(&masked).map(|(hit, masked)| shows(hit, masked)).collect();
        let (mut of_hits, mut of_masked) = (is_visible.iter(), is_visible.iter());
        response.hits.retain(|_| of_hits.next() == Some(&true));
        masked.retain(|_| of_masked.next() == Some(&true));
        // Restored afterwards: the other texts are masked next, and these must not be masked twice.
        response.hits.iter_mut().for_each(|hit| hit.snippet.clear());
        let mut response = self.masked(response);
        for (hit, masked) in response.hits.iter_mut().zip(masked) {
            hit.snippet = masked;
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
        let Some(secrets) = &self.secrets else { return Ok(listed) };
        let file = self.file_text(call, secrets, &restored.file);
        let symbols = listed.symbols.into_iter().map(|symbol| masked_symbol(secrets, file.as_ref(), symbol));
        Ok(ListSymbolsResponse { symbols: symbols.collect(), freshness: self.masked(listed.freshness) })
    }

    fn ast(&self, call: &Call<'_>, request: &ReadAst) -> Result<ReadAstResponse, IndexError> {
        let restored = ReadAst { file: self.restored(&request.file), ..request.clone() };
        self.check_visible(&request.file, &restored.file)?;
        let read = self.inner.ast(call, &restored).map_err(|error| self.failed(&request.file, error))?;
        Ok(self.masked(read))
    }

    fn impact(&self, call: &Call<'_>, request: &ReadImpact) -> Result<ReadImpactResponse, IndexError> {
        let restored = ReadImpact { file: self.restored(&request.file), ..request.clone() };
        self.check_visible(&request.file, &restored.file)?;
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
        if let Some(file) = &file {
            self.check_visible(named, file)?;
        }
        let read = self.inner.impact_diagnostics(call, &DiagnoseImpact { file, ..request.clone() });
        let mut read = read.map_err(|error| self.failed(named, error))?;
        let Some(secrets) = &self.secrets else { return Ok(read) };
        read.diagnostics.retain(|one| self.is_visible(&one.file));
        let mut imports = Vec::with_capacity(read.diagnostics.len());
        for in_file in read.diagnostics.chunk_by(|one, next| one.file == next.file) {
            let file = self.file_text(call, secrets, &in_file[0].file);
            imports.extend(in_file.iter().map(|one| masked_name(secrets, file.as_ref(), &one.import, None)));
        }
        read.diagnostics.iter_mut().for_each(|one| one.import.clear());
        let mut read = self.masked(read);
        for (one, import) in read.diagnostics.iter_mut().zip(imports) {
            one.import = import;
        }
        Ok(read)
    }
}

/// Masks a line that was cut at its start, its end, or in between.
fn masked_cut_line(secrets: &Secrets, file: &FileText, line: &str) -> String {
    let whole = 0..usize::MAX;
    let last = line.matches(CUT).count();
    let parts = line.split(CUT).enumerate().map(|(number, part)| {
        if part.is_empty() {
            return String::new();
        }
        file.visible(part, number == 0, &whole).unwrap_or_else(|| {
            let part = if number > 0 { without_cut_start(secrets, part) } else { part };
            let part = if number < last { without_cut_end(secrets, part) } else { part };
            secrets.mask(part).into_owned()
        })
    });
    parts.collect::<Vec<_>>().join(&CUT.to_string())
}

/// Masks a definition by the text of its file. Without the file, nothing of it can be shown safely.
fn masked_symbol(secrets: &Secrets, file: Option<&FileText>, symbol: CodeSymbol) -> CodeSymbol {
    let lines = file.map(|file| file.lines(symbol.line_start, symbol.line_end));
    let container = symbol.container.map(|name| masked_name(secrets, file, &name, None));
    CodeSymbol {
        name: masked_name(secrets, file, &symbol.name, lines.clone()),
        kind: secrets.mask(&symbol.kind).into_owned(),
        signature: masked_signature(secrets, file, &symbol.signature, lines),
        container,
        ..symbol
    }
}

/// Masks a name that occurs in some lines of a file, or anywhere in it.
fn masked_name(
    secrets: &Secrets,
    file: Option<&FileText>,
    name: &str,
    lines: Option<Range<usize>>,
) -> String {
    let Some(file) = file else { return CUT.to_string() };
    if file.is_clean() {
        return secrets.mask(name).into_owned();
    }
    let visible = file.name(name, &lines.unwrap_or(0..usize::MAX));
    if visible == name { secrets.mask(name).into_owned() } else { visible }
}

/// Masks a signature, which is on one line and may have been cut.
fn masked_signature(
    secrets: &Secrets,
    file: Option<&FileText>,
    signature: &str,
    lines: Option<Range<usize>>,
) -> String {
    let (Some(file), Some(lines)) = (file, lines) else { return CUT.to_string() };
    if file.is_clean() {
        return secrets.mask(signature).into_owned();
    }
    let (part, cut) = match signature.strip_suffix(CUT) {
        Some(part) => (part, "…"),
        None => (signature, ""),
    };
    let visible = file.visible(part, false, &lines).map_or_else(|| CUT.to_string(), |visible| visible + cut);
    // A rule may recognise on one line a value that it misses on several.
    secrets.mask_rest(&visible).into_owned()
}

/// Returns a text without the placeholders in it.
fn without_markers(text: &str) -> String {
    let (mut kept, mut end) = (String::with_capacity(text.len()), 0);
    for (range, _) in markers(text) {
        kept.push_str(&text[end..range.start]);
        kept.push(' ');
        end = range.end;
    }
    kept + &text[end..]
}
