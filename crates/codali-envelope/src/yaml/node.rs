//! What YAML and JSON have in common: texts, lists and maps, with their places.

use serde_json::{Map, Number, Value};

use crate::error::ReadErrorKind;

/// A value of an envelope.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) content: Content,
    pub(crate) place: Place,
}

/// Where a value begins; both numbers are 1-based.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content {
    /// A text that may stand for a number or the like, as it is spelled.
    Plain(String),
    /// A text that is a text whatever it looks like.
    Quoted(String),
    List(Vec<Node>),
    /// In the order of the text; a key may come more than once where the reader is tolerant.
    Map(Vec<(String, Node)>),
}

/// Why a text is no value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NodeError {
    pub(crate) kind: ReadErrorKind,
    pub(crate) place: Place,
}

impl Node {
    pub(crate) fn plain(text: impl Into<String>, place: Place) -> Node {
        Node { content: Content::Plain(text.into()), place }
    }

    /// Returns the text of a scalar.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Plain(text) | Content::Quoted(text) => Some(text),
            _ => None,
        }
    }

    /// Tells whether there is nothing here: no value at all, or `null`.
    pub(crate) fn is_null(&self) -> bool {
        matches!(&self.content, Content::Plain(text) if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }

    /// Returns the value as JSON has it: a plain text is a number or the like if it is spelled as in JSON.
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

/// Whole numbers of more than 64 bits would lose digits.
fn is_exact(text: &str, number: &Number) -> bool {
    number.is_i64() || number.is_u64() || text.contains(['.', 'e', 'E'])
}
