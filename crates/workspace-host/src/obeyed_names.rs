//! Protected and reported names, with the user's options applied.

pub(crate) mod git_names;

use rel_path::{NameRule, ProtectedNames, RelPath};

use crate::obeyed_names::git_names::GitNames;
use crate::options::HostOptions;

/// The reason of a name that the user has put on a list.
const YOURS: &str = "the user has put it on the list";

/// Returns the names with their lists, and with the workspace paths that the user's git settings name; a later
/// [`ProtectedNames::look_again`] finds those that they name by then. If options contradict each other, the stricter
/// one applies.
pub fn obeyed_names(options: &HostOptions) -> ProtectedNames {
    let mut names = ProtectedNames::default();
    // The order decides contradictions: what is added last wins, and the strictest list is added last.
    for name in &options.unprotect {
        names.remove(name);
    }
    for (given, rule) in [(&options.ask_about, NameRule::Reported), (&options.protect, NameRule::Never)] {
        for name in given {
            if !names.change(name, rule) {
                names.set(name, rule, YOURS);
            }
        }
    }
    match GitNames::of(options) {
        Some(source) => names.with_found(source),
        None => names,
    }
}

/// Returns the reason why other programs obey the file at a path that a model has written, if changes of it are
/// reported; `None` if they do not. The change itself is judged by its real target.
#[must_use]
pub fn reported_reason<'a>(names: &'a ProtectedNames, path: &str) -> Option<&'a str> {
    let parsed = without_steps_upwards(&RelPath::parse(path).ok()?)?;
    Some(names.reported(&parsed)?.reason())
}

/// A path with `..` resolved as if there were no symlinks.
fn without_steps_upwards(path: &RelPath) -> Option<RelPath> {
    let mut names: Vec<&[u8]> = Vec::new();
    for name in path.components() {
        if name == b".." {
            names.pop()?;
        } else {
            names.push(name);
        }
    }
    RelPath::from_bytes(&names.join(&b'/')).ok()
}

/// Checks whether a name on the second list is on the first one by default.
pub fn is_never_changed(name: &str) -> bool {
    ProtectedNames::default().entry(name).is_some_and(|entry| entry.rule() == NameRule::Never)
}

/// Reads a name for the first list.
pub fn name(text: &str) -> Result<String, String> {
    if ProtectedNames::new([text]).entries().next().is_none() {
        return Err("give a name, or several joined by slashes".to_owned());
    }
    // It would protect every file: then no change could be made at all.
    if text.split('/').any(|part| !part.is_empty() && part.chars().all(|character| character == '*')) {
        return Err("a * alone stands for every name: write more of it".to_owned());
    }
    Ok(text.to_owned())
}

/// Reads a name that may not be one of those that always stay on the first list.
pub fn movable_name(text: &str) -> Result<String, String> {
    let fixed = ProtectedNames::new(ProtectedNames::FIXED);
    if fixed.entry(text).is_some() {
        return Err(format!("nothing in '{text}' is ever changed by a model"));
    }
    name(text)
}

/// Reads a name that is on one of the lists by default, or a path that settings of git may name: it begins with `./`, so that a
/// misspelt name is still recognised.
pub fn listed_name(text: &str) -> Result<String, String> {
    let text = movable_name(text)?;
    if text.starts_with("./") || ProtectedNames::default().entry(&text).is_some() {
        return Ok(text);
    }
    Err(format!(
        "'{text}' is on no list: give a name as docs/protected-names.md has it, or ./{text} if your settings of git name this path"
    ))
}
