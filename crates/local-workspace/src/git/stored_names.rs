//! The names of the objects that a repository has, loose and in packs.

mod needed_objects;
pub(crate) mod object_checks;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Bound, Deref};
use std::rc::Rc;

use git_index::{ObjectFormat, ObjectKind, ObjectName, PackIndex, is_object_file, references_in_table};
use rel_path::RelPath;
use sandbox_fs::{FileKind, FileRoot, FsError};

use crate::change::present::PresentKind;
use crate::command::effect::{Effect, EffectSide};
use crate::git::linked_contents::Remembered;
use crate::git::stored_names::needed_objects::{Gaps, LIST_BYTES};

/// The maximum number of bytes of the indexes of a repository's packs that are read: about two million objects.
const INDEX_BYTES: u64 = 64 << 20;

/// The largest table of references that is read for the objects that it names, in bytes.
const TABLE_BYTES: u64 = 16 << 20;

/// The maximum inflated size of the new objects of one command. A tree of a few kilobytes may have a million entries.
const INFLATED_BYTES: usize = if cfg!(test) { 1 << 20 } else { 256 << 20 };

#[cfg(test)]
thread_local! {
    /// The number of indexes of packs that this thread has read.
    pub(crate) static INDEXES_READ: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    /// The number of objects that this thread has looked up and examined.
    pub(crate) static OBJECTS_JUDGED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// The outcome of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Adopted,
    /// The previous state stays, or is restored.
    Refused,
    /// The same, unreported. Without a layer, both new and previous files are removed.
    Dropped,
}

/// Returns the object store in which a file is named like an object or a part of a pack.
pub(crate) fn store_around(path: &RelPath) -> Option<RelPath> {
    let (pack, name) = (path.parent()?, path.file_name()?);
    let (store, pack) = (pack.parent()?, pack.file_name()?.to_vec());
    is_object_file([store.file_name()?, &pack, name]).then_some(store)
}

/// The objects of the workspace's repositories, with those added by a command.
pub(crate) struct StoredNames<'a> {
    root: &'a FileRoot,
    effects: &'a [Effect],
    positions: &'a BTreeMap<&'a RelPath, usize>,
    is_layered: bool,
    read: ReadStores,
}

/// The contents read so far, by the folders of repositories.
#[derive(Debug, Default)]
struct ReadStores {
    /// The pack indexes, on disk and among the effects; `None` if the packs cannot be listed.
    indexes: Remembered<RelPath, Option<Rc<Vec<RelPath>>>>,
    /// The contents of indexes on disk; `None` if one cannot be read.
    contents: Remembered<RelPath, Option<Rc<Vec<u8>>>>,
    bytes: RefCell<BTreeMap<RelPath, u64>>,
    /// The objects that references in tables named before the command.
    named_before: Remembered<RelPath, Rc<BTreeSet<Vec<u8>>>>,
    /// The new loose objects, by the index of the effect; `None` for one that cannot be read.
    objects: Remembered<usize, Option<ObjectRead>>,
    /// The inflated bytes of new objects so far.
    inflated: Cell<usize>,
}

impl ReadStores {
    /// Reads with the remaining budget of inflated bytes.
    fn inflating<Answer>(&self, read: impl FnOnce(&mut usize) -> Answer) -> Answer {
        let mut left = INFLATED_BYTES.saturating_sub(self.inflated.get());
        let answer = read(&mut left);
        self.inflated.set(INFLATED_BYTES - left);
        answer
    }
}

/// A new loose object.
#[derive(Clone, Debug)]
struct ObjectRead {
    kind: ObjectKind,
    /// The objects that it needs.
    names: Rc<[ObjectName]>,
}

/// The objects that repositories will have after the effects, each according to its fate.
pub(crate) struct NamesAfter<'a> {
    names: &'a StoredNames<'a>,
    fate: &'a dyn Fn(usize) -> Fate,
    /// By the folder of the repository; `None` if it may have objects elsewhere.
    indexes: Remembered<RelPath, Option<Rc<Vec<Text<'a>>>>>,
    /// True for a complete object, by the folder of the repository.
    whole: RefCell<BTreeMap<RelPath, BTreeMap<ObjectName, bool>>>,
    /// The objects that a repository may lack.
    gaps: Remembered<RelPath, Rc<Gaps>>,
}

