//! The cases of `fixtures/vectors`.

mod exec;
mod flow;
mod parsing;
