//! Names that a tool on this machine fetches from, as reported by the tool itself.

mod answer;
mod cargo;
mod expand;
mod tool;
mod tools;

pub use expand::{Expansion, PresetError, Presets};
pub use tool::{ToolError, Tools};
