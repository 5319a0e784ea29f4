//! Reads responses.

use serde_json::{Map, Value};

use crate::error::{ReadError, ReadErrorKind};
use crate::header::Header;
use crate::yaml::almost_yaml;
use crate::yaml::node::{Content, Node, NodeError, Position};
use crate::{Meta, NeedResult, ReadLimits, Response, Warning, yaml};

/// Reads a response in either form.
///
/// # Errors
///
/// Every [`ReadErrorKind`] but [`ReadErrorKind::MultipleEnvelopes`] and [`ReadErrorKind::NoValidNeed`].
pub fn read_response(text: &str, limits: &ReadLimits) -> Result<Response, ReadError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let failed = |kind, line, column| ReadError::at(text, kind, line, column);
    let blank = text.lines().take_while(|line| line.trim().is_empty()).count();
    let header = text.lines().nth(blank).and_then(Header::parse);
    let header_line = u32::try_from(blank + 1).unwrap_or(u32::MAX);
    if header != Some(Header::Response) {
        return Err(failed(ReadErrorKind::NoRequest, header_line, 1));
    }
    if text.len() > limits.envelope_bytes {
        let kind = ReadErrorKind::TooLarge { what: "bytes", limit: limits.envelope_bytes };
        return Err(failed(kind, header_line, 1));
    }
    let start: usize = text.split_inclusive('\n').take(blank + 1).map(str::len).sum();
    let fields = read_fields(&text[start..], limits).map_err(|error| {
        failed(error.kind, header_line.saturating_add(error.position.line), error.position.column)
    })?;
    interpret(fields).map_err(|kind| failed(kind, header_line, 1))
}

fn read_fields(body: &str, limits: &ReadLimits) -> Result<Map<String, Value>, NodeError> {
    let invalid = |problem: String, line: usize, column: usize| {
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let position = Position { line: number(line), column: number(column.max(1)) };
        NodeError { kind: ReadErrorKind::InvalidYaml { problem }, position }
    };
    if body.trim_start().starts_with('{') {
        let fields: Map<String, Value> = serde_json::from_str(body).map_err(|error| {
            let problem = error.to_string();
            let problem = problem.split(" at line ").next().unwrap_or_default().to_owned();
            invalid(problem, error.line(), error.column())
        })?;
        let mut left = limits.values.saturating_sub(1);
        return match fields.values().find_map(|value| exceeded(value, 1, limits, &mut left)) {
            Some(kind) => Err(NodeError { kind, position: Position { line: 1, column: 1 } }),
            None => Ok(fields),
        };
    }
    let node = match yaml::parse(body, limits) {
        Ok(node) => node,
        Err(error) if matches!(error.kind, ReadErrorKind::TooLarge { .. }) => return Err(error),
        Err(error) => {
            // Other implementations may write almost-YAML. If that fails as well, the YAML error is reported.
            let read = almost_yaml::parse(body, limits)?;
            let Content::Map(entries) = &read.node.content else { return Err(error) };
            let has_results =
                |(key, node): &(String, Node)| key == "results" && matches!(node.content, Content::List(_));
            if !read.skipped.is_empty() || !entries.iter().any(has_results) {
                return Err(error);
            }
            read.node
        }
    };
    match node.content {
        Content::Map(entries) => {
            Ok(entries.into_iter().map(|(key, node)| (key, node.into_value())).collect())
        }
        _ => Err(invalid("the body is not a map".to_owned(), 1, 1)),
    }
}

/// Returns the limit that a JSON value within `depth` levels exceeds, if any; `left` is the number of values still allowed.
fn exceeded(value: &Value, depth: usize, limits: &ReadLimits, left: &mut usize) -> Option<ReadErrorKind> {
    let Some(less) = left.checked_sub(1) else {
        return Some(ReadErrorKind::TooLarge { what: "values", limit: limits.values });
    };
    *left = less;
    let is_collection = value.is_array() || value.is_object();
    if is_collection && depth >= limits.depth {
        return Some(ReadErrorKind::TooLarge { what: "levels", limit: limits.depth });
    }
    match value {
        Value::Array(items) => items.iter().find_map(|item| exceeded(item, depth + 1, limits, left)),
        Value::Object(fields) => fields.values().find_map(|item| exceeded(item, depth + 1, limits, left)),
        _ => None,
    }
}

fn interpret(mut fields: Map<String, Value>) -> Result<Response, ReadErrorKind> {
    let text = match fields.remove("request_id") {
        Some(Value::String(text)) => text,
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    let request_id = text.parse().map_err(|_| ReadErrorKind::MissingRequestId)?;
    let invalid = |problem: &str| ReadErrorKind::InvalidYaml { problem: problem.to_owned() };
    let results = match fields.remove("results") {
        Some(Value::Array(results)) => results,
        None | Some(Value::Null) => Vec::new(),
        Some(_) => return Err(invalid("results are not a list")),
    };
    let results = results.into_iter().map(|result| match result {
        Value::Object(fields) => Ok(NeedResult::from_fields(fields)),
        _ => Err(invalid("a result is not a map")),
    });
    let results = results.collect::<Result<_, _>>()?;
    let meta = match fields.remove("meta") {
        Some(Value::Object(meta)) => read_meta(meta),
        None | Some(Value::Null) => Meta::default(),
        Some(_) => return Err(invalid("meta is not a map")),
    };
    fields.remove("version");
    Ok(Response { request_id, results, meta, extra: fields })
}

/// Reads the metadata of a response; a field of another type is preserved in `extra`.
fn read_meta(mut fields: Map<String, Value>) -> Meta {
    let repo_root = match fields.get("repo_root") {
        Some(Value::String(_)) => {
            fields.remove("repo_root").and_then(|root| root.as_str().map(str::to_owned))
        }
        _ => None,
    };
    let warnings = match fields.get("warnings") {
        Some(Value::Array(warnings)) => {
            let texts: Option<Vec<&str>> = warnings.iter().map(Value::as_str).collect();
            texts.map(|texts| texts.into_iter().map(Warning::parse).collect())
        }
        _ => None,
    };
    if warnings.is_some() {
        fields.remove("warnings");
    }
    let elapsed_ms = fields.get("elapsed_ms").and_then(Value::as_u64);
    if elapsed_ms.is_some() {
        fields.remove("elapsed_ms");
    }
    Meta { repo_root, warnings: warnings.unwrap_or_default(), elapsed_ms, extra: fields }
}
