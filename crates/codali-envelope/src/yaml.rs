//! A reader for the subset of YAML that envelopes use.

pub(crate) mod almost_yaml;
pub(crate) mod escapes;
pub(crate) mod forgiving;
pub(crate) mod json;
pub(crate) mod node;
pub(crate) mod respelled;

use std::collections::HashSet;

use serde_yaml::granit_parser::{ErrorKind, Event, Options, Parser, ScalarStyle, ScanError, Span, Tag};

use crate::ReadLimits;
use crate::error::ReadErrorKind;
use crate::yaml::node::{Content, Node, NodeError, Position};

/// The longest excerpt of a key in an error, in characters.
const QUOTED_CHARACTERS: usize = 64;

/// Reads one YAML document. Positions are relative to the text.
///
/// Refuses anchors, aliases, tags other than `!!str`, merge keys, directives, repeated keys and second documents,
/// so that the value is never larger than the text.
pub(crate) fn parse(text: &str, limits: &ReadLimits) -> Result<Node, NodeError> {
    build(text, limits, false)
}

/// Reads one YAML document as [`parse`] does, but takes a backslash in double quotes literally unless it begins
/// an escape that models use.
pub(crate) fn parse_forgiving(text: &str, limits: &ReadLimits) -> Result<Node, NodeError> {
    build(text, limits, true)
}

fn build(text: &str, limits: &ReadLimits, forgives: bool) -> Result<Node, NodeError> {
    let mut options = Options::default();
    options.set_emit_comments(false);
    options.disallow_directives = true;
    // The parser needs its own limits, because the builder only sees finished events.
    options.flow_nesting_limit = limits.depth;
    options.block_nesting_limit = limits.depth;
    let mut parser = Parser::new_from_str_with_options(text, options);
    let mut builder = Builder { limits: *limits, open: Vec::new(), values: 0, documents: 0, root: None };
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| builder.refused(&error))?;
        // The parser reports a missing value as a null of no width.
        let is_missing = span.start.index() == span.end.index();
        let event = if forgives { intended(event, &span, text, limits) } else { event };
        builder.take(event, position(&span), is_missing)?;
    }
    let end = Position { line: 1, column: 1 };
    Ok(builder.root.unwrap_or_else(|| Node::plain("", end)))
}

/// Replaces the escapes that the tolerant reader takes literally with numeric ones.
pub(crate) fn with_numbered_escapes(text: &str) -> String {
    let Some((header, body)) = text.split_once('\n').filter(|_| text.contains('\\')) else {
        return text.to_owned();
    };
    let (mut numbered, mut done) = (format!("{header}\n"), 0);
    for (event, span) in Parser::new_from_str(body).map_while(Result::ok) {
        let range = span.start.byte_offset().zip(span.end.byte_offset());
        if let (Event::Scalar(_, ScalarStyle::DoubleQuoted, ..), Some((start, end))) = (event, range) {
            numbered.push_str(&body[done..start]);
            numbered.push_str(&escapes::numbered(&body[start..end]));
            done = end;
        }
    }
    numbered + &body[done..]
}

/// Replaces a double-quoted text by its repaired reading.
fn intended<'e>(event: Event<'e>, span: &Span, text: &str, limits: &ReadLimits) -> Event<'e> {
    let Event::Scalar(read, ScalarStyle::DoubleQuoted, anchor, tag) = event else { return event };
    let range = span.start.byte_offset().zip(span.end.byte_offset());
    let spelled =
        range.and_then(|(start, end)| text.get(start..end)).filter(|spelled| spelled.contains('\\'));
    let repaired = spelled.map(|spelled| (escapes::repaired(spelled), spelled));
    let other = repaired.filter(|(repaired, spelled)| repaired != spelled);
    // Indent the text, so that no line looks like the start of a document.
    let node = other.and_then(|(repaired, _)| parse(&repaired.replace('\n', "\n "), limits).ok());
    let intended = node.and_then(|node| node.text().map(str::to_owned));
    Event::Scalar(intended.map_or(read, Into::into), ScalarStyle::DoubleQuoted, anchor, tag)
}

fn position(span: &Span) -> Position {
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Position { line: number(span.start.line()), column: number(span.start.col()).saturating_add(1) }
}

struct Builder {
    limits: ReadLimits,
    /// The lists and maps that are not closed yet, outermost first. At most `limits.depth`.
    open: Vec<Open>,
    values: usize,
    documents: usize,
    root: Option<Node>,
}

