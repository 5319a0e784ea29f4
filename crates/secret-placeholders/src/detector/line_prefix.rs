//! Prefixes that tools print before a line of a file: diff markers, graph columns, paths and line numbers of matches,
//! commits from `git blame`.

use std::sync::LazyLock;

use regex::Regex;

/// The maximum number of bytes at the start of a line that are searched for prefixes.
const MOST_PREFIX_BYTES: usize = 400;

/// The maximum number of consecutive prefixes of a line, and of ways to read its start as prefixes.
const MOST_PREFIXES: usize = 4;
const MOST_STARTS: usize = 16;

/// A kind of prefix. Related lines have the same prefixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prefix<'l> {
    /// One of the [`FORMS`].
    Form(usize),
    /// A path without a number, as `grep -r` prints it.
    Path(&'l str),
}

/// The columns of `git log --graph`; a path and a number as `grep -n` prints them, also with a column, and the number
/// alone; the number of `cat -n`; the prefix of `git blame`, whose length depends on the author.
const FORMS: [&str; 7] = [
    r"^[|*](?:\x20?[|*\\/]){0,30}\x20?",
    r"^[|*](?:\x20?[|*\\/]){0,30}\x20{2,60}",
    r"^(?:[^\s:]{1,200}[:-])?[0-9]{1,7}[:-]",
    r"^[^\s:][^:\n]{0,199}(?::[0-9]{1,7}:|-[0-9]{1,7}-)",
    r"^\s*[0-9]{1,7}\t",
    r"^\^?[0-9a-f]{7,40}\s+(?:[^(\n]{1,200}?\s+)?(?:\(.{1,200}?\s)?[0-9]{1,7}\)\s?",
    r"^\^?[0-9a-f]{7,40}\s+(?:[^(\n]{1,200}?\s+)?\(.{1,200}\s[0-9]{1,7}\)\s?",
];

/// A path before a colon, with spaces only if it has folders or an extension; and a path before a hyphen, as on the
/// lines around a match.
const PATHS: [&str; 2] =
    [r"^([^\s:]{1,200}|[^\s:][^:\n]{0,199}[./][^\s:]{0,100}):", r"^([^\s:]{0,200}[./][^\s:]{1,100})-"];

/// The beginning of a line after prefixes other than diff markers.
#[derive(Clone, Debug)]
pub(super) struct Start<'l> {
    /// The line from there on.
    rest: &'l str,
    prefixes: Vec<Prefix<'l>>,
}

impl<'l> Start<'l> {
    /// Returns the possible texts of the line: with its diff markers, and without.
    pub(super) fn texts(&self) -> impl Iterator<Item = &'l str> + use<'l> {
        let (text, _) = without_markers(self.rest);
        let unmarked = (text.len() < self.rest.len()).then_some(text);
        // The first of two marker columns.
        let after_marker = self.rest.strip_prefix("- ").filter(|_| unmarked.is_none());
        [Some(self.rest), unmarked, after_marker].into_iter().flatten()
    }

    /// Returns the rest of another line after the same prefixes; `None` if its prefixes differ.
    pub(super) fn rest_of<'o>(&self, line: &'o str) -> Option<&'o str> {
        self.prefixes.iter().try_fold(line, |rest, prefix| match prefix {
            Prefix::Form(form) => Some(&rest[forms()[*form].find(head(rest))?.end()..]),
            Prefix::Path(path) => rest.strip_prefix(*path)?.strip_prefix([':', '-']),
        })
    }

    /// Checks for a tab before the line, as `git blame --porcelain` prints it.
    pub(super) fn is_indented_by_tab(&self) -> bool {
        self.rest.starts_with('\t')
    }
}

/// Returns the possible beginnings of a line after prefixes that tools add. The first is the start of the whole line.
pub(super) fn starts(line: &str) -> Vec<Start<'_>> {
    static COMPILED: LazyLock<Vec<Regex>> = LazyLock::new(|| compiled(&PATHS));
    let mut starts = vec![Start { rest: line, prefixes: Vec::new() }];
    let mut next = 0;
    while next < starts.len() && starts.len() < MOST_STARTS {
        let Start { rest, prefixes } = starts[next].clone();
        next += 1;
        if prefixes.len() == MOST_PREFIXES || line.len() - rest.len() > MOST_PREFIX_BYTES {
            continue;
        }
        let forms = forms().iter().enumerate().filter_map(|(form, pattern)| {
            let end = pattern.find(head(rest))?.end();
            Some((&rest[end..], Prefix::Form(form)))
        });
        let paths = COMPILED.iter().filter_map(|pattern| {
            let path = pattern.captures(head(rest))?;
            Some((&rest[path.get_match().end()..], Prefix::Path(&rest[path.get(1)?.range()])))
        });
        for (rest, prefix) in forms.chain(paths) {
            let prefixes = prefixes.iter().copied().chain([prefix]).collect();
            if starts.len() < MOST_STARTS && !starts.iter().any(|start| start.rest.len() == rest.len()) {
                starts.push(Start { rest, prefixes });
            }
        }
    }
    starts
}

