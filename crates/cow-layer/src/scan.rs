//! The scan for changes: it walks the layer's tree and the workspace's together, by handle.
//!
//! A path has at most 64 components, which bounds how deep the walk goes and how many folders are open.

mod added;
pub(crate) mod change;
pub(crate) mod changes;
pub(crate) mod left_out;
pub(crate) mod moment;
mod removed;
pub(crate) mod rules;
pub(crate) mod shared;
mod tally;

use std::collections::HashSet;
use std::os::fd::{AsFd, BorrowedFd};

use rel_path::RelPath;
use rustix::fs::OFlags;
use rustix::io::Errno;

use self::tally::Tally;
use crate::access::{OWN_FOLDER, OpenFolder};
use crate::adoption::same_content::is_same;
use crate::error::LayerError;
use crate::handle::{self, Entry, FOLDER, Kind};
use crate::layer::{Layer, UPPER};
use crate::rights::{Right, Rights, SET_ID_BITS};
use crate::scan::change::{LayerChange, Side, Stamp};
use crate::scan::changes::LayerChanges;
use crate::scan::left_out::{LeftOut, NAMED};
use crate::scan::moment::Moment;
use crate::scan::rules::ScanRules;
use crate::scan::shared::{SharedFiles, WholeFolder};
use crate::xattr::{self, Opacity};

/// The file whose time records the moment of the scan.
const SCANNED: &[u8] = b"seen";

impl Layer {
    /// Lists the changes in the layer. Call it once the command and all its descendants have ended and the
    /// layer is unmounted, and before anything is adopted.
    ///
    /// An entry that equals the one below it, byte for byte and with the same permissions, is not a change,
    /// nor are times, owners and attributes alone. A file that a command wrote to is a separate file: other
    /// hard links of the one below keep their content.
    ///
    /// `saved_meanwhile` is set where, since the layer was made,
    ///
    /// - the workspace's entry appeared, or its content, name, permissions or number of links changed, by its
    ///   time of change;
    /// - the original of a copied folder or file is gone. For a file, this is detected only if the command
    ///   removed no other file, since a file that the command renamed to this path looks the same;
    /// - a folder changed that the command removed or replaced: then everything that the command removed in
    ///   it is flagged, because entries that were moved into the folder keep their old times;
    /// - a folder that the command removed cannot be read, or one of the removed entries in it is flagged.
    ///
    /// Not detected are new permissions of a folder that exists on both sides, and saves after the clock was
    /// set back. Entries that appeared at other paths than the changed ones do not conflict, and stay.
    ///
    /// # Errors
    ///
    /// [`LayerError::TooManyEntries`], and those of reading. The layer stays unchanged.
    pub fn changes(&self, rules: ScanRules<'_>) -> Result<LayerChanges, LayerError> {
        let of_layer = LayerError::of_layer;
        let stamp = match handle::create_at(&self.folder, SCANNED, 0o600) {
            Err(Errno::EXIST) => handle::open_at(&self.folder, SCANNED, OFlags::WRONLY),
            other => other,
        };
        let seen_at = stamp.and_then(Moment::take).map_err(of_layer)?.ok_or(LayerError::CoarseTimes)?;
        let root = RelPath::root();
        let lower = self.lower_folder(&root).map_err(LayerError::Workspace)?;
        let lower_entry = handle::stat(&lower).map_err(of_layer)?;
        let above = handle::stat_at(&self.folder, UPPER).map_err(of_layer)?.ok_or(LayerError::Incomplete)?;
        let upper = OpenFolder::open(&self.folder, UPPER, above.mode).map_err(of_layer)?;
        // The rights of the root's children depend on the workspace's root alone; deeper ones follow their
        // folder.
        let mut scan = Scan::new(self.moment, seen_at, rules);
        let rights = Rights::within(&lower_entry);
        scan.folder(&root, (&upper, &above), (lower.as_fd(), &lower_entry), Context::new(rights))?;
        Ok(scan.finish())
    }
}

/// Facts that hold for every entry of a folder.
#[derive(Clone, Copy, Debug)]
struct Context {
    /// `true` if another program changed a folder above, so that everything in it counts as saved by that
    /// program.
    saved_meanwhile: bool,
    /// `true` if a folder above hides the one below it, so nothing below is visible here either.
    is_opaque: bool,
    /// The permissions that the folder has or gets, if its owner may not change its entries.
    closed: Option<u32>,
    /// The folder around that counts as one change, because the rules say so.
    whole: Option<WholeFolder>,
    /// The rights that new entries may have.
    rights: Rights,
}

