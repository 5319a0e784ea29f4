//! The view of a review queue, by keys and answers.

mod drawing;
mod fixture;
mod generated;
mod hostile;
mod keys;
mod model;
mod speed;
mod windows;
