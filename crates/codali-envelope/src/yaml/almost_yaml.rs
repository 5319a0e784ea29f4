//! A tolerant reader for the almost-YAML that models write: keys, dashes and indentation, line by line.
//!
//! An invalid line is skipped without failing the envelope. Values that are not YAML (`error: not found`,
//! `**/*.rs`, `[WIP] x`) are texts, tabs count as indentation, fields may be indented unevenly, keys may be
//! repeated. Quoted texts, block texts and flow collections are left to the YAML parser.

mod gathered;
mod key;

use crate::ReadLimits;
use crate::error::ReadErrorKind;
use crate::yaml;
use crate::yaml::escapes;
use crate::yaml::node::{Content, Node, NodeError, Position};
use gathered::Gathered;
use key::is_known;
pub(crate) use key::{is_cramped, is_need_field, split_key};

/// The width of a tab in columns.
const TAB_COLUMNS: usize = 4;

/// The value of a text, and the lines that were skipped.
#[derive(Debug)]
pub(crate) struct AlmostYaml {
    pub(crate) node: Node,
    pub(crate) skipped: Vec<Position>,
    /// True if the text was read differently from YAML: a key or a dash without the space after it, or a field in the column of
    /// its item's dash.
    pub(crate) differs_from_yaml: bool,
}

/// Reads a text whose root is a map. Positions are relative to the text.
pub(crate) fn parse(text: &str, limits: &ReadLimits) -> Result<AlmostYaml, NodeError> {
    let lines = (1..).zip(text.lines()).map(|(number, raw)| Line::new(number, raw));
    let mut reader = Reader {
        lines: lines.collect(),
        at: 0,
        limits: *limits,
        values: 0,
        skipped: Vec::new(),
        differs_from_yaml: false,
    };
    let entries = reader.map(None, 1)?;
    let node = Node { content: Content::Map(entries), position: Position { line: 1, column: 1 } };
    Ok(AlmostYaml { node, skipped: reader.skipped, differs_from_yaml: reader.differs_from_yaml })
}

/// Returns the indentation of a line in columns.
pub(crate) fn indentation(line: &str) -> usize {
    let whitespace = line.chars().take_while(|character| matches!(character, ' ' | '\t'));
    whitespace.map(|character| if character == '\t' { TAB_COLUMNS } else { 1 }).sum()
}

/// Returns the text after a dash, and the length of the dash in bytes; `None` without a dash.
pub(crate) fn after_dash(text: &str) -> Option<(&str, usize)> {
    let rest = text.strip_prefix('-')?;
    let item = rest.trim_start();
    (rest.is_empty() || item.len() < rest.len() || is_item(rest)).then_some((item, text.len() - item.len()))
}

/// Returns true if the text directly after a dash can only be an item: a known field, a map or a quoted text.
fn is_item(text: &str) -> bool {
    let is_between = |first, last| text.len() > 1 && text.starts_with(first) && text.ends_with(last);
    is_between('{', '}')
        || is_between('"', '"')
        || is_between('\'', '\'')
        || split_key(text).is_some_and(|(key, _)| is_known(key))
}

/// Returns true if this reader may read a text differently from YAML; [`AlmostYaml::differs_from_yaml`] is the exact
/// answer.
pub(crate) fn may_differ_from_yaml(body: &str) -> bool {
    body.lines().any(|line| {
        let text = line.trim();
        let item = after_dash(text);
        let is_cramped_item = item.is_some_and(|(item, taken)| taken == 1 && !item.is_empty());
        let is_outer_field =
            line.starts_with(text) && split_key(text).is_some_and(|(key, _)| is_need_field(key));
        is_cramped_item || is_outer_field || is_cramped(item.map_or(text, |(item, _)| item))
    })
}

/// Returns a plain text without the comment after it.
fn without_comment(text: &str) -> &str {
    if text.starts_with('#') {
        return "";
    }
    // Without whitespace before it, a `#` is part of the text, as in YAML.
    let comment = text.match_indices('#').find(|(at, _)| text[..*at].ends_with([' ', '\t']));
    comment.map_or(text, |(at, _)| &text[..at]).trim_end()
}

#[derive(Clone, Copy)]
struct Line<'a> {
    number: u32,
    indent: usize,
    /// The trimmed line.
    text: &'a str,
    raw: &'a str,
}

