//! Tests of `secret-placeholders` through its public API.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod answer_sizes;
mod at_once;
mod corpus;
mod cut_values;
mod cuts;
mod expressions;
mod forged;
mod index;
mod index_parts;
mod judging;
mod key_edits;
mod keys;
mod masking;
mod names;
mod over_workspace;
mod properties;
mod putting_back;
mod store;
mod uncovering;
