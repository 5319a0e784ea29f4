//! The dependencies between files.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use wap_core::{Call, ImpactEdge, IndexError, ReadImpactResponse, UnresolvedImport};

use crate::error::store_failed;
use crate::index::{LocalIndex, check};
use crate::outline::manifests::{Manifests, is_manifest};
use crate::resolve::{Lead, Project};
use crate::store::packed_outline::imports;

/// The most files to which an import leads individually. More form a group that all imports leading to them share: otherwise a
/// namespace of a thousand files that all import it would need a million pairs.
const MOST_SINGLE_FILES: usize = 8;

/// The longest time for resolving all imports, for a caller without a time limit.
const LONGEST_RESOLVING: Duration = Duration::from_secs(60);

/// The resolved imports of all files.
#[derive(Debug)]
pub(crate) struct Graph {
    paths: Vec<String>,
    numbers: HashMap<String, usize>,
    /// The imports of each file.
    files: Vec<FileEdges>,
    groups: Vec<Group>,
    /// Sorted by file and line.
    unresolved: Vec<UnresolvedImport>,
}

/// The dependencies of one file, each with its kind.
#[derive(Debug, Default)]
struct FileEdges {
    /// The files that it depends on.
    outbound: Vec<(usize, String)>,
    outbound_groups: Vec<(usize, String)>,
    /// The files that depend on it.
    inbound: Vec<(usize, String)>,
    /// The groups that it is in.
    member_of: Vec<usize>,
}

/// Files to which imports lead as a group.
#[derive(Debug)]
struct Group {
    members: Vec<usize>,
    /// The files that depend on all of them, each with the kind.
    inbound: Vec<(usize, String)>,
}

/// A direction of following edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Inbound,
    Outbound,
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
                let visible = self.source.visible(&present.content);
                manifests.add(&file.path, &String::from_utf8_lossy(&visible.bytes));
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
        let began = Instant::now();
        let numbers = project.files.iter().enumerate().map(|(number, file)| (file.path.clone(), number));
        let mut graph = Graph {
            paths: project.files.iter().map(|file| file.path.clone()).collect(),
            numbers: numbers.collect(),
            files: project.files.iter().map(|_| FileEdges::default()).collect(),
            groups: Vec::new(),
            unresolved: Vec::new(),
        };
        let mut groups: HashMap<Vec<usize>, usize> = HashMap::new();
        for (number, file) in project.files.iter().enumerate() {
            let mut kept = HashSet::new();
            for import in imports(&file.imports) {
                check(call, began)?;
                if began.elapsed() > LONGEST_RESOLVING {
                    return Err(IndexError::TimedOut);
                }
                match project.resolve(number, &import) {
                    Lead::To(targets) if targets.len() > MOST_SINGLE_FILES => {
                        let group =
                            *groups.entry(targets).or_insert_with_key(|targets| graph.add_group(targets));
                        if kept.insert((Err(group), import.kind.clone())) {
                            graph.files[number].outbound_groups.push((group, import.kind.clone()));
                            graph.groups[group].inbound.push((number, import.kind));
                        }
                    }
                    Lead::To(targets) => {
                        for target in targets.into_iter().filter(|target| *target != number) {
                            if kept.insert((Ok(target), import.kind.clone())) {
                                graph.files[number].outbound.push((target, import.kind.clone()));
                                graph.files[target].inbound.push((number, import.kind.clone()));
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
        graph.unresolved.sort_by(|one, other| (&one.file, one.line).cmp(&(&other.file, other.line)));
        Ok(graph)
    }

    fn add_group(&mut self, members: &[usize]) -> usize {
        let group = self.groups.len();
        members.iter().for_each(|member| self.files[*member].member_of.push(group));
        self.groups.push(Group { members: members.to_vec(), inbound: Vec::new() });
        group
    }

    /// Returns the dependencies and dependents of a file; `None` if the file is not indexed.
    pub(crate) fn impact(&self, file: &str, max_depth: u32) -> Option<ReadImpactResponse> {
        let start = *self.numbers.get(file)?;
        let unresolved = self.unresolved.iter().filter(|one| one.file == file).count() as u64;
        Some(ReadImpactResponse {
            inbound: self.edges(Direction::Inbound, start, max_depth),
            outbound: self.edges(Direction::Outbound, start, max_depth),
            unresolved,
            ..ReadImpactResponse::default()
        })
    }

    /// Returns the reachable files, breadth first: each at its smallest depth, once for each kind of dependency
    /// that leads to it there.
    fn edges(&self, direction: Direction, start: usize, max_depth: u32) -> Vec<ImpactEdge> {
        let mut edges: BTreeMap<(&str, &str), u32> = BTreeMap::new();
        let mut depths: HashMap<usize, u32> = HashMap::from([(start, 0)]);
        let mut here = vec![start];
        let mut followed = HashSet::new();
        for depth in 1..=max_depth {
            let mut further = Vec::new();
            let mut reach = |other: usize, kind| {
                // An edge counts at the smallest depth at which its file is reached.
                let least = *depths.entry(other).or_insert_with(|| {
                    further.push(other);
                    depth
                });
                if least == depth {
                    edges.insert((&self.paths[other], kind), depth);
                }
            };
            here.iter().for_each(|file| self.follow(direction, *file, &mut followed, &mut reach));
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

    /// Calls `reach` with the direct dependencies of a file. Each group is followed once for each kind of dependency: following
    /// it again would reach the same files no sooner.
    fn follow<'g>(
        &'g self,
        direction: Direction,
        file: usize,
        followed: &mut HashSet<(usize, &'g str)>,
        reach: &mut dyn FnMut(usize, &'g str),
    ) {
        let edges = &self.files[file];
        match direction {
            Direction::Outbound => {
                edges.outbound.iter().for_each(|(other, kind)| reach(*other, kind));
                for (group, kind) in &edges.outbound_groups {
                    if followed.insert((*group, kind)) {
                        self.groups[*group].members.iter().for_each(|member| reach(*member, kind));
                    }
                }
            }
            Direction::Inbound => {
                edges.inbound.iter().for_each(|(other, kind)| reach(*other, kind));
                for group in &edges.member_of {
                    if followed.insert((*group, "")) {
                        self.groups[*group].inbound.iter().for_each(|(other, kind)| reach(*other, kind));
                    }
                }
            }
        }
    }

    /// Returns the unresolved imports of one file or of all; `None` if the file is not indexed.
    pub(crate) fn unresolved(&self, file: Option<&str>) -> Option<Vec<&UnresolvedImport>> {
        if file.is_some_and(|file| !self.numbers.contains_key(file)) {
            return None;
        }
        Some(self.unresolved.iter().filter(|one| file.is_none_or(|file| one.file == file)).collect())
    }
}
