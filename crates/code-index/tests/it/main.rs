//! Tests of code-index, through its public API.

mod answers;
mod fixture;
mod freshness;
mod hidden;
mod hostile;
mod store;
