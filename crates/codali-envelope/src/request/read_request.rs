//! Reads requests.

use crate::envelope_text::{EnvelopeText, EnvelopeTexts};
use crate::error::{ReadError, ReadErrorKind};
use crate::header::Header;
use crate::request::fields::{Fields, texts};
use crate::request::need_reader::{Rejection, read_need};
use crate::yaml::almost_yaml::{self, AlmostYaml, may_differ_from_yaml};
use crate::yaml::forgiving::{forgive, with_ordinary_spaces};
use crate::yaml::node::{Content, Node, NodeError, Position};
use crate::yaml::respelled::other_list;
use crate::yaml::{escapes, json};
use crate::{Context, ReadLimits, Request, RequestId, Role, Warning, WarningCode, yaml};

/// The options of reading a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// The tolerance for malformed requests.
    pub strictness: Strictness,
    /// The id of a request that has none.
    pub default_request_id: Option<RequestId>,
    /// The limits.
    pub limits: ReadLimits,
}

impl Default for ReadOptions {
    /// Returns tolerant reading without a default id, within [`ReadLimits::for_requests`].
    fn default() -> ReadOptions {
        let limits = ReadLimits::for_requests();
        ReadOptions { strictness: Strictness::Tolerant, default_request_id: None, limits }
    }
}

/// The tolerance for malformed requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// Accepts almost-YAML as models write it, decorated or quoted, with text after it.
    Tolerant,
    /// Accepts an exact header followed by YAML.
    Strict,
}

/// The result of reading a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The request, with its valid needs.
    pub request: Request,
    /// The other needs.
    pub rejected: Vec<RejectedNeed>,
    /// Warnings about corrections and dropped fields, in the order of the text.
    pub warnings: Vec<Warning>,
}

/// A need that was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedNeed {
    /// The index among all needs, 0-based.
    pub index: usize,
    /// The type; empty if it had none.
    pub need_type: String,
    /// The reason.
    pub code: WarningCode,
}

/// Reads a text that begins with a request. Text after the request is ignored.
///
/// # Errors
///
/// Every [`ReadErrorKind`]. A single invalid need is not an error: it is among the rejected ones.
///
/// # Example
///
/// ```
/// use codali_envelope::{NeedKind, ReadOptions, read_request};
///
/// let text = "AGENT_REQUEST v1\nrequest_id: 7\nneeds:\n  - type: file.read\n    path: src/*.rs: all\n";
/// let reading = read_request(text, &ReadOptions::default())?;
/// assert_eq!(reading.request.request_id.as_str(), "7");
/// assert_eq!(reading.request.needs[0].kind, NeedKind::FileRead { path: "src/*.rs: all".into() });
/// # Ok::<(), codali_envelope::ReadError>(())
/// ```
///
/// Source: Codali protocol, envelope types; ruling in docs/codali.md.
pub fn read_request(text: &str, options: &ReadOptions) -> Result<Reading, ReadError> {
    let text = without_mark(text);
    match options.strictness {
        Strictness::Strict => read_strictly(text, options),
        Strictness::Tolerant => {
            let text = &*with_ordinary_spaces(text);
            let mut envelopes = EnvelopeTexts::new(text);
            let first = envelopes.first().filter(|first| first.header != Some(Header::Response));
            let candidate = first.and_then(|first| Candidate::of(first, text, options, true));
            only_one(candidate, envelopes, text, options)
        }
    }
}

/// Finds the request in a model's reply and reads it.
///
/// Text may precede and follow the request, with or without a code fence. A header that is only mentioned, and a
/// quoted response, do not count as requests. The strictness of the options is ignored.
///
/// # Errors
///
/// As [`read_request`].
pub fn extract_request(reply: &str, options: &ReadOptions) -> Result<Reading, ReadError> {
    let text = &*with_ordinary_spaces(without_mark(reply));
    let mut envelopes = EnvelopeTexts::new(text);
    let candidate = next_request(&mut envelopes, text, options);
    only_one(candidate, envelopes, text, options)
}

fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// A possible request.
struct Candidate {
    line: u32,
    content: Result<AlmostYaml, ReadError>,
    /// Warnings about corrections.
    warnings: Vec<Warning>,
}

