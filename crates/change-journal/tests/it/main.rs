//! Tests of the journal through its public surface.

mod changes;
mod contents;
mod documents;
mod runs;
mod steps;
mod support;
