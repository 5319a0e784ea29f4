//! The cost and the search quality of the code index, each figure with its goal.
//!
//! Sources come from cargo's cache of the crates that this workspace depends on, and from packages that `cargo xtask bench
//! codali` installs. Speed and size are measured on two trees of 20,000 files of the crates, one of small files; search quality
//! on questions with known answers, next to simple rankings. `--quality` leaves speed out, `--tuning` also the held-out
//! questions, so that ranking is never tuned by them; the variable `QUESTIONS` prints each rank.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measures")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on has failed")]

mod following;
mod full_text;
mod needs;
mod plain_grep;
mod quality;
mod resampling;
mod sources;
mod speed;

// The index's own splitting of words, for a comparison that differs only in ranking.
#[path = "../../src/search/query_words.rs"]
mod query_words;
#[cfg_attr(test, expect(dead_code, reason = "its own tests come along"))]
#[path = "../../src/words.rs"]
mod words;

use std::path::Path;

use code_index::{FolderSource, IndexLimits, LocalIndex};
use sandbox_fs::{FileRoot, FsPolicy, RootRules};
use wap_core::{Call, CancelFlag, ConversationId, Origin, Retention, RunKey};

fn main() {
    let Some(registry) = sources::registry() else {
        println!("cargo has no cached sources on this machine: nothing is measured");
        return;
    };
    let has_flag = |flag: &str| std::env::args().any(|argument| argument == flag);
    quality::measure(&registry, has_flag("--tuning"));
    if !has_flag("--quality") && !has_flag("--tuning") {
        speed::measure(&registry);
    }
}

/// Opens an index over a folder.
fn open(code: &Path, state: &Path) -> LocalIndex {
    let root = FileRoot::open(code, &RootRules::none(), FsPolicy::default()).unwrap();
    LocalIndex::open(state, FolderSource::new(root), IndexLimits::default()).unwrap().0
}

/// Makes a call that is never cancelled.
fn call<T>(make: impl FnOnce(&Call<'_>) -> T) -> T {
    let origin = Origin {
        conversation: ConversationId("bench".into()),
        run: RunKey::unnumbered("1"),
        step: 0,
        retention: Retention::Process,
    };
    make(&Call { origin: &origin, cancel: &CancelFlag::new(), time_left: None })
}

/// Prints a figure with its goal.
fn figure(what: &str, value: String, goal: &str, is_met: bool) {
    let verdict = if is_met { "met" } else { "MISSED" };
    println!("  {what:<58} {value:>16}   wanted {goal:<16} {verdict}");
}
