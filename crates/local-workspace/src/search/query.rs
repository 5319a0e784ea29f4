//! The query: a text or an expression, compiled once for a search.

use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};
use regex_syntax::ast;
use wap_core::{Limits, QueryType, Reason, SearchFiles, WapError};

/// The longest query, in bytes.
const QUERY_LIMIT_BYTES: usize = 64 << 10;

/// The memory limit of a compiled expression, in bytes.
const COMPILED_LIMIT_BYTES: usize = 10 << 20;

/// The memory limit of one thread's cache of an expression, in bytes. Past it the search gets slower, not larger.
const CACHE_LIMIT_BYTES: usize = 8 << 20;

/// A compiled search query.
#[derive(Debug)]
pub(super) struct Query {
    /// Finds lines. Lines end at a line feed, and a carriage return before it belongs to the ending.
    pub matcher: RegexMatcher,
    /// The number of context lines on each side of a match.
    pub context_lines: usize,
}

impl Query {
    /// Compiles the query of a request.
    ///
    /// The engine has linear time, so look-around and back-references are refused by name, like an expression that
    /// would take too much memory. A query that spans lines is refused, too: a search works line by line.
    pub(super) fn new(request: &SearchFiles) -> Result<Query, WapError> {
        let text = request.query.as_str();
        if text.is_empty() {
            return Err(WapError::new(Reason::EmptyQuery, "the query is empty"));
        }
        let context_lines = context_lines(request)?;
        if text.len() > QUERY_LIMIT_BYTES {
            let text = format!("the query has {} bytes, more than {QUERY_LIMIT_BYTES}", text.len());
            return Err(refused(Reason::RequestTooLarge, text).with("limit", QUERY_LIMIT_BYTES));
        }
        let is_literal = request.query_type == QueryType::Literal;
        if is_literal && text.contains(['\n', '\r']) {
            return Err(refused(Reason::InvalidField, SPANS_LINES));
        }
        if !is_literal {
            check_syntax(text)?;
        }
        let matcher = RegexMatcherBuilder::new()
            .fixed_strings(is_literal)
            .crlf(true)
            // A search may look at many lines at once.
            .multi_line(true)
            .size_limit(COMPILED_LIMIT_BYTES)
            .dfa_size_limit(CACHE_LIMIT_BYTES)
            .build(text)
            .map_err(|error| build_error(&error))?;
        Ok(Query { matcher, context_lines })
    }
}

const SPANS_LINES: &str =
    "the query spans lines, and files are searched line by line: search for one of its lines";

fn context_lines(request: &SearchFiles) -> Result<usize, WapError> {
    let requested = request.context_lines.unwrap_or(i64::from(SearchFiles::DEFAULT_CONTEXT_LINES));
    let Ok(lines) = u64::try_from(requested) else {
        let text = format!("contextLines is {requested}: give 0 to {}", Limits::MAX_CONTEXT_LINES);
        return Err(WapError::new(Reason::InvalidField, text).with("field", "contextLines"));
    };
    Ok(usize::try_from(lines).unwrap_or(usize::MAX).min(Limits::MAX_CONTEXT_LINES as usize))
}

/// Refuses an invalid expression with details. The engine itself would only report them as text.
fn check_syntax(expression: &str) -> Result<(), WapError> {
    let parsed = regex_syntax::ParserBuilder::new().utf8(false).build().parse(expression);
    let (offset_bytes, construct, why) = match &parsed {
        Ok(_) => return Ok(()),
        Err(regex_syntax::Error::Parse(error)) => {
            let offset_bytes = error.span().start.offset;
            let construct = unsupported(error.kind(), &expression[offset_bytes..]);
            (offset_bytes, construct, error.kind().to_string())
        }
        Err(regex_syntax::Error::Translate(error)) => {
            (error.span().start.offset, None, error.kind().to_string())
        }
        Err(other) => (0, None, other.to_string()),
    };
    let error = match construct {
        Some(construct) => {
            let text = format!(
                "the regular expression uses {construct} at byte {offset_bytes}, which this linear-time engine does not have"
            );
            refused(Reason::InvalidRegex, text).with("construct", construct)
        }
        None => {
            let text = format!("the regular expression is not valid at byte {offset_bytes}: {why}");
            refused(Reason::InvalidRegex, text)
                .with("hint", "search with type \"literal\" for the text as it stands")
        }
    };
    Err(error.with("offset", offset_bytes))
}

/// `at` is the rest of the expression where the parser stopped.
fn unsupported(kind: &ast::ErrorKind, at: &str) -> Option<&'static str> {
    match kind {
        ast::ErrorKind::UnsupportedLookAround => Some("look-around"),
        ast::ErrorKind::UnsupportedBackreference => Some("a back-reference"),
        ast::ErrorKind::EscapeUnrecognized if at.starts_with("\\k") => Some("a back-reference"),
        ast::ErrorKind::FlagUnrecognized if at.starts_with('>') => Some("an atomic group"),
        _ => None,
    }
}

/// Renders the error of a valid expression that cannot be searched: it matches a line ending, or it is too large.
fn build_error(error: &grep_regex::Error) -> WapError {
    match error.kind() {
        ErrorKind::NotAllowed(_) | ErrorKind::Banned(_) => refused(Reason::InvalidRegex, SPANS_LINES),
        _ => {
            let text =
                format!("the regular expression needs more than {COMPILED_LIMIT_BYTES} bytes when compiled");
            refused(Reason::InvalidRegex, text)
                .with("construct", "too large")
                .with("limit", COMPILED_LIMIT_BYTES)
        }
    }
}

fn refused(reason: Reason, text: impl Into<String>) -> WapError {
    WapError::new(reason, text).with("field", "query")
}
