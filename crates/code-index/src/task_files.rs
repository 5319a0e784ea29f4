//! Ranks the files that are relevant for a task: those that it names, those that define its names, those that match its words,
//! and those that they import or that import them.

mod task_names;

use std::collections::HashMap;

use wap_core::{Call, CodeIndex, IndexError, LineSpan, ListSymbols, ReadImpact, SearchCode, TaskFile};

use crate::error::store_failed;
use crate::index::LocalIndex;
use task_names::TaskNames;

/// The hits of a search for the words of the task.
const HITS: u32 = 40;
/// The hits of a search for the words of one clause of it.
const HITS_OF_CLAUSE: u32 = 20;
/// The hits of a search for one name of the task.
const HITS_OF_NAME: u32 = 20;
/// The best files whose imports are followed.
const FOLLOWED: usize = 10;
/// The most passages and outline lines of one file.
const PASSAGES: usize = 8;
const OUTLINE_LINES: usize = 400;

/// The score of a file that the task names by its path.
const NAMED: f64 = 4.0;
/// The score of a file below a folder that the task names by its path.
const IN_NAMED_FOLDER: f64 = 1.0;
/// The score of a file that defines a name of the task.
const DEFINES: f64 = 1.5;
/// The score of the best file that only contains a name of the task.
const MENTIONS: f64 = 0.7;
/// The score of a file whose name is the beginning of a word that no code contains: less than any whole match.
const ABBREVIATES: f64 = 0.4;
/// The score of the best file for the words of one clause.
const IN_CLAUSE: f64 = 0.6;
/// The share of the best score for the manifest of the best component, if no other component is relevant.
const MANIFEST: f64 = 0.4;
/// The factor for prose, which explains more files than a task changes.
const PROSE: f64 = 0.5;
/// The factor for files below a folder whose bare name is a word of the task.
const IN_WORD_FOLDER: f64 = 1.6;
/// The share of a file's score for the files that it imports or that import it.
const NEXT_TO: f64 = 0.5;

/// The score that separates search hits that define the queried name from all others.
const DEFINING_SCORE: f64 = 15.0;

#[derive(Default)]
struct Candidate {
    score: f64,
    passages: Vec<LineSpan>,
}

impl LocalIndex {
    /// Returns at most `limit` files that are relevant for a task in plain words, most relevant first.
    ///
    /// Works from the files indexed so far; see [`LocalIndex::refresh`].
    ///
    /// # Errors
    ///
    /// [`IndexError::Cancelled`], [`IndexError::TimedOut`], or [`IndexError::Failed`] if the store cannot be read.
    pub fn files_for_task(
        &self,
        call: &Call<'_>,
        task: &str,
        limit: usize,
    ) -> Result<Vec<TaskFile>, IndexError> {
        let paths = self.store.stamped_files().map_err(|error| store_failed(&error))?;
        let mut paths: Vec<String> = paths.into_keys().collect();
        paths.sort_unstable();
        let names = TaskNames::of(task, &paths);
        let mut candidates: HashMap<String, Candidate> = HashMap::new();
        self.add_hits(call, task, (HITS, 1.0), &mut candidates)?;
        for clause in task_names::clauses(task) {
            self.add_hits(call, clause, (HITS_OF_CLAUSE, IN_CLAUSE), &mut candidates)?;
        }
        for name in &names.names {
            self.add_definitions(call, name, &mut candidates)?;
        }
        for candidate in &mut candidates {
            if names.word_folders.iter().any(|folder| is_below(candidate.0, folder)) {
                candidate.1.score *= IN_WORD_FOLDER;
            }
        }
        for path in &names.files {
            candidates.entry(path.clone()).or_default().score += NAMED;
        }
        for (word, files) in task_names::abbreviations(task, &paths) {
            if !self.is_in_code(call, word)? {
                files.into_iter().for_each(|path| candidates.entry(path).or_default().score += ABBREVIATES);
            }
        }
        for path in paths.iter().filter(|path| names.folders.iter().any(|folder| is_below(path, folder))) {
            candidates.entry(path.clone()).or_default().score += IN_NAMED_FOLDER;
        }
        self.add_dependencies(call, &mut candidates)?;
        for (path, candidate) in &mut candidates {
            if is_prose(path) && !names.files.contains(path) {
                candidate.score *= PROSE;
            }
        }
        raise_components(&mut candidates, &manifests(&paths));
        let ranked = ranked(candidates);
        let outlined = ranked.into_iter().take(limit).map(|(path, candidate)| {
            let outline = self.outline_lines(call, &path);
            let passages = candidate.passages.into_iter().take(PASSAGES).collect();
            TaskFile { path, passages, outline }
        });
        Ok(outlined.collect())
    }

