//! The decisions about the effects of one command, and the refusals that follow from others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rel_path::RelPath;
use sandbox_fs::FileRoot;

use crate::adopt::guard::Sorted;
use crate::adopt::working_trees::{WorkingTrees, with_folders};
use crate::change::present::PresentKind;
use crate::command::effect::Effect;
use crate::git::guard::{Refusal, in_git_folder, is_index};
use crate::git::linked_contents::{
    ContentsOnDisk, LinkedContents, NamedWorktree, Remembered, content_on_disk, is_short,
};
use crate::git::linked_folders::is_linked_file;
use crate::git::reference_tables::tables_around;
use crate::git::repository_context::{decides_format, settings_of_index};
use crate::git::settings::worktree;
use crate::git::stored_names::object_checks::depends_on_objects;
use crate::git::stored_names::{Fate, store_around};

/// The parts of a repository that do not depend on the checked-out commit.
const OWN_PARTS: [&[u8]; 11] = [
    b"objects",
    b"modules",
    b"worktrees",
    b"config",
    b"config.worktree",
    b"info",
    b"hooks",
    b"description",
    b"rr-cache",
    b"lfs",
    b"annex",
];

/// The rounds in which linked files are judged again because others were refused. Ordinary work needs one or two.
pub(super) const ROUNDS: usize = 16;

/// Judges the effects at some indexes by the decisions about all.
pub(super) type Refusals<'a> = dyn Fn(&Verdicts<'_>, &[usize]) -> Vec<Option<Refusal>> + 'a;

/// The contents that follow from the decisions so far.
pub(crate) struct Decided<'a> {
    pub verdicts: &'a Verdicts<'a>,
    pub root: &'a FileRoot,
    pub disk: &'a ContentsOnDisk<'a>,
    /// Keyed by the path of the settings and a flag: whether the effect on them is adopted.
    pub worktrees: &'a Remembered<(RelPath, bool), NamedWorktree>,
}

impl LinkedContents for Decided<'_> {
    fn content(&self, path: &RelPath) -> Option<Vec<u8>> {
        let content = self.verdicts.content(path, &|path| content_on_disk(self.root, path));
        content.filter(|text| is_short(path, text.len()))
    }

    fn worktree(&self, settings: &RelPath) -> NamedWorktree {
        let Some(index) = self.verdicts.links.get(settings) else { return self.disk.worktree(settings) };
        let key = (settings.clone(), self.verdicts.is_adopted(*index));
        self.worktrees.get_or_read(key, || self.content(settings).map(|text| worktree(&text)))
    }
}

/// The decisions about effects. A refusal is final.
pub(crate) struct Verdicts<'a> {
    effects: &'a [Effect],
    refusals: Vec<Option<Refusal>>,
    /// The folders above refused effects, which cannot be removed, each with the reason of one refusal.
    staying: BTreeMap<RelPath, Refusal>,
    /// Working trees that the effects add, remove or move, and that are adopted so far.
    working_trees: WorkingTrees,
    /// The index of the effect on each path.
    positions: &'a BTreeMap<&'a RelPath, usize>,
    /// The indexes of the effects on files by which git folders point to each other.
    links: BTreeMap<&'a RelPath, usize>,
    /// The indexes of the effects that are adopted only with certain objects and references.
    references: Vec<usize>,
    /// The number of times that these were judged by the objects that are adopted.
    rounds: usize,
    /// The number of searches for moved repositories.
    pub(super) move_rounds: usize,
    /// The index files of repositories and working trees, and the shared files of split indexes. A branch may
    /// have such a name.
    indexes: BTreeSet<&'a RelPath>,
}

