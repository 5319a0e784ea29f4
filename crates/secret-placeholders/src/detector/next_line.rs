//! Values on a line below their name, as in manifests: `- name: DB_PASSWORD`, and `value: …` on the next line.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::line_prefix::{Start, starts, without_markers};
use super::words::is_surely_of_words;

/// The longest line with a name.
const MOST_NAME_BYTES: usize = 200;

/// The maximum number of lines below a name that are searched for its value.
pub(crate) const MOST_LINES: usize = 6;

/// The shortest value, and the longest line with one.
const LEAST_VALUE_BYTES: usize = 8;
const MOST_VALUE_BYTES: usize = 4_096;

/// The line with a name in a manifest, of a Terraform variable, of a YAML block scalar, and in a property list.
const NAMES: &str = r#"(?x-u)
    ^\s*(?:-\s+)?\{?\s*["']?(?:[Nn]ame|[Kk]ey|[Pp]arameterKey)["']?\s*[:=]\s*["']?(?P<named>[A-Za-z_][\w./-]*)["']?,?$
    | ^\s*variable\s+"(?P<variable>\w+)"\s*\{$
    | ^\s*(?:-\s+)?["']?(?P<block>[A-Za-z_][\w.-]*)["']?\s*:\s*[|>][+-]?$
    | ^\s*<key>(?P<property>[\w.\ -]+)</key>$"#;

/// The line of a value of each kind.
const OF_NAMED: &str =
    r#"^\s*["']?(?:[Vv]alue|[Pp]arameterValue|[Dd]efault(?:Value)?)["']?\s*[:=]\s*(?P<value>\S.*?),?$"#;
const OF_PROPERTY: &str = r"^\s*<string>(?P<value>[^<>]+)</string>$";

/// The lines about a commit that `git blame --porcelain` prints before a line.
const ABOUT_COMMITS: &str = r"^(?:[0-9a-f]{40}(?: [0-9]+){2,3}$|(?:author|committer)(?:-mail|-time|-tz)? |summary |previous |filename |boundary$)";

/// The maximum number of lines about a commit.
const MOST_ABOUT_COMMITS: usize = 16;

/// A name and the location of its value.
pub(super) struct Below<'t> {
    pub(super) name: &'t str,
    /// The ranges of the value in the text after the line of the name. A diff has the removed and the added one.
    pub(super) values: Vec<Range<usize>>,
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the expression is valid")
}

/// Returns the name at the end of a line, and its value in the text that follows.
pub(super) fn value_below<'t>(line: &'t str, following: &str) -> Option<Below<'t>> {
    static NAME: LazyLock<Regex> = LazyLock::new(|| pattern(NAMES));
    static ENDING: LazyLock<Regex> = LazyLock::new(|| pattern(&NAMES.replace(r"^\s*", "")));
    static VALUE: LazyLock<Regex> = LazyLock::new(|| pattern(OF_NAMED));
    static PROPERTY: LazyLock<Regex> = LazyLock::new(|| pattern(OF_PROPERTY));
    let line = line.trim_end();
    // A quick exit: most lines end differently.
    let ends =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '"' | '\'' | ',' | '{' | '|' | '>' | '-' | '+');
    if following.is_empty() || !line.ends_with(ends) {
        return None;
    }
    if !ENDING.is_match(&line[line.ceil_char_boundary(line.len().saturating_sub(MOST_NAME_BYTES))..]) {
        return None;
    }
    let starts = starts(line);
    let (start, line, names) = starts.iter().find_map(|start| {
        let mut texts = start.texts().filter(|text| text.len() <= MOST_NAME_BYTES);
        texts.find_map(|text| Some((start, text, NAME.captures(text)?)))
    })?;
    let below = |name: &str, values: Vec<Range<usize>>| {
        let name = names.name(name).filter(|_| !values.is_empty())?.range();
        Some(Below { name: &line[name], values })
    };
    let values_in =
        |most: usize, value: &dyn Fn(&str) -> Option<Range<usize>>| values_in(start, following, most, value);
    if names.name("property").is_some() {
        return below("property", values_in(1, &|text| of_pattern(&PROPERTY, text)));
    }
    if names.name("block").is_some() {
        // Only a single word is a value; several are prose.
        let word = |text: &str| {
            let start = text.len() - text.trim_start().len();
            let is_value = start > 0 && start < text.len() && !text[start..].contains(char::is_whitespace);
            is_value.then_some(start..text.len())
        };
        return below("block", values_in(1, &word));
    }
    let kind = if names.name("variable").is_some() { "variable" } else { "named" };
    below(kind, values_in(MOST_LINES, &|text| of_pattern(&VALUE, text)))
}

fn of_pattern(pattern: &Regex, text: &str) -> Option<Range<usize>> {
    Some(pattern.captures(text)?.name("value")?.range())
}

/// Returns the range of the value on one of the next lines, which have the prefixes of the name's line; in a diff, also
/// the value on the replacement line.
fn values_in(
    start: &Start<'_>,
    following: &str,
    most: usize,
    value: &dyn Fn(&str) -> Option<Range<usize>>,
) -> Vec<Range<usize>> {
    static ABOUT_COMMIT: LazyLock<Regex> = LazyLock::new(|| pattern(ABOUT_COMMITS));
    let mut values = Vec::new();
    let (mut index, mut about_commits) = (0, 0);
    let mut end = 0;
    for line in following.split_inclusive('\n') {
        end += line.len();
        if start.is_indented_by_tab()
            && about_commits < MOST_ABOUT_COMMITS
            && ABOUT_COMMIT.is_match(line.trim_end())
        {
            about_commits += 1;
            continue;
        }
        let printed = line.trim_end();
        let Some(rest) = start.rest_of(printed).filter(|_| index < MOST_LINES) else { break };
        let (text, is_marked) = without_markers(rest);
        let begin = text.trim_start();
        let is_past_limit = index >= most || !values.is_empty();
        // The next element, or the end of this one.
        let is_end =
            rest.len() > MOST_VALUE_BYTES || begin.starts_with(['}', ']']) || begin.starts_with("- ");
        if is_end || is_past_limit && (values.is_empty() || !is_marked) {
            break;
        }
        // Graph columns may precede the diff marker.
        let (unpadded, _) = without_markers(rest.trim_start());
        let of_line = [text, rest, unpadded].into_iter().find_map(|text| Some((text, value(text)?)));
        values.extend(of_line.map(|(text, range)| {
            let offset = end - line.len() + printed.len() - text.len();
            offset + range.start..offset + range.end
        }));
        (index, about_commits) = (index + 1, 0);
    }
    values
}

/// Checks whether a line may have the value of a name above it that is unlikely to occur elsewhere by chance.
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

/// Returns the value that a line has for a name above it, without quotes.
fn named_value(line: &str) -> Option<&str> {
    static VALUE: LazyLock<Regex> = LazyLock::new(|| pattern(OF_NAMED));
    let line = line.trim_end();
    if line.len() > MOST_VALUE_BYTES {
        return None;
    }
    let value = VALUE.captures(line)?.name("value")?.as_str().trim_matches(['"', '\'']);
    (value.len() >= LEAST_VALUE_BYTES).then_some(value)
}

/// Returns a settings line with a name, up to its value. A quoted name may be a label, unless it is an environment
/// variable.
pub(super) fn line_of(name: &str) -> String {
    if name.bytes().any(|byte| byte.is_ascii_lowercase()) {
        format!("\"{name}\": ")
    } else {
        format!("{name}: ")
    }
}
