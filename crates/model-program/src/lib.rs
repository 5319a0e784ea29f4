#![doc = include_str!("../README.md")]

mod descendants;
mod process_group;
mod program;

pub use program::{ModelProgram, ProgramError};
