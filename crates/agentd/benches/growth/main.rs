//! Measures how the cost of a call grows: with the files of a folder, with the size of a file, and with the number of clients.
//!
//! `cargo xtask bench growth` runs it. Next to each is the cost of the same without any promise: `find`, `rg`, a plain copy of a
//! file that is synced and renamed. The folders are made in the target folder, once; a line that begins with `plot` is drawn by
//! `cargo xtask bench growth --page`.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it has measured")]
#![expect(dead_code, reason = "the bench of the servers uses more of the modules that both have")]

mod clients;
#[path = "../serve/code_folder.rs"]
mod code_folder;
mod curve;
mod files;
#[path = "../serve/http_server.rs"]
mod http_server;
#[path = "../serve/line_server.rs"]
mod line_server;
mod sizes;

use std::path::Path;

fn main() {
    let parent = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-serve");
    files::measure(&parent);
    sizes::measure(&parent);
    clients::measure(&parent);
}