struct Open {
    position: Position,
    items: Items,
}

enum Items {
    List(Vec<Node>),
    Map { entries: Vec<(String, Node)>, keys: HashSet<String>, key: Option<String> },
}

impl Builder {
    fn take(&mut self, event: Event<'_>, position: Position, is_missing: bool) -> Result<(), NodeError> {
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 { Err(invalid("a second document begins", position)) } else { Ok(()) }
            }
            Event::Scalar(text, style, anchor, tag) => {
                check_properties(anchor, tag.as_deref(), position)?;
                // A tag can only be `!!str` here, which makes the text a text like quotes do.
                let is_plain = style == ScalarStyle::Plain && tag.is_none();
                let text = if is_plain && is_missing { String::new() } else { text.into_owned() };
                self.scalar(text, is_plain, position)
            }
            Event::SequenceStart(_, anchor, tag) => {
                check_properties(anchor, tag.as_deref(), position)?;
                self.begin(Items::List(Vec::new()), position)
            }
            Event::MappingStart(_, anchor, tag) => {
                check_properties(anchor, tag.as_deref(), position)?;
                self.begin(Items::Map { entries: Vec::new(), keys: HashSet::new(), key: None }, position)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(_) | Event::UnresolvedAlias(_) => Err(invalid("aliases are not allowed", position)),
            _ => Ok(()),
        }
    }

    fn scalar(&mut self, text: String, is_plain: bool, position: Position) -> Result<(), NodeError> {
        if let Some(Open { items: Items::Map { keys, key: key @ None, .. }, .. }) = self.open.last_mut() {
            if is_plain && text == "<<" {
                return Err(invalid("merge keys are not allowed", position));
            }
            if !keys.insert(text.clone()) {
                let excerpt: String = text.chars().take(QUOTED_CHARACTERS).collect();
                return Err(invalid(&format!("the key {excerpt:?} is given twice"), position));
            }
            *key = Some(text);
            return Ok(());
        }
        let content = if is_plain { Content::Plain(text) } else { Content::Quoted(text) };
        self.add(Node { content, position })
    }

    fn begin(&mut self, items: Items, position: Position) -> Result<(), NodeError> {
        if let Some(Open { items: Items::Map { key: None, .. }, .. }) = self.open.last() {
            return Err(invalid("a key is a list or a map", position));
        }
        if self.open.len() >= self.limits.depth {
            return Err(too_deep(&self.limits, position));
        }
        self.open.push(Open { position, items });
        Ok(())
    }

    fn end(&mut self) -> Result<(), NodeError> {
        let Open { position, items } = self.open.pop().expect("the parser closes only open collections");
        let content = match items {
            Items::List(items) => Content::List(items),
            Items::Map { entries, .. } => Content::Map(entries),
        };
        self.add(Node { content, position })
    }

    fn add(&mut self, node: Node) -> Result<(), NodeError> {
        self.values += 1;
        if self.values > self.limits.values {
            let kind = ReadErrorKind::TooLarge { what: "values", limit: self.limits.values };
            return Err(NodeError { kind, position: node.position });
        }
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open { items: Items::List(items), .. }) => items.push(node),
            Some(Open { items: Items::Map { entries, key, .. }, .. }) => {
                let key = key.take().expect("a value follows a key");
                entries.push((key, node));
            }
        }
        Ok(())
    }

    fn refused(&self, error: &ScanError) -> NodeError {
        let marker = error.marker();
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let position =
            Position { line: number(marker.line()), column: number(marker.col()).saturating_add(1) };
        match error.kind() {
            ErrorKind::RecursionLimitExceeded => too_deep(&self.limits, position),
            kind => invalid(&kind.to_string(), position),
        }
    }
}

fn check_properties(anchor: usize, tag: Option<&Tag>, position: Position) -> Result<(), NodeError> {
    if anchor != 0 {
        return Err(invalid("anchors are not allowed", position));
    }
    match tag {
        Some(tag) if tag.core_suffix() != Some("str") => Err(invalid("tags are not allowed", position)),
        _ => Ok(()),
    }
}

fn invalid(problem: &str, position: Position) -> NodeError {
    NodeError { kind: ReadErrorKind::InvalidYaml { problem: problem.to_owned() }, position }
}

pub(crate) fn too_deep(limits: &ReadLimits, position: Position) -> NodeError {
    NodeError { kind: ReadErrorKind::TooLarge { what: "levels", limit: limits.depth }, position }
}
