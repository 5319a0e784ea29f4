//! Prefixes that tools print before a line of a file: the sign of a difference, the path and the number of a match, the commit of a line.

use std::sync::LazyLock;

use regex::Regex;

/// A path and a number as `grep -n` has them, and the number alone; that of `cat -n`; what `git blame` has in front of a line.
const PREFIXES: &str = r"^(?x:
    (?:[^\s:]{1,200}[:-])?[0-9]{1,7}[:-]
    | \s*[0-9]{1,7}\t
    | \^?[0-9a-f]{7,40}\s(?:[^\s(]{1,200}\s+)?\([^()]{1,120}\s[0-9]{1,7}\)\s?
)";

/// The sign of a line of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    Added,
    Removed,
}

/// Returns the sign at the start of a line of a difference. A hyphen with one blank behind it begins an element of a list.
pub(super) fn difference_sign(line: &str) -> Option<Sign> {
    let mut signs = line.chars();
    match signs.next()? {
        '+' => Some(Sign::Added),
        '-' if !line.starts_with("- ") || line.starts_with("-  ") => Some(Sign::Removed),
        _ => None,
    }
}

/// Returns a line without what a tool has put in front of it.
pub(super) fn without_prefix(line: &str) -> &str {
    static PATTERN: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(PREFIXES).expect("the expression is valid"));
    if difference_sign(line).is_some() {
        return &line[1..];
    }
    PATTERN.find(line).map_or(line, |prefix| &line[prefix.end()..])
}

#[cfg(test)]
mod tests {
    use super::without_prefix;

    #[test]
    fn what_tools_print_in_front_of_a_line_is_taken_off() {
        for (line, rest) in [
            ("+  value: a", "  value: a"),
            ("-  value: a", "  value: a"),
            ("-- name: a", "- name: a"),
            ("-requirepass a", "requirepass a"),
            ("3:requirepass a", "requirepass a"),
            ("src/r.conf:3:requirepass a", "requirepass a"),
            ("src/r.conf-12-requirepass a", "requirepass a"),
            ("     3\trequirepass a", "requirepass a"),
            ("a1b2c3d4 (Me X 2024-01-02 03:04:05 +0100 3) requirepass a", "requirepass a"),
            ("^1b2c3d4 r.conf (Me 2024-01-02 03:04:05 +0100  3) requirepass a", "requirepass a"),
            // The control.
            ("- name: a", "- name: a"),
            ("  - name: a", "  - name: a"),
            ("key: a", "key: a"),
            ("a1b2c3d (note) b", "a1b2c3d (note) b"),
            ("é3:a", "é3:a"),
        ] {
            assert_eq!(without_prefix(line), rest, "{line}");
        }
    }
}
