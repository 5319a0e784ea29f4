#![doc = include_str!("../README.md")]

mod descendants;
mod orphan_guard;
mod process_group;
mod program;
mod relayed_errors;

pub use program::{ModelProgram, ProgramError};
