//! The self-test at start: attacks from inside of a confined child, and what they say about this machine.

pub(crate) mod attacks;
pub(crate) mod escapes;
mod layer_test;
pub(crate) mod self_test;
