//! The names in the text of a task: paths, folders, and names spelled as in code.

use std::collections::{BTreeMap, BTreeSet};

/// The most names of a task that are looked up.
const MOST_NAMES: usize = 12;
/// The most files that a spelling may match; one that matches more names none.
const MOST_FILES_OF_SPELLING: usize = 4;

/// The most clauses of a task, and the fewest words of one.
const MOST_CLAUSES: usize = 8;
const FEWEST_WORDS: usize = 4;

/// The fewest letters of an abbreviation, and the most words of a task that are compared with them.
const SHORTEST_ABBREVIATION: usize = 4;
const MOST_ABBREVIATED: usize = 8;

/// The names in the text of a task.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TaskNames {
    /// Files that the task names by their path, or by the end of it.
    pub(super) files: Vec<String>,
    /// Folders that the task names by their path, or by the end of it.
    pub(super) folders: Vec<String>,
    /// Folders whose bare name is a word of the task.
    pub(super) word_folders: Vec<String>,
    /// Names spelled as in code.
    pub(super) names: Vec<String>,
}

impl TaskNames {
    /// Finds the names; `paths` are all files.
    pub(super) fn of(task: &str, paths: &[String]) -> TaskNames {
        let mut names = TaskNames::default();
        let folder_names: BTreeSet<&str> =
            paths.iter().flat_map(|path| path.split('/').rev().skip(1)).collect();
        for word in words(task) {
            let path = word.trim_start_matches("./").trim_matches('/');
            if path.contains('/') || path.contains('.') {
                let named: Vec<&String> = paths.iter().filter(|one| ends_with_path(one, path)).collect();
                if (1..=MOST_FILES_OF_SPELLING).contains(&named.len()) {
                    add(&mut names.files, named.into_iter().cloned());
                    continue;
                }
                if path.contains('/') && paths.iter().any(|one| super::is_below(one, path)) {
                    add(&mut names.folders, [path.to_owned()]);
                    continue;
                }
            }
            if folder_names.contains(path) {
                add(&mut names.word_folders, [path.to_owned()]);
            }
            if let Some(name) = code_name(word) {
                add(&mut names.names, other_spelling(&name));
                add(&mut names.names, [name]);
            }
        }
        names.names.truncate(MOST_NAMES);
        names
    }
}

/// Returns the clauses of a task that has several, without short ones.
pub(super) fn clauses(task: &str) -> Vec<&str> {
    let ends = [", ", "; ", ": ", ". ", "\n", " - "];
    let mut clauses = vec![task];
    for end in ends {
        clauses = clauses.into_iter().flat_map(|clause| clause.split(end)).collect();
    }
    clauses.retain(|clause| clause.split_whitespace().count() >= FEWEST_WORDS);
    clauses.truncate(MOST_CLAUSES);
    if clauses == [task] { Vec::new() } else { clauses }
}

/// Returns the words of a task that begin with the names of a few files, such as `calculator` with that of `calc.py`, with these
/// files. Names and words consist of letters only.
pub(super) fn abbreviations<'t>(task: &'t str, paths: &[String]) -> Vec<(&'t str, Vec<String>)> {
    let mut by_name: BTreeMap<String, Vec<&String>> = BTreeMap::new();
    for path in paths {
        let file = path.rsplit_once('/').map_or(path.as_str(), |(_, file)| file);
        let name = file.split_once('.').map_or(file, |(name, _)| name);
        if name.len() >= SHORTEST_ABBREVIATION && name.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            by_name.entry(name.to_ascii_lowercase()).or_default().push(path);
        }
    }
    let mut abbreviated: Vec<(&str, Vec<String>)> = Vec::new();
    for word in words(task).filter(|word| word.bytes().all(|byte| byte.is_ascii_alphabetic())) {
        let lower = word.to_ascii_lowercase();
        let files: Vec<String> = (SHORTEST_ABBREVIATION..lower.len())
            .filter_map(|length| by_name.get(&lower[..length]))
            .flatten()
            .map(|path| (*path).clone())
            .collect();
        let is_new = abbreviated.iter().all(|(other, _)| *other != word);
        if (1..=MOST_FILES_OF_SPELLING).contains(&files.len()) && is_new {
            abbreviated.push((word, files));
        }
    }
    abbreviated.truncate(MOST_ABBREVIATED);
    abbreviated
}

