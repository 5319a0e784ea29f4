//! One entry of the new root's list of mounts: plain data, made by the launcher and carried out by the child.

use std::path::{Path, PathBuf};

use crate::spawner::wire::{Decoder, Encoder};

/// The permitted use of a bound tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    ReadOnly,
    /// As [`Access::ReadOnly`]; where commands have a user of their own, these files belong to another user.
    System,
    Writable,
    /// A device file: the only kind of mount on which devices work.
    Device,
}

/// Something to make in the new root. Targets are absolute paths inside it; parents are made as needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MountEntry {
    Directory {
        target: PathBuf,
        mode: u32,
    },
    Symlink {
        target: PathBuf,
        to: PathBuf,
    },
    File {
        target: PathBuf,
        contents: Vec<u8>,
        mode: u32,
    },
    /// Shows a tree of the host. The source holds no links.
    Bind {
        source: PathBuf,
        target: PathBuf,
        access: Access,
    },
    /// Mounts a copy-on-write layer over the tree that is bound at the target. Its folders hold no links.
    Layer {
        target: PathBuf,
        upper: PathBuf,
        work: PathBuf,
        /// Folders of the tree that show through the layer, until the command removes or renames them.
        uncovered: Vec<PathBuf>,
        /// Mounts of the host that show through the layer, permanently.
        mounts: Vec<PathBuf>,
    },
    Tmpfs {
        target: PathBuf,
        size_bytes: u64,
        mode: u32,
    },
    /// A fresh `/proc` of the new process namespace, with the kernel's own settings read-only.
    Proc {
        /// The highest process number, where it can be set for one namespace.
        process_limit: u32,
    },
    /// Pseudo-terminals of the command's own, at `/dev/pts`.
    Terminals,
    /// Binds a folder of the new root onto itself, so that it cannot be renamed.
    Pin {
        target: PathBuf,
    },
    /// Binds something in the new root onto itself and makes it read-only.
    Protect {
        target: PathBuf,
    },
    /// Covers a folder or file of the new root by an empty one, if it exists.
    Cover {
        target: PathBuf,
    },
    /// Replaces a file of the new root by a read-only one, or makes it if there is none.
    Mask {
        target: PathBuf,
        contents: Vec<u8>,
    },
    /// Makes the mount at this path read-only, but none inside it.
    Seal {
        target: PathBuf,
    },
    /// Makes the mounts inside the one at this path read-only, except those at the given paths and the mount itself.
    SealInner {
        target: PathBuf,
        except: Vec<PathBuf>,
    },
    /// Shows a tree from elsewhere in the new root, which may have been bound before the command was known.
    Show {
        target: PathBuf,
        from: PathBuf,
        read_only: bool,
    },
    /// Mounts a copy-on-write layer over folders from elsewhere in the new root, the topmost first.
    Overlay {
        target: PathBuf,
        lowers: Vec<PathBuf>,
        upper: PathBuf,
        work: PathBuf,
    },
    /// Unmounts a mount of the new root, with all mounts inside it.
    Detach {
        target: PathBuf,
    },
}

impl MountEntry {
    pub(crate) fn target(&self) -> &Path {
        match self {
            MountEntry::Directory { target, .. }
            | MountEntry::Symlink { target, .. }
            | MountEntry::File { target, .. }
            | MountEntry::Bind { target, .. }
            | MountEntry::Layer { target, .. }
            | MountEntry::Tmpfs { target, .. }
            | MountEntry::Pin { target }
            | MountEntry::Protect { target }
            | MountEntry::Cover { target }
            | MountEntry::Mask { target, .. }
            | MountEntry::Seal { target }
            | MountEntry::SealInner { target, .. }
            | MountEntry::Show { target, .. }
            | MountEntry::Overlay { target, .. }
            | MountEntry::Detach { target } => target,
            MountEntry::Proc { .. } => Path::new("/proc"),
            MountEntry::Terminals => Path::new("/dev/pts"),
        }
    }

    /// Returns the paths at which the entry mounts something: its target, and folders that show through a layer.
    pub(crate) fn mount_points(&self) -> impl Iterator<Item = &Path> {
        let through: [&[PathBuf]; 2] = match self {
            MountEntry::Layer { uncovered, mounts, .. } => [uncovered, mounts],
            _ => [&[], &[]],
        };
        std::iter::once(self.target()).chain(through.into_iter().flatten().map(PathBuf::as_path))
    }

    /// True if the mount can safely be taken down a moment after the command's last process has ended.
    ///
    /// So can a layer: no process is left that could write through it, its upper folder holds all that was written, since
    /// an overlay caches no contents itself, and taking it down writes nothing there.
    pub(crate) fn may_linger(&self) -> bool {
        matches!(
            self,
            MountEntry::Directory { .. }
                | MountEntry::Symlink { .. }
                | MountEntry::File { .. }
                | MountEntry::Bind { .. }
                | MountEntry::Layer { .. }
                | MountEntry::Tmpfs { .. }
                | MountEntry::Proc { .. }
                | MountEntry::Terminals
                | MountEntry::Pin { .. }
                | MountEntry::Protect { .. }
                | MountEntry::Cover { .. }
                | MountEntry::Mask { .. }
                | MountEntry::Seal { .. }
                | MountEntry::SealInner { .. }
                | MountEntry::Show { .. }
                | MountEntry::Overlay { .. }
                | MountEntry::Detach { .. }
        )
    }

