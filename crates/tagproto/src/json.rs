//! A parsed reply as JSON, to check how a reply is read.

use serde::{Serialize, Serializer, ser::SerializeSeq};

use crate::{Block, Body, Item, LineRange, ReadRange, Refusal, RepairSet, Reply, TextHunk};

/// One element of `commands`, with its fields in the order in which they are written.
#[derive(Serialize)]
struct Command<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_line: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_line: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    was: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body_lines: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hunks: Option<Vec<Hunk<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    background: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ready: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    lines: [u32; 2],
}

/// One element of `hunks`.
#[derive(Serialize)]
struct Hunk<'a> {
    search: &'a str,
    replace: &'a str,
}

#[derive(Serialize)]
struct WireReply<'a> {
    commands: &'a [Item<'a>],
    repairs: RepairSet,
    refused: Option<Refusal>,
}

impl Serialize for Reply<'_> {
    /// Writes `{"commands":[…],"repairs":[…],"refused":null}`; `refused` is the name of the reason.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        WireReply { commands: &self.items, repairs: self.repairs, refused: self.refused }
            .serialize(serializer)
    }
}

impl Serialize for Item<'_> {
    /// Writes `{"type":"CREATE_FILE",…,"lines":[first,last]}`, or `{"type":"PARSE_ERROR","command":…,"error":…,"lines":[first,last]}`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Block(block) => Command::of(&block.value, block.lines).serialize(serializer),
            Self::Error(error) => Command {
                command: Some(error.command.name()),
                error: Some(error.to_string()),
                ..Command::named("PARSE_ERROR", error.lines)
            }
            .serialize(serializer),
        }
    }
}

impl Serialize for RepairSet {
    /// Writes the names of the kinds in order.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut names = serializer.serialize_seq(Some(self.iter().count()))?;
        for kind in self.iter() {
            names.serialize_element(kind.name())?;
        }
        names.end()
    }
}

impl Serialize for Refusal {
    /// Writes the name of the reason.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.kind.name())
    }
}

impl<'a> Command<'a> {
    fn named(kind: &'a str, lines: LineRange) -> Self {
        Self {
            kind,
            path: None,
            start_line: None,
            end_line: None,
            was: None,
            body: None,
            body_lines: None,
            hunks: None,
            background: None,
            ready: None,
            name: None,
            command: None,
            error: None,
            lines: [lines.first, lines.last],
        }
    }

    fn of(block: &'a Block<'_>, lines: LineRange) -> Self {
        let mut command = Self { path: block.path(), ..Self::named(block.kind().name(), lines) };
        match block {
            Block::CreateFile { body, .. } => command.set_body(body),
            Block::EditFile { start_line, end_line, was, body, .. } => {
                command.set_body(body);
                command.was = was.as_deref();
                command.start_line = Some(*start_line);
                command.end_line = Some(*end_line);
            }
            Block::EditText { within, hunks, .. } => {
                command.start_line = within.map(|(start_line, _)| start_line);
                command.end_line = within.map(|(_, end_line)| end_line);
                let hunk = |hunk: &'a TextHunk| Hunk { search: &hunk.search, replace: &hunk.replacement };
                command.hunks = Some(hunks.iter().map(hunk).collect());
            }
            Block::ReadFile { range: ReadRange::Lines { start_line, end_line }, .. } => {
                command.start_line = *start_line;
                command.end_line = *end_line;
            }
            // A malformed range is only reported when the block is carried out.
            Block::DeleteFile { .. } | Block::ReadFile { .. } => {}
            Block::RunCommand { command: text, background } => {
                command.body = Some(text);
                command.background = background.as_ref().map(|background| &*background.name);
                command.ready = background.as_ref().and_then(|background| background.ready.as_deref());
            }
            Block::StopProcess { name } => command.name = Some(name),
            Block::Message { text } | Block::Done { summary: text } => {
                command.body = Some(text);
            }
        }
        command
    }

    fn set_body(&mut self, body: &'a Body<'_>) {
        self.body = Some(body.text());
        self.body_lines = Some(body.line_count());
    }
}
