//! Corrects needs whose type or path is given in another, unambiguous form. Strict reading corrects none of them.

use crate::yaml::almost_yaml::split_key;
use crate::yaml::node::{Content, Node};

/// Every type of need, with the field that a lone text stands for.
const TYPES: [(&str, &str); 15] = [
    ("docdex.search", "query"),
    ("docdex.snippet", "doc_id"),
    ("docdex.open", "path"),
    ("docdex.symbols", "file"),
    ("docdex.ast", "file"),
    ("docdex.impact", "file"),
    ("docdex.impact_diagnostics", "file"),
    ("docdex.tree", "path"),
    ("docdex.web", "query"),
    ("docdex.dag_export", "session_id"),
    ("file.read", "path"),
    ("file.list", "root"),
    ("file.diff", "path"),
    ("command.output", ""),
    ("agent.delegate", "goal"),
];

/// Other names of the key `type`.
const TYPE_KEYS: [&str; 3] = ["tool", "name", "need"];

/// Returns the type that a text means, possibly with `_` for the dot, and the field that a lone text stands for.
fn meant_type(text: &str) -> Option<(&'static str, &'static str)> {
    let text = text.trim();
    let dotted = text.replacen('_', ".", 1);
    TYPES.into_iter().find(|(name, _)| *name == text || *name == dotted)
}

/// Writes a need in the form of the specification.
pub(crate) fn respell(need: &mut Node) {
    let Content::Map(entries) = &mut need.content else { return };
    if !entries.iter().any(|(key, _)| key == "type") {
        name_type(entries);
    }
    let Some((_, node)) = entries.iter_mut().find(|(key, _)| key == "type") else { return };
    let Some((name, _)) = node.text().and_then(meant_type) else { return };
    if node.text() != Some(name) {
        node.content = Content::Plain(name.to_owned());
    }
    if name == "file.read" {
        one_path(entries);
    }
}

/// Adds the type of a need that has it under another key, or as a key.
fn name_type(entries: &mut Vec<(String, Node)>) {
    let is_type = |(key, node): &(String, Node)| {
        TYPE_KEYS.contains(&key.as_str()) && node.text().is_some_and(|text| meant_type(text).is_some())
    };
    if let Some((key, _)) = entries.iter_mut().find(|entry| is_type(entry)) {
        "type".clone_into(key);
        return;
    }
    let mut named = entries.iter().enumerate().filter_map(|(at, (key, _))| Some((at, meant_type(key)?)));
    let (Some((at, (name, field))), None) = (named.next(), named.next()) else { return };
    let (_, node) = entries.remove(at);
    let position = node.position;
    entries.insert(0, ("type".to_owned(), Node::plain(name, position)));
    match node.content {
        _ if node.is_null() => {}
        Content::Map(fields) => entries.extend(fields),
        content if !field.is_empty() => entries.push((field.to_owned(), Node { content, position })),
        _ => {}
    }
}

/// Replaces a list with one path by that path.
fn one_path(entries: &mut [(String, Node)]) {
    for (key, node) in entries.iter_mut().filter(|(key, _)| matches!(key.as_str(), "path" | "file" | "paths"))
    {
        if let Content::List(items) = &mut node.content
            && items.len() == 1
            && items[0].text().is_some()
        {
            *node = items.remove(0);
        }
        if key == "paths" && node.text().is_some() {
            "path".clone_into(key);
        }
    }
}

/// Returns the first line that begins a need with another list marker, `*` or `1.`, and that marker. Such needs are not read.
pub(crate) fn other_list(text: &str) -> Option<(usize, &str)> {
    (1..).zip(text.lines()).find_map(|(number, line)| Some((number, other_mark(line)?)))
}

/// Returns the list marker before a need if it is not a dash.
fn other_mark(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches([' ', '>']);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let mark = match digits {
        0 => usize::from(rest.starts_with('*')),
        1..=3 => digits + usize::from(rest[digits..].starts_with(['.', ')'])),
        _ => 0,
    };
    let item = rest.get(mark..).filter(|_| mark > digits)?.strip_prefix(' ')?;
    let (key, value) = split_key(item.trim())?;
    let is_need = meant_type(key).is_some()
        || (key == "type" || TYPE_KEYS.contains(&key))
            && meant_type(value.trim_matches(['"', '\''])).is_some();
    is_need.then(|| &rest[..mark])
}
