//! Every example runs and shows what it says.

mod runs;
mod serves;
