//! The view of a review queue, by keys and answers.
