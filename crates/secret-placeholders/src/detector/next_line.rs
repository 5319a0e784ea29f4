//! Values on a line below that of their name, as manifests have them: `- name: DB_PASSWORD`, and `value: …` on the next line.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::line_prefix::{difference_sign, without_prefix};
use super::words::is_surely_of_words;

/// The longest line with a name.
const MOST_NAME_BYTES: usize = 200;

/// The most lines below a name on which its value is looked for.
pub(crate) const MOST_LINES: usize = 6;

/// The shortest value, and the longest line with one.
const LEAST_VALUE_BYTES: usize = 8;
const MOST_VALUE_BYTES: usize = 4_096;

/// The line of a name in a manifest, of a variable in Terraform, of the name of a block in YAML, and of one in a list of properties.
const NAMES: &str = r#"(?x-u)
    ^\s*(?:-\s+)?\{?\s*["']?(?:[Nn]ame|[Kk]ey|[Pp]arameterKey)["']?\s*[:=]\s*["']?(?P<named>[A-Za-z_][\w./-]*)["']?,?$
    | ^\s*variable\s+"(?P<variable>\w+)"\s*\{$
    | ^\s*(?:-\s+)?["']?(?P<block>[A-Za-z_][\w.-]*)["']?\s*:\s*[|>][+-]?$
    | ^\s*<key>(?P<property>[\w.\ -]+)</key>$"#;

/// The line of a value of each kind.
const OF_NAMED: &str =
    r#"^\s*["']?(?:[Vv]alue|[Pp]arameterValue|[Dd]efault(?:Value)?)["']?\s*[:=]\s*(?P<value>\S.*?),?$"#;
const OF_PROPERTY: &str = r"^\s*<string>(?P<value>[^<>]+)</string>$";

/// A name and where its value stands.
pub(super) struct Below<'t> {
    pub(super) name: &'t str,
    /// The bytes of the value, behind the line of the name. A difference has the removed one and the added one.
    pub(super) values: Vec<Range<usize>>,
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the expression is valid")
}

/// Returns the name at the end of a line, and its value in what follows the line.
pub(super) fn value_below<'t>(line: &'t str, following: &str) -> Option<Below<'t>> {
    static NAME: LazyLock<Regex> = LazyLock::new(|| pattern(NAMES));
    static VALUE: LazyLock<Regex> = LazyLock::new(|| pattern(OF_NAMED));
    static PROPERTY: LazyLock<Regex> = LazyLock::new(|| pattern(OF_PROPERTY));
    let line = line.trim_end();
    // Most lines end otherwise, and cost nothing more.
    let ends = |sign: char| {
        sign.is_ascii_alphanumeric() || matches!(sign, '"' | '\'' | ',' | '{' | '|' | '>' | '-' | '+')
    };
    if following.is_empty() || !line.ends_with(ends) {
        return None;
    }
    let line = without_prefix(line);
    if line.len() > MOST_NAME_BYTES {
        return None;
    }
    let names = NAME.captures(line)?;
    let below = |name: &str, values: Vec<Range<usize>>| {
        let name = names.name(name).filter(|_| !values.is_empty())?.range();
        Some(Below { name: &line[name], values })
    };
    if names.name("property").is_some() {
        return below("property", values_in(following, 1, |text| of_pattern(&PROPERTY, text)));
    }
    if names.name("block").is_some() {
        // A value of one word: the others are texts.
        let word = |text: &str| {
            let start = text.len() - text.trim_start().len();
            let is_value = start > 0 && start < text.len() && !text[start..].contains(char::is_whitespace);
            is_value.then_some(start..text.len())
        };
        return below("block", values_in(following, 1, word));
    }
    let kind = if names.name("variable").is_some() { "variable" } else { "named" };
    below(kind, values_in(following, MOST_LINES, |text| of_pattern(&VALUE, text)))
}

fn of_pattern(pattern: &Regex, text: &str) -> Option<Range<usize>> {
    Some(pattern.captures(text)?.name("value")?.range())
}

/// Returns the bytes of the value on one of the next lines; in a difference, that on the line instead of it, too.
fn values_in(
    following: &str,
    most: usize,
    value: impl Fn(&str) -> Option<Range<usize>>,
) -> Vec<Range<usize>> {
    let mut values = Vec::new();
    let mut start = 0;
    for (index, line) in following.split_inclusive('\n').take(MOST_LINES).enumerate() {
        let text = without_prefix(line.trim_end());
        let begin = text.trim_start();
        let is_behind = index >= most || !values.is_empty();
        // The next element, or the end of this one.
        let is_end =
            text.len() > MOST_VALUE_BYTES || begin.starts_with(['}', ']']) || begin.starts_with("- ");
        if is_end || is_behind && (values.is_empty() || difference_sign(line).is_none()) {
            break;
        }
        let offset = start + line.trim_end().len() - text.len();
        values.extend(value(text).map(|range| offset + range.start..offset + range.end));
        start += line.len();
    }
    values
}

/// Checks whether a line may have the value of a name above it, and one that a text elsewhere is not by chance.
pub(crate) fn may_be_below(line: &str) -> bool {
    named_value(line).is_some_and(|value| {
        let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
        has_digit && !value.contains(' ') && !is_surely_of_words(value)
    })
}

/// Checks whether a part of a file begins with lines that may have the value of a name above it.
pub(crate) fn may_begin_below(text: &str) -> bool {
    static PROPERTY: LazyLock<Regex> = LazyLock::new(|| pattern(OF_PROPERTY));
    let mut lines = text.lines().take(MOST_LINES);
    let Some(first) = lines.next() else { return false };
    let word = first.trim_end();
    let is_block = word.starts_with([' ', '\t'])
        && word.len() <= MOST_VALUE_BYTES
        && word.trim_start().len() >= LEAST_VALUE_BYTES
        && (!word.trim_start().contains(char::is_whitespace) || PROPERTY.is_match(word));
    is_block || named_value(first).is_some() || lines.any(|line| named_value(line).is_some())
}

/// Returns what a line has as the value of a name above it, without quotes.
fn named_value(line: &str) -> Option<&str> {
    static VALUE: LazyLock<Regex> = LazyLock::new(|| pattern(OF_NAMED));
    let line = line.trim_end();
    if line.len() > MOST_VALUE_BYTES {
        return None;
    }
    let value = VALUE.captures(line)?.name("value")?.as_str().trim_matches(['"', '\'']);
    (value.len() >= LEAST_VALUE_BYTES).then_some(value)
}

/// Returns a line of settings with a name, up to its value. Other than the name of a variable of the environment, a name in quotes may be
/// that of a label.
pub(super) fn line_of(name: &str) -> String {
    if name.bytes().any(|byte| byte.is_ascii_lowercase()) {
        format!("\"{name}\": ")
    } else {
        format!("{name}: ")
    }
}
