//! A copy-on-write layer over a folder: made for one command, scanned for the command's changes, then adopted
//! or discarded.
//!
//! A [`LayerStore`] keeps layers in a folder on the same file system as the workspace. A [`Layer`] is two
//! empty folders and the moment at which it was made; the program that runs the command mounts them over the
//! workspace as its [`MountSpec`] says. Nothing reaches the workspace until the command and all its
//! descendants have ended:
//!
//! 1. [`Layer::changes`] lists the changed paths, each with its side before and after.
//! 2. [`Layer::separate`] gives each name of a hard-linked file its own file.
//! 3. [`Layer::seal`] writes that list down, on a disk, so that a crash can be recovered from.
//! 4. [`Layer::adopt`] applies one change by an exchange of names, so that the layer then holds the previous
//!    version. A version that another program saved in the meantime stays, and the error reports it.
//! 5. [`Layer::discard`] removes the layer with everything in it.
//!
//! The crate mounts nothing, runs nothing, and knows no protocol. The caller decides which changes are adopted.
//! Source: docs/layers.md.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod access;
mod adoption;
mod error;
mod handle;
mod layer;
mod layer_name;
mod mount_spec;
mod probe;
mod remove_tree;
mod rights;
mod scan;
mod separation;
mod store;
mod tree;
mod xattr;

pub use adoption::adopt::Adopted;
pub use error::{AdoptError, LayerError, Unavailable};
pub use layer::Layer;
pub use layer_name::{LayerName, NameRejected};
pub use mount_spec::MountSpec;
pub use rights::Right;
pub use scan::change::{LayerChange, Side, TreeSize};
pub use scan::changes::LayerChanges;
pub use scan::left_out::LeftOut;
pub use scan::rules::{ScanLimits, ScanRules};
pub use store::LayerStore;
