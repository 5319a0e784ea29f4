//! The objects that new objects need: a branch is useless if the tree of its commit is missing.

use std::collections::BTreeSet;
use std::rc::Rc;

use git_index::{
    Entry, ObjectFormat, ObjectKind, ObjectName, PackIndex, check_with_trees, is_built_in, loose_kind,
    loose_object,
};
use rel_path::RelPath;

use crate::change::present::PresentKind;
use crate::command::effect::{Effect, EffectSide};
use crate::git::settings::fetches_objects;
use crate::git::stored_names::{Fate, NamesAfter, ObjectRead, joined};

/// The bytes of a loose object by which its kind is determined.
const BEGINNING_BYTES: u64 = 256;

/// The largest list of history ends that is read, in bytes.
pub(super) const LIST_BYTES: u64 = 1 << 20;

/// The mode of a commit of another repository in an index.
const SUBMODULE: u32 = 0o160_000;

/// The objects that a repository may lack.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    /// True if it fetches objects on demand.
    fetches: bool,
    /// The commits whose parents are missing, as hexadecimal names.
    ends: BTreeSet<Vec<u8>>,
}

/// An object whose dependencies are being judged.
struct Step {
    name: ObjectName,
    needed: Rc<[ObjectName]>,
    judged: usize,
}

/// The answer about one object, without its dependencies.
enum Alone {
    /// It exists, and needs no new object.
    Whole,
    Lacking,
    /// A new object that needs others.
    Needs(Rc<[ObjectName]>),
}

impl<'a> NamesAfter<'a> {
    /// Returns whether the repository in a folder certainly lacks an object, or one that it needs, recursively through
    /// new objects. Packed objects count as complete.
    ///
    /// Each object is judged once, however many others need it.
    pub(crate) fn lacks_something_of(&self, folder: &RelPath, object: &[u8]) -> bool {
        let Some(mut next) = ObjectName::of_digits(object) else { return false };
        let mut all = self.whole.borrow_mut();
        let whole = all.entry(folder.clone()).or_default();
        let mut path: Vec<Step> = Vec::new();
        loop {
            let judged = match whole.get(&next) {
                Some(true) => Alone::Whole,
                Some(false) => Alone::Lacking,
                None => self.judged_alone(folder, &next),
            };
            if matches!(judged, Alone::Lacking) {
                // So do all that need it.
                whole.insert(next, false);
                whole.extend(path.into_iter().map(|step| (step.name, false)));
                return true;
            }
            whole.insert(next, true);
            if let Alone::Needs(needed) = judged {
                path.push(Step { name: next, needed, judged: 0 });
            }
            next = loop {
                let Some(step) = path.last_mut() else { return false };
                if let Some(name) = step.needed.get(step.judged) {
                    step.judged += 1;
                    break *name;
                }
                path.pop();
            };
        }
    }

    fn judged_alone(&self, folder: &RelPath, name: &ObjectName) -> Alone {
        #[cfg(test)]
        crate::git::stored_names::OBJECTS_JUDGED.set(crate::git::stored_names::OBJECTS_JUDGED.get() + 1);
        if is_built_in(name.as_bytes()) {
            return Alone::Whole;
        }
        let object = name.digits();
        if self.lacks(folder, &object) {
            return if self.gaps(folder).fetches { Alone::Whole } else { Alone::Lacking };
        }
        match self.read_new(folder, &object) {
            None => Alone::Whole,
            Some(None) => Alone::Lacking,
            Some(Some(read)) => {
                let is_end = read.kind == ObjectKind::Commit && self.gaps(folder).ends.contains(&object);
                Alone::Needs(if is_end {
                    read.names.iter().take(1).copied().collect()
                } else {
                    read.names.clone()
                })
            }
        }
    }

    /// Reads a new loose object; an inner `None` if it cannot be read, and an outer `None` if it is not new.
    fn read_new(&self, folder: &RelPath, object: &[u8]) -> Option<Option<ObjectRead>> {
        let (position, effect) = self.loose_effect(folder, object)?;
        let text = effect.text_after().filter(|_| effect.before.is_none())?;
        Some(self.names.read.objects.get_or_read(position, || {
            let format = if object.len() == 40 { ObjectFormat::Sha1 } else { ObjectFormat::Sha256 };
            let read = self.names.read.inflating(|left| loose_object(text, format, left))?;
            Some(ObjectRead { kind: read.kind, names: read.names.into() })
        }))
    }

