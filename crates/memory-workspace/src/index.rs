//! An index in memory.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use wap_core::{
    AstNode, Call, CodeHit, CodeIndex, CodeSymbol, DiagnoseImpact, DiagnoseImpactResponse, Freshness,
    ImpactEdge, IndexError, IndexState, ListSymbols, ListSymbolsResponse, ReadAst, ReadAstResponse,
    ReadImpact, ReadImpactResponse, ReadSnippet, ReadSnippetResponse, SearchCode, SearchCodeResponse,
    UnresolvedImport,
};

/// A [`CodeIndex`] over texts in memory, for tests of adapters and clients.
///
/// Its searches count words, a line that begins with a word of a few languages is a symbol, a line `import FILE` is a dependency,
/// and a syntax tree is the lines. Each file is one document, named `doc:` and its path. The test scripts its state, stale files
/// and failures.
///
/// ```
/// use memory_workspace::MemoryIndex;
/// use wap_core::{Call, CancelFlag, CodeIndex, ConversationId, Origin, Retention, RunKey, SearchCode};
///
/// let index = MemoryIndex::with_files([("src/login.rs", "fn login() {}\n")]);
/// let origin = Origin {
///     conversation: ConversationId("test".into()),
///     run: RunKey::unnumbered("1"),
///     step: 0,
///     retention: Retention::Process,
/// };
/// let call = Call { origin: &origin, cancel: &CancelFlag::new(), time_left: None };
/// let response = index.search(&call, &SearchCode { query: "login".into(), limit: 3 })?;
/// assert_eq!(response.hits[0].path, "src/login.rs");
/// # Ok::<(), wap_core::IndexError>(())
/// ```
#[derive(Debug, Default)]
pub struct MemoryIndex {
    files: BTreeMap<String, String>,
    scripted: Mutex<Scripted>,
}

/// The state and failure that a test scripted.
#[derive(Debug, Default)]
struct Scripted {
    freshness: Freshness,
    failure: Option<IndexError>,
}

impl MemoryIndex {
    /// Returns an index of some files, by canonical path.
    #[must_use]
    pub fn with_files<P: Into<String>, C: Into<String>>(
        files: impl IntoIterator<Item = (P, C)>,
    ) -> MemoryIndex {
        let files = files.into_iter().map(|(path, content)| (path.into(), content.into()));
        MemoryIndex { files: files.collect(), scripted: Mutex::default() }
    }

    /// Makes every later answer report this state of the index.
    pub fn set_state(&self, state: IndexState) {
        self.scripted().freshness.state = state;
    }

    /// Makes every later answer that contains the file report it as changed.
    pub fn mark_stale(&self, path: &str) {
        let stale = &mut self.scripted().freshness.stale_paths;
        stale.push(path.to_owned());
        stale.sort();
    }

    /// Makes every later call fail, until `None` is set.
    pub fn set_failure(&self, failure: Option<IndexError>) {
        self.scripted().failure = failure;
    }

    fn scripted(&self) -> MutexGuard<'_, Scripted> {
        self.scripted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check(&self, call: &Call<'_>) -> Result<(), IndexError> {
        // Check this before the scripted failure: a cancelled call is reported as such in any state.
        if call.cancel.is_cancelled() {
            return Err(IndexError::Cancelled);
        }
        self.scripted().failure.clone().map_or(Ok(()), Err)
    }