impl Context {
    fn new(rights: Rights) -> Context {
        Context { saved_meanwhile: false, is_opaque: false, closed: None, whole: None, rights }
    }

    fn below(self, saved_meanwhile: bool, mode: u32) -> Context {
        Context { saved_meanwhile, closed: closed(mode), whole: self.whole, ..Context::new(self.rights) }
    }
}

/// One side of a change, and its entry.
struct SideEntry {
    side: Side,
    entry: Entry,
}

struct Scan<'a> {
    rules: ScanRules<'a>,
    moment: Moment,
    seen_at: Moment,
    changes: Vec<LayerChange>,
    unnameable: u64,
    closed_folders: Vec<RelPath>,
    left_out: Vec<LeftOut>,
    shared: SharedFiles,
    looked_at: u64,
    /// `true` if a file of the workspace is gone from its path, so that a copied file may be that file,
    /// renamed.
    has_removed_files: bool,
    /// The paths of copied files that have nothing below them, in a folder that changed meanwhile.
    orphans: HashSet<RelPath>,
}

impl<'a> Scan<'a> {
    fn new(moment: Moment, seen_at: Moment, rules: ScanRules<'a>) -> Scan<'a> {
        Scan {
            rules,
            moment,
            seen_at,
            changes: Vec::new(),
            unnameable: 0,
            closed_folders: Vec::new(),
            left_out: Vec::new(),
            shared: SharedFiles::default(),
            looked_at: 0,
            has_removed_files: false,
            orphans: HashSet::new(),
        }
    }

    /// Scans a folder that exists on both sides.
    fn folder(
        &mut self,
        path: &RelPath,
        upper: (&OpenFolder, &Entry),
        lower: (BorrowedFd<'_>, &Entry),
        context: Context,
    ) -> Result<(), LayerError> {
        let at = |errno| LayerError::at(path, errno);
        let (above, lower_entry) = (upper.1, lower.1);
        // Of nested folders that hide the ones below, only the outermost carries the attribute.
        let opacity =
            if context.is_opaque { Opacity::Opaque } else { xattr::opacity(upper.0).map_err(at)? };
        let is_changed = self.is_later(path, Some(lower_entry));
        if opacity == Opacity::Opaque && (self.rules.whole)(path) {
            let saved_meanwhile = context.saved_meanwhile || is_changed;
            return self.replaced_tree(path, upper, lower, Context { saved_meanwhile, ..context });
        }
        // An existing folder gains no set-ID bits.
        let mode = above.mode & !(SET_ID_BITS & !lower_entry.mode);
        if mode != above.mode {
            self.leave_out(path, Right::SetIdBits);
        }
        if mode != lower_entry.mode {
            let [before, after] = [(lower_entry, lower_entry.mode), (above, mode)]
                .map(|(entry, mode)| Some(SideEntry { side: Side::Folder { mode }, entry: *entry }));
            let change = self.change(path, before, after, false, context);
            self.changes.push(change);
        }
        let inside = Context {
            saved_meanwhile: context.saved_meanwhile || opacity == Opacity::Opaque && is_changed,
            is_opaque: opacity == Opacity::Opaque,
            closed: closed(above.mode),
            whole: None,
            // The rights follow the folder as adopted, because it is adopted before its children.
            rights: Rights::within(&Entry { mode, ..*lower_entry }),
        };
        let names = handle::names(upper.0).map_err(at)?;
        for name in &names {
            self.entry(path, name, (upper.0, opacity), lower, inside)?;
        }
        if opacity == Opacity::Opaque {
            // An opaque folder has no whiteouts: every entry below it that is not made anew was removed.
            for name in handle::names(lower.0).map_err(at)? {
                if names.binary_search(&name).is_err() {
                    self.removed(path, lower.0, &name, inside)?;
                }
            }
        }
        Ok(())
    }

    /// Scans one entry of the layer in a folder that exists on both sides.
    fn entry(
        &mut self,
        parent: &RelPath,
        name: &[u8],
        upper: (&OpenFolder, Opacity),
        lower: (BorrowedFd<'_>, &Entry),
        context: Context,
    ) -> Result<(), LayerError> {
        self.look()?;
        let at = |errno| LayerError::at(parent, errno);
        let Some(above) = handle::stat_at(upper.0, name).map_err(at)? else { return Ok(()) };
        // A whiteout carries no metadata of the removed entry, which is read from the workspace instead.
        if xattr::is_whiteout(upper.0, name, &above, upper.1) {
            return self.removed(parent, lower.0, name, context).map(drop);
        }
        let Ok(path) = parent.child(name) else {
            self.unnameable += 1;
            return Ok(());
        };
        let lower_entry =
            handle::stat_at(lower.0, name).map_err(at)?.filter(|entry| entry.kind != Kind::Whiteout);
        let context = Context { rights: context.rights.replacing(lower_entry.as_ref()), ..context };
        if above.kind == Kind::Folder {
            return self.folder_entry(&path, name, (upper.0, &above), (lower.0, lower_entry), context);
        }
        let at = |errno| LayerError::at(&path, errno);
        if let Some(lower_entry) = &lower_entry
            && is_same((upper.0, &above), (lower.0, lower_entry), name).map_err(at)?
        {
            self.shared.note_unchanged(&above);
            return Ok(());
        }
        self.look_at_rights(&path, (upper.0.as_fd(), name, &above), context).map_err(at)?;
        if above.kind == Kind::Device {
            return Ok(());
        }
        let mut saved_meanwhile = context.saved_meanwhile || self.is_later(&path, lower_entry.as_ref());
        match &lower_entry {
            Some(lower_entry) if lower_entry.kind == Kind::Folder => {
                let inside = match handle::open_at(lower.0, name, FOLDER) {
                    Ok(folder) => {
                        let below = context.below(saved_meanwhile, lower_entry.mode);
                        self.removed_children(&path, folder.as_fd(), below)?
                    }
                    Err(_) => Tally::unknown(),
                };
                // An entry that cannot be named stays in the workspace, and its folder with it.
                saved_meanwhile |= inside.saved_meanwhile || inside.is_incomplete;
            }
            Some(_) => self.has_removed_files = true,
            None if self.is_orphan((upper.0, name), &above, lower.1) => {
                self.orphans.insert(path.clone());
            }
            None => {}
        }
        let before =
            lower_entry.map(|lower_entry| side_of(lower.0, name, &lower_entry)).transpose().map_err(at)?;
        let after = own_side_of(upper.0.as_fd(), name, &above, &context.rights).map_err(at)?;
        self.shared.note(&path, &above, context.whole);
        let change = self.change(&path, before, Some(after), saved_meanwhile, context);
        self.changes.push(change);
        Ok(())
    }

    /// Scans a folder of the layer whose parent exists on both sides.
    fn folder_entry(
        &mut self,
        path: &RelPath,
        name: &[u8],
        upper: (&OpenFolder, &Entry),
        lower: (BorrowedFd<'_>, Option<Entry>),
        context: Context,
    ) -> Result<(), LayerError> {
        let at = |errno| LayerError::at(path, errno);
        let (parent, above) = upper;
        let folder = OpenFolder::open(parent, name, above.mode).map_err(at)?;
        if let (lower, Some(lower_entry)) = lower
            && lower_entry.kind == Kind::Folder
        {
            return match handle::open_at(lower, name, FOLDER) {
                Ok(lower) => self.folder(path, (&folder, above), (lower.as_fd(), &lower_entry), context),
                // The changes in a folder that cannot be listed are unknown.
                Err(_) => {
                    if self.closed_folders.len() < NAMED {
                        self.closed_folders.push(path.clone());
                    }
                    Ok(())
                }
            };
        }
        // Within a layer only new folders can be renamed, so a copied one has its original at this path.
        let is_orphan = lower.1.is_none()
            && !context.is_opaque
            && xattr::opacity(&folder).map_err(at)? != Opacity::Opaque
            && xattr::is_copied_up(parent, name);
        let context = Context {
            saved_meanwhile: context.saved_meanwhile || self.is_later(path, lower.1.as_ref()) || is_orphan,
            ..context
        };
        self.look_at_rights(path, (parent.as_fd(), name, above), context).map_err(at)?;
        let before =
            lower.1.map(|lower_entry| side_of(lower.0, name, &lower_entry)).transpose().map_err(at)?;
        self.new_folder(path, (&folder, above), before, context).map(drop)
    }

    /// Scans a folder that the command replaced as a whole, as one change.
    fn replaced_tree(
        &mut self,
        path: &RelPath,
        upper: (&OpenFolder, &Entry),
        lower: (BorrowedFd<'_>, &Entry),
        context: Context,
    ) -> Result<(), LayerError> {
        let (first, unnameable) = (self.changes.len(), self.unnameable);
        let removed = self.removed_children(path, lower.0, context)?;
        self.changes.truncate(first);
        let before = SideEntry { side: Side::Folder { mode: lower.1.mode }, entry: *lower.1 };
        let saved_meanwhile = context.saved_meanwhile || removed.saved_meanwhile;
        let context = Context { saved_meanwhile, ..context };
        let tally = self.new_folder(path, upper, Some(before), context)?;
        self.collapse(first, true, &tally);
        self.unnameable = unnameable;
        Ok(())
    }

    /// Records the rights that an entry of the layer does not bring.
    fn look_at_rights(
        &mut self,
        path: &RelPath,
        (folder, name, entry): (BorrowedFd<'_>, &[u8], &Entry),
        context: Context,
    ) -> Result<(), Errno> {
        for right in context.rights.beyond(folder, name, entry)? {
            self.leave_out(path, right);
        }
        Ok(())
    }

    fn leave_out(&mut self, path: &RelPath, right: Right) {
        if self.left_out.len() < NAMED {
            self.left_out.push(LeftOut { path: path.clone(), right });
        }
    }

    fn look(&mut self) -> Result<(), LayerError> {
        self.looked_at += 1;
        let limit = self.rules.limits.entries;
        if self.looked_at > limit { Err(LayerError::TooManyEntries { limit }) } else { Ok(()) }
    }

    fn is_later(&self, path: &RelPath, lower_entry: Option<&Entry>) -> bool {
        lower_entry.is_some_and(|lower_entry| self.moment.is_before(lower_entry.changed))
            && !self.rules.written_through.iter().any(|folder| path.starts_with(folder))
    }

    /// Returns whether a file with nothing below it is a copy of a file that is gone, or was renamed to
    /// this path.
    fn is_orphan(&self, upper: (&OpenFolder, &[u8]), above: &Entry, parent: &Entry) -> bool {
        above.links == 1 && self.moment.is_before(parent.changed) && xattr::is_copied_up(upper.0, upper.1)
    }

    fn change(
        &self,
        path: &RelPath,
        before: Option<SideEntry>,
        after: Option<SideEntry>,
        saved_meanwhile: bool,
        context: Context,
    ) -> LayerChange {
        let (before_stamp, after_stamp) = (
            before.as_ref().map(|side| Stamp::of(&side.entry)),
            after.as_ref().map(|side| Stamp::of(&side.entry)),
        );
        LayerChange {
            path: path.clone(),
            before: before.map(|side| side.side),
            after: after.map(|side| side.side),
            saved_meanwhile,
            tree: None,
            is_shared: false,
            closed_parent: context.closed,
            before_stamp,
            after_stamp,
            seen_at: self.seen_at,
        }
    }

    /// Merges the changes from `first` on, a folder and its children, into one change if they are too many or
    /// some of them cannot be named.
    fn collapse(&mut self, first: usize, is_whole: bool, inside: &Tally) -> bool {
        let is_one = is_whole || inside.is_incomplete || inside.size.entries > self.rules.limits.tree_entries;
        if is_one {
            // The folder's own change stays; those of its children are part of the tree now.
            self.changes.truncate(first + 1);
            self.changes[first].tree = Some(inside.size);
        }
        is_one
    }

    fn finish(mut self) -> LayerChanges {
        // A copied file with nothing below it can be the target of a rename only if another file is gone
        // from its path.
        if !self.has_removed_files {
            for change in &mut self.changes {
                change.saved_meanwhile |= self.orphans.contains(&change.path);
            }
        }
        // The walk visits folders depth first, which differs from the order of path bytes.
        self.changes.sort_by(|one, other| one.path.as_bytes().cmp(other.path.as_bytes()));
        let mut changes = LayerChanges {
            list: self.changes,
            unnameable: self.unnameable,
            closed_folders: self.closed_folders,
            left_out: self.left_out,
            shared: self.shared.into_files(),
            seen_at: self.seen_at,
        };
        changes.mark_shared();
        changes
    }
}

fn closed(mode: u32) -> Option<u32> {
    (mode & OWN_FOLDER != OWN_FOLDER).then_some(mode)
}

/// Describes the layer's side, without the bits that are not adopted.
fn own_side_of(
    folder: BorrowedFd<'_>,
    name: &[u8],
    entry: &Entry,
    rights: &Rights,
) -> Result<SideEntry, Errno> {
    let mut own = side_of(folder, name, entry)?;
    if let Side::File { mode, .. } = &mut own.side {
        *mode = rights.mode(entry.kind, *mode);
    }
    Ok(own)
}

fn side_of(folder: BorrowedFd<'_>, name: &[u8], entry: &Entry) -> Result<SideEntry, Errno> {
    let side = match entry.kind {
        Kind::File => Side::File { mode: entry.mode, size_bytes: entry.size_bytes },
        Kind::Folder => Side::Folder { mode: entry.mode },
        Kind::Link => Side::Symlink { target: handle::link_target(folder, name)? },
        Kind::Whiteout | Kind::Device | Kind::Special => Side::Special,
    };
    Ok(SideEntry { side, entry: *entry })
}
