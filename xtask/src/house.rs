//! Figures of folders, language and names, which measure how easily a newcomer finds the right file.
//!
//! The sources of tests, benches, examples and tasks are left out, and so are modules of tests within sources. The sizes of
//! folders count them, because a reader has to find them too.

mod product_source;

use std::path::Path;

use crate::tidy::folder_size::{MOST_FILES, sources_by_folder};
use crate::{TaskError, Tree};
use product_source::product_source;

/// Words that open a question: a documentation comment that begins with one does not name the item.
const QUESTIONS: [&str; 6] = ["What", "How", "Whether", "Why", "Where", "Which"];
/// Words that stand for a role without naming it.
const UNNAMED: [&str; 3] = ["somebody", "nobody", "whoever"];

/// The figures of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HouseFigures {
    /// The folder with the most sources directly in it, and their number.
    pub fullest_folder: (String, usize),
    /// Documentation comments, one for each run of lines.
    pub doc_comments: usize,
    /// Those that open with a question word.
    pub doc_questions: usize,
    /// The number of words that stand for a role, in sources.
    pub unnamed_in_sources: usize,
    /// The same in pages (`*.md`).
    pub unnamed_in_pages: usize,
    /// Lines that are not blank.
    pub lines: usize,
    /// Lines of documentation comments.
    pub doc_lines: usize,
    /// Lines of other comments.
    pub comment_lines: usize,
    /// Types named `…Ground` or `…Place`, functions named `told` or `place`.
    pub vague_names: usize,
    /// Lines of the program, `agentd`, that are not blank.
    pub program_lines: usize,
}

impl HouseFigures {
    /// Measures a tree.
    #[must_use]
    pub fn of(tree: &Tree) -> HouseFigures {
        let mut figures = HouseFigures::default();
        let folders = sources_by_folder(tree);
        if let Some((folder, files)) = folders.into_iter().max_by_key(|(_, files)| *files) {
            figures.fullest_folder = (folder.to_owned(), files);
        }
        for (path, text) in tree.sources().filter(|(path, _)| is_product(path)) {
            let before = figures.lines;
            figures.add(&product_source(text));
            if path.starts_with("crates/agentd/") {
                figures.program_lines += figures.lines - before;
            }
        }
        let pages = tree.texts().filter(|(path, _)| path.ends_with(".md") && !path.starts_with("fixtures/"));
        figures.unnamed_in_pages = pages.map(|(_, text)| unnamed(text)).sum();
        figures
    }

    fn add(&mut self, source: &str) {
        let mut in_doc = false;
        for line in source.lines().map(str::trim) {
            if line.is_empty() {
                in_doc = false;
                continue;
            }
            self.lines += 1;
            self.unnamed_in_sources += unnamed(line);
            let doc = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
            if let Some(text) = doc {
                self.doc_lines += 1;
                if !in_doc {
                    self.doc_comments += 1;
                    self.doc_questions += usize::from(is_question(text));
                }
            } else if line.starts_with("//") {
                self.comment_lines += 1;
            } else {
                self.vague_names += vague_names(line);
            }
            in_doc = doc.is_some();
        }
    }

    /// Returns the figures as a table.
    #[must_use]
    pub fn table(&self) -> String {
        let (folder, files) = &self.fullest_folder;
        let rows = [
            ("most sources flat in one folder", format!("{files} ({folder})"), format!("≤ {MOST_FILES}")),
            (
                "doc comments that open with a question word",
                format!("{:.0} %", percent(self.doc_questions, self.doc_comments)),
                "≤ 5 %".to_owned(),
            ),
            (
                "somebody, nobody, whoever in sources / in pages",
                format!("{} / {}", self.unnamed_in_sources, self.unnamed_in_pages),
                "≤ 10".to_owned(),
            ),
            (
                "doc / other comments, % of lines",
                format!(
                    "{:.1} / {:.1}",
                    percent(self.doc_lines, self.lines),
                    percent(self.comment_lines, self.lines)
                ),
                "other ≥ 2.5".to_owned(),
            ),
            ("types …Ground, …Place; functions told, place", self.vague_names.to_string(), "0".to_owned()),
            ("lines of the program", self.program_lines.to_string(), "≤ 6000".to_owned()),
        ];
        let rows = rows.map(|(what, figure, goal)| format!("| {what} | {figure} | {goal} |\n"));
        format!("| | here | goal |\n| --- | --- | --- |\n{}", rows.concat())
    }
}

/// Prints the figures of a repository.
///
/// # Errors
///
/// Those of reading the repository.
pub fn house(root: &Path) -> Result<(), TaskError> {
    print!("{}", HouseFigures::of(&Tree::read(root)?).table());
    Ok(())
}

fn is_product(path: &str) -> bool {
    path.starts_with("crates/") && path.split('/').nth(2) == Some("src")
}

fn is_question(text: &str) -> bool {
    text.split_whitespace().next().is_some_and(|word| QUESTIONS.contains(&word))
}

fn unnamed(text: &str) -> usize {
    let words = text.split(|character: char| !character.is_alphabetic());
    words.filter(|word| UNNAMED.iter().any(|unnamed| word.eq_ignore_ascii_case(unnamed))).count()
}

/// Counts the definitions in a line of code whose name says nothing about what they are.
fn vague_names(line: &str) -> usize {
    let mut words = line
        .split(|character: char| !(character.is_alphanumeric() || character == '_'))
        .filter(|word| !word.is_empty());
    let mut count = 0;
    while let Some(word) = words.next() {
        let vague: &[&str] = match word {
            "struct" | "enum" | "trait" | "type" => &["Ground", "Place"],
            "fn" => &["told", "place"],
            _ => continue,
        };
        let is_function = word == "fn";
        let Some(name) = words.next() else { break };
        let matches = |one: &&str| if is_function { name == *one } else { name.ends_with(*one) };
        count += usize::from(vague.iter().any(matches));
    }
    count
}

#[expect(clippy::cast_precision_loss, reason = "figures for people, of counts far below 2^52")]
fn percent(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}