    fn freshness<'a>(&self, answered: impl IntoIterator<Item = &'a str>) -> Freshness {
        let scripted = self.scripted();
        // Only the paths of the answer: a real index does not report stale files that the answer does not use.
        let answered: Vec<&str> = answered.into_iter().collect();
        let stale = scripted.freshness.stale_paths.iter().filter(|path| answered.contains(&path.as_str()));
        Freshness { state: scripted.freshness.state, stale_paths: stale.cloned().collect() }
    }

    fn content(&self, file: &str) -> Result<&str, IndexError> {
        let content = self.files.get(file).map(String::as_str);
        content.ok_or_else(|| IndexError::UnknownFile { file: file.to_owned() })
    }

    /// Returns the files that a file imports.
    fn imports(&self, file: &str) -> impl Iterator<Item = (u64, &str)> {
        let content = self.files.get(file).map_or("", String::as_str);
        (1..)
            .zip(content.lines())
            .filter_map(|(number, line)| Some((number, line.strip_prefix("import ")?.trim())))
    }

    fn edges(&self, step: impl Fn(&str) -> Vec<String>, file: &str, max_depth: u32) -> Vec<ImpactEdge> {
        let mut depths: BTreeMap<String, u32> = BTreeMap::new();
        let mut here = vec![file.to_owned()];
        for depth in 1..=max_depth {
            let next: Vec<String> = here.iter().flat_map(|one| step(one)).collect();
            // Files import each other in circles: each counts once, at its smallest depth.
            here = next.into_iter().filter(|one| one != file && !depths.contains_key(one)).collect();
            if here.is_empty() {
                break;
            }
            depths.extend(here.iter().map(|one| (one.clone(), depth)));
        }
        let edge = |(file, depth)| ImpactEdge { file, kind: "import".to_owned(), depth };
        depths.into_iter().map(edge).collect()
    }
}

impl CodeIndex for MemoryIndex {
    fn search(&self, call: &Call<'_>, request: &SearchCode) -> Result<SearchCodeResponse, IndexError> {
        self.check(call)?;
        let words: Vec<String> = request.query.split_whitespace().map(str::to_lowercase).collect();
        let mut hits: Vec<CodeHit> =
            self.files.iter().filter_map(|(path, text)| hit(path, text, &words)).collect();
        hits.sort_by(|left, right| {
            // Equal scores are ordered by path, so that a test sees the same hits in every run.
            right.score.total_cmp(&left.score).then_with(|| left.path.cmp(&right.path))
        });
        hits.truncate(request.limit as usize);
        let freshness = self.freshness(hits.iter().map(|hit| hit.path.as_str()));
        Ok(SearchCodeResponse { hits, freshness })
    }

    fn snippet(&self, call: &Call<'_>, request: &ReadSnippet) -> Result<ReadSnippetResponse, IndexError> {
        self.check(call)?;
        let file = self.files.get_key_value(request.doc_id.strip_prefix("doc:").unwrap_or(&request.doc_id));
        let (path, text) =
            file.ok_or_else(|| IndexError::UnknownDocument { doc_id: request.doc_id.clone() })?;
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let window = lines.len().min(request.window_lines as usize);
        Ok(ReadSnippetResponse {
            path: path.clone(),
            content: lines[..window].concat(),
            line_start: Some(1),
            line_end: Some(window as u64),
            total_lines: Some(lines.len() as u64),
            is_truncated: false,
            freshness: self.freshness([path.as_str()]),
        })
    }

    fn symbols(&self, call: &Call<'_>, request: &ListSymbols) -> Result<ListSymbolsResponse, IndexError> {
        self.check(call)?;
        let symbols =
            (1..).zip(self.content(&request.file)?.lines()).filter_map(|(number, line)| symbol(number, line));
        Ok(ListSymbolsResponse {
            symbols: symbols.collect(),
            freshness: self.freshness([request.file.as_str()]),
        })
    }

    fn ast(&self, call: &Call<'_>, request: &ReadAst) -> Result<ReadAstResponse, IndexError> {
        self.check(call)?;
        let lines: Vec<&str> = self.content(&request.file)?.lines().collect();
        let node = |(number, line): (u64, &&str)| AstNode {
            kind: "line".to_owned(),
            depth: 0,
            line_start: number,
            column_start: 1,
            line_end: number,
            column_end: line.len() as u64 + 1,
        };
        Ok(ReadAstResponse {
            nodes: (1..).zip(&lines).take(request.max_nodes as usize).map(node).collect(),
            total_nodes: lines.len() as u64,
            freshness: self.freshness([request.file.as_str()]),
        })
    }

