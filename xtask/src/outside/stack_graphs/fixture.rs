//! A fixture: files in one text, with marks that say on which lines a name is defined.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;
use rel_path::RelPath;

static PATH: LazyLock<Regex> = LazyLock::new(|| pattern(r"---\s*path:\s*(\S+)\s*---"));
static VARIABLE: LazyLock<Regex> = LazyLock::new(|| pattern(r"---\s*global:\s*\S+=\S+\s*---"));
static MARK: LazyLock<Regex> = LazyLock::new(|| pattern(r"(\^)\s*defined:\s*((?:\d+(?:\s*,\s*)?)*)\s*$"));
static ANY_MARK: LazyLock<Regex> = LazyLock::new(|| pattern(r"\^\s*(?:defined|defines|refers):"));

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a constant")
}

/// A line of a file of the fixture, 1-based.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position {
    pub(super) file: String,
    pub(super) line: u64,
}

/// A name that is defined on a line, as a mark says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MarkedDefinition {
    pub(super) position: Position,
    pub(super) name: String,
    /// The text of the line.
    pub(super) text: String,
}

/// A fixture, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fixture {
    /// The files with their contents.
    pub(super) files: Vec<(String, String)>,
    /// Pairs of files of which the first uses a name that the second defines.
    pub(super) dependencies: BTreeSet<(String, String)>,
    /// The definitions that bear the name by which they are used.
    pub(super) definitions: BTreeSet<MarkedDefinition>,
}

impl Fixture {
    /// Takes a fixture apart; `None` if one of its paths leads elsewhere. Without a line that names a path, all of it is the
    /// file `name`.
    pub(super) fn parse(name: &str, text: &str) -> Option<Fixture> {
        let lines: Vec<&str> = text.lines().collect();
        let mut fixture = Fixture::default();
        // The position of each line of the text; `None` for lines of no file.
        let mut positions: Vec<Option<Position>> = Vec::new();
        let mut current = (!lines.iter().any(|line| PATH.is_match(line))).then(|| (name.to_owned(), 0));
        if let Some((file, _)) = &current {
            fixture.files.push((file.clone(), String::new()));
        }
        for line in &lines {
            if let Some(path) = PATH.captures(line) {
                let path = RelPath::parse(&path[1]).ok()?.to_string();
                fixture.files.push((path.clone(), String::new()));
                current = Some((path, 0));
                positions.push(None);
                continue;
            }
            let Some((file, number)) = &mut current else {
                positions.push(None);
                continue;
            };
            *number += 1;
            positions.push(Some(Position { file: file.clone(), line: *number }));
            let (_, content) = fixture.files.last_mut()?;
            // A variable is for the suite's own program, and JSON has no comments.
            if !VARIABLE.is_match(line) {
                content.push_str(line);
            }
            content.push('\n');
        }
        fixture.read_marks(&lines, &positions);
        Some(fixture)
    }

    fn read_marks(&mut self, lines: &[&str], positions: &[Option<Position>]) {
        let mut marked: Option<usize> = None;
        for (index, line) in lines.iter().enumerate() {
            if !ANY_MARK.is_match(line) {
                marked = Some(index);
                continue;
            }
            let (Some(mark), Some(marked)) = (MARK.captures(line), marked) else { continue };
            let (Some(column), Some(from)) = (mark.get(1).map(|caret| caret.start()), &positions[marked])
            else {
                continue;
            };
            let Some(name) = name_at(lines[marked], column) else { continue };
            for target in mark[2].split(',').filter_map(|number| number.trim().parse::<usize>().ok()) {
                let position = target.checked_sub(1).and_then(|index| positions.get(index)?.clone());
                let Some(position) = position else { continue };
                if position.file != from.file {
                    self.dependencies.insert((from.file.clone(), position.file.clone()));
                }
                let text = lines[target - 1];
                if names(text).any(|(_, other)| other == name) {
                    self.definitions.insert(MarkedDefinition {
                        position,
                        name: name.to_owned(),
                        text: text.trim().to_owned(),
                    });
                }
            }
        }
    }
}

/// Returns the name that a byte of a line belongs to.
fn name_at(line: &str, column: usize) -> Option<&str> {
    names(line).find(|(start, name)| (*start..*start + name.len()).contains(&column)).map(|(_, name)| name)
}

/// Returns the names in a line, with their offsets in bytes.
pub(super) fn names(line: &str) -> impl Iterator<Item = (usize, &str)> {
    line.split(|character: char| !character.is_alphanumeric() && !"_$#".contains(character))
        .filter(|name| !name.is_empty())
        .map(|name| (name.as_ptr() as usize - line.as_ptr() as usize, name))
}

/// Returns the endings of fixtures. Another ending, such as `.skip`, means that the suite leaves a file out itself.
pub(super) fn is_fixture(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ["java", "js", "ts", "tsx", "py"].iter().any(|one| ending == *one))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO_FILES: &str = "\
before the first file
# --- path: foo/bar.py ---

BAR = 42

# --- path: test.py ---
from foo import bar as other

other.BAR
# ^ defined: 7, 2
#     ^ defined: 4
nothing
# ^ defined:
#     ^ refers: nothing
";

    #[test]
    fn a_fixture_is_files_dependencies_and_definitions() {
        let fixture = Fixture::parse("x.py", TWO_FILES).unwrap();
        let names: Vec<&str> = fixture.files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["foo/bar.py", "test.py"]);
        assert_eq!(fixture.files[0].1, "\nBAR = 42\n\n");
        let definition = |file: &str, line, name: &str, text: &str| MarkedDefinition {
            position: Position { file: file.into(), line },
            name: name.into(),
            text: text.into(),
        };
        assert_eq!(
            fixture.definitions.into_iter().collect::<Vec<_>>(),
            [
                definition("foo/bar.py", 2, "BAR", "BAR = 42"),
                definition("test.py", 1, "other", "from foo import bar as other"),
            ]
        );
        assert_eq!(
            fixture.dependencies.into_iter().collect::<Vec<_>>(),
            [("test.py".to_owned(), "foo/bar.py".to_owned())]
        );
    }

    #[test]
    fn a_text_without_paths_is_one_file() {
        let fixture = Fixture::parse("x.js", "let a = 1;\n  a;\n//^ defined: 1, 99\n").unwrap();
        assert_eq!(fixture.files.len(), 1);
        assert_eq!(
            fixture.definitions.first().map(|one| (one.position.line, one.name.as_str())),
            Some((1, "a"))
        );
        assert!(fixture.dependencies.is_empty());
    }

    #[test]
    fn a_path_out_of_the_folder_is_no_fixture() {
        assert_eq!(Fixture::parse("x.py", "# --- path: ../../etc/x.py ---\n"), None);
        assert_eq!(Fixture::parse("x.py", "# --- path: /etc/x.py ---\n"), None);
    }
}
