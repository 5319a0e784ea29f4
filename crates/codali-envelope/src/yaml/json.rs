//! A JSON reader, for JSON that is not valid YAML.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::ReadLimits;
use crate::yaml::node::{Content, Node, Position};

/// Reads one JSON value without positions; `None` if it is invalid or exceeds a limit. serde_json bounds the
/// recursion of parsing, and `limits.depth` that of the check.
pub(crate) fn parse(text: &str, limits: &ReadLimits) -> Option<Node> {
    let node: Node = serde_json::from_str(text).ok()?;
    let mut values = limits.values;
    is_within(&node, limits.depth, &mut values).then_some(node)
}

fn is_within(node: &Node, depth: usize, values: &mut usize) -> bool {
    let Some(left) = values.checked_sub(1) else { return false };
    *values = left;
    match (&node.content, depth.checked_sub(1)) {
        (Content::Plain(_) | Content::Quoted(_), _) => true,
        (_, None) => false,
        (Content::List(items), Some(depth)) => items.iter().all(|item| is_within(item, depth, values)),
        (Content::Map(entries), Some(depth)) => {
            entries.iter().all(|(_, value)| is_within(value, depth, values))
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Node, D::Error> {
        let content = deserializer.deserialize_any(ContentVisitor)?;
        Ok(Node { content, position: Position { line: 1, column: 1 } })
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value of JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Content, E> {
        Ok(Content::Plain("null".to_owned()))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Content, E> {
        Ok(Content::Plain(value.to_string()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Content, E> {
        Ok(Content::Plain(value.to_string()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Content, E> {
        Ok(Content::Plain(value.to_string()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Content, E> {
        let number = serde_json::Number::from_f64(value);
        number.map(|number| Content::Plain(number.to_string())).ok_or_else(|| E::custom("not a JSON number"))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Content, E> {
        Ok(Content::Quoted(text.to_owned()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Content, E> {
        Ok(Content::Quoted(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Content, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Content::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Content, A::Error> {
        let mut map = Vec::new();
        let mut keys = std::collections::HashSet::new();
        while let Some((key, value)) = entries.next_entry::<String, Node>()? {
            if !keys.insert(key.clone()) {
                return Err(A::Error::custom("a key is given twice"));
            }
            map.push((key, value));
        }
        Ok(Content::Map(map))
    }
}