/// Returns the name of the type, variant or function for a constant or tag in capitals: `RunCommand` for `RUN_COMMAND`.
fn other_spelling(name: &str) -> Option<String> {
    let is_in_capitals = name.contains('_') && !name.chars().any(char::is_lowercase);
    let capitalized = |part: &str| {
        let (first, rest) = part.split_at_checked(1)?;
        Some(format!("{first}{}", rest.to_lowercase()))
    };
    is_in_capitals.then(|| name.split('_').filter_map(capitalized).collect())
}

fn add(list: &mut Vec<String>, more: impl IntoIterator<Item = String>) {
    for one in more {
        if !list.contains(&one) {
            list.push(one);
        }
    }
}

/// Returns the words of a text, without the punctuation around them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_gap = |character: char| {
        character.is_whitespace() || matches!(character, '`' | '"' | '\'' | '=' | '<' | '>')
    };
    text.split(is_gap)
        .map(|word| {
            word.trim_matches(|character: char| {
                matches!(character, ',' | ';' | ':' | '!' | '?' | '(' | ')' | '[' | ']' | '{' | '}')
            })
        })
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| word.len() >= 2)
}

/// Returns a word as a name of code if it is spelled like one: with an underscore, `::`, a dot between names, or a capital letter
/// after a small one.
fn code_name(word: &str) -> Option<String> {
    let word = word.strip_suffix("()").unwrap_or(word);
    let is_name =
        word.chars().all(|character| character.is_alphanumeric() || matches!(character, '_' | ':' | '.'));
    let has_letter = word.chars().any(char::is_alphabetic);
    let inner_capital =
        word.as_bytes().windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    let is_code =
        word.contains('_') || word.contains("::") || inner_capital || word.trim_matches('.').contains('.');
    (is_name && has_letter && is_code && !word.starts_with('.')).then(|| word.to_owned())
}

/// Checks whether a path equals another, or ends with it at a component boundary.
fn ends_with_path(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_task_have_kinds() {
        let paths = [
            "crates/egress/src/dial/route.rs",
            "crates/gc/src/lib.rs",
            "crates/egress/src/lib.rs",
            "README.md",
        ];
        let paths: Vec<String> = paths.map(str::to_owned).into();
        let names = TaskNames::of(
            "In `dial/route.rs`, and in crates/egress/src/dial, let CollectGarbage use read_file() of gc. A .md file, e.g. 1.5, lib.rs.",
            &paths,
        );
        assert_eq!(
            names.files,
            ["crates/egress/src/dial/route.rs", "crates/gc/src/lib.rs", "crates/egress/src/lib.rs"]
        );
        assert_eq!(names.folders, ["crates/egress/src/dial"]);
        assert_eq!(names.word_folders, ["gc"]);
        assert_eq!(names.names, ["CollectGarbage", "read_file", "e.g"]);
    }

    #[test]
    fn words_begin_with_the_names_of_a_few_files() {
        let mut paths: Vec<String> =
            ["src/calc.py", "Calc.test.js", "add.py", "calculator.rs"].map(str::to_owned).into();
        let files = |paths: &[String]| abbreviations("Let the calculator addition calc, calculator", paths);
        assert_eq!(
            files(&paths),
            [("calculator", vec!["src/calc.py".to_owned(), "Calc.test.js".to_owned()])]
        );
        paths.extend((0..3).map(|number| format!("{number}/calc.c")));
        assert_eq!(files(&paths), []);
    }

    #[test]
    fn a_spelling_that_fits_many_files_names_none() {
        let paths: Vec<String> = (0..9).map(|number| format!("{number}/lib.rs")).collect();
        assert_eq!(TaskNames::of("see lib.rs", &paths).files, Vec::<String>::new());
    }
}
