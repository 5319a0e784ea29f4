//! Tests through the public API, with real repositories and processes.

mod cleaning;
mod confinement;
mod definitions;
mod ground;
mod picking;
mod processes;
mod refusals;
mod verdicts;
