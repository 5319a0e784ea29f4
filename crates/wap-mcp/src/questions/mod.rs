//! Questions to the person at the client: changes and commands that wait for a review.
//!
//! In 2025-11-25 the server asks by elicitation while the call waits; in 2026-07-28 the call is answered with the question, and
//! repeated with the answer. Either way the question is another front end of the review: the first verdict from any front end
//! counts, and an answer is bound to the digest of the question's subject.

mod calls;
mod doing;
mod form;
mod newer;
mod older;
mod open;
mod source;

pub use open::Questions;
pub use source::{
    LineKind, Question, ReviewProgress, ReviewQuestions, ShownLine, ShownReview, ShownStep, Verdict, Wanted,
};