    /// Returns the parents of a commit that a command has made; `None` if they cannot be determined.
    pub(crate) fn parents_of_new(&self, folder: &RelPath, commit: &[u8]) -> Option<Vec<ObjectName>> {
        if let Some(read) = self.read_new(folder, commit) {
            return read.map(|read| read.names.iter().skip(1).copied().collect());
        }
        let name = ObjectName::of_digits(commit)?;
        let new = self.names.indexes_of(folder)?;
        let new = new.iter().filter_map(|path| Some((path, self.new_text(path)?)));
        let in_packs = new.filter_map(|(path, index)| {
            let index = PackIndex::open(index)?;
            let pack =
                RelPath::from_bytes(&[path.as_bytes().strip_suffix(b".idx")?, b".pack"].concat()).ok()?;
            let pack = self.new_text(&pack)?;
            self.names.read.inflating(|left| index.parents(pack, &name, left))
        });
        in_packs.flatten().next()
    }

    /// Returns the content of a new file.
    fn new_text(&self, path: &RelPath) -> Option<&'a [u8]> {
        let position = *self.names.positions.get(path)?;
        let effect = &self.names.effects[position];
        let is_new = effect.before.is_none() && (self.fate)(position) == Fate::Adopted;
        effect.text_after().filter(|_| is_new)
    }

    /// Returns the commits at which the history of a repository ends, in hexadecimal digits.
    pub(crate) fn ends(&self, folder: &RelPath) -> BTreeSet<Vec<u8>> {
        self.gaps(folder).ends.clone()
    }

    /// Returns the effect that leaves a loose object.
    fn loose_effect(&self, folder: &RelPath, object: &[u8]) -> Option<(usize, &Effect)> {
        let (start, rest) = object.split_at_checked(2)?;
        let path = joined(folder, &[b"objects", start, rest]).ok()?;
        let position = *self.names.positions.get(&path)?;
        let is_adopted = (self.fate)(position) == Fate::Adopted;
        let effect = &self.names.effects[position];
        (is_adopted && effect.after.is_some()).then_some((position, effect))
    }

    /// Returns the kind of an object; `None` if it cannot be determined, as in a pack.
    pub(crate) fn kind(&self, folder: &RelPath, object: &[u8]) -> Option<ObjectKind> {
        let object = object.to_ascii_lowercase();
        if let Some((_, effect)) = self.loose_effect(folder, &object) {
            return loose_kind(effect.text_after()?);
        }
        let (start, rest) = object.split_at_checked(2)?;
        let path = joined(folder, &[b"objects", start, rest]).ok()?;
        let file = self.names.root.open_file(&path).ok()?;
        loose_kind(&file.read_range(0, BEGINNING_BYTES).ok()?)
    }

    /// Returns whether the repository in a folder certainly lacks an object that an index newly names: a file, or a
    /// cached tree.
    pub(crate) fn lacks_object_of_index(
        &self,
        folder: &RelPath,
        effect: &Effect,
        format: ObjectFormat,
    ) -> bool {
        let objects = |text: Option<&[u8]>| {
            let (mut objects, mut trees) = (BTreeSet::new(), Vec::new());
            let mut add = |entry: Entry<'_>| {
                let is_needed = entry.mode != SUBMODULE && !entry.is_to_be_added();
                if is_needed && !objects.contains(entry.object) {
                    objects.insert(entry.object.to_vec());
                }
            };
            // Malformed text is refused elsewhere.
            let text = text.unwrap_or_default();
            let _ = check_with_trees(text, format, &mut add, &mut |tree| trees.push(tree.to_vec()));
            objects.extend(trees);
            objects
        };
        let before = objects(effect.text_before());
        let after = objects(effect.text_after());
        let mut new = after.difference(&before).filter(|name| !is_built_in(name));
        new.any(|name| self.lacks(folder, &digits_of(name))) && !self.gaps(folder).fetches
    }

    fn gaps(&self, folder: &RelPath) -> Rc<Gaps> {
        self.gaps.get_or_read(folder.clone(), || {
            let shallow = folder.child(b"shallow").ok().and_then(|list| self.text(&list)).unwrap_or_default();
            let lines = shallow.split(|byte| *byte == b'\n').map(<[u8]>::to_ascii_lowercase);
            let ends = lines.filter(|line| !line.is_empty()).collect();
            // A command cannot set that, but can make a `.promisor` next to any pack.
            let settings =
                folder.child(b"config").ok().and_then(|settings| self.names.text_before(&settings));
            let fetches = settings.is_some_and(|settings| fetches_objects(&settings));
            Rc::new(Gaps { fetches, ends })
        })
    }

    /// Returns the content that a file will have.
    fn text(&self, path: &RelPath) -> Option<Vec<u8>> {
        let side = self.names.positions.get(path).map(|position| self.side(*position).0);
        match side {
            Some(Some(EffectSide::Kept(present))) if present.kind == PresentKind::File => {
                Some(present.bytes.to_vec())
            }
            Some(_) => None,
            None => self.names.root.open_file(path).ok()?.read_to_end(LIST_BYTES).ok(),
        }
    }
}

fn digits_of(name: &[u8]) -> Vec<u8> {
    name.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into_bytes()
}