impl<'a> Verdicts<'a> {
    /// Decides about each effect by itself.
    pub(crate) fn new(
        effects: &'a [Effect],
        positions: &'a BTreeMap<&'a RelPath, usize>,
        workspace: Option<&Path>,
        is_data: &dyn Fn(&RelPath) -> bool,
        refusal: &dyn Fn(&Effect) -> Option<Refusal>,
    ) -> Verdicts<'a> {
        let indexes =
            effects.iter().map(|effect| &effect.path).filter(|path| is_index(path) && !is_data(path));
        let links = effects.iter().enumerate().filter(|(_, effect)| is_linked_file(&effect.path));
        let references = effects.iter().enumerate().filter(|(_, effect)| depends_on_objects(effect));
        let mut verdicts = Verdicts {
            effects,
            refusals: effects.iter().map(refusal).collect(),
            staying: BTreeMap::new(),
            working_trees: WorkingTrees::all(effects, workspace),
            positions,
            links: links.map(|(index, effect)| (&effect.path, index)).collect(),
            references: references.map(|(index, _)| index).collect(),
            rounds: 0,
            move_rounds: 0,
            indexes: indexes.collect(),
        };
        verdicts.refuse_what_depends();
        verdicts
    }

    /// Decides about the files that point to each other, each by the future content of the others. A refused file
    /// keeps its old content, so files that fitted the new content are judged again.
    pub(crate) fn judge_links(&mut self, refusal: &dyn Fn(&Verdicts<'_>, &Effect) -> Option<Refusal>) {
        for round in 0.. {
            let allowed = self.links.values().copied().filter(|index| self.refusals[*index].is_none());
            let judged = allowed.map(|index| {
                let effect = &self.effects[index];
                // A command could make a chain of them that needs a round for each. Other files have such names, too.
                let is_cut = round >= ROUNDS && in_git_folder(&effect.path).is_some();
                (index, if is_cut { Some(Refusal::Redirection) } else { refusal(self, effect) })
            });
            let refused: Vec<_> = judged.filter(|(_, refused)| refused.is_some()).collect();
            if refused.is_empty() {
                return;
            }
            for (index, why) in refused {
                self.refusals[index] = why;
            }
            self.refuse_what_depends();
        }
    }

    /// Decides about the files with references, each by the objects adopted so far. Returns true if one is refused:
    /// others may depend on it.
    pub(crate) fn judge_references(&mut self, refusals: &Refusals<'_>) -> bool {
        let allowed = self.references.iter().copied().filter(|index| self.refusals[*index].is_none());
        let allowed: Vec<_> = allowed.collect();
        // A command could make a chain of repositories that needs a round for each.
        let is_cut = self.rounds >= ROUNDS;
        let judged = if is_cut {
            let is_git = |index: &usize| in_git_folder(&self.effects[*index].path).is_some();
            allowed.iter().map(|index| is_git(index).then_some(Refusal::MissingObject)).collect()
        } else {
            refusals(self, &allowed)
        };
        self.rounds += 1;
        let mut is_refused = false;
        for (index, why) in allowed.into_iter().zip(judged) {
            is_refused |= why.is_some();
            self.refusals[index] = why;
        }
        if is_refused {
            self.keep_packed_objects();
            self.refuse_what_depends();
        }
        is_refused
    }

    /// Returns the fate of an effect according to the decisions so far.
    pub(crate) fn fate(&self, index: usize) -> Fate {
        match &self.refusals[index] {
            Some(Refusal::ObjectCache) => Fate::Dropped,
            None if self.is_adopted(index) => Fate::Adopted,
            _ => Fate::Refused,
        }
    }

    /// Keeps the files that git needs along with an object file that stays because its change or removal is refused on
    /// a layer: all packs in a list, and the index of a pack. Git removes superfluous ones when it collects garbage.
    pub(crate) fn keep_packs_whole(&mut self) {
        let (mut folders, mut stems) = (BTreeSet::new(), BTreeSet::new());
        for (effect, why) in self.refused().filter(|(effect, _)| effect.before.is_some()) {
            let path = &effect.path;
            let is_list = path.file_name().is_some_and(|name| name.starts_with(b"multi-pack-index"));
            match (why, path.as_bytes().strip_suffix(b".pack")) {
                (Refusal::LargeObject, Some(stem)) => drop(stems.insert(stem.to_vec())),
                (Refusal::ObjectCache, _) if is_list => {
                    let folder = path.parent();
                    let is_of_layers = |folder: &RelPath| folder.file_name() == Some(b"multi-pack-index.d");
                    let packs =
                        folder.as_ref().filter(|folder| is_of_layers(folder)).and_then(RelPath::parent);
                    folders.extend(packs.or(folder));
                }
                _ => {}
            }
        }
        if folders.is_empty() && stems.is_empty() {
            return;
        }
        self.refuse_all(&Refusal::ObjectCache, &|effect| {
            let path = &effect.path;
            let stem = || {
                let bytes = path.as_bytes();
                bytes.iter().rposition(|byte| *byte == b'.').map(|dot| &bytes[..dot])
            };
            let is_pack = || path.file_name().is_some_and(|name| name.starts_with(b"pack-"));
            effect.after.is_none()
                && is_pack()
                && (path.parent().is_some_and(|folder| folders.contains(&folder))
                    || stem().is_some_and(|stem| stems.contains(stem)))
        });
        self.refuse_what_depends();
    }

    /// Keeps removed objects of a repository if an added one is refused: git removes objects that it has packed.
    pub(crate) fn keep_packed_objects(&mut self) {
        let is_new = |effect: &Effect| effect.before.is_none() && effect.after.is_some();
        let refused = self.refused().filter(|(effect, why)| is_new(effect) && **why != Refusal::ObjectCache);
        let stores: BTreeSet<RelPath> =
            refused.filter_map(|(effect, _)| store_around(&effect.path)).collect();
        if stores.is_empty() {
            return;
        }
        self.refuse_all(&Refusal::OnlyObject, &|effect| {
            let is_removed = effect.after.is_none() && effect.kind_before() == Some(PresentKind::File);
            is_removed && store_around(&effect.path).is_some_and(|store| stores.contains(&store))
        });
        self.refuse_what_depends();
    }

    /// Returns the future content of a file according to the decisions so far. `on_disk` reads the current content.
    pub(crate) fn content(
        &self,
        path: &RelPath,
        on_disk: &dyn Fn(&RelPath) -> Option<Vec<u8>>,
    ) -> Option<Vec<u8>> {
        let Some(index) = self.positions.get(path) else { return on_disk(path) };
        let effect = &self.effects[*index];
        if self.is_adopted(*index) {
            return effect.text_after().map(<[u8]>::to_vec);
        }
        match effect.text_before() {
            Some(text) => Some(text.to_vec()),
            // A file whose content exceeded the limits still exists.
            None if effect.kind_before() == Some(PresentKind::File) => on_disk(path),
            None => None,
        }
    }

    /// Returns the effects sorted by decision, without those that would remove a folder that stays.
    pub(crate) fn sorted(&self) -> Sorted {
        let mut sorted = Sorted { working_trees: self.working_trees.clone(), ..Sorted::default() };
        for (index, effect) in self.effects.iter().enumerate() {
            match &self.refusals[index] {
                Some(Refusal::ObjectCache) => sorted.dropped.push(effect.clone()),
                Some(refusal) => sorted.refused.push((effect.clone(), refusal.clone())),
                None if self.is_adopted(index) => sorted.allowed.push(effect.clone()),
                None => {}
            }
        }
        sorted
    }

    fn is_adopted(&self, index: usize) -> bool {
        let effect = &self.effects[index];
        let removes_folder = effect.kind_before() == Some(PresentKind::Folder) && effect.after.is_none();
        self.refusals[index].is_none() && !(removes_folder && self.staying.contains_key(&effect.path))
    }

    pub(super) fn effects(&self) -> &'a [Effect] {
        self.effects
    }

    pub(super) fn refused(&self) -> impl Iterator<Item = (&'a Effect, &Refusal)> {
        self.effects.iter().zip(&self.refusals).filter_map(|(effect, why)| Some((effect, why.as_ref()?)))
    }

    /// Iterates over the effects that are not refused so far.
    pub(super) fn allowed(&self) -> impl Iterator<Item = &'a Effect> {
        self.effects.iter().zip(&self.refusals).filter(|(_, why)| why.is_none()).map(|(effect, _)| effect)
    }

    /// Refuses all allowed effects for which `depends` returns true, with the reason `why`.
    pub(super) fn refuse_all(&mut self, why: &Refusal, depends: &dyn Fn(&Effect) -> bool) {
        self.refuse_each(&|effect| depends(effect).then(|| why.clone()));
    }

    /// Refuses the allowed effects for which `why` returns a reason.
    pub(super) fn refuse_each(&mut self, why: &dyn Fn(&Effect) -> Option<Refusal>) {
        for (effect, refusal) in self.effects.iter().zip(&mut self.refusals) {
            if refusal.is_none() {
                *refusal = why(effect);
            }
        }
    }

    /// Refuses effects that depend on refused ones.
    pub(super) fn refuse_what_depends(&mut self) {
        // In this order: each depends on the refusals of those before.
        self.keep_indexes_whole();
        self.keep_tables_whole();
        self.keep_packed_references();
        self.keep_working_trees_whole();
        self.keep_out_of_refused_folders();
        let mut staying = BTreeMap::new();
        for (effect, why) in self.refused().filter(|(effect, _)| effect.before.is_some()) {
            for folder in std::iter::successors(effect.path.parent(), RelPath::parent) {
                staying.entry(folder).or_insert_with(|| why.clone());
            }
        }
        self.staying = staying;
        // The entry that would replace one of them has no room.
        for (effect, refusal) in self.effects.iter().zip(&mut self.refusals) {
            let replaces_folder = effect.kind_before() == Some(PresentKind::Folder)
                && !matches!(effect.kind_after(), None | Some(PresentKind::Folder));
            if replaces_folder && refusal.is_none() {
                *refusal = self.staying.get(&effect.path).cloned();
            }
        }
    }

    /// Refuses the contents of refused new folders.
    fn keep_out_of_refused_folders(&mut self) {
        let folder = Some(PresentKind::Folder);
        let is_new = |effect: &Effect| effect.kind_after() == folder && effect.kind_before() != folder;
        let refused = self.refused().filter(|(effect, _)| is_new(effect));
        let folders: BTreeMap<RelPath, Refusal> =
            refused.map(|(effect, why)| (effect.path.clone(), why.clone())).collect();
        if folders.is_empty() {
            return;
        }
        for (effect, refusal) in self.effects.iter().zip(&mut self.refusals) {
            if refusal.is_none() {
                let mut around = std::iter::successors(effect.path.parent(), RelPath::parent);
                *refusal = around.find_map(|folder| folders.get(&folder).cloned());
            }
        }
    }

    /// Refuses a whole index if a part of it is refused, for any reason: git reads a split index together with its
    /// shared index, and the previous one may need files that the command removed.
    fn keep_indexes_whole(&mut self) {
        // An index that was judged by settings refused since would be read differently.
        let settings: BTreeSet<RelPath> = self
            .refused()
            .filter(|(effect, _)| decides_format(effect))
            .map(|(effect, _)| effect.path.clone())
            .collect();
        if !settings.is_empty() {
            let is_of = |effect: &Effect| {
                is_index(&effect.path)
                    && settings_of_index(&effect.path).iter().flatten().any(|path| settings.contains(path))
            };
            self.refuse_all(&Refusal::IndexWithoutSettings, &is_of);
        }
        let refused = self.refused().filter(|(effect, _)| self.indexes.contains(&effect.path));
        let folders: BTreeSet<RelPath> = refused.filter_map(|(effect, _)| effect.path.parent()).collect();
        if !folders.is_empty() {
            let is_part = |effect: &Effect| {
                is_index(&effect.path) && effect.path.parent().is_some_and(|folder| folders.contains(&folder))
            };
            self.refuse_all(&Refusal::SplitIndex, &is_part);
        }
        self.keep_heads_with_indexes();
    }

    /// Refuses the checked-out commit and the state of unfinished work in an existing repository whose index is
    /// refused. Relative to a different commit, an index is a set of changes that revert that commit.
    fn keep_heads_with_indexes(&mut self) {
        let is_main =
            |effect: &&Effect| self.indexes.contains(&effect.path) && in_git_folder(&effect.path).is_some();
        let refused = self.refused().map(|(effect, _)| effect).filter(is_main);
        let mut repositories: BTreeSet<RelPath> = refused.filter_map(|effect| effect.path.parent()).collect();
        if repositories.is_empty() {
            return;
        }
        // A working tree's branch belongs to the repository around it.
        let around = |folder: &RelPath| {
            folder.parent().filter(|all| all.file_name() == Some(b"worktrees")).and_then(|all| all.parent())
        };
        let around: Vec<RelPath> = repositories.iter().filter_map(around).collect();
        repositories.extend(around);
        let is_new_head =
            |effect: &&Effect| effect.before.is_none() && effect.path.file_name() == Some(b"HEAD");
        let new: BTreeSet<RelPath> =
            self.effects.iter().filter(is_new_head).filter_map(|head| head.path.parent()).collect();
        repositories.retain(|folder| !new.contains(folder));
        self.refuse_all(&Refusal::WithoutIndex, &|effect| {
            let names: Vec<_> = effect.path.components().collect();
            with_folders(&effect.path).filter(|folder| repositories.contains(folder)).any(|folder| {
                names.get(folder.components().count()).is_some_and(|name| !OWN_PARTS.contains(name))
            })
        });
    }

    /// Refuses all reftables of a repository if a part is refused, for any reason: git reads all that are listed.
    fn keep_tables_whole(&mut self) {
        let folders: BTreeSet<RelPath> =
            self.refused().filter_map(|(effect, _)| tables_around(&effect.path)).collect();
        if !folders.is_empty() {
            let is_part =
                |effect: &Effect| tables_around(&effect.path).is_some_and(|folder| folders.contains(&folder));
            self.refuse_all(&Refusal::SplitTables, &is_part);
        }
    }

    /// Keeps removed references if the list into which git packs them is refused.
    fn keep_packed_references(&mut self) {
        let is_list = |effect: &Effect| effect.path.file_name() == Some(b"packed-refs");
        let lists = self.refused().filter(|(effect, _)| is_list(effect));
        let folders: BTreeSet<RelPath> =
            lists.filter_map(|(effect, _)| effect.path.parent()?.child(b"refs").ok()).collect();
        if !folders.is_empty() {
            let is_removed = |effect: &Effect| {
                effect.after.is_none() && with_folders(&effect.path).any(|folder| folders.contains(&folder))
            };
            self.refuse_all(&Refusal::OnlyReference, &is_removed);
        }
    }

    /// Refuses a whole working tree if a needed part is refused.
    fn keep_working_trees_whole(&mut self) {
        // Git does not need files that it computes itself.
        let is_needed = |why: &Refusal| *why != Refusal::ObjectCache;
        let refused = self.refusals.iter().enumerate().filter(|(_, why)| why.as_ref().is_some_and(is_needed));
        let refused = refused.map(|(index, _)| index).chain(self.heads_without_branches()).collect();
        for index in self.working_trees.take_split(self.effects, refused) {
            self.refusals[index].get_or_insert(Refusal::WorkingTree);
        }
    }

    /// Returns the indexes of the effects on the `HEAD` of new working trees that point to a refused branch.
    fn heads_without_branches(&self) -> Vec<usize> {
        let leads_nowhere = |effect: &Effect| {
            let is_head = effect.before.is_none() && effect.path.file_name() == Some(b"HEAD");
            let record = if is_head { effect.path.parent()? } else { return None };
            let all = record.parent().filter(|all| all.file_name() == Some(b"worktrees"))?;
            let name = effect.text_after()?.strip_prefix(b"ref: ")?;
            let name = RelPath::from_bytes(name.trim_ascii()).ok()?;
            let branch = self.positions.get(&all.parent()?.join(&name).ok()?)?;
            self.refusals[*branch].as_ref().map(drop)
        };
        let heads = self.effects.iter().enumerate();
        heads.filter(|(_, effect)| leads_nowhere(effect).is_some()).map(|(index, _)| index).collect()
    }
}
