//! The list of changes, written into the layer, so that an interrupted adoption can resume.
//!
//! One line for each change, fields separated by tabs; paths and targets are escaped, so that no name can hold a tab
//! or a line's end.

use std::fs::File;
use std::io::Write;

use rel_path::RelPath;
use rustix::fs::fsync;
use rustix::io::Errno;

use crate::error::LayerError;
use crate::handle::{self, FILE_READ, FOLDER};
use crate::layer::{Layer, MOMENT, SEAL, read_text};
use crate::scan::change::{LayerChange, Side, Stamp, TreeSize};
use crate::scan::changes::LayerChanges;
use crate::scan::moment::Moment;

const FIRST: &str = "cow-layer changes 1";
const DRAFT: &[u8] = b"changes.new";

impl Layer {
    /// Writes the changes into the layer, in one step and synced. [`Layer::sealed`] returns them, after a
    /// crash too: once an adoption has begun, a scan would no longer find them. Changes that
    /// [`LayerChange::is_left_shared`] marks are not written: none of them is adopted.
    ///
    /// # Errors
    ///
    /// [`LayerError::NoSpace`] and [`LayerError::System`].
    pub fn seal(&self, changes: &LayerChanges) -> Result<(), LayerError> {
        let write = || -> Result<(), Errno> {
            match handle::unlink_at(&self.folder, DRAFT) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(other) => return Err(other),
            }
            let mut draft = File::from(handle::create_at(&self.folder, DRAFT, 0o600)?);
            let text = encode(changes);
            draft
                .write_all(text.as_bytes())
                .map_err(|error| error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error))?;
            // Without its moment a layer cannot be opened again.
            fsync(handle::open_at(&self.folder, MOMENT, FILE_READ)?)?;
            // The draft is synced before the rename and its folder after it, so a seal under its final name
            // is complete, even after a loss of power.
            fsync(&draft)?;
            rustix::fs::renameat(&self.folder, DRAFT, &self.folder, SEAL)?;
            fsync(handle::open_at(&self.folder, b".", FOLDER)?)
        };
        write().map_err(LayerError::of_layer)
    }

    /// Reads the changes that [`Layer::seal`] wrote; `None` without a seal.
    ///
    /// # Errors
    ///
    /// [`LayerError::Incomplete`] if the list is damaged, [`LayerError::System`] if it cannot be read.
    pub fn sealed(&self) -> Result<Option<LayerChanges>, LayerError> {
        let file = match handle::open_at(&self.folder, SEAL, FILE_READ) {
            Err(Errno::NOENT) => return Ok(None),
            other => other.map_err(LayerError::of_layer)?,
        };
        let text = read_text(file)?;
        decode(&text).map(Some).ok_or(LayerError::Incomplete)
    }
}

fn encode(changes: &LayerChanges) -> String {
    let mut text = format!("{FIRST}\t{}\t{}\n", changes.seen_at.encode(), changes.unnameable);
    let sealed = changes.list.iter().filter(|change| !change.is_shared);
    let mut count = 0;
    for change in sealed {
        count += 1;
        let number = |value: Option<u32>| value.map_or_else(|| "-".to_owned(), |mode| format!("{mode:o}"));
        let tree =
            change.tree.map_or_else(|| "-".to_owned(), |tree| format!("{} {}", tree.entries, tree.bytes));
        let side = |side: &Option<Side>, stamp: Option<Stamp>| match side {
            None => "-".to_owned(),
            Some(side) => format!("{} {}", encode_side(side), encode_stamp(stamp)),
        };
        let fields = [
            change.path.to_string(),
            u8::from(change.saved_meanwhile).to_string(),
            number(change.closed_parent),
            tree,
            side(&change.before, change.before_stamp),
            side(&change.after, change.after_stamp),
        ];
        text.push_str(&fields.join("\t"));
        text.push('\n');
    }
    text.push_str(&format!("{count}\n"));
    text
}

fn encode_side(side: &Side) -> String {
    match side {
        Side::File { mode, size_bytes } => format!("file {mode:o} {size_bytes}"),
        Side::Symlink { target } => {
            let digits: String = target.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("link {digits} 0")
        }
        Side::Folder { mode } => format!("folder {mode:o} 0"),
        Side::Special => "special 0 0".to_owned(),
    }
}

fn encode_stamp(stamp: Option<Stamp>) -> String {
    stamp.map_or_else(String::new, |stamp| {
        format!("{} {:o} {} {} {}", stamp.inode, stamp.mode, stamp.size_bytes, stamp.modified, stamp.changed)
    })
}

fn decode(text: &str) -> Option<LayerChanges> {
    let mut lines = text.lines();
    let mut first = lines.next()?.split('\t');
    if first.next()? != FIRST {
        return None;
    }
    let seen_at = Moment::decode(first.next()?)?;
    let unnameable = first.next()?.parse().ok()?;
    let rest: Vec<&str> = lines.collect();
    // The last line holds the number of changes, so a truncated list is rejected.
    let (count, changes) = rest.split_last()?;
    let list = changes.iter().map(|line| decode_change(line, seen_at)).collect::<Option<Vec<_>>>()?;
    (count.parse::<usize>().ok()? == list.len() && text.ends_with('\n')).then_some(LayerChanges {
        list,
        unnameable,
        closed_folders: Vec::new(),
        left_out: Vec::new(),
        shared: Vec::new(),
        seen_at,
    })
}

fn decode_change(line: &str, seen_at: Moment) -> Option<LayerChange> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [path, saved_meanwhile, closed_parent, tree, before, after] = fields.as_slice() else { return None };
    let path = RelPath::parse(path).ok()?;
    let closed_parent = match *closed_parent {
        "-" => None,
        mode => Some(u32::from_str_radix(mode, 8).ok()?),
    };
    let tree = match *tree {
        "-" => None,
        tree => {
            let (entries, bytes) = tree.split_once(' ')?;
            Some(TreeSize { entries: entries.parse().ok()?, bytes: bytes.parse().ok()? })
        }
    };
    let (before, before_stamp) = decode_side(before)?.unzip();
    let (after, after_stamp) = decode_side(after)?.unzip();
    Some(LayerChange {
        path,
        before,
        after,
        saved_meanwhile: *saved_meanwhile == "1",
        // Such a list is not written.
        is_shared: false,
        tree,
        closed_parent,
        before_stamp,
        after_stamp,
        seen_at,
    })
}

#[expect(clippy::option_option, reason = "a side that is absent, and a text that is none, are two things")]
fn decode_side(text: &str) -> Option<Option<(Side, Stamp)>> {
    if text == "-" {
        return Some(None);
    }
    let words: Vec<&str> = text.split(' ').collect();
    let [kind, first, second, inode, mode, size_bytes, modified, changed] = words.as_slice() else {
        return None;
    };
    let octal = |word: &str| u32::from_str_radix(word, 8).ok();
    let side = match *kind {
        "file" => Side::File { mode: octal(first)?, size_bytes: second.parse().ok()? },
        "link" => Side::Symlink { target: decode_bytes(first)? },
        "folder" => Side::Folder { mode: octal(first)? },
        "special" => Side::Special,
        _ => return None,
    };
    let stamp = Stamp {
        inode: inode.parse().ok()?,
        mode: octal(mode)?,
        size_bytes: size_bytes.parse().ok()?,
        modified: modified.parse().ok()?,
        changed: changed.parse().ok()?,
    };
    Some(Some((side, stamp)))
}

fn decode_bytes(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}