impl<'a> StoredNames<'a> {
    /// `positions` maps each path to the index of its effect.
    pub(crate) fn new(
        root: &'a FileRoot,
        effects: &'a [Effect],
        positions: &'a BTreeMap<&'a RelPath, usize>,
        is_layered: bool,
    ) -> StoredNames<'a> {
        StoredNames { root, effects, positions, is_layered, read: ReadStores::default() }
    }

    /// Returns the objects by the fate of each effect.
    pub(crate) fn after(&'a self, fate: &'a dyn Fn(usize) -> Fate) -> NamesAfter<'a> {
        NamesAfter {
            names: self,
            fate,
            indexes: Remembered::default(),
            whole: RefCell::default(),
            gaps: Remembered::default(),
        }
    }

    /// Returns whether there are more new objects than are examined: the others count as incomplete.
    pub(crate) fn are_too_many(&self) -> bool {
        self.read.inflated.get() == INFLATED_BYTES
    }

    /// Returns the content that a short file had before the effects.
    fn text_before(&self, path: &RelPath) -> Option<Vec<u8>> {
        match self.positions.get(path) {
            Some(position) => self.effects[*position].text_before().map(<[u8]>::to_vec),
            None => self.root.open_file(path).ok()?.read_to_end(LIST_BYTES).ok(),
        }
    }

    /// Returns whether a new index of a pack cannot be read, or git would fail at it.
    fn is_unreadable_index(&self, effect: &Effect) -> bool {
        if self.is_layered {
            return effect.text_after().is_none();
        }
        let count = || {
            let file = self.root.open_file(&effect.path).ok()?;
            let head = file.read_range(0, PackIndex::HEAD_BYTES as u64).ok()?;
            PackIndex::count(&head, file.metadata().size_bytes)
        };
        effect.text_after().is_none() && count().is_none()
    }

    fn effects_in(&self, folder: &RelPath) -> impl Iterator<Item = &'a RelPath> {
        let folder = folder.clone();
        let after = RelPath::from_bytes(&[folder.as_bytes(), b"0"].concat()).ok();
        let end = after.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let range = self.positions.range::<RelPath, _>((Bound::Excluded(&folder), end));
        let paths: Vec<_> = range.map(|(path, _)| *path).collect();
        paths.into_iter().filter(move |path| path.parent().as_ref() == Some(&folder))
    }

    /// Returns the pack indexes of a repository, whatever their fate.
    fn indexes_of(&self, folder: &RelPath) -> Option<Rc<Vec<RelPath>>> {
        self.read.indexes.get_or_read(folder.clone(), || {
            let packs = joined(folder, &[b"objects", b"pack"]).ok()?;
            let on_disk: BTreeSet<_> = match self.root.list(&packs) {
                Ok(entries) => entries.into_iter().map(|entry| entry.path).collect(),
                Err(FsError::NotFound { .. } | FsError::ParentMissing { .. }) => BTreeSet::new(),
                Err(_) => return None,
            };
            let all = on_disk.into_iter().chain(self.effects_in(&packs).cloned()).collect::<BTreeSet<_>>();
            Some(Rc::new(all.into_iter().filter(|path| path.as_bytes().ends_with(b".idx")).collect()))
        })
    }

    /// Returns the content of a repository's pack index on disk.
    fn index_on_disk(&self, folder: &RelPath, index: &RelPath) -> Option<Rc<Vec<u8>>> {
        self.read.contents.get_or_read(index.clone(), || {
            let mut bytes = self.read.bytes.borrow_mut();
            let left = bytes.entry(folder.clone()).or_insert(INDEX_BYTES);
            #[cfg(test)]
            INDEXES_READ.set(INDEXES_READ.get() + 1);
            let content = self.root.open_file(index).ok()?.read_to_end(*left).ok()?;
            *left -= content.len() as u64;
            Some(Rc::new(content))
        })
    }

    /// Returns the objects that a repository's reftables named before. If one is missing, it was missing then, or is
    /// removed although a reference stays.
    fn named_before(&self, folder: &RelPath) -> Rc<BTreeSet<Vec<u8>>> {
        self.read.named_before.get_or_read(folder.clone(), || {
            let Ok(tables) = folder.child(b"reftable") else { return Rc::default() };
            let of_effects = self.effects_in(&tables).filter_map(|path| {
                let text = self.effects[self.positions[path]].text_before()?;
                Some(text.to_vec())
            });
            let listed = self.root.list(&tables).unwrap_or_default().into_iter().map(|entry| entry.path);
            let on_disk = listed.filter(|path| !self.positions.contains_key(path));
            let on_disk =
                on_disk.filter_map(|path| self.root.open_file(&path).ok()?.read_to_end(TABLE_BYTES).ok());
            let formats = [ObjectFormat::Sha1, ObjectFormat::Sha256];
            let read =
                |table: Vec<u8>| formats.iter().find_map(|format| references_in_table(&table, *format));
            let references = of_effects.chain(on_disk).filter_map(read).flatten();
            Rc::new(references.flat_map(|reference| reference.objects).collect())
        })
    }
}

