//! Corrections of YAML whose intended meaning is certain. Strict reading applies none of them.

use std::borrow::Cow;

use crate::yaml::almost_yaml::{after_dash, split_key};
use crate::yaml::node::{Content, Node};
use crate::yaml::respelled::respell;
use crate::{Warning, WarningCode};

/// Keys under which models nest the fields of a need.
const WRAPPERS: [&str; 4] = ["params", "parameters", "args", "arguments"];
/// Fields that contain a sentence.
const SENTENCES: [&str; 3] = ["query", "goal", "summary"];
/// The longest excerpt of a comment in a warning, in characters.
const EXCERPT_CHARACTERS: usize = 40;

/// Replaces whitespace that YAML does not accept, such as no-break spaces, at the start of lines and after dashes and keys. After
/// an ordinary space it belongs to the text.
pub(crate) fn with_ordinary_spaces(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_odd_whitespace) {
        return Cow::Borrowed(text);
    }
    let mut ordinary = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let start = line.len() - line.trim_start_matches(|one: char| is_whitespace(one) || one == '>').len();
        let (mut indentation, mut rest) = line.split_at(start);
        // Block texts are indented by at least two ordinary spaces.
        write_ordinary(indentation, indentation.chars().take(2).any(is_odd_whitespace), &mut ordinary);
        if let Some((_, taken)) = after_dash(rest).filter(|_| rest[1..].starts_with(is_odd_whitespace)) {
            (indentation, rest) = rest.split_at(taken);
            write_ordinary(indentation, true, &mut ordinary);
        } else if let Some((item, taken)) = after_dash(rest) {
            ordinary.push_str(&rest[..taken]);
            rest = item;
        }
        if let Some((_, value)) = split_key(rest.trim_end()) {
            let (key, value) = rest.split_at(rest.trim_end().len() - value.len());
            let is_odd = key.trim_end().len() < key.len()
                && key[key.trim_end().len()..].starts_with(is_odd_whitespace);
            ordinary.push_str(key.trim_end());
            write_ordinary(&key[key.trim_end().len()..], is_odd, &mut ordinary);
            rest = value;
        }
        ordinary.push_str(rest);
    }
    Cow::Owned(ordinary)
}

fn write_ordinary(whitespace: &str, replaces: bool, ordinary: &mut String) {
    ordinary.extend(whitespace.chars().map(|one| if replaces && is_odd_whitespace(one) { ' ' } else { one }));
}

fn is_whitespace(one: char) -> bool {
    one != '\n' && one.is_whitespace()
}

fn is_odd_whitespace(one: char) -> bool {
    !one.is_ascii() && one.is_whitespace() && !matches!(one, '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Applies the corrections, and returns the warnings about them; positions refer to `body`. Corrects at most
/// `most_needs` needs: a request with more is refused later.
pub(crate) fn forgive(root: &mut Node, body: &str, most_needs: usize) -> Vec<Warning> {
    let Content::Map(entries) = &mut root.content else { return Vec::new() };
    merge_needs(entries);
    let mut comments = Comments::of(body);
    for (key, node) in entries {
        match (key.as_str(), &mut node.content) {
            ("needs", Content::List(needs)) => {
                for need in needs.iter_mut().take(most_needs) {
                    respell(need);
                    unwrap_fields(need, &mut comments.warnings);
                    comments.cut_in_sentences(need);
                }
            }
            ("needs", Content::Map(_)) => {
                respell(node);
                unwrap_fields(node, &mut comments.warnings);
                comments.cut_in_sentences(node);
            }
            ("context", _) => comments.cut_in_sentences(node),
            _ => {}
        }
    }
    comments.warnings
}

/// Appends the needs of a second key `needs` to those of the first.
fn merge_needs(entries: &mut Vec<(String, Node)>) {
    let Some(first) = entries.iter().position(|(key, _)| key == "needs") else { return };
    // Partition only once, because a hostile body may repeat the key many times.
    let (more, mut others): (Vec<_>, Vec<_>) =
        entries.split_off(first + 1).into_iter().partition(|(key, _)| key == "needs");
    if !more.is_empty() {
        let node = &mut entries[first].1;
        let position = node.position;
        let own = std::mem::replace(node, Node::plain("", position));
        let needs = std::iter::once(own).chain(more.into_iter().map(|(_, node)| node));
        let items = needs.flat_map(|node| match node.content {
            Content::List(items) => items,
            _ if node.is_null() => Vec::new(),
            _ => vec![node],
        });
        *node = Node { content: Content::List(items.collect()), position };
    }
    entries.append(&mut others);
}

/// Moves the fields that a need has under `params` to the need itself. A field that exists in both keeps the outer value.
fn unwrap_fields(need: &mut Node, warnings: &mut Vec<Warning>) {
    let Content::Map(fields) = &mut need.content else { return };
    let is_wrapper = |(key, node): &(String, Node)| {
        WRAPPERS.contains(&key.as_str()) && matches!(node.content, Content::Map(_))
    };
    let Some(at) = fields.iter().position(is_wrapper) else { return };
    let (wrapper, node) = fields.remove(at);
    let Content::Map(wrapped) = node.content else { return };
    for (key, node) in wrapped {
        match fields.iter().find(|(other, _)| *other == key) {
            None => fields.push((key, node)),
            Some((_, own)) if own.content == node.content => {}
            Some(_) => {
                let detail = format!("{key} is given twice; the one outside of {wrapper} counts");
                warnings.push(Warning::with(WarningCode::InvalidField, detail));
            }
        }
    }
}

/// Comments after a `#` in sentences: a number is part of the sentence; anything else is a comment, and cut with
/// a warning.
struct Comments<'b> {
    lines: Vec<&'b str>,
    warnings: Vec<Warning>,
}

impl<'b> Comments<'b> {
    fn of(body: &'b str) -> Comments<'b> {
        let lines = if body.contains('#') { body.lines().collect() } else { Vec::new() };
        Comments { lines, warnings: Vec::new() }
    }

    fn cut_in_sentences(&mut self, node: &mut Node) {
        let Content::Map(entries) = &mut node.content else { return };
        for (key, node) in entries.iter_mut().filter(|(key, _)| SENTENCES.contains(&key.as_str())) {
            self.cut_comment(key, node);
        }
    }

    fn cut_comment(&mut self, key: &str, node: &mut Node) {
        let Content::Plain(text) = &mut node.content else { return };
        let index = |number: u32| number.saturating_sub(1) as usize;
        let Some(line) = self.lines.get(index(node.position.line)) else { return };
        let Some((start, _)) = line.char_indices().nth(index(node.position.column)) else { return };
        let written = line[start..].trim_end();
        if written.len() <= text.len() || !written.starts_with(text.as_str()) {
            return;
        }
        let is_comment = |(at, _): &(usize, &str)| {
            let is_number = written[at + 1..].starts_with(|next: char| next.is_ascii_digit());
            written[..*at].ends_with(char::is_whitespace) && !is_number
        };
        let comment = written.match_indices('#').find(is_comment).map(|(at, _)| at);
        let (kept, cut) = written.split_at(comment.unwrap_or(written.len()));
        if kept.trim_end().len() >= text.len() {
            kept.trim_end().clone_into(text);
        }
        if !cut.is_empty() {
            let excerpt: String = cut.chars().take(EXCERPT_CHARACTERS).collect();
            let detail = format!("{key} ends before the comment {excerpt:?}; quote a text with # in it");
            self.warnings.push(Warning::with(WarningCode::InvalidField, detail));
        }
    }
}
