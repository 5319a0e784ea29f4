//! The speed of searching, listing, reading and editing files, compared with the programs that people would use
//! instead.
//!
//! `cargo xtask bench files` runs it, `cargo xtask bench search` the part with a list that is kept. It makes its own trees in the target folder, once. Ours and theirs are measured in
//! turns, and a ratio is the median of the ratios of all turns, so that a busy machine slows both. The processor time of
//! all turns is compared, too: where it and the clock disagree, the machine was too busy to tell.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints what it has measured")]

mod fixture;
mod listing;
mod memory;
mod processor_time;
mod search;
mod single_file;
mod table;
mod tree;
mod turns;
mod warm;

use std::path::Path;
use std::process::ExitCode;

use crate::table::Table;
use crate::tree::Tree;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let ["--peak-memory", tool, folder] = arguments[..] {
        memory::child(tool, Path::new(folder));
        return ExitCode::SUCCESS;
    }
    let files = if arguments.contains(&"--large") { 90_000 } else { 20_000 };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-files");
    let tree = Tree::make(&folder, files);
    let mut table = Table::default();
    let named: Vec<_> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted = |part| named.is_empty() || named.iter().any(|name| **name == part);
    if is_wanted("search") {
        search::measure(&tree, &mut table);
    }
    // It has a task of its own.
    if named.iter().any(|name| **name == "warm") {
        warm::measure(&tree, &mut table);
    }
    if is_wanted("listing") {
        listing::measure(&tree, &mut table);
    }
    if is_wanted("single") {
        single_file::measure(&folder, &mut table);
    }
    if is_wanted("memory") {
        memory::measure(&folder, &mut table);
    }
    println!("\n{files} files, {} MB, in {} folders\n", tree.bytes() / 1_000_000, tree.folders());
    print!("{table}");
    if table.is_right() {
        ExitCode::SUCCESS
    } else {
        eprintln!("\nsome results differ, so their times mean nothing");
        ExitCode::FAILURE
    }
}