impl Candidate {
    /// Reads the body of an envelope; `None` if it is not a request's.
    fn of(envelope: EnvelopeText, text: &str, options: &ReadOptions, is_intended: bool) -> Option<Candidate> {
        let line = envelope.line;
        let body = envelope.body.as_str();
        let content = read_body(body, &options.limits).map_err(|error| {
            let position = error.position;
            let line = envelope.body_line.saturating_add(position.line.saturating_sub(1));
            ReadError::at(text, error.kind, line, position.column.saturating_add(envelope.taken))
        });
        let is_request = match &content {
            // An invalid body after a header was meant as a request; invalid JSON without one may be anything.
            Err(_) => envelope.header.is_some() || is_intended,
            Ok(AlmostYaml { node: Node { content: Content::Map(entries), .. }, .. }) => {
                let has = |key: &str| entries.iter().any(|(other, _)| other == key);
                match envelope.header {
                    Some(_) => has("needs") || has("request_id"),
                    None => is_intended || (has("needs") && has("request_id")),
                }
            }
            Ok(_) => false,
        };
        let mut warnings = Vec::new();
        let content = content.map(|mut read| {
            warnings = forgive(&mut read.node, body, options.limits.needs);
            if let Some(line) = envelope.need_after {
                let detail =
                    format!("line {line} is after the end of the request; needs from there on were ignored");
                warnings.push(Warning::with(WarningCode::InvalidField, detail));
            }
            shifted(read, &envelope)
        });
        is_request.then_some(Candidate { line, content, warnings })
    }
}

/// Makes the positions of the fields relative to the whole text.
fn shifted(mut read: AlmostYaml, envelope: &EnvelopeText) -> AlmostYaml {
    let shift = |position: Position| Position {
        line: envelope.body_line.saturating_add(position.line.saturating_sub(1)),
        column: position.column.saturating_add(envelope.taken),
    };
    read.node.position = Position { line: envelope.line, column: 1 };
    if let Content::Map(entries) = &mut read.node.content {
        for (_, node) in entries {
            node.position = shift(node.position);
        }
    }
    for position in &mut read.skipped {
        *position = shift(*position);
    }
    read
}

fn next_request(envelopes: &mut EnvelopeTexts<'_>, text: &str, options: &ReadOptions) -> Option<Candidate> {
    envelopes
        .filter(|envelope| envelope.header != Some(Header::Response))
        .find_map(|envelope| Candidate::of(envelope, text, options, false))
}

fn only_one(
    candidate: Option<Candidate>,
    mut envelopes: EnvelopeTexts<'_>,
    text: &str,
    options: &ReadOptions,
) -> Result<Reading, ReadError> {
    let Some(candidate) = candidate else {
        return Err(match unknown_header(text) {
            Some(line) => ReadError::at(text, ReadErrorKind::UnknownHeader, line, 1),
            None => ReadError::at(text, ReadErrorKind::NoRequest, 1, 1),
        });
    };
    // Check before reading the first: with two requests it is not certain which one the agent means.
    if let Some(second) = next_request(&mut envelopes, text, options) {
        return Err(ReadError::at(text, ReadErrorKind::MultipleEnvelopes, second.line, 1));
    }
    let AlmostYaml { node, skipped, .. } = candidate.content?;
    interpret(node, &skipped, candidate.warnings, text, options)
}

/// Returns the line of a request header that is not of version 1, if a request seems to follow it.
fn unknown_header(text: &str) -> Option<u32> {
    let mut lines = (1..).zip(text.lines());
    let first = text.lines().find(|line| !line.trim().is_empty())?;
    // A request that a response quotes does not count.
    if Header::parse_decorated(first) == Some(Header::Response) {
        return None;
    }
    let (number, _) = lines.find(|(_, line)| Header::is_unknown_request(line))?;
    let is_field = |line: &str| ["needs:", "request_id:"].iter().any(|key| line.trim().starts_with(key));
    lines.any(|(_, line)| is_field(line)).then_some(number)
}