    fn impact(&self, call: &Call<'_>, request: &ReadImpact) -> Result<ReadImpactResponse, IndexError> {
        self.check(call)?;
        self.content(&request.file)?;
        let resolved = |file: &str| {
            let imports = self.imports(file).map(|(_, name)| name.to_owned());
            imports.filter(|name| self.files.contains_key(name)).collect::<Vec<_>>()
        };
        let importers = |file: &str| {
            let all = self.files.keys().filter(|one| self.imports(one).any(|(_, name)| name == file));
            all.cloned().collect::<Vec<_>>()
        };
        let unresolved = self.imports(&request.file).filter(|(_, name)| !self.files.contains_key(*name));
        Ok(ReadImpactResponse {
            inbound: self.edges(importers, &request.file, request.max_depth),
            outbound: self.edges(resolved, &request.file, request.max_depth),
            unresolved: unresolved.count() as u64,
            freshness: self.freshness([request.file.as_str()]),
        })
    }

    fn impact_diagnostics(
        &self,
        call: &Call<'_>,
        request: &DiagnoseImpact,
    ) -> Result<DiagnoseImpactResponse, IndexError> {
        self.check(call)?;
        if let Some(file) = &request.file {
            self.content(file)?;
        }
        let files = self.files.keys().filter(|file| request.file.as_ref().is_none_or(|only| only == *file));
        let all: Vec<_> = files
            .flat_map(|file| self.imports(file).map(move |(line, name)| (file, line, name)))
            .filter(|(_, _, name)| !self.files.contains_key(*name))
            .map(|(file, line, name)| UnresolvedImport { file: file.clone(), line, import: name.to_owned() })
            .collect();
        let total = all.len() as u64;
        let passed_over = usize::try_from(request.offset).unwrap_or(usize::MAX);
        let diagnostics: Vec<_> = all.into_iter().skip(passed_over).take(request.limit as usize).collect();
        let freshness = self.freshness(diagnostics.iter().map(|one| one.file.as_str()));
        Ok(DiagnoseImpactResponse { diagnostics, total, freshness })
    }
}

/// Scores a file for a search; `None` if no word occurs in it.
fn hit(path: &str, text: &str, words: &[String]) -> Option<CodeHit> {
    let mut score = 0_u32;
    let mut first = None;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.to_lowercase();
        let hit_words = words.iter().filter(|word| line.contains(word.as_str())).count();
        if hit_words > 0 {
            score += u32::try_from(hit_words).unwrap_or(u32::MAX);
            first.get_or_insert(number);
        }
    }
    let line_start: u64 = first?;
    let skipped = usize::try_from(line_start - 1).unwrap_or(usize::MAX);
    let snippet: Vec<&str> = text.split_inclusive('\n').skip(skipped).take(3).collect();
    Some(CodeHit {
        doc_id: format!("doc:{path}"),
        path: path.to_owned(),
        score: f64::from(score),
        line_start,
        line_end: line_start + snippet.len() as u64 - 1,
        snippet: snippet.concat(),
        token_estimate: text.len().div_ceil(4) as u64,
    })
}

fn symbol(number: u64, line: &str) -> Option<CodeSymbol> {
    let kinds = [("fn ", "function"), ("def ", "function"), ("struct ", "struct"), ("class ", "class")];
    let (kind, rest) = kinds.iter().find_map(|(word, kind)| Some((*kind, line.strip_prefix(word)?)))?;
    let end =
        rest.find(|character: char| !character.is_alphanumeric() && character != '_').unwrap_or(rest.len());
    Some(CodeSymbol {
        name: rest[..end].to_owned(),
        kind: kind.to_owned(),
        signature: line.trim_end_matches([' ', '{', ':', '}']).to_owned(),
        line_start: number,
        line_end: number,
        container: None,
    })
}
