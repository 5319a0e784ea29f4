//! The self-test at start: attacks from inside a confined child, which measure this machine's confinement.

pub(crate) mod attacks;
pub(crate) mod escapes;
mod layer_test;
pub(crate) mod self_test;
