//! What a file's name says about it.

use crate::search::query::Term;
use crate::words;

/// Names that say as much as the folder's.
const NAMELESS: [&str; 5] = ["mod", "lib", "index", "main", "init"];

/// Endings of prose and data.
const NO_CODE: [&str; 17] = [
    "cfg", "css", "csv", "html", "ini", "json", "lock", "map", "md", "orig", "rst", "snap", "svg", "toml",
    "txt", "yaml", "yml",
];

/// The name of a file, taken apart.
struct FileName<'p> {
    folder: &'p str,
    /// Without its ending.
    stem: &'p str,
    /// Without its dot; empty if there is none.
    ending: &'p str,
}

impl<'p> FileName<'p> {
    fn of(path: &'p str) -> FileName<'p> {
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
        FileName { folder: folders.rsplit('/').next().unwrap_or_default(), stem, ending }
    }
}

/// How much of a file's name is asked for, 0 to 1. A file that is called as its folder's middle is by the folder's name.
pub(crate) fn asked_share(path: &str, terms: &[Term]) -> f64 {
    let FileName { folder, stem, .. } = FileName::of(path);
    let stem = stem.strip_suffix(".d").unwrap_or(stem);
    let is_nameless = NAMELESS.contains(&stem.trim_matches('_').to_ascii_lowercase().as_str());
    let name = if is_nameless && !folder.is_empty() { folder } else { stem };
    let (mut asked, mut all) = (0.0, 0.0);
    words::each_part_of_text(name, |word| {
        all += 1.0;
        if terms.iter().any(|term| term.word == word) {
            asked += 1.0;
        }
    });
    if all > 0.0 { asked / all } else { 0.0 }
}

/// Whether a file looks like one that only tells of code, or is made from it: prose, data, declarations of types, and what
/// a program has written. What the search names by its ending is asked for.
pub(crate) fn is_no_code(path: &str, terms: &[Term]) -> bool {
    let FileName { stem, ending, .. } = FileName::of(path);
    let ending = ending.to_ascii_lowercase();
    let is_made = stem.ends_with(".min") || stem.ends_with("_pb2") || stem.ends_with(".pb");
    let declares = stem.ends_with(".d") && matches!(ending.as_str(), "ts" | "mts" | "cts");
    (NO_CODE.contains(&ending.as_str()) || is_made || declares)
        && !terms.iter().any(|term| term.word == words::stem(&ending))
}
