//! A copy-on-write layer over a folder: made for one command, scanned for the command's changes, then adopted
//! or discarded.
//!
//! A [`LayerStore`] keeps layers in a folder on the same file system as the workspace. A [`Layer`] is two
//! empty folders and the moment at which it was made; the program that runs the command mounts them over the
//! workspace as its [`MountSpec`] says. Nothing reaches the workspace until the command and all its
//! descendants have ended:
//!
//! 1. [`Layer::changes`] lists the changed paths, each with its side before and after.
//! 2. [`Layer::seal`] writes that list down, on a disk, so that a crash can be recovered from.
//! 3. [`Layer::adopt`] applies one change by an exchange of names, so that the layer then holds the previous
//!    version. A version that another program saved in the meantime stays, and the error reports it.
//! 4. [`Layer::discard`] removes the layer with everything in it.
//!
//! The crate mounts nothing, runs nothing, and knows no protocol. It decides about no name: which changes are
//! adopted is for the caller to say. Source: docs/layers.md.

mod access;
mod adopt;
mod adoption;
mod adoption_order;
mod before_image;
mod change;
mod changes;
mod error;
mod exchange;
mod folder_modes;
mod handle;
mod layer;
mod layer_name;
mod left_out;
mod moment;
mod mount_spec;
mod probe;
#[cfg(doctest)]
mod readme;
mod remove_tree;
mod rights;
mod same_content;
mod scan;
mod scan_rules;
mod seal;
mod store;
mod sync;
mod tree;
mod xattr;

pub use adopt::Adopted;
pub use change::{LayerChange, Side, TreeSize};
pub use changes::LayerChanges;
pub use error::{AdoptError, LayerError, Unavailable};
pub use layer::Layer;
pub use layer_name::{LayerName, NameRejected};
pub use left_out::LeftOut;
pub use mount_spec::MountSpec;
pub use rights::Right;
pub use scan_rules::{ScanLimits, ScanRules};
pub use store::LayerStore;
