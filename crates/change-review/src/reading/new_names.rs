//! The names that new lines define, and their words. Lines are read word by word rather than parsed: that needs no
//! grammar, and works for the parts of a file in a hunk.

use std::collections::BTreeSet;

/// The keywords that precede a defined name.
const DEFINING: [&str; 34] = [
    "class",
    "const",
    "contract",
    "data",
    "def",
    "defmodule",
    "defp",
    "enum",
    "extension",
    "fn",
    "fun",
    "func",
    "function",
    "interface",
    "let",
    "macro_rules",
    "mixin",
    "mod",
    "module",
    "namespace",
    "newtype",
    "object",
    "package",
    "proc",
    "protocol",
    "record",
    "static",
    "struct",
    "sub",
    "trait",
    "type",
    "union",
    "val",
    "var",
];

/// Words that may occur between such a keyword and the name.
const BETWEEN: [&str; 8] = ["async", "class", "mut", "object", "ref", "self", "static", "unsafe"];

/// The shortest name that counts: `i` and `x` are in every file.
const SHORTEST_NAME: usize = 3;

/// The longest word that is considered, in bytes.
const LONGEST_WORD: usize = 100;

/// The names and words of new lines.
#[derive(Debug, Default)]
pub(super) struct NewNames<'a> {
    /// The names that they define.
    pub(super) defined: BTreeSet<&'a str>,
    /// All their words, defined names among them.
    pub(super) words: BTreeSet<&'a str>,
}

/// The keywords that define variables; indented ones belong to a function and do not matter elsewhere.
const OF_VARIABLES: [&str; 4] = ["const", "let", "val", "var"];

/// The expected next word, given the words so far.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expects {
    Anything,
    /// The name that is defined.
    Name,
    /// The end of the receiver of a method in Go, `func (s *Store) Get(`, and then the name.
    EndOfReceiver,
}

impl<'a> NewNames<'a> {
    /// Adds the names and words of a text.
    pub(super) fn add(&mut self, text: &'a str) {
        text.lines().for_each(|line| self.add_line(line));
    }

    fn add_line(&mut self, line: &'a str) {
        let is_indented = line.starts_with(char::is_whitespace);
        let (mut expects, mut rest) = (Expects::Anything, line);
        while let Some(start) = rest.find(is_of_a_word) {
            let gap = rest[..start].trim();
            let length = rest[start..].find(|character| !is_of_a_word(character));
            let end = length.map_or(rest.len(), |length| start + length);
            let word = &rest[start..end];
            rest = &rest[end..];
            let is_name = match expects {
                Expects::Anything => false,
                Expects::Name => matches!(gap, "" | "!"),
                Expects::EndOfReceiver => gap.starts_with(')'),
            };
            let counts = (SHORTEST_NAME..=LONGEST_WORD).contains(&word.len());
            if counts {
                self.words.insert(word);
            }
            expects = match expects {
                Expects::Name if gap == "(" => Expects::EndOfReceiver,
                Expects::EndOfReceiver if !is_name => Expects::EndOfReceiver,
                _ if is_name && BETWEEN.contains(&word) => Expects::Name,
                _ if is_name => {
                    if counts {
                        self.defined.insert(word);
                    }
                    Expects::Anything
                }
                _ if DEFINING.contains(&word) && !(is_indented && OF_VARIABLES.contains(&word)) => {
                    Expects::Name
                }
                _ => Expects::Anything,
            };
        }
    }
}

fn is_of_a_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::NewNames;

    #[test]
    fn names_are_found_after_the_words_that_define() {
        for (line, name) in [
            ("pub(crate) fn parse_line<'a>(text: &'a str) -> Line {", "parse_line"),
            ("export default async function loadAll(names) {", "loadAll"),
            ("    def undo(self, run):", "undo"),
            ("func (s *Store) Get(key string) error {", "Get"),
            ("func Open(path string) *Store {", "Open"),
            ("class HTTPServer(Base):", "HTTPServer"),
            ("const MOST_LINES: usize = 3;", "MOST_LINES"),
            ("let total = 0;", "total"),
            ("macro_rules! lines {", "lines"),
            ("type Answer<T> = Result<T, Failure>;", "Answer"),
            ("enum class Colour { Red }", "Colour"),
        ] {
            let mut names = NewNames::default();
            names.add(line);
            assert_eq!(names.defined.iter().collect::<Vec<_>>(), [&name], "{line}");
        }
    }

    #[test]
    fn uses_and_variables_of_functions_define_nothing() {
        let mut names = NewNames::default();
        names.add("    let value = store.get(parse_line(text)?);\nif total > 3 { return Answer(1) }\n");
        names.add("    if let Some(value) = read() {}\nconst { join } = require('path');\n{ \"type\": \"string\" }\n");
        assert_eq!(names.defined.len(), 0, "{names:?}");
        assert!(names.words.contains("parse_line") && names.words.contains("Answer"));
    }
}