    pub(crate) fn encode(&self, out: &mut Encoder) {
        let kind = match self {
            MountEntry::Directory { .. } => 0,
            MountEntry::Symlink { .. } => 1,
            MountEntry::File { .. } => 2,
            MountEntry::Bind { .. } => 3,
            MountEntry::Tmpfs { .. } => 4,
            MountEntry::Proc { .. } => 5,
            MountEntry::Terminals => 6,
            MountEntry::Pin { .. } => 7,
            MountEntry::Protect { .. } => 8,
            MountEntry::Cover { .. } => 9,
            MountEntry::Seal { .. } => 10,
            MountEntry::Layer { .. } => 11,
            MountEntry::Mask { .. } => 12,
            MountEntry::Show { .. } => 13,
            MountEntry::Overlay { .. } => 14,
            MountEntry::Detach { .. } => 15,
            MountEntry::SealInner { .. } => 16,
        };
        out.number(kind);
        out.path(self.target());
        match self {
            MountEntry::Directory { mode, .. } => out.number((*mode).into()),
            MountEntry::Symlink { to, .. } => out.path(to),
            MountEntry::File { contents, mode, .. } => {
                out.bytes(contents);
                out.number((*mode).into());
            }
            MountEntry::Bind { source, access, .. } => {
                out.path(source);
                out.number(match access {
                    Access::ReadOnly => 0,
                    Access::Writable => 1,
                    Access::Device => 2,
                    Access::System => 3,
                });
            }
            MountEntry::Layer { upper, work, uncovered, mounts, .. } => {
                out.path(upper);
                out.path(work);
                out.list(uncovered, |out, path| out.path(path));
                out.list(mounts, |out, path| out.path(path));
            }
            MountEntry::Tmpfs { size_bytes, mode, .. } => {
                out.number(*size_bytes);
                out.number((*mode).into());
            }
            MountEntry::Proc { process_limit } => out.number((*process_limit).into()),
            MountEntry::Mask { contents, .. } => out.bytes(contents),
            MountEntry::SealInner { except, .. } => out.list(except, |out, path| out.path(path)),
            MountEntry::Show { from, read_only, .. } => {
                out.path(from);
                out.number((*read_only).into());
            }
            MountEntry::Overlay { lowers, upper, work, .. } => {
                out.list(lowers, |out, path| out.path(path));
                out.path(upper);
                out.path(work);
            }
            MountEntry::Terminals
            | MountEntry::Pin { .. }
            | MountEntry::Protect { .. }
            | MountEntry::Cover { .. }
            | MountEntry::Seal { .. }
            | MountEntry::Detach { .. } => {}
        }
    }

    pub(crate) fn decode(input: &mut Decoder<'_>) -> Option<MountEntry> {
        let kind = input.number()?;
        let target = input.path()?;
        Some(match kind {
            0 => MountEntry::Directory { target, mode: input.number_u32()? },
            1 => MountEntry::Symlink { target, to: input.path()? },
            2 => MountEntry::File { target, contents: input.bytes()?.to_vec(), mode: input.number_u32()? },
            3 => MountEntry::Bind {
                target,
                source: input.path()?,
                access: match input.number()? {
                    0 => Access::ReadOnly,
                    1 => Access::Writable,
                    2 => Access::Device,
                    3 => Access::System,
                    _ => return None,
                },
            },
            4 => MountEntry::Tmpfs { target, size_bytes: input.number()?, mode: input.number_u32()? },
            5 => MountEntry::Proc { process_limit: input.number_u32()? },
            6 => MountEntry::Terminals,
            7 => MountEntry::Pin { target },
            8 => MountEntry::Protect { target },
            9 => MountEntry::Cover { target },
            10 => MountEntry::Seal { target },
            11 => MountEntry::Layer {
                target,
                upper: input.path()?,
                work: input.path()?,
                uncovered: input.list(Decoder::path)?,
                mounts: input.list(Decoder::path)?,
            },
            12 => MountEntry::Mask { target, contents: input.bytes()?.to_vec() },
            13 => MountEntry::Show { target, from: input.path()?, read_only: input.number()? != 0 },
            14 => MountEntry::Overlay {
                target,
                lowers: input.list(Decoder::path)?,
                upper: input.path()?,
                work: input.path()?,
            },
            15 => MountEntry::Detach { target },
            16 => MountEntry::SealInner { target, except: input.list(Decoder::path)? },
            _ => return None,
        })
    }
}