impl<'a> Line<'a> {
    fn new(number: u32, raw: &'a str) -> Line<'a> {
        Line { number, indent: indentation(raw), text: raw.trim(), raw }
    }

    fn is_blank(&self) -> bool {
        self.text.is_empty() || self.text.starts_with('#')
    }

    fn position(&self) -> Position {
        let before = self.raw.len().saturating_sub(self.raw.trim_end().len().min(self.raw.len()));
        let start = self.raw.len() - before - self.text.len();
        let characters = self.raw.get(..start).map_or(start, |indent| indent.chars().count());
        Position { line: self.number, column: u32::try_from(characters + 1).unwrap_or(u32::MAX) }
    }
}

/// The key of a list.
#[derive(Clone, Copy, Default)]
struct ListKey {
    /// Its column, where the dashes may be, too.
    column: Option<usize>,
    /// True if the items are needs.
    is_needs: bool,
}

struct Reader<'a> {
    lines: Vec<Line<'a>>,
    at: usize,
    limits: ReadLimits,
    values: usize,
    skipped: Vec<Position>,
    differs_from_yaml: bool,
}

impl<'a> Reader<'a> {
    /// Returns the next line that is not blank, if it is indented by more than `floor`; `None` accepts every
    /// indentation.
    fn peek(&mut self, floor: Option<usize>) -> Option<Line<'a>> {
        while self.lines.get(self.at).is_some_and(Line::is_blank) {
            self.at += 1;
        }
        let line = *self.lines.get(self.at)?;
        floor.is_none_or(|floor| line.indent > floor).then_some(line)
    }

    /// Reads the value in the lines that are indented by more than `floor`.
    fn block(&mut self, floor: usize, depth: usize) -> Result<Node, NodeError> {
        let Some(line) = self.peek(Some(floor)) else { return Ok(Node::plain("", Position::default())) };
        let position = line.position();
        if after_dash(line.text).is_some() {
            let items = self.list(Some(floor), ListKey::default(), depth)?;
            return self.counted(Node { content: Content::List(items), position });
        }
        if split_key(line.text).is_some() && !line.text.starts_with(['{', '[']) {
            let entries = self.map(Some(floor), depth)?;
            return self.counted(Node { content: Content::Map(entries), position });
        }
        self.at += 1;
        self.value(line.text, floor, position, depth)
    }

    /// Reads the items of a list. Recursion is bounded by [`Reader::check_depth`].
    fn list(&mut self, floor: Option<usize>, key: ListKey, depth: usize) -> Result<Vec<Node>, NodeError> {
        let mut items = Vec::new();
        let mut dash = None;
        while let Some(line) = self.peek(floor) {
            self.check_depth(depth, line)?;
            let Some((item, taken)) = after_dash(line.text) else {
                let is_in_key_column = key.column == Some(line.indent);
                let last = items.last_mut().filter(|_| dash == Some(line.indent));
                match last {
                    Some(Node { content: Content::Map(entries), .. })
                        if belongs_to_item(line.text, entries, is_in_key_column) =>
                    {
                        entries.push(self.outer_field(line, depth)?);
                        continue;
                    }
                    _ => break,
                }
            };
            // The next item may have another column: models indent dashes unevenly.
            dash = Some(line.indent);
            self.differs_from_yaml |= key.is_needs && taken == 1 && !item.is_empty();
            if without_comment(item).is_empty() {
                self.at += 1;
            } else if !key.is_needs && is_cramped(item) {
                // Outside of needs it is a text with a colon.
                self.at += 1;
                items.push(self.value(item, line.indent, line.position(), depth + 1)?);
                continue;
            } else {
                // Read the text after the dash as a separate line, with its own indentation.
                self.lines[self.at] = Line { indent: line.indent + taken, text: item, ..line };
            }
            items.push(self.block(line.indent, depth + 1)?);
        }
        Ok(items)
    }

    /// Reads a field in the column of its item's dash.
    fn outer_field(&mut self, line: Line<'a>, depth: usize) -> Result<(String, Node), NodeError> {
        self.differs_from_yaml = true;
        self.at += 1;
        let (key, rest) = split_key(line.text).unwrap_or((line.text, ""));
        let next = self.peek(None);
        let is_next_item =
            next.is_some_and(|next| next.indent == line.indent && after_dash(next.text).is_some());
        let value = if without_comment(rest).is_empty() && is_next_item {
            // The next item belongs to the list, not to this field.
            self.counted(Node::plain("", line.position()))?
        } else {
            self.entry(rest, line, depth + 1)?
        };
        Ok((key.to_owned(), value))
    }

    fn map(&mut self, floor: Option<usize>, depth: usize) -> Result<Vec<(String, Node)>, NodeError> {
        let mut entries = Vec::new();
        let mut column = None;
        while let Some(line) = self.peek(floor) {
            self.check_depth(depth, line)?;
            let is_item = after_dash(line.text).is_some();
            if is_item && floor.is_some() {
                // The next item of the enclosing list, at any indentation.
                break;
            }
            self.at += 1;
            match split_key(line.text).filter(|_| !is_item) {
                None => self.skipped.push(line.position()),
                Some((key, rest)) => {
                    // A deeper line may continue the previous text.
                    let is_in_column = *column.get_or_insert(line.indent) == line.indent;
                    self.differs_from_yaml |= is_in_column && is_cramped(line.text);
                    let value = self.entry(rest, line, depth)?;
                    entries.push((key.to_owned(), value));
                }
            }
        }
        Ok(entries)
    }

    /// Reads the value of a key; `rest` is the text after it.
    fn entry(&mut self, rest: &'a str, line: Line<'a>, depth: usize) -> Result<Node, NodeError> {
        let start = line.position();
        let skipped = line.text[..line.text.len() - rest.len()].chars().count();
        let position =
            Position { column: start.column.saturating_add(u32::try_from(skipped).unwrap_or(0)), ..start };
        if !without_comment(rest).is_empty() {
            return self.value(rest, line.indent, position, depth);
        }
        let key = ListKey { column: Some(line.indent), is_needs: depth == 1 && is_needs(line.text) };
        match self.peek(line.indent.checked_sub(1)) {
            // A list may start in the column of its key.
            Some(next) if after_dash(next.text).is_some() => {
                let items = self.list(line.indent.checked_sub(1), key, depth + 1)?;
                self.counted(Node { content: Content::List(items), position: next.position() })
            }
            Some(next) if next.indent > line.indent => self.block(line.indent, depth + 1),
            _ => self.counted(Node::plain("", position)),
        }
    }

    /// Reads a value that begins with `first` and may continue in lines that are indented by more than `floor`.
    fn value(
        &mut self,
        first: &'a str,
        floor: usize,
        position: Position,
        depth: usize,
    ) -> Result<Node, NodeError> {
        if is_block_header(first) {
            let text = self.block_text(first, floor);
            return self.counted(Node { content: Content::Quoted(text), position });
        }
        // A lone quote mark: the model meant an empty text and forgot the second mark.
        if matches!(first, "\"" | "'") {
            return self.counted(Node { content: Content::Quoted(String::new()), position });
        }
        if first.starts_with(['"', '\'', '[', '{'])
            && let Some(node) = self.gathered(first, floor, position, depth)?
        {
            return self.counted(node);
        }
        let text = self.plain(first, floor);
        self.counted(Node { content: Content::Plain(text), position })
    }

    /// Reads a quoted text or a flow collection; `None` if it is not closed, or followed by more text.
    fn gathered(
        &mut self,
        first: &str,
        floor: usize,
        position: Position,
        depth: usize,
    ) -> Result<Option<Node>, NodeError> {
        let mut gathered = Gathered::new(self.limits.depth.saturating_sub(depth));
        let mut text = first.to_owned();
        let mut next = self.at;
        gathered.push(first);
        while !gathered.is_closed() {
            if gathered.is_too_deep() {
                return Err(yaml::too_deep(&self.limits, position));
            }
            let Some(line) = self.lines.get(next) else { return Ok(None) };
            // The lines of a collection may start in the column of its key, unless they look like a key or an item.
            let may_belong =
                line.indent == floor && split_key(line.text).is_none() && after_dash(line.text).is_none();
            if !line.text.is_empty() && line.indent <= floor && !may_belong {
                return Ok(None);
            }
            next += 1;
            text.push('\n');
            // Indented, so that no line looks like the start of a document.
            text.push(' ');
            text.push_str(line.text);
            gathered.push(" ");
            gathered.push(line.text);
        }
        if gathered.is_too_deep() {
            return Err(yaml::too_deep(&self.limits, position));
        }
        match yaml::parse(&escapes::repaired(&text), &self.limits) {
            // The lines are consumed only now: if parsing fails, they are read as plain text instead.
            Ok(node) if node.text().is_none() || matches!(node.content, Content::Quoted(_)) => {
                self.at = next;
                Ok(Some(Node { position, ..node }))
            }
            Err(NodeError { kind: kind @ ReadErrorKind::TooLarge { .. }, .. }) => {
                Err(NodeError { kind, position })
            }
            _ => Ok(None),
        }
    }

    fn plain(&mut self, first: &str, floor: usize) -> String {
        let mut text = without_comment(first).to_owned();
        while let Some(line) = self.lines.get(self.at) {
            let continues = line.indent > floor
                && !line.is_blank()
                && after_dash(line.text).is_none()
                && split_key(line.text).is_none();
            if !continues {
                break;
            }
            text.push(' ');
            text.push_str(without_comment(line.text));
            self.at += 1;
        }
        text
    }

    /// Reads the lines of a block text with the YAML parser.
    fn block_text(&mut self, header: &str, floor: usize) -> String {
        let start = self.at;
        while self.lines.get(self.at).is_some_and(|line| line.text.is_empty() || line.indent > floor) {
            self.at += 1;
        }
        let lines = &self.lines[start..self.at];
        let first = lines.iter().find(|line| !line.text.is_empty());
        // Tabs within the text itself stay; only those in the indentation are replaced.
        let has_tabs = first.is_some_and(|line| line.raw.chars().take(floor + 1).any(|one| one == '\t'));
        let mut yaml = format!("text: {header}\n");
        for line in lines {
            let raw = if has_tabs { tabs_as_spaces(line.raw) } else { line.raw.to_owned() };
            let cut = raw.bytes().take(floor).take_while(|byte| *byte == b' ').count();
            yaml.push_str(&raw[cut..]);
            yaml.push('\n');
        }
        match yaml::parse(&yaml, &self.limits) {
            Ok(Node { content: Content::Map(entries), .. }) => entries
                .into_iter()
                .next()
                .and_then(|(_, node)| node.text().map(str::to_owned))
                .unwrap_or_default(),
            // YAML refuses the indentation: lines without it are better than none.
            _ => lines.iter().map(|line| format!("{}\n", line.text)).collect(),
        }
    }

    fn counted(&mut self, node: Node) -> Result<Node, NodeError> {
        self.values += 1;
        if self.values > self.limits.values {
            let kind = ReadErrorKind::TooLarge { what: "values", limit: self.limits.values };
            return Err(NodeError { kind, position: node.position });
        }
        Ok(node)
    }

    fn check_depth(&self, depth: usize, line: Line<'_>) -> Result<(), NodeError> {
        if depth > self.limits.depth { Err(yaml::too_deep(&self.limits, line.position())) } else { Ok(()) }
    }
}

/// Returns true if a line has the key of a request's needs.
fn is_needs(text: &str) -> bool {
    split_key(text).is_some_and(|(key, _)| key == "needs")
}

/// Returns true if a line in the column of an item's dash is a field of that item. If the list's key is in the
/// same column, it has to be a field that only needs have, and that this one does not have yet.
fn belongs_to_item(text: &str, entries: &[(String, Node)], is_in_key_column: bool) -> bool {
    split_key(text).is_some_and(|(key, _)| {
        !is_in_key_column || (is_need_field(key) && !entries.iter().any(|(other, _)| other == key))
    })
}

/// Returns true for `|` or `>` with its indicators, and nothing else.
fn is_block_header(text: &str) -> bool {
    let Some(indicators) = text.strip_prefix(['|', '>']) else { return false };
    let indicators = without_comment(indicators);
    indicators.len() <= 2 && indicators.chars().all(|one| matches!(one, '+' | '-' | '1'..='9'))
}

fn tabs_as_spaces(raw: &str) -> String {
    let content = raw.trim_start_matches([' ', '\t']);
    " ".repeat(indentation(raw)) + content
}
