//! How much of each thing a request may ask for, before anything is done about it.
//!
//! Engines ask for these checks, so that they hold for every protocol in front of them.

use crate::{ExploreFiles, Limits, ModifyFile, ModifyOperation, Reason, SearchFiles, WapError};

/// The most commas, colons and opening brackets of a JSON text outside of its strings: more than any request needs that
/// keeps the other bounds, and little enough to be read into memory.
const MAX_JSON_SEPARATORS: usize = Limits::MAX_MESSAGE_VALUES;

impl ModifyFile {
    /// Checks how many operations there are, and how long their regular expressions are together.
    ///
    /// # Errors
    ///
    /// [`Reason::InvalidField`] with the field and the limit, or [`Reason::InvalidRegex`].
    pub fn check_bounds(&self) -> Result<(), WapError> {
        check_count("operations", self.operations.len(), Limits::MAX_OPERATIONS)?;
        let expression = |operation: &ModifyOperation| match operation {
            ModifyOperation::RegexReplace { pattern, .. } => pattern.len(),
            _ => 0,
        };
        let bytes: usize = self.operations.iter().map(expression).sum();
        if bytes > Limits::MAX_PATTERNS_BYTES {
            let limit = Limits::MAX_PATTERNS_BYTES;
            let text = format!(
                "the regular expressions have {bytes} bytes together, and a call takes {limit}: make several calls"
            );
            return Err(WapError::new(Reason::InvalidRegex, text).with("limit", limit));
        }
        Ok(())
    }
}

impl SearchFiles {
    /// Checks how many paths and exclusion patterns there are.
    ///
    /// # Errors
    ///
    /// [`Reason::InvalidField`] with the field and the limit.
    pub fn check_bounds(&self) -> Result<(), WapError> {
        check_count("paths", self.paths.len(), Limits::MAX_PATHS)?;
        check_patterns(self.exclude_patterns.as_deref())
    }
}

impl ExploreFiles {
    /// Checks how many exclusion patterns there are.
    ///
    /// # Errors
    ///
    /// [`Reason::InvalidField`] with the field and the limit.
    pub fn check_bounds(&self) -> Result<(), WapError> {
        check_patterns(self.exclude_patterns.as_deref())
    }
}

fn check_patterns(patterns: Option<&[String]>) -> Result<(), WapError> {
    check_count("excludePatterns", patterns.map_or(0, <[String]>::len), Limits::MAX_PATTERNS)
}

fn check_count(field: &str, count: usize, limit: usize) -> Result<(), WapError> {
    if count <= limit {
        return Ok(());
    }
    let text = format!("there are {count} {field}, and a call takes {limit}: make several calls");
    Err(WapError::new(Reason::InvalidField, text).with("field", field).with("limit", limit))
}

/// Checks, without reading it, that a JSON text holds no more values than a request can make use of. What is not JSON is
/// left to the parser.
///
/// # Errors
///
/// [`Reason::RequestTooLarge`] with the limit.
pub fn check_json_size(text: &[u8]) -> Result<(), WapError> {
    let mut separators = 0_usize;
    let (mut in_string, mut is_escaped) = (false, false);
    for byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b',' | b':' | b'[' | b'{' if !in_string => separators += 1,
            _ => {}
        }
        if separators > MAX_JSON_SEPARATORS {
            let text = format!("the message has more than {MAX_JSON_SEPARATORS} values: send it in parts");
            return Err(WapError::new(Reason::RequestTooLarge, text).with("limit", MAX_JSON_SEPARATORS));
        }
    }
    Ok(())
}