    fn add_hits(
        &self,
        call: &Call<'_>,
        words: &str,
        (limit, weight): (u32, f64),
        candidates: &mut HashMap<String, Candidate>,
    ) -> Result<(), IndexError> {
        let answer = self.search(call, &SearchCode { query: words.to_owned(), limit })?;
        let best = answer.hits.first().map_or(1.0, |hit| hit.score.max(f64::MIN_POSITIVE));
        for hit in answer.hits {
            let candidate = candidates.entry(hit.path).or_default();
            candidate.score += weight * hit.score / best;
            candidate.passages.push(LineSpan { first: hit.line_start, last: hit.line_end });
        }
        Ok(())
    }

    /// Returns true if a file other than prose contains a word.
    fn is_in_code(&self, call: &Call<'_>, word: &str) -> Result<bool, IndexError> {
        let answer = self.search(call, &SearchCode { query: word.to_owned(), limit: HITS_OF_NAME })?;
        Ok(answer.hits.iter().any(|hit| !is_prose(&hit.path)))
    }

    fn add_definitions(
        &self,
        call: &Call<'_>,
        name: &str,
        candidates: &mut HashMap<String, Candidate>,
    ) -> Result<(), IndexError> {
        let answer = self.search(call, &SearchCode { query: name.to_owned(), limit: HITS_OF_NAME })?;
        let (defining, mentioning): (Vec<_>, Vec<_>) =
            answer.hits.into_iter().partition(|hit| hit.score > DEFINING_SCORE);
        // A name that many files define hardly points to any of them.
        let share = 1.0 / (defining.len().max(1) as f64).sqrt();
        let best = mentioning.first().map_or(1.0, |hit| hit.score.max(f64::MIN_POSITIVE));
        for hit in defining {
            let candidate = candidates.entry(hit.path).or_default();
            candidate.score += DEFINES * share;
            candidate.passages.insert(0, LineSpan { first: hit.line_start, last: hit.line_end });
        }
        for hit in mentioning {
            let candidate = candidates.entry(hit.path).or_default();
            candidate.score += MENTIONS * hit.score / best;
            candidate.passages.push(LineSpan { first: hit.line_start, last: hit.line_end });
        }
        Ok(())
    }

    /// Raises the scores of files that the best ones import, or that import these.
    fn add_dependencies(
        &self,
        call: &Call<'_>,
        candidates: &mut HashMap<String, Candidate>,
    ) -> Result<(), IndexError> {
        let mut best: Vec<(String, f64)> =
            candidates.iter().map(|(path, candidate)| (path.clone(), candidate.score)).collect();
        sort_by_score(&mut best, |(path, score)| (path.as_str(), *score));
        for (path, score) in best.into_iter().take(FOLLOWED) {
            let impact = match self.impact(call, &ReadImpact { file: path, max_depth: 1 }) {
                Ok(impact) => impact,
                // Prose and data have no imports.
                Err(IndexError::UnknownFile { .. }) => continue,
                Err(error) => return Err(error),
            };
            for edges in [impact.inbound, impact.outbound] {
                // A file with many dependencies says little about each of them.
                let share = NEXT_TO * score / (edges.len().max(1) as f64).sqrt();
                for edge in edges {
                    candidates.entry(edge.file).or_default().score += share;
                }
            }
        }
        Ok(())
    }

