//! YAML, into which mappings are merged.
//!
//! Only lines are inserted or replaced, by their indentation. The caller parses the changed text, so an unknown layout is
//! refused, never damaged.

use serde_json::{Map, Value};

use crate::error::ConfigError;
use crate::merge::merge as merge_values;

/// The indentation of an entry in a file without entries.
const INDENT: usize = 2;

/// The number of mapping levels that are written in block style: the table of servers, and an entry. A value of an entry is
/// written on one line.
const BLOCK_LEVELS: usize = 2;

/// Returns the settings in a text; none if it has no value.
pub(super) fn parse(text: &str) -> Result<Map<String, Value>, ConfigError> {
    if text.lines().all(is_blank) {
        return Ok(Map::new());
    }
    match serde_yaml::from_str(text) {
        Ok(Value::Object(settings)) => Ok(settings),
        Ok(Value::Null) => Ok(Map::new()),
        Ok(_) => Err(ConfigError::unreadable("its content is not a mapping")),
        Err(error) => {
            // "error: line 3 column 1: duplicate mapping key: a, set …". Only show the position and the fault: the rest is text
            // of the file, which may hold secrets, or advice to programmers.
            let text = error.to_string();
            let line = text.split(['\n', ',', ';']).next().unwrap_or_default();
            let why = line.split(": ").take(3).collect::<Vec<_>>().join(": ");
            Err(ConfigError::unreadable(why))
        }
    }
}

/// Returns the text, whose settings are `before`, with `wanted` merged into them. Everything else stays unchanged, including
/// comments.
pub(super) fn merge(text: &str, before: &Map<String, Value>, wanted: &Map<String, Value>) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut merged = merged_lines(&lines, 0, BLOCK_LEVELS, before, wanted);
    merged.extend(missing_lines(0, BLOCK_LEVELS, before, wanted));
    merged.join("\n") + "\n"
}

/// Returns the lines of a mapping whose keys have `indent`, with the present wanted keys replaced.
fn merged_lines(
    lines: &[&str],
    indent: usize,
    levels: usize,
    before: &Map<String, Value>,
    wanted: &Map<String, Value>,
) -> Vec<String> {
    let mut merged = Vec::with_capacity(lines.len());
    let mut rest = lines;
    while let Some((line, below)) = rest.split_first() {
        let field = wanted.iter().find(|(key, _)| is_key(line, indent, key));
        let field = field.and_then(|(key, wanted)| Some((key, before.get(key)?, wanted)));
        match field {
            Some((key, before, wanted)) => {
                let lines;
                (lines, rest) = rest.split_at(1 + value_lines(below, indent));
                merged.extend(Field { lines, key, indent, levels, before }.merged(wanted));
            }
            None => {
                merged.push((*line).to_owned());
                rest = below;
            }
        }
    }
    merged
}

/// Returns the lines of the wanted keys that a mapping lacks.
fn missing_lines(
    indent: usize,
    levels: usize,
    before: &Map<String, Value>,
    wanted: &Map<String, Value>,
) -> Vec<String> {
    let missing = wanted.iter().filter(|(key, _)| !before.contains_key(*key));
    missing.flat_map(|(key, value)| rendered(key, value, indent, levels, "")).collect()
}

/// One key of a mapping with its value.
struct Field<'a> {
    /// The line of the key, and those of the value below it.
    lines: &'a [&'a str],
    key: &'a str,
    indent: usize,
    levels: usize,
    before: &'a Value,
}

