//! Every example runs and shows what it says.

mod chat_models;
mod runs;
mod serves;
