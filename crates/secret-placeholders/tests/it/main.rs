//! Tests of `secret-placeholders` through its public API.

mod corpus;
mod keys;
mod masking;
mod over_workspace;
mod properties;
mod store;
