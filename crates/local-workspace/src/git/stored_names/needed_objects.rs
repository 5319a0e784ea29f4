//! The objects that new objects need: a branch is of no use with a commit whose tree is missing.

use std::collections::BTreeSet;
use std::rc::Rc;

use git_index::{Entry, ObjectFormat, ObjectKind, check_with_trees, is_built_in, loose_kind, loose_object};
use rel_path::RelPath;

use crate::change::present::PresentKind;
use crate::command::effect::{Effect, EffectSide};
use crate::git::stored_names::{Fate, NamesAfter, bytes_of, joined};

/// The bytes of a loose object by which its kind is determined.
const BEGINNING_BYTES: u64 = 256;

/// The largest list of the ends of a history that is read, in bytes.
const LIST_BYTES: u64 = 1 << 20;

/// The mode of a commit of another repository in an index.
const SUBMODULE: u32 = 0o160_000;

/// The objects that a repository may lack.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    /// True if it fetches objects when it needs them.
    fetches: bool,
    /// The commits whose parents it does not have, in hexadecimal digits.
    ends: BTreeSet<Vec<u8>>,
}

impl NamesAfter<'_> {
    /// Returns whether the repository in a folder surely lacks an object, or one that it needs: those of new objects are looked up as
    /// far as they lead to further new ones. What is in packs counts as complete.
    pub(crate) fn lacks_something_of(&self, folder: &RelPath, object: &[u8]) -> bool {
        let mut open = vec![object.to_ascii_lowercase()];
        let mut visited = BTreeSet::new();
        let is_whole = loop {
            let Some(object) = open.pop() else { break true };
            let Some(name) = bytes_of(&object).filter(|name| !is_built_in(name)) else { continue };
            let key = (folder.clone(), name);
            match self.whole.borrow().get(&key) {
                Some(true) => continue,
                Some(false) => break false,
                None if !visited.insert(key) => continue,
                None => {}
            }
            if self.lacks(folder, &object) {
                break self.gaps(folder).fetches;
            }
            match self.needed_by_new(folder, &object) {
                None => {}
                Some(None) => break false,
                Some(Some(needed)) => open.extend(needed),
            }
        };
        // Whichever of the others lacks something, the first one does. A long chain is not walked for each object in it.
        let object = bytes_of(object).map(|name| (folder.clone(), name));
        let judged = if is_whole { visited } else { object.into_iter().collect() };
        self.whole.borrow_mut().extend(judged.into_iter().map(|key| (key, is_whole)));
        !is_whole
    }

    /// Returns the objects that a new loose object needs; `None` within if it cannot be read, and `None` if it is none.
    fn needed_by_new(&self, folder: &RelPath, object: &[u8]) -> Option<Option<Vec<Vec<u8>>>> {
        let effect = self.loose_effect(folder, object)?;
        let text = effect.text_after().filter(|_| effect.before.is_none())?;
        let format = if object.len() == 40 { ObjectFormat::Sha1 } else { ObjectFormat::Sha256 };
        let Some(object_read) = loose_object(text, format) else { return Some(None) };
        let mut names = object_read.names;
        if object_read.kind == ObjectKind::Commit && self.gaps(folder).ends.contains(object) {
            names.truncate(1);
        }
        Some(Some(names.iter().map(|name| digits_of(name)).collect()))
    }

    /// Returns the effect that leaves a loose object.
    fn loose_effect(&self, folder: &RelPath, object: &[u8]) -> Option<&Effect> {
        let (start, rest) = object.split_at_checked(2)?;
        let path = joined(folder, &[b"objects", start, rest]).ok()?;
        let position = *self.names.positions.get(&path)?;
        let is_adopted = (self.fate)(position) == Fate::Adopted;
        Some(&self.names.effects[position]).filter(|effect| is_adopted && effect.after.is_some())
    }

    /// Returns the kind of an object; `None` where it cannot be determined, as in a pack.
    pub(crate) fn kind(&self, folder: &RelPath, object: &[u8]) -> Option<ObjectKind> {
        let object = object.to_ascii_lowercase();
        if let Some(effect) = self.loose_effect(folder, &object) {
            return loose_kind(effect.text_after()?);
        }
        let (start, rest) = object.split_at_checked(2)?;
        let path = joined(folder, &[b"objects", start, rest]).ok()?;
        let file = self.names.root.open_file(&path).ok()?;
        loose_kind(&file.read_range(0, BEGINNING_BYTES).ok()?)
    }

    /// Returns whether the repository in a folder surely lacks an object that an index names and the one before did not: a file, or a
    /// tree that it has cached.
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
            // What is malformed is refused for that.
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
            let packs = joined(folder, &[b"objects", b"pack"]).ok();
            let listed = packs.and_then(|packs| self.names.root.list(&packs).ok()).unwrap_or_default();
            let fetches = listed.iter().any(|entry| entry.path.as_bytes().ends_with(b".promisor"));
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
