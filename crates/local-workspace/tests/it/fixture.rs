//! What the tests start from: a workspace on the disk, processes of their own, whole trees as values.

pub(crate) mod ground;
pub(crate) mod tree;
