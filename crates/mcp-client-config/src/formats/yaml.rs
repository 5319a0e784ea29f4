//! YAML, in which one entry is put.
//!
//! Only lines are inserted or replaced, and the changed text is parsed: if it does not say exactly what it said before and the
//! entry, the file is left alone. So a layout that this module does not know is refused, never damaged.

use std::ops::Range;

use serde_json::{Map, Value};

use crate::error::ConfigError;

/// The indentation of an entry in a file that has none yet.
const INDENT: usize = 2;

/// Returns the text with `table.name` being `entry`; everything else stays as it is, comments included. `None` if it is
/// so already. An entry has texts, numbers, truth values and lists of them.
pub(super) fn with_entry(
    text: &str,
    table: &str,
    name: &str,
    entry: &Value,
) -> Result<Option<String>, ConfigError> {
    let mut settings = parse(text)?;
    let servers = settings.entry(table).or_insert(Value::Null);
    if servers.is_null() {
        *servers = Value::Object(Map::new());
    }
    let servers = servers.as_object_mut().ok_or_else(|| unreadable(format!("{table} is not a mapping")))?;
    if servers.get(name) == Some(entry) {
        return Ok(None);
    }
    servers.insert(name.to_owned(), entry.clone());
    let changed = insert(text, table, name, entry);
    match parse(&changed) {
        Ok(now) if now == settings => Ok(Some(changed)),
        _ => Err(unreadable("its layout has no safe position for the entry".to_owned())),
    }
}

fn unreadable(why: String) -> ConfigError {
    ConfigError::Unreadable { why }
}

fn parse(text: &str) -> Result<Map<String, Value>, ConfigError> {
    if text.lines().all(is_blank) {
        return Ok(Map::new());
    }
    match serde_yaml::from_str(text) {
        Ok(Value::Object(settings)) => Ok(settings),
        Ok(Value::Null) => Ok(Map::new()),
        Ok(_) => Err(unreadable("its content is not a mapping".to_owned())),
        Err(error) => {
            // The rest of such a message shows the lines around it, which may hold secrets.
            let text = error.to_string();
            Err(unreadable(text.lines().next().unwrap_or("it cannot be parsed").to_owned()))
        }
    }
}

/// Writes the entry where it seems to belong.
fn insert(text: &str, table: &str, name: &str, entry: &Value) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let Some(head) = lines.iter().position(|line| is_key(line, 0, table)) else {
        lines.push(format!("{table}:"));
        lines.extend(rendered(name, entry, INDENT));
        return lines.join("\n") + "\n";
    };
    if lines[head].trim_end().ends_with("{}") {
        lines[head] = format!("{table}:");
    }
    let block = block(&lines, head + 1, 0);
    let indent = lines[block.clone()].iter().find(|line| !is_blank(line)).map_or(INDENT, |line| indent(line));
    let position = match block.clone().find(|&at| is_key(&lines[at], indent, name)) {
        Some(at) => at..self::block(&lines, at + 1, indent).end,
        None => head + 1..head + 1,
    };
    lines.splice(position, rendered(name, entry, indent));
    lines.join("\n") + "\n"
}

/// Returns the lines from `start` that are indented by more than `indent`, without blank ones at their end.
fn block(lines: &[String], start: usize, indent: usize) -> Range<usize> {
    let is_inside = |line: &String| is_blank(line) || self::indent(line) > indent;
    let end =
        lines[start..].iter().position(|line| !is_inside(line)).map_or(lines.len(), |count| start + count);
    let last = lines[start..end].iter().rposition(|line| !is_blank(line));
    start..last.map_or(start, |last| start + last + 1)
}

fn rendered(name: &str, entry: &Value, indent: usize) -> Vec<String> {
    let blanks = " ".repeat(indent);
    let fields = entry.as_object().into_iter().flatten();
    // A value in JSON is the same value in YAML.
    let fields = fields.map(|(key, value)| format!("{blanks}{}{key}: {value}", " ".repeat(INDENT)));
    std::iter::once(format!("{blanks}{name}:")).chain(fields).collect()
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
