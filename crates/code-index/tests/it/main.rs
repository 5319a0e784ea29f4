//! Tests of code-index, through its public API.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod answer_texts;
mod answers;
mod fixture;
mod following;
mod freshness;
mod groups;
mod hidden;
mod hidden_parts;
mod hostile;
mod interpreters;
#[cfg(feature = "more-languages")]
mod more_languages;
mod planted;
mod python_imports;
mod ranking;
mod recovery;
mod store;
mod syntax_check;
mod task_files;
mod truth;
