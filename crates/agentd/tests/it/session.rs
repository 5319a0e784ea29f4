//! Sessions as people have them: replies, interrupts, undo, trials.

mod answers;
mod bookkeeping;
pub(crate) mod choices;
mod clipboards;
mod cut_off;
mod first_messages;
mod inbox;
pub(crate) mod interrupts;
mod line_numbers;
mod loop_crashes;
mod model_programs;
mod one_step;
mod other_formats;
mod replays;
mod reviews;
mod shown_texts;
mod stopped;
mod transcripts;
mod trials;
pub(crate) mod undo;
