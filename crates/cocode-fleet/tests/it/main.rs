//! Tests of the crate; most of them run a real server of their own.

mod fakes;
mod fixture;
mod one_task;
mod server;
