//! The local index.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rel_path::RelPath;
use wap_core::{
    AstNode, Call, CodeIndex, CodeSymbol, DiagnoseImpact, DiagnoseImpactResponse, Freshness, IndexError,
    IndexState, ListSymbols, ListSymbolsResponse, ReadAst, ReadAstResponse, ReadImpact, ReadImpactResponse,
    ReadSnippet, ReadSnippetResponse, SearchCode, SearchCodeResponse,
};

use crate::error::{OpenError, store_failed};
use crate::language::Language;
use crate::limits::IndexLimits;
use crate::lines::Lines;
use crate::outline::graph::Graph;
use crate::outline::signature;
use crate::outline::syntax::Parsers;
use crate::refresh::folder_source::FolderSource;
use crate::refresh::prepare;
use crate::refresh::prepare::ContentHash;
use crate::status::IndexStatus;
use crate::store::packed_outline::definitions;
use crate::store::store_folder::{StoreFolder, StoreState};
use crate::store::{Store, StoredFile, doc_id};

/// An index of the code in a folder, stored in another folder.
///
/// Threads may share it, and several processes may open the same index. During a refresh it answers from the files stored so far.
#[derive(Debug)]
pub struct LocalIndex {
    pub(crate) store: Store,
    pub(crate) source: FolderSource,
    pub(crate) limits: IndexLimits,
    pub(crate) refreshing: Mutex<()>,
    pub(crate) graph: Mutex<Option<(i64, Arc<Graph>)>>,
    /// Set while reported changes are not applied yet: the store is complete then, but not current.
    pub(crate) is_outdated: AtomicBool,
}

/// The state of the store when an index was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// The store was usable.
    Existing,
    /// There was no store; an empty one was created.
    Created,
    /// The store was damaged or of another version; an empty one replaced it.
    Replaced,
}

/// The current content of a file.
pub(crate) struct Present {
    pub(crate) content: Vec<u8>,
    pub(crate) hash: ContentHash,
}

impl LocalIndex {
    /// Opens the index stored in `folder`, and creates that folder if needed. Reads no source files yet: see
    /// [`LocalIndex::refresh`].
    ///
    /// # Errors
    ///
    /// The folder or the store cannot be used.
    pub fn open(
        folder: &Path,
        source: FolderSource,
        limits: IndexLimits,
    ) -> Result<(LocalIndex, Opening), OpenError> {
        let (store, state) = Store::open(StoreFolder::new(folder)?)?;
        let opening = match state {
            StoreState::Sound => Opening::Existing,
            StoreState::Missing => Opening::Created,
            StoreState::Replaced => Opening::Replaced,
        };
        let (refreshing, graph) = (Mutex::new(()), Mutex::new(None));
        let is_outdated = AtomicBool::new(false);
        Ok((LocalIndex { store, source, limits, refreshing, graph, is_outdated }, opening))
    }

    /// Returns the state and size of the index.
    ///
    /// # Errors
    ///
    /// [`IndexError::Failed`].
    pub fn status(&self) -> Result<IndexStatus, IndexError> {
        let totals = self.store.totals().map_err(|error| store_failed(&error))?;
        Ok(IndexStatus {
            state: self.state(totals.is_complete, totals.texts > 0),
            files: totals.files,
            texts: totals.texts,
            text_bytes: totals.text_bytes,
            store_bytes: self.store.bytes(),
        })
    }

    /// Empties the store; the next refresh reads all files again.
    ///
    /// # Errors
    ///
    /// The store cannot be rebuilt.
    pub fn clear(&self) -> Result<(), OpenError> {
        self.store.replace()
    }

    pub(crate) fn freshness(&self, stale_paths: Vec<String>) -> Result<Freshness, IndexError> {
        let (is_complete, has_texts) = self.store.state().map_err(|error| store_failed(&error))?;
        Ok(Freshness { state: self.state(is_complete, has_texts), stale_paths })
    }

    fn state(&self, is_complete: bool, has_texts: bool) -> IndexState {
        match (is_complete && !self.is_outdated.load(Ordering::SeqCst), has_texts) {
            (true, true) => IndexState::Ready,
            (true, false) => IndexState::Empty,
            (false, _) => IndexState::Building,
        }
    }

    /// Reads the current content of a file; `None` if it would not be indexed as text.
    pub(crate) fn present(&self, path: &str) -> Option<Present> {
        let path = RelPath::parse(path).ok()?;
        // Another program may have written the store, so a path in it does not permit reading the file.
        if !self.source.may_show(&path) {
            return None;
        }
        let read = self.source.read(&path, self.limits.file_bytes)?;
        let is_text = prepare::is_text(&read.content);
        let hash = prepare::hash(&read.content);
        is_text.then_some(Present { content: read.content, hash })
    }