/// Returns the start of a line, which is searched for prefixes.
fn head(line: &str) -> &str {
    &line[..line.floor_char_boundary(MOST_PREFIX_BYTES.min(line.len()))]
}

fn forms() -> &'static [Regex] {
    static COMPILED: LazyLock<Vec<Regex>> = LazyLock::new(|| compiled(&FORMS));
    &COMPILED
}

fn compiled(patterns: &[&str]) -> Vec<Regex> {
    patterns.iter().map(|pattern| Regex::new(pattern).expect("the expression is valid")).collect()
}

/// Returns a line without its diff markers, of which a merge has two, and true if it has any. A hyphen followed by one
/// space begins a list element.
pub(super) fn without_markers(line: &str) -> (&str, bool) {
    if let Some(rest) = line.strip_prefix("> ").or_else(|| line.strip_prefix("< ")) {
        return (rest, true);
    }
    let is_marked = |line: &str| {
        line.starts_with('+') || line.starts_with('-') && (!line.starts_with("- ") || line.starts_with("-  "))
    };
    // Columns of a graph without branches.
    let unpadded = line.trim_start_matches(' ');
    let line = if unpadded.starts_with('+') && line.len() > unpadded.len() + 1 { unpadded } else { line };
    if !is_marked(line) && !line.strip_prefix(' ').is_some_and(is_marked) {
        return (line, false);
    }
    let rest = &line[1..];
    (if is_marked(rest) { &rest[1..] } else { rest }, true)
}

#[cfg(test)]
mod tests {
    use super::{Start, starts};

    fn texts(line: &str) -> Vec<&str> {
        starts(line).iter().flat_map(Start::texts).collect()
    }

    #[test]
    fn what_tools_print_before_a_line_is_taken_off() {
        for (line, rest) in [
            ("+  value: a", "  value: a"),
            ("-  value: a", "  value: a"),
            ("-- name: a", "- name: a"),
            ("-requirepass a", "requirepass a"),
            ("++requirepass a", "requirepass a"),
            (" +requirepass a", "requirepass a"),
            ("+ requirepass a", " requirepass a"),
            (" -requirepass a", "requirepass a"),
            ("- requirepass a", "requirepass a"),
            ("> requirepass a", "requirepass a"),
            ("| * | +requirepass a", "requirepass a"),
            ("|\\ +- name: a", "- name: a"),
            ("  +requirepass a", "requirepass a"),
            ("| |   -requirepass a", "requirepass a"),
            ("3:requirepass a", "requirepass a"),
            ("3:1:requirepass a", "requirepass a"),
            ("src/r.conf:3:requirepass a", "requirepass a"),
            ("src/r.conf:3:14:requirepass a", "requirepass a"),
            ("src/r.conf-12-requirepass a", "requirepass a"),
            ("a b/r.conf:3:requirepass a", "requirepass a"),
            ("a b/r.conf:requirepass a", "requirepass a"),
            ("r.conf:requirepass a", "requirepass a"),
            ("r.conf-requirepass a", "requirepass a"),
            ("HEAD~1:a b/r.conf:3:requirepass a", "requirepass a"),
            ("HEAD:r.conf:requirepass a", "requirepass a"),
            ("     3\trequirepass a", "requirepass a"),
            ("a1b2c3d4 (Me X 2024-01-02 03:04:05 +0100 3) requirepass a", "requirepass a"),
            ("a1b2c3d4 (Me (of 3) X 2024-01-02 03:04:05 +0100 3) requirepass a", "requirepass a"),
            ("^1b2c3d4 r.conf (Me 2024-01-02 03:04:05 +0100  3) requirepass a", "requirepass a"),
            ("a1b2c3d4 3) requirepass a", "requirepass a"),
            ("^1b2c3d4 a b/r.conf 12 13) requirepass a", "requirepass a"),
        ] {
            assert!(texts(line).contains(&rest), "{line}: {:?}", texts(line));
        }
        // The control.
        for line in
            ["- name: a", "  - name: a", "key = a", "a1b2c3d (note) b", "é3-a", "  key: a", "the key-a"]
        {
            let mut texts = texts(line);
            texts.retain(|text| Some(*text) != line.strip_prefix("- "));
            assert_eq!(texts, [line]);
        }
    }

    #[test]
    fn a_line_of_prefixes_is_read_in_few_ways() {
        for unit in ["1:", "| ", "a/b:", "a.b-", "3\t", "a1b2c3d4 (x 1) ", "+", "- "] {
            assert!(texts(&unit.repeat(10_000)).len() <= 3 * super::MOST_STARTS, "{unit}");
        }
    }
}
