//! Tests of the crate; most of them run a real server of their own.

mod failures;
mod fakes;
mod fences;
mod fixture;
mod lies;
mod one_task;
mod partition;
mod permissions;
mod secured;
mod server;
mod troubles;