fn read_strictly(text: &str, options: &ReadOptions) -> Result<Reading, ReadError> {
    let none = || ReadError::at(text, ReadErrorKind::NoRequest, 1, 1);
    let blank = text.lines().take_while(|line| line.trim().is_empty()).count();
    let header = text.lines().nth(blank).ok_or_else(none)?;
    let (body, lines_before) = if Header::parse(header) == Some(Header::Request) {
        let bytes: usize = text.split_inclusive('\n').take(blank + 1).map(str::len).sum();
        (&text[bytes..], u32::try_from(blank + 1).unwrap_or(u32::MAX))
    } else if header.starts_with('{') {
        (text, 0)
    } else {
        return Err(none());
    };
    let node = check_size(body, &options.limits)
        .and_then(|()| without_markers(body))
        .and_then(|()| parse_yaml(body, &options.limits, yaml::parse));
    let shift =
        |position: Position| Position { line: position.line.saturating_add(lines_before), ..position };
    let mut node = node.map_err(|error| {
        let position = shift(error.position);
        ReadError::at(text, error.kind, position.line, position.column)
    })?;
    node.position = Position { line: u32::try_from(blank + 1).unwrap_or(u32::MAX), column: 1 };
    if let Content::Map(entries) = &mut node.content {
        for (_, node) in entries {
            node.position = shift(node.position);
        }
    }
    without_nulls(&mut node);
    interpret(node, &[], Vec::new(), text, options)
}

/// Refuses YAML document markers: only a header begins an envelope.
fn without_markers(body: &str) -> Result<(), NodeError> {
    let is_marker = |line: &str| matches!(line.split_whitespace().next(), Some("---" | "..."));
    let marker = (1..).zip(body.lines()).find(|(_, line)| is_marker(line) && line.starts_with(['-', '.']));
    marker.map_or(Ok(()), |(line, _)| {
        let problem = "a YAML document marker is not allowed".to_owned();
        Err(NodeError {
            kind: ReadErrorKind::InvalidYaml { problem },
            position: Position { line, column: 1 },
        })
    })
}

fn check_size(body: &str, limits: &ReadLimits) -> Result<(), NodeError> {
    if body.len() <= limits.envelope_bytes {
        return Ok(());
    }
    let kind = ReadErrorKind::TooLarge { what: "bytes", limit: limits.envelope_bytes };
    Err(NodeError { kind, position: Position { line: 1, column: 1 } })
}

/// Reads YAML, and then JSON: a few characters are valid in JSON texts only.
fn parse_yaml(
    body: &str,
    limits: &ReadLimits,
    parse: fn(&str, &ReadLimits) -> Result<Node, NodeError>,
) -> Result<Node, NodeError> {
    parse(body, limits).or_else(|error| {
        let may_be_json = is_braced(body) && !matches!(error.kind, ReadErrorKind::TooLarge { .. });
        // The YAML error has a position, so it is the one to report if both fail.
        if may_be_json { json::parse(body, limits).ok_or(error) } else { Err(error) }
    })
}

/// Reads a body as YAML, or else line by line.
fn read_body(body: &str, limits: &ReadLimits) -> Result<AlmostYaml, NodeError> {
    check_size(body, limits)?;
    let as_yaml = |node| AlmostYaml { node, skipped: Vec::new(), differs_from_yaml: false };
    if is_braced(body) {
        let parse = |body: &str| parse_yaml(body, limits, yaml::parse_forgiving);
        let mut node = parse(body).or_else(|error| match escapes::repaired(body) {
            repaired if repaired != body => parse(&repaired).map_err(|_| error),
            _ => Err(error),
        })?;
        without_nulls(&mut node);
        return if matches!(node.content, Content::Map(_)) {
            Ok(as_yaml(node))
        } else {
            almost_yaml::parse(body, limits)
        };
    }
    match parse_yaml(body, limits, yaml::parse_forgiving) {
        Ok(node) if matches!(node.content, Content::Map(_)) => {
            // Valid YAML may still mean something else: `limit:3` is a text in YAML, and a field to a model.
            let read = may_differ_from_yaml(body).then(|| almost_yaml::parse(body, limits).ok()).flatten();
            Ok(read.filter(|read| read.differs_from_yaml).unwrap_or_else(|| as_yaml(node)))
        }
        _ => almost_yaml::parse(body, limits),
    }
}

/// Returns true if a body is JSON, or a map in braces.
fn is_braced(body: &str) -> bool {
    body.trim_start().starts_with('{')
}

