//! From a text to a request.

use crate::envelope_text::{EnvelopeText, EnvelopeTexts};
use crate::error::{ReadError, ReadErrorKind};
use crate::header::Header;
use crate::request::fields::{Fields, texts};
use crate::request::need_reader::{Rejection, read_need};
use crate::yaml::almost_yaml::{self, AlmostYaml, may_be_own_reading};
use crate::yaml::escapes;
use crate::yaml::forgiving::{forgive, with_usual_blanks};
use crate::yaml::json;
use crate::yaml::node::{Content, Node, NodeError, Place};
use crate::{Context, ReadLimits, Request, RequestId, Role, Warning, WarningCode, yaml};

/// How a request is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// How much is forgiven.
    pub strictness: Strictness,
    /// The name of a request that has none.
    pub default_request_id: Option<RequestId>,
    /// How much is read.
    pub limits: ReadLimits,
}

impl Default for ReadOptions {
    /// Forgives what can be forgiven, has no name to lend, and reads as much as
    /// [`ReadLimits::for_requests`] says.
    fn default() -> ReadOptions {
        let limits = ReadLimits::for_requests();
        ReadOptions { strictness: Strictness::Tolerant, default_request_id: None, limits }
    }
}

/// How much is forgiven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// Takes what models write when they mean YAML, with text behind it, decorated or quoted.
    Tolerant,
    /// Takes a header as it should be and YAML behind it.
    Strict,
}

/// A request as it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The request, with the needs that can be answered.
    pub request: Request,
    /// The others.
    pub rejected: Vec<RejectedNeed>,
    /// What was forgiven, in the order of the text.
    pub warnings: Vec<Warning>,
}

/// A need that is not among those of the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedNeed {
    /// Where it stood among all needs, 0-based.
    pub index: usize,
    /// The type that it had; empty if it had none.
    pub need_type: String,
    /// Why it was rejected.
    pub code: WarningCode,
}

/// Reads a text that is one request, from its header on. Text behind the request is passed over.
///
/// # Errors
///
/// Every [`ReadErrorKind`]. One bad need is no error: it is among the rejected ones.
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
            let text = &*with_usual_blanks(text);
            let mut envelopes = EnvelopeTexts::new(text);
            let first = envelopes.first().filter(|first| first.header != Some(Header::Response));
            let found = first.and_then(|first| Found::of(first, text, options, true));
            only_one(found, envelopes, text, options)
        }
    }
}

/// Finds the request in a model's reply and reads it.
///
/// Text may stand before and behind it, in a code fence or not; a header that is only mentioned, and a response that is
/// quoted, are no request. The strictness of the options does not matter here.
///
/// # Errors
///
/// As [`read_request`].
pub fn extract_request(reply: &str, options: &ReadOptions) -> Result<Reading, ReadError> {
    let text = &*with_usual_blanks(without_mark(reply));
    let mut envelopes = EnvelopeTexts::new(text);
    let found = next_request(&mut envelopes, text, options);
    only_one(found, envelopes, text, options)
}

fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// What is at a place where a request may be.
struct Found {
    line: u32,
    content: Result<AlmostYaml, ReadError>,
    /// What was forgiven.
    warnings: Vec<Warning>,
}

impl Found {
    /// Reads the body of an envelope; `None` if it is none of a request.
    fn of(envelope: EnvelopeText, text: &str, options: &ReadOptions, is_meant: bool) -> Option<Found> {
        let line = envelope.line;
        let body = envelope.body.as_str();
        let content = read_body(body, &options.limits).map_err(|error| {
            let place = error.place;
            let line = envelope.body_line.saturating_add(place.line.saturating_sub(1));
            ReadError::at(text, error.kind, line, place.column.saturating_add(envelope.taken))
        });
        let is_request = match &content {
            // Something that is wrong behind a header was meant to be right; wrong JSON without one is anything.
            Err(_) => envelope.header.is_some() || is_meant,
            Ok(AlmostYaml { node: Node { content: Content::Map(entries), .. }, .. }) => {
                let has = |key: &str| entries.iter().any(|(other, _)| other == key);
                match envelope.header {
                    Some(_) => has("needs") || has("request_id"),
                    None => is_meant || (has("needs") && has("request_id")),
                }
            }
            Ok(_) => false,
        };
        let mut warnings = Vec::new();
        let content = content.map(|mut read| {
            warnings = forgive(&mut read.node, body);
            shifted(read, &envelope)
        });
        is_request.then_some(Found { line, content, warnings })
    }
}

/// Makes the places of what was read those of the whole text.
fn shifted(mut read: AlmostYaml, envelope: &EnvelopeText) -> AlmostYaml {
    let shift = |place: Place| Place {
        line: envelope.body_line.saturating_add(place.line.saturating_sub(1)),
        column: place.column.saturating_add(envelope.taken),
    };
    read.node.place = Place { line: envelope.line, column: 1 };
    if let Content::Map(entries) = &mut read.node.content {
        for (_, node) in entries {
            node.place = shift(node.place);
        }
    }
    for place in &mut read.unread {
        *place = shift(*place);
    }
    read
}

fn next_request(envelopes: &mut EnvelopeTexts<'_>, text: &str, options: &ReadOptions) -> Option<Found> {
    envelopes
        .filter(|envelope| envelope.header != Some(Header::Response))
        .find_map(|envelope| Found::of(envelope, text, options, false))
}