impl<'a> NamesAfter<'a> {
    /// Returns whether there are more new objects than are examined.
    pub(crate) fn are_too_many(&self) -> bool {
        self.names.are_too_many()
    }

    /// Returns whether a file is changed, made or removed.
    pub(crate) fn changes(&self, path: &RelPath) -> bool {
        self.names.positions.get(path).is_some_and(|position| (self.fate)(*position) == Fate::Adopted)
    }

    /// Returns whether a new index of a pack cannot be read, or git would fail at it.
    pub(crate) fn is_unreadable_index(&self, effect: &Effect) -> bool {
        self.names.is_unreadable_index(effect)
    }

    /// Returns whether the repository in a folder certainly lacks an object, by its hexadecimal name.
    pub(crate) fn lacks(&self, folder: &RelPath, object: &[u8]) -> bool {
        let Some(name) = ObjectName::of_digits(object) else { return false };
        let (start, rest) = object.split_at(2);
        let Ok(loose) =
            joined(folder, &[b"objects", &start.to_ascii_lowercase(), &rest.to_ascii_lowercase()])
        else {
            return false;
        };
        if self.is_file(&loose) {
            return false;
        }
        let indexes = self.indexes.get_or_read(folder.clone(), || self.read_indexes(folder).map(Rc::new));
        // An unreadable index may have any object.
        let may_have = |index: &Text<'_>| PackIndex::open(index).is_none_or(|index| index.has(&name));
        indexes.is_some_and(|indexes| !indexes.iter().any(may_have))
            && !self.names.named_before(folder).contains(name.as_bytes())
    }

    /// Returns the resulting side of an effect, and true if that is the current state on disk.
    fn side(&self, position: usize) -> (Option<&'a EffectSide>, bool) {
        let Effect { before, after, .. } = &self.names.effects[position];
        let is_layered = self.names.is_layered;
        let (before, after) = (before.as_ref(), after.as_ref());
        match (self.fate)(position) {
            Fate::Adopted => (after, !is_layered),
            Fate::Dropped if !is_layered && after.is_some() => (None, false),
            // A state that could not be kept is not restored.
            _ if !is_layered && matches!(before, Some(EffectSide::Unkept(_))) => (after, true),
            _ => (before, is_layered),
        }
    }

    /// Returns whether a file will be at a path.
    fn is_file(&self, path: &RelPath) -> bool {
        match self.names.positions.get(path) {
            Some(position) => self.side(*position).0.map(EffectSide::kind) == Some(PresentKind::File),
            None => self.names.root.metadata(path).is_ok_and(|metadata| metadata.kind == FileKind::File),
        }
    }

    /// Returns the indexes of the packs that a repository will have.
    fn read_indexes(&self, folder: &RelPath) -> Option<Vec<Text<'a>>> {
        // Objects may be anywhere else.
        for elsewhere in [&b"alternates"[..], b"http-alternates"] {
            if self.is_file(&joined(folder, &[b"objects", b"info", elsewhere]).ok()?) {
                return None;
            }
        }
        let has_pack = |index: &RelPath| {
            let pack = index.as_bytes().strip_suffix(b".idx").map(|stem| [stem, b".pack"].concat());
            pack.and_then(|pack| RelPath::from_bytes(&pack).ok()).is_some_and(|pack| self.is_file(&pack))
        };
        let indexes = self.names.indexes_of(folder)?;
        let there = indexes.iter().filter(|index| self.is_file(index) && has_pack(index));
        there.map(|index| self.content(folder, index)).collect()
    }

    fn content(&self, folder: &RelPath, index: &RelPath) -> Option<Text<'a>> {
        let side = self.names.positions.get(index).map(|position| self.side(*position));
        match side {
            Some((Some(EffectSide::Kept(present)), _)) => Some(Text::OfEffect(&present.bytes)),
            None | Some((Some(EffectSide::Unkept(_)), true)) => {
                self.names.index_on_disk(folder, index).map(Text::OnDisk)
            }
            _ => None,
        }
    }
}

/// A content that is shared.
enum Text<'a> {
    OnDisk(Rc<Vec<u8>>),
    OfEffect(&'a [u8]),
}

impl Deref for Text<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Text::OnDisk(text) => text,
            Text::OfEffect(text) => text,
        }
    }
}

fn joined(folder: &RelPath, names: &[&[u8]]) -> Result<RelPath, rel_path::PathError> {
    RelPath::from_bytes(&names.join(&b'/')).and_then(|names| folder.join(&names))
}
