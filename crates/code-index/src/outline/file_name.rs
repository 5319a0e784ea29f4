//! Ranking signals from a file's name.

use crate::search::query::Term;
use crate::words;

/// Stems without a meaning, for which the folder's name counts instead.
const NAMELESS: [&str; 5] = ["mod", "lib", "index", "main", "init"];

/// Extensions of prose and data.
const NOT_CODE: [&str; 17] = [
    "cfg", "css", "csv", "html", "ini", "json", "lock", "map", "md", "orig", "rst", "snap", "svg", "toml",
    "txt", "yaml", "yml",
];

/// The parts of a file's name.
struct FileName<'p> {
    folder: &'p str,
    /// The name without its extension.
    stem: &'p str,
    /// The extension without its dot; empty if there is none.
    ending: &'p str,
}

impl<'p> FileName<'p> {
    fn of(path: &'p str) -> FileName<'p> {
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
        FileName { folder: folders.rsplit('/').next().unwrap_or_default(), stem, ending }
    }
}

/// Returns the share of the words in a file's name that the query contains, 0 to 1. For a file such as `mod.rs`
/// the folder's name counts.
pub(crate) fn name_share(path: &str, terms: &[Term]) -> f64 {
    let FileName { folder, stem, .. } = FileName::of(path);
    let stem = stem.strip_suffix(".d").unwrap_or(stem);
    let is_nameless = NAMELESS.contains(&stem.trim_matches('_').to_ascii_lowercase().as_str());
    let name = if is_nameless && !folder.is_empty() { folder } else { stem };
    let (mut queried, mut all) = (0.0, 0.0);
    words::each_part_of_text(name, |word| {
        all += 1.0;
        if terms.iter().any(|term| term.word == word) {
            queried += 1.0;
        }
    });
    if all > 0.0 { queried / all } else { 0.0 }
}

/// Returns true if a file looks like prose, data, type declarations or generated code, unless the query names its
/// extension.
pub(crate) fn is_not_code(path: &str, terms: &[Term]) -> bool {
    let FileName { stem, ending, .. } = FileName::of(path);
    let ending = ending.to_ascii_lowercase();
    let is_made = stem.ends_with(".min") || stem.ends_with("_pb2") || stem.ends_with(".pb");
    let declares = stem.ends_with(".d") && matches!(ending.as_str(), "ts" | "mts" | "cts");
    (NOT_CODE.contains(&ending.as_str()) || is_made || declares)
        && !terms.iter().any(|term| term.word == words::stem(&ending))
}