impl Field<'_> {
    /// Returns the lines with `wanted` merged into the value.
    fn merged(&self, wanted: &Value) -> Vec<String> {
        let unchanged = || self.lines.iter().map(|&line| line.to_owned()).collect();
        let mut merged = self.before.clone();
        merge_values(&mut merged, wanted);
        if merged == *self.before {
            return unchanged();
        }
        match (self.before, wanted) {
            (Value::Object(before), Value::Object(wanted)) if !before.is_empty() => {
                if self.is_block() {
                    self.merged_block(before, wanted)
                } else if self.levels == BLOCK_LEVELS || self.has_comment_inside() {
                    // Entries of other servers, and comments, would be rewritten. The unchanged text does not match the
                    // expectation, so the caller refuses it.
                    unchanged()
                } else {
                    self.rendered(&merged)
                }
            }
            _ => self.rendered(&merged),
        }
    }

    /// Checks whether the value is a block mapping below its key, and not a flow mapping.
    fn is_block(&self) -> bool {
        self.lines.len() > 1 && !self.value_text().trim_start().starts_with('{')
    }

    /// Checks whether a flow mapping may have a comment inside. A comment after it, on its only line, is not lost.
    fn has_comment_inside(&self) -> bool {
        self.lines.len() > 1 && self.lines.iter().any(|line| line.contains('#'))
    }

    fn merged_block(&self, before: &Map<String, Value>, wanted: &Map<String, Value>) -> Vec<String> {
        let (head, body) = (self.lines[0], &self.lines[1..]);
        let indent =
            body.iter().find(|line| !is_blank(line)).map_or(self.indent + INDENT, |line| indent(line));
        let levels = self.levels.saturating_sub(1);
        let mut lines = vec![head.to_owned()];
        lines.extend(missing_lines(indent, levels, before, wanted));
        lines.extend(merged_lines(body, indent, levels, before, wanted));
        lines
    }

    fn rendered(&self, value: &Value) -> Vec<String> {
        rendered(self.key, value, self.indent, self.levels, self.comment())
    }

    /// Returns the text after the colon.
    fn value_text(&self) -> &str {
        self.lines[0].get(self.indent + self.key.len() + 1..).unwrap_or_default()
    }

    /// Returns the comment on the line of the key, with the whitespace before it.
    fn comment(&self) -> &str {
        let text = self.value_text();
        let starts = text.match_indices('#').map(|(start, _)| text[..start].trim_end().len());
        // A `#` may also belong to a text, so the text before a comment has to be the value.
        let in_front = |end: &usize| {
            let value = &text[..*end];
            if self.lines.len() > 1 {
                value.is_empty()
            } else {
                serde_yaml::from_str::<Value>(value).is_ok_and(|value| value == *self.before)
            }
        };
        let start = starts.into_iter().filter(|&end| text[end..].starts_with([' ', '\t'])).find(in_front);
        start.map_or("", |start| &text[start..])
    }
}

/// Returns the number of lines at the start of `lines` that belong to the value of a key with `indent` above them. Blank lines
/// and comments at its end do not.
fn value_lines(lines: &[&str], indent: usize) -> usize {
    let is_inside = |line: &&str| {
        // The items of a list may have the indentation of its key.
        let is_item =
            self::indent(line) == indent && (line[indent..].starts_with("- ") || line.trim() == "-");
        is_blank(line) || self::indent(line) > indent || is_item
    };
    let count = lines.iter().take_while(|line| is_inside(line)).count();
    lines[..count].iter().rposition(|line| !is_blank(line)).map_or(0, |last| last + 1)
}

/// Renders a key and its value, with a comment after the key, or after the value if both are on one line.
fn rendered(key: &str, value: &Value, indent: usize, levels: usize, comment: &str) -> Vec<String> {
    let margin = " ".repeat(indent);
    match value {
        Value::Object(fields) if levels > 0 && !fields.is_empty() => {
            let head = format!("{margin}{key}:{comment}");
            let fields =
                fields.iter().flat_map(|(key, value)| rendered(key, value, indent + INDENT, levels - 1, ""));
            std::iter::once(head).chain(fields).collect()
        }
        // JSON values are valid YAML.
        value => vec![format!("{margin}{key}: {value}{comment}")],
    }
}

fn is_key(line: &str, indent: usize, key: &str) -> bool {
    let rest = line.get(indent..).filter(|_| self::indent(line) == indent);
    let rest = rest.and_then(|rest| rest.strip_prefix(key)).and_then(|rest| rest.strip_prefix(':'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r']))
}

fn is_blank(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}
