//! One command: how it starts and ends, what it prints, what it leaves.

mod commands;
mod kills;
mod limits;
mod output;
mod plain_folders;
mod refusals;
mod survivors;
mod toolchains;
mod user_limits;
