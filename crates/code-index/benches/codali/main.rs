//! What the code index costs and how well it finds, with what was wanted of each figure beside it.
//!
//! Sources come from cargo's cache of the crates that this workspace depends on. Speed is measured on a tree of 20,000 of
//! their files; search quality on questions with known answers over three crates, beside two plain ways of ranking; `--quality` leaves speed out, and the variable `QUESTIONS` shows each rank.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measures")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on has failed")]

mod following;
mod needs;
mod plain_grep;
mod quality;
mod raw_words;
mod sources;
mod speed;

use std::path::Path;

use code_index::{FolderSource, IndexLimits, LocalIndex};
use sandbox_fs::{FileRoot, FsPolicy, RootRules};
use wap_core::{Call, CancelFlag, ConversationId, Origin, Retention, RunKey};

fn main() {
    let Some(registry) = sources::registry() else {
        println!("cargo has no cached sources on this machine: nothing is measured");
        return;
    };
    quality::measure(&registry);
    if !std::env::args().any(|argument| argument == "--quality") {
        speed::measure(&registry);
    }
}

/// Opens an index over a folder.
fn open(code: &Path, state: &Path) -> LocalIndex {
    let root = FileRoot::open(code, &RootRules::none(), FsPolicy::default()).unwrap();
    LocalIndex::open(state, FolderSource::new(root), IndexLimits::default()).unwrap().0
}

/// Makes a call with nobody who cancels it.
fn call<T>(make: impl FnOnce(&Call<'_>) -> T) -> T {
    let origin = Origin {
        conversation: ConversationId("bench".into()),
        run: RunKey::unnumbered("1"),
        step: 0,
        retention: Retention::Process,
    };
    make(&Call { origin: &origin, cancel: &CancelFlag::new(), time_left: None })
}

/// Prints a figure with what is wanted of it.
fn figure(what: &str, value: String, goal: &str, is_met: bool) {
    let verdict = if is_met { "met" } else { "MISSED" };
    println!("  {what:<58} {value:>16}   wanted {goal:<16} {verdict}");
}
