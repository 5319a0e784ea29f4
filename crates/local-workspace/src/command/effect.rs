//! The effect of a command on one path.

use std::sync::Arc;

use change_journal::{Attributes, ChangeRecord, Content, ContentHash, EntryRecord};
use git_index::stays_in_references;
use rel_path::RelPath;

use crate::change::present::{Present, PresentKind};

/// The effect of a command on one path.
#[derive(Clone, Debug)]
pub(crate) struct Effect {
    pub path: RelPath,
    pub before: Option<EffectSide>,
    pub after: Option<EffectSide>,
}

/// One side of an effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EffectSide {
    /// All of it is known.
    Kept(Present),
    /// It is too large to keep, could not be read, or cannot be held in a journal.
    Unkept(Unkept),
}

/// A side whose content is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unkept {
    pub kind: PresentKind,
    pub hash: Option<ContentHash>,
    /// The permission bits, if known.
    pub mode: Option<u32>,
    /// True if its beginning was read, and git stays within `refs` when it reads the file as a reference.
    pub stays_in_references: bool,
    /// True if a file has the same size as before, and only its times indicate a write.
    pub may_be_unchanged: bool,
}

impl Unkept {
    /// A side whose content is irrelevant.
    pub(crate) fn of(kind: PresentKind, mode: Option<u32>) -> Unkept {
        Unkept { kind, hash: None, mode, stays_in_references: false, may_be_unchanged: false }
    }
}

impl Effect {
    /// Checks whether both sides are kept, so that it can be undone and redone.
    pub(crate) fn is_undoable(&self) -> bool {
        [&self.before, &self.after].into_iter().flatten().all(|side| matches!(side, EffectSide::Kept(_)))
    }

    /// Returns the record of the effect for the journal.
    pub(crate) fn record(&self) -> ChangeRecord<'_> {
        let [before, after] = [&self.before, &self.after].map(|side| side.as_ref().map(EffectSide::entry));
        ChangeRecord::intended(self.path.as_bytes(), before, after)
    }

    pub(crate) fn kind_before(&self) -> Option<PresentKind> {
        self.before.as_ref().map(EffectSide::kind)
    }

    pub(crate) fn kind_after(&self) -> Option<PresentKind> {
        self.after.as_ref().map(EffectSide::kind)
    }

    /// Returns the content before the effect that the journal keeps.
    pub(crate) fn content_before(&self) -> Option<&[u8]> {
        kept(self.before.as_ref())
    }

    /// Returns the content after the effect that the journal keeps.
    pub(crate) fn content_after(&self) -> Option<&[u8]> {
        kept(self.after.as_ref())
    }

    /// The content of the after side, if it is a file that is kept.
    pub(crate) fn text_after(&self) -> Option<&[u8]> {
        content(self.after.as_ref())
    }

    /// Returns whether the resulting file could lead git out of `refs`, if read as a reference.
    pub(crate) fn leads_out_of_references(&self) -> bool {
        match &self.after {
            Some(EffectSide::Unkept(unkept)) if unkept.kind == PresentKind::File => {
                !unkept.stays_in_references
            }
            after => content(after.as_ref()).is_some_and(|bytes| !stays_in_references(bytes)),
        }
    }

    /// The content of the before side, if it is a file that is kept.
    pub(crate) fn text_before(&self) -> Option<&[u8]> {
        content(self.before.as_ref())
    }
}

fn kept(side: Option<&EffectSide>) -> Option<&[u8]> {
    match side {
        Some(EffectSide::Kept(present)) => Some(&present.bytes),
        _ => None,
    }
}

fn content(side: Option<&EffectSide>) -> Option<&[u8]> {
    match side {
        Some(EffectSide::Kept(present)) if present.kind == PresentKind::File => Some(&present.bytes),
        _ => None,
    }
}

impl EffectSide {
    pub(crate) fn folder(mode: u32) -> EffectSide {
        EffectSide::Kept(Present { mode: Some(mode), ..Present::folder() })
    }

    pub(crate) fn link(target: Vec<u8>) -> EffectSide {
        EffectSide::Kept(Present { kind: PresentKind::Other, ..Present::file(target, None) })
    }

    /// A pipe, a socket or a device.
    pub(crate) fn special() -> EffectSide {
        EffectSide::Unkept(Unkept::of(PresentKind::Other, None))
    }

    /// The same with the attributes of a kept file or folder.
    pub(crate) fn with_attributes(self, read: impl FnOnce() -> Option<Arc<[u8]>>) -> EffectSide {
        match self {
            EffectSide::Kept(present) if present.kind != PresentKind::Other => {
                EffectSide::Kept(present.with_attributes(read()))
            }
            other => other,
        }
    }

    pub(crate) fn kind(&self) -> PresentKind {
        match self {
            EffectSide::Kept(present) => present.kind,
            EffectSide::Unkept(unkept) => unkept.kind,
        }
    }

    pub(crate) fn mode(&self) -> Option<u32> {
        match self {
            EffectSide::Kept(present) => present.mode,
            EffectSide::Unkept(unkept) => unkept.mode,
        }
    }

    /// Returns the state that a publication expects at the path: the bytes only if they are kept, `None` if there is
    /// nothing to compare.
    pub(crate) fn present(&self) -> Option<Present> {
        match self {
            EffectSide::Kept(present) => Some(present.clone()),
            EffectSide::Unkept(unkept) => {
                let hash = match unkept.kind {
                    PresentKind::File => unkept.hash?,
                    // A reader of symlinks sees a special file like this.
                    PresentKind::Other | PresentKind::Folder => ContentHash::of(&[]),
                };
                Some(Present {
                    kind: unkept.kind,
                    bytes: [].into(),
                    hash,
                    mode: unkept.mode,
                    attributes: None,
                })
            }
        }
    }

    fn entry(&self) -> EntryRecord<'_> {
        match self {
            EffectSide::Kept(present) => present.entry(),
            EffectSide::Unkept(unkept) => EntryRecord {
                kind: unkept.kind.entry_kind(),
                content: Content::NotKept(unkept.hash),
                mode: unkept.mode,
                attributes: Attributes::Unknown,
            },
        }
    }
}
