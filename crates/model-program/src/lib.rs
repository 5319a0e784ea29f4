#![doc = include_str!("../README.md")]

mod process_group;
mod program;

pub use program::{ModelProgram, ProgramError};
