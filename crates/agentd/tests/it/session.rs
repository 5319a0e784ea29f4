//! Sessions as people have them: replies, interrupts, undo, trials.

pub(crate) mod choices;
mod inbox;
pub(crate) mod interrupts;
mod one_step;
mod replays;
mod stopped;
mod transcripts;
mod trials;
pub(crate) mod undo;