    /// Returns the stored entry and the current content of a file. A file that is not stored yet is also read if it would be
    /// indexed.
    fn file(&self, file: &str) -> Result<(Option<StoredFile>, Present), IndexError> {
        let unknown = || IndexError::UnknownFile { file: file.to_owned() };
        let stored = self.store.file(file).map_err(|error| store_failed(&error))?;
        let path = RelPath::parse(file).map_err(|_| unknown())?;
        // Check stored files as well: the file may have become ignored or hidden since.
        if !self.source.admits(&path) {
            return Err(unknown());
        }
        let present = self.present(file).ok_or_else(unknown)?;
        Ok((stored, present))
    }
}

/// Fails if the call was cancelled or has timed out.
pub(crate) fn check(call: &Call<'_>, began: Instant) -> Result<(), IndexError> {
    if call.cancel.is_cancelled() {
        return Err(IndexError::Cancelled);
    }
    match call.time_left {
        Some(time) if began.elapsed() >= time => Err(IndexError::TimedOut),
        _ => Ok(()),
    }
}

impl CodeIndex for LocalIndex {
    fn search(&self, call: &Call<'_>, request: &SearchCode) -> Result<SearchCodeResponse, IndexError> {
        self.search_words(call, request)
    }

    fn snippet(&self, call: &Call<'_>, request: &ReadSnippet) -> Result<ReadSnippetResponse, IndexError> {
        check(call, Instant::now())?;
        let unknown = || IndexError::UnknownDocument { doc_id: request.doc_id.clone() };
        // A caller that has not searched before passes a plain path.
        let (path, first, last) = doc_id::read(&request.doc_id).unwrap_or((&request.doc_id, 1, 1));
        let (stored, present) = self.file(path).map_err(|error| match error {
            IndexError::UnknownFile { .. } => unknown(),
            error => error,
        })?;
        let lines = Lines::new(&present.content);
        let (total, window) = (lines.count(), request.window_lines.max(1) as usize);
        let middle = first.midpoint(last).min(total);
        // The window is moved rather than cut where the file begins or ends.
        let start = middle.saturating_sub(window / 2).min((total + 1).saturating_sub(window)).max(1);
        let end = (start + window - 1).min(total);
        let stale = stored.is_some_and(|stored| stored.hash != Some(present.hash));
        Ok(ReadSnippetResponse {
            path: path.to_owned(),
            content: String::from_utf8_lossy(lines.range(start, end)).into_owned(),
            line_start: Some(start as u64),
            line_end: Some(end as u64),
            total_lines: Some(total as u64),
            is_truncated: false,
            freshness: self.freshness(if stale { vec![path.to_owned()] } else { Vec::new() })?,
        })
    }

    fn symbols(&self, call: &Call<'_>, request: &ListSymbols) -> Result<ListSymbolsResponse, IndexError> {
        check(call, Instant::now())?;
        let (stored, present) = self.file(&request.file)?;
        let visible = self.source.visible(&present.content);
        // For a file with hidden parts, the stored definitions may predate the hiding.
        let current = stored.filter(|stored| stored.hash == Some(present.hash) && !visible.has_hidden());
        let language = match &current {
            Some(current) => current.language,
            None => Language::of_text(&request.file, &present.content),
        };
        let unknown_language = || IndexError::UnknownLanguage { file: request.file.clone() };
        let language = language.ok_or_else(unknown_language)?;
        let definitions = match current {
            Some(current) => definitions(&current.definitions),
            // The file has changed or is new, so the stored definitions do not describe it, or has hidden parts.
            None => {
                let limits = self.limits_of(call);
                let outline = prepare::outline_of(
                    &mut Parsers::default(),
                    language,
                    &visible.bytes,
                    &limits,
                    call.cancel,
                );
                outline.ok_or_else(|| ended(call))?.definitions
            }
        };
        let symbols = definitions.into_iter().map(|definition| CodeSymbol {
            signature: signature(&definition, &present.content),
            name: definition.name,
            kind: definition.kind,
            line_start: u64::from(definition.line_start),
            line_end: u64::from(definition.line_end),
            container: definition.container,
        });
        Ok(ListSymbolsResponse { symbols: symbols.collect(), freshness: self.freshness(Vec::new())? })
    }

