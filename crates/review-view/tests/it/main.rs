//! The view of a review queue, by keys and answers.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod drawing;
mod fixture;
mod hostile;
mod keys;
mod model;
mod speed;
mod windows;