/// Replaces every null by `~`, so that later the word `null` can only be a text.
fn without_nulls(node: &mut Node) {
    if node.is_null() {
        node.content = Content::Plain("~".to_owned());
    }
    match &mut node.content {
        Content::List(items) => items.iter_mut().for_each(without_nulls),
        Content::Map(entries) => entries.iter_mut().for_each(|(_, node)| without_nulls(node)),
        Content::Plain(_) | Content::Quoted(_) => {}
    }
}

fn interpret(
    root: Node,
    skipped: &[Position],
    mut warnings: Vec<Warning>,
    text: &str,
    options: &ReadOptions,
) -> Result<Reading, ReadError> {
    let start = root.position;
    let Content::Map(entries) = root.content else {
        return Err(ReadError::at(text, ReadErrorKind::NoRequest, start.line, start.column));
    };
    let mut fields = Fields::new(entries, &mut warnings);
    let request_id = request_id(&mut fields, options)
        .ok_or_else(|| ReadError::at(text, ReadErrorKind::MissingRequestId, start.line, start.column))?;
    let role = fields
        .text(&["role"])
        .map_or_else(Role::unknown, |name| name.parse().unwrap_or_else(|never| match never {}));
    let needs = fields.take(&["needs"]).map(|(_, needs)| needs);
    let context = fields.take(&["context"]).map(|(_, context)| context);
    // The header has the version; a version in the body is ignored.
    let _ = fields.take(&["version"]);
    let extra = fields.rest();
    let context = context.and_then(|context| read_context(context, &mut warnings));
    let position = needs.as_ref().map_or(start, |needs| needs.position);
    let items = match needs.map(|needs| needs.content) {
        Some(Content::List(items)) => items,
        // A single need without its dash.
        Some(content @ Content::Map(_)) => vec![Node { content, position }],
        _ => Vec::new(),
    };
    if items.len() > options.limits.needs {
        let kind = ReadErrorKind::TooLarge { what: "needs", limit: options.limits.needs };
        return Err(ReadError::at(text, kind, position.line, position.column));
    }
    let (mut needs, mut rejected) = (Vec::new(), Vec::new());
    for (index, item) in items.into_iter().enumerate() {
        match read_need(item, &mut warnings) {
            Ok(need) => needs.push(need),
            Err(Rejection { need_type, code, detail }) => {
                warnings.push(Warning::with(code, detail));
                rejected.push(RejectedNeed { index, need_type, code });
            }
        }
    }
    for position in skipped {
        let detail = format!("line {} is not a field and was ignored", position.line);
        warnings.push(Warning::with(WarningCode::InvalidField, detail));
    }
    let request = Request { role, request_id, needs, context, extra };
    if request.needs.is_empty()
        && let Some((line, mark)) = other_list(text)
    {
        let detail = format!("line {line} begins a need with '{mark}': begin each need with '- '");
        warnings.push(Warning::with(WarningCode::InvalidNeed, detail));
    }
    let reading = Reading { request, rejected, warnings };
    if reading.request.needs.is_empty() {
        let kind = ReadErrorKind::NoValidNeed { reading: Box::new(reading) };
        return Err(ReadError::at(text, kind, position.line, position.column));
    }
    Ok(reading)
}

fn request_id(fields: &mut Fields<'_>, options: &ReadOptions) -> Option<RequestId> {
    let given = fields.text(&["request_id", "requestId"]).and_then(|text| text.parse().ok());
    given.or_else(|| options.default_request_id.clone())
}

fn read_context(node: Node, warnings: &mut Vec<Warning>) -> Option<Context> {
    match node.content {
        _ if node.is_null() => None,
        // Like a key `summary` with a blank text.
        Content::Plain(text) | Content::Quoted(text) => {
            (!text.trim().is_empty()).then(|| Context { summary: Some(text), ..Context::default() })
        }
        Content::Map(entries) => {
            let mut fields = Fields::new(entries, warnings);
            let summary = fields.text(&["summary"]);
            let constraints = fields.take(&["constraints"]).and_then(|(_, node)| match node.content {
                // A sentence may contain commas.
                Content::Plain(text) => Some(vec![text]).filter(|texts| !texts[0].trim().is_empty()),
                _ => texts(node),
            });
            Some(Context { summary, constraints: constraints.unwrap_or_default(), extra: fields.rest() })
        }
        Content::List(_) => None,
    }
}