    fn ast(&self, call: &Call<'_>, request: &ReadAst) -> Result<ReadAstResponse, IndexError> {
        check(call, Instant::now())?;
        let (_, present) = self.file(&request.file)?;
        let unknown_language = || IndexError::UnknownLanguage { file: request.file.clone() };
        let language = Language::of_text(&request.file, &present.content).ok_or_else(unknown_language)?;
        let time = self.limits_of(call).parse_time;
        // The nodes within a hidden part would show its structure.
        let visible = self.source.visible(&present.content);
        let tree = Parsers::default().parse(language, &visible.bytes, time, call.cancel);
        let tree = tree.ok_or_else(|| ended(call))?;
        let mut response =
            ReadAstResponse { freshness: self.freshness(Vec::new())?, ..ReadAstResponse::default() };
        let mut cursor = tree.walk();
        // Unnamed nodes have no children, so each level is entered from a counted node.
        let mut depth = 0_u32;
        'nodes: loop {
            let node = cursor.node();
            if node.is_named() {
                response.total_nodes += 1;
                if response.nodes.len() < request.max_nodes as usize {
                    let (start, end) = (node.start_position(), node.end_position());
                    response.nodes.push(AstNode {
                        kind: node.kind().to_owned(),
                        depth,
                        line_start: start.row as u64 + 1,
                        column_start: start.column as u64 + 1,
                        line_end: end.row as u64 + 1,
                        column_end: end.column as u64 + 1,
                    });
                }
            }
            if cursor.goto_first_child() {
                depth += 1;
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    break 'nodes;
                }
                depth -= 1;
            }
        }
        Ok(response)
    }

    fn impact(&self, call: &Call<'_>, request: &ReadImpact) -> Result<ReadImpactResponse, IndexError> {
        check(call, Instant::now())?;
        let graph = self.graph(call)?;
        let stored = self.store.file(&request.file).map_err(|error| store_failed(&error))?;
        let unknown = || IndexError::UnknownFile { file: request.file.clone() };
        let stored = stored.ok_or_else(unknown)?;
        let present = self.present(&request.file);
        let stale = stored.hash.is_some() && present.is_none_or(|present| stored.hash != Some(present.hash));
        // The store may have changed since the graph was built, so the file can still be missing in it.
        let impact = graph.impact(&request.file, request.max_depth).ok_or_else(unknown)?;
        let stale_paths = if stale { vec![request.file.clone()] } else { Vec::new() };
        Ok(ReadImpactResponse { freshness: self.freshness(stale_paths)?, ..impact })
    }

    fn impact_diagnostics(
        &self,
        call: &Call<'_>,
        request: &DiagnoseImpact,
    ) -> Result<DiagnoseImpactResponse, IndexError> {
        check(call, Instant::now())?;
        let graph = self.graph(call)?;
        let unresolved = graph.unresolved(request.file.as_deref());
        let unresolved = unresolved
            .ok_or_else(|| IndexError::UnknownFile { file: request.file.clone().unwrap_or_default() })?;
        let skipped = usize::try_from(request.offset).unwrap_or(usize::MAX);
        let total = unresolved.len() as u64;
        let diagnostics: Vec<_> =
            unresolved.into_iter().skip(skipped).take(request.limit as usize).cloned().collect();
        let mut paths: Vec<&str> = diagnostics.iter().map(|one| one.file.as_str()).collect();
        // Diagnostics are sorted by file, so equal paths are adjacent.
        paths.dedup();
        let mut stale = Vec::new();
        for path in paths {
            check(call, Instant::now())?;
            let stored = self.store.file(path).map_err(|error| store_failed(&error))?;
            let hash = self.present(path).map(|present| present.hash);
            if stored.is_some_and(|stored| stored.hash != hash) {
                stale.push(path.to_owned());
            }
        }
        Ok(DiagnoseImpactResponse { diagnostics, total, freshness: self.freshness(stale)? })
    }
}

impl LocalIndex {
    /// Returns the limits with the caller's remaining time as parse time.
    fn limits_of(&self, call: &Call<'_>) -> IndexLimits {
        // A caller waits for this one file, so it may take longer than a file of a refresh.
        let time =
            call.time_left.map_or(self.limits.parse_time * 4, |left| left.min(Duration::from_secs(30)));
        IndexLimits { parse_time: time, ..self.limits }
    }
}

fn ended(call: &Call<'_>) -> IndexError {
    if call.cancel.is_cancelled() { IndexError::Cancelled } else { IndexError::TimedOut }
}
