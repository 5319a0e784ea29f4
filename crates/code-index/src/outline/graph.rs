//! The dependencies between files.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError};

use wap_core::{Call, ImpactEdge, IndexError, ReadImpactResponse, UnresolvedImport};

use crate::error::store_failed;
use crate::index::LocalIndex;
use crate::outline::manifests::{Manifests, is_manifest};
use crate::resolve::{Lead, Project};
use crate::store::packed_outline::imports;

/// The resolved imports of all files.
#[derive(Debug)]
pub(crate) struct Graph {
    paths: Vec<String>,
    numbers: HashMap<String, usize>,
    /// For each file the files that it depends on, with the kind of dependency.
    outbound: Vec<Vec<(usize, String)>>,
    inbound: Vec<Vec<(usize, String)>>,
    /// Sorted by file and line.
    unresolved: Vec<UnresolvedImport>,
}

impl LocalIndex {
    /// Returns the current graph; rebuilds it if an import, a definition or a manifest has changed.
    pub(crate) fn graph(&self, call: &Call<'_>) -> Result<Arc<Graph>, IndexError> {
        let mut kept = self.graph.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = |error: rusqlite::Error| store_failed(&error);
        let number = self.store.graph_number().map_err(failed)?;
        if let Some((kept_number, graph)) = kept.as_ref()
            && *kept_number == number
        {
            return Ok(Arc::clone(graph));
        }
        let files = self.store.importing().map_err(failed)?;
        let mut manifests = Manifests::default();
        for file in files.iter().filter(|file| is_manifest(&file.path)) {
            if let Some(present) = self.present(&file.path) {
                manifests.add(&file.path, &String::from_utf8_lossy(&present.content));
            }
        }
        let project = Project::new(files, manifests);
        let graph = Arc::new(Graph::new(&project, call)?);
        *kept = Some((number, Arc::clone(&graph)));
        Ok(graph)
    }
}

impl Graph {
    fn new(project: &Project, call: &Call<'_>) -> Result<Graph, IndexError> {
        let count = project.files.len();
        let mut graph = Graph {
            paths: project.files.iter().map(|file| file.path.clone()).collect(),
            numbers: project
                .files
                .iter()
                .enumerate()
                .map(|(number, file)| (file.path.clone(), number))
                .collect(),
            outbound: vec![Vec::new(); count],
            inbound: vec![Vec::new(); count],
            unresolved: Vec::new(),
        };
        for (number, file) in project.files.iter().enumerate() {
            if call.cancel.is_cancelled() {
                return Err(IndexError::Cancelled);
            }
            for import in imports(&file.imports) {
                match project.resolve(number, &import) {
                    Lead::To(targets) => {
                        for target in targets.into_iter().filter(|target| *target != number) {
                            let edges = &mut graph.outbound[number];
                            if !edges.iter().any(|(other, kind)| *other == target && *kind == import.kind) {
                                edges.push((target, import.kind.clone()));
                                graph.inbound[target].push((number, import.kind.clone()));
                            }
                        }
                    }
                    Lead::Outside => {}
                    Lead::Nowhere => graph.unresolved.push(UnresolvedImport {
                        file: file.path.clone(),
                        line: u64::from(import.line),
                        import: import.spelled,
                    }),
                }
            }
        }
        let order = |one: &UnresolvedImport| (one.file.clone(), one.line);
        graph.unresolved.sort_by_key(order);
        Ok(graph)
    }

    /// Returns the dependencies and dependents of a file; `None` if the file is not indexed.
    pub(crate) fn impact(&self, file: &str, max_depth: u32) -> Option<ReadImpactResponse> {
        let start = *self.numbers.get(file)?;
        let unresolved = self.unresolved.iter().filter(|one| one.file == file).count() as u64;
        Some(ReadImpactResponse {
            inbound: self.edges(&self.inbound, start, max_depth),
            outbound: self.edges(&self.outbound, start, max_depth),
            unresolved,
            ..ReadImpactResponse::default()
        })
    }

    /// Returns the reachable files, breadth first: each at its smallest depth, once for each kind of dependency
    /// that leads to it there.
    fn edges(&self, next: &[Vec<(usize, String)>], start: usize, max_depth: u32) -> Vec<ImpactEdge> {
        let mut edges: BTreeMap<(&str, &str), u32> = BTreeMap::new();
        let mut depths: HashMap<usize, u32> = HashMap::from([(start, 0)]);
        let mut here = vec![start];
        for depth in 1..=max_depth {
            let mut further = Vec::new();
            for (other, kind) in here.iter().flat_map(|file| &next[*file]) {
                // An edge counts at the smallest depth at which its file is reached.
                let least = *depths.entry(*other).or_insert_with(|| {
                    further.push(*other);
                    depth
                });
                if least == depth {
                    edges.insert((&self.paths[*other], kind), depth);
                }
            }
            if further.is_empty() {
                break;
            }
            here = further;
        }
        let edge = |((file, kind), depth): ((&str, &str), u32)| ImpactEdge {
            file: file.to_owned(),
            kind: kind.to_owned(),
            depth,
        };
        edges.into_iter().map(edge).collect()
    }

    /// Returns the unresolved imports of one file or of all; `None` if the file is not indexed.
    pub(crate) fn unresolved(&self, file: Option<&str>) -> Option<Vec<&UnresolvedImport>> {
        if file.is_some_and(|file| !self.numbers.contains_key(file)) {
            return None;
        }
        Some(self.unresolved.iter().filter(|one| file.is_none_or(|file| one.file == file)).collect())
    }
}