    /// Returns the first lines of a file's definitions.
    fn outline_lines(&self, call: &Call<'_>, path: &str) -> Vec<u64> {
        let symbols = self.symbols(call, &ListSymbols { file: path.to_owned() });
        let mut lines: Vec<u64> = symbols.map_or_else(
            |_| Vec::new(),
            |answer| answer.symbols.into_iter().map(|symbol| symbol.line_start).collect(),
        );
        lines.sort_unstable();
        lines.dedup();
        lines.truncate(OUTLINE_LINES);
        lines
    }
}

/// The endings of prose.
const PROSE_ENDINGS: [&str; 3] = [".md", ".rst", ".adoc"];

fn is_prose(path: &str) -> bool {
    PROSE_ENDINGS.iter().any(|ending| path.ends_with(ending))
}

/// The names of files that make their folder a component: a package, a crate, a module.
const MANIFESTS: [&str; 12] = [
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "setup.py",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "CMakeLists.txt",
    "Makefile",
    "Gemfile",
    "composer.json",
];

/// Returns the manifests among paths, by their folders.
fn manifests(paths: &[String]) -> HashMap<&str, &str> {
    let mut manifests = HashMap::new();
    for path in paths {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        if MANIFESTS.contains(&name) {
            manifests.entry(folder).or_insert(path.as_str());
        }
    }
    manifests
}

/// Returns the folder of the component that a file belongs to: the nearest one with a manifest, else the first folder of the
/// path.
fn component<'p>(path: &'p str, manifests: &HashMap<&str, &str>) -> &'p str {
    let mut folder = path;
    while let Some((parent, _)) = folder.rsplit_once('/') {
        if manifests.contains_key(parent) {
            return parent;
        }
        folder = parent;
    }
    if manifests.contains_key("") || !path.contains('/') { "" } else { folder }
}

/// Raises the scores of the files of the components that the task is about, and adds the manifest of the first.
fn raise_components(candidates: &mut HashMap<String, Candidate>, manifests: &HashMap<&str, &str>) {
    let mut shares: HashMap<String, f64> = HashMap::new();
    let mut all = 0.0;
    for (path, candidate) in candidates.iter() {
        // Squares keep many weak matches from outweighing a few good ones.
        let weight = candidate.score * candidate.score;
        *shares.entry(component(path, manifests).to_owned()).or_default() += weight;
        all += weight;
    }
    for (path, candidate) in candidates.iter_mut() {
        candidate.score *= 1.0 + shares[component(path, manifests)] / all;
    }
    let best = shares.iter().max_by(|left, right| left.1.total_cmp(right.1).then(right.0.cmp(left.0)));
    if let Some((folder, share)) = best
        && let Some(manifest) = manifests.get(folder.as_str())
    {
        let top = candidates.values().map(|candidate| candidate.score).fold(0.0, f64::max);
        candidates.entry((*manifest).to_owned()).or_default().score += MANIFEST * top * share / all;
    }
}

fn ranked(candidates: HashMap<String, Candidate>) -> Vec<(String, Candidate)> {
    let mut ranked: Vec<(String, Candidate)> = candidates.into_iter().collect();
    sort_by_score(&mut ranked, |(path, candidate)| (path.as_str(), candidate.score));
    ranked
}

/// Sorts by descending score, and equal scores by path.
fn sort_by_score<T>(list: &mut [T], key: impl Fn(&T) -> (&str, f64)) {
    list.sort_by(|left, right| {
        let ((left_path, left), (right_path, right)) = (key(left), key(right));
        right.total_cmp(&left).then_with(|| left_path.cmp(right_path))
    });
}

/// Checks whether a path is below a folder at any depth of the tree: `crates/egress/src/lib.rs` is below `egress`.
fn is_below(path: &str, folder: &str) -> bool {
    path.match_indices(folder).any(|(at, _)| {
        let starts = at == 0 || path.as_bytes()[at - 1] == b'/';
        starts && path[at + folder.len()..].starts_with('/')
    })
}
