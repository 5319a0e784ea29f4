//! The common value type of YAML and JSON: texts, lists and maps, with their positions.

use serde_json::{Map, Number, Value};

use crate::error::ReadErrorKind;

/// A value of an envelope.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) content: Content,
    pub(crate) position: Position,
}

/// The position of a value; both numbers are 1-based.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content {
    /// An unquoted text, which may stand for a number, a boolean or null.
    Plain(String),
    /// A quoted text, which is always a text.
    Quoted(String),
    List(Vec<Node>),
    /// In the order of the text; the tolerant reader allows repeated keys.
    Map(Vec<(String, Node)>),
}

/// The error of reading a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NodeError {
    pub(crate) kind: ReadErrorKind,
    pub(crate) position: Position,
}

impl Node {
    pub(crate) fn plain(text: impl Into<String>, position: Position) -> Node {
        Node { content: Content::Plain(text.into()), position }
    }

    /// Returns the text of a scalar.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Plain(text) | Content::Quoted(text) => Some(text),
            _ => None,
        }
    }

    /// Returns true for a missing value or `null`.
    pub(crate) fn is_null(&self) -> bool {
        matches!(&self.content, Content::Plain(text) if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }

    /// Converts to a JSON value; a plain text becomes a number or a boolean if it is spelled as in JSON.
    pub(crate) fn into_value(self) -> Value {
        if self.is_null() {
            return Value::Null;
        }
        match self.content {
            Content::Plain(text) => resolve(text),
            Content::Quoted(text) => Value::String(text),
            Content::List(items) => items.into_iter().map(Node::into_value).collect(),
            Content::Map(entries) => {
                let members = entries.into_iter().map(|(key, node)| (key, node.into_value()));
                Value::Object(members.collect::<Map<_, _>>())
            }
        }
    }
}

fn resolve(text: String) -> Value {
    match text.as_str() {
        "true" => return Value::Bool(true),
        "false" => return Value::Bool(false),
        _ => {}
    }
    let may_be_number = text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    match may_be_number.then(|| serde_json::from_str::<Number>(&text)) {
        Some(Ok(number)) if is_exact(&text, &number) => Value::Number(number),
        _ => Value::String(text),
    }
}

/// Returns false for whole numbers of more than 64 bits, which would lose digits.
fn is_exact(text: &str, number: &Number) -> bool {
    number.is_i64() || number.is_u64() || text.contains(['.', 'e', 'E'])
}