fn only_one(
    found: Option<Found>,
    mut envelopes: EnvelopeTexts<'_>,
    text: &str,
    options: &ReadOptions,
) -> Result<Reading, ReadError> {
    let Some(found) = found else { return Err(ReadError::at(text, ReadErrorKind::NoRequest, 1, 1)) };
    if let Some(second) = next_request(&mut envelopes, text, options) {
        return Err(ReadError::at(text, ReadErrorKind::MultipleEnvelopes, second.line, 1));
    }
    let AlmostYaml { node, unread, .. } = found.content?;
    interpret(node, &unread, found.warnings, text, options)
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
    let shift = |place: Place| Place { line: place.line.saturating_add(lines_before), ..place };
    let mut node = node.map_err(|error| {
        let place = shift(error.place);
        ReadError::at(text, error.kind, place.line, place.column)
    })?;
    node.place = Place { line: u32::try_from(blank + 1).unwrap_or(u32::MAX), column: 1 };
    if let Content::Map(entries) = &mut node.content {
        for (_, node) in entries {
            node.place = shift(node.place);
        }
    }
    without_nulls(&mut node);
    interpret(node, &[], Vec::new(), text, options)
}

/// Refuses the marks of documents: a header begins an envelope, and nothing else does.
fn without_markers(body: &str) -> Result<(), NodeError> {
    let is_marker = |line: &str| matches!(line.split_whitespace().next(), Some("---" | "..."));
    let marker = (1..).zip(body.lines()).find(|(_, line)| is_marker(line) && line.starts_with(['-', '.']));
    marker.map_or(Ok(()), |(line, _)| {
        let problem = "a mark of a YAML document stands here".to_owned();
        Err(NodeError { kind: ReadErrorKind::InvalidYaml { problem }, place: Place { line, column: 1 } })
    })
}

fn check_size(body: &str, limits: &ReadLimits) -> Result<(), NodeError> {
    if body.len() <= limits.envelope_bytes {
        return Ok(());
    }
    let kind = ReadErrorKind::TooLarge { what: "bytes", limit: limits.envelope_bytes };
    Err(NodeError { kind, place: Place { line: 1, column: 1 } })
}

/// Reads YAML. JSON is YAML but for some characters within texts, which only JSON may have.
fn parse_yaml(
    body: &str,
    limits: &ReadLimits,
    parse: fn(&str, &ReadLimits) -> Result<Node, NodeError>,
) -> Result<Node, NodeError> {
    parse(body, limits).or_else(|error| {
        let may_be_json = is_braced(body) && !matches!(error.kind, ReadErrorKind::TooLarge { .. });
        if may_be_json { json::parse(body, limits).ok_or(error) } else { Err(error) }
    })
}

/// Reads YAML as YAML, and else line by line.
fn read_body(body: &str, limits: &ReadLimits) -> Result<AlmostYaml, NodeError> {
    check_size(body, limits)?;
    let as_yaml = |node| AlmostYaml { node, unread: Vec::new(), is_own_reading: false };
    if is_braced(body) {
        let parse = |body: &str| parse_yaml(body, limits, yaml::parse_forgiving);
        let mut node = parse(body).or_else(|error| match escapes::mended(body) {
            mended if mended != body => parse(&mended).map_err(|_| error),
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
            let read = may_be_own_reading(body).then(|| almost_yaml::parse(body, limits).ok()).flatten();
            Ok(read.filter(|read| read.is_own_reading).unwrap_or_else(|| as_yaml(node)))
        }
        _ => almost_yaml::parse(body, limits),
    }
}

/// Tells whether a body is JSON, or a map in braces.
fn is_braced(body: &str) -> bool {
    body.trim_start().starts_with('{')
}

/// Spells nothing otherwise than as the word `null`, which elsewhere may be meant as a word.
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
    unread: &[Place],
    mut warnings: Vec<Warning>,
    text: &str,
    options: &ReadOptions,
) -> Result<Reading, ReadError> {
    let start = root.place;
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
    // The header says the version; what the body says about it is of no consequence.
    let _ = fields.take(&["version"]);
    let extra = fields.rest();
    let context = context.and_then(|context| read_context(context, &mut warnings));
    let place = needs.as_ref().map_or(start, |needs| needs.place);
    let items = match needs.map(|needs| needs.content) {
        Some(Content::List(items)) => items,
        // One need without its dash.
        Some(content @ Content::Map(_)) => vec![Node { content, place }],
        _ => Vec::new(),
    };
    if items.len() > options.limits.needs {
        let kind = ReadErrorKind::TooLarge { what: "needs", limit: options.limits.needs };
        return Err(ReadError::at(text, kind, place.line, place.column));
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
    for place in unread {
        let detail = format!("line {} is no field and was passed over", place.line);
        warnings.push(Warning::with(WarningCode::InvalidField, detail));
    }
    let request = Request { role, request_id, needs, context, extra };
    let reading = Reading { request, rejected, warnings };
    if reading.request.needs.is_empty() {
        let kind = ReadErrorKind::NoValidNeed { reading: Box::new(reading) };
        return Err(ReadError::at(text, kind, place.line, place.column));
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
        Content::Plain(text) | Content::Quoted(text) => {
            Some(Context { summary: Some(text), ..Context::default() })
        }
        Content::Map(entries) => {
            let mut fields = Fields::new(entries, warnings);
            let summary = fields.text(&["summary"]);
            let constraints = fields.take(&["constraints"]).and_then(|(_, node)| match node.content {
                // A sentence has commas of its own.
                Content::Plain(text) => Some(vec![text]).filter(|texts| !texts[0].trim().is_empty()),
                _ => texts(node),
            });
            Some(Context { summary, constraints: constraints.unwrap_or_default(), extra: fields.rest() })
        }
        Content::List(_) => None,
    }
}
