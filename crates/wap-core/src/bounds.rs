//! Bounds on the sizes of a request, checked before any of it is carried out.
//!
//! Engines make these checks, so they apply to every protocol.

use crate::{ExploreFiles, Limits, ModifyFile, ModifyOperation, Reason, SearchFiles, WapError};

/// The most commas, colons and opening brackets of a JSON text outside of its strings: more than any request within the other
/// bounds needs, and few enough to be read into memory.
const MAX_JSON_SEPARATORS: usize = Limits::MAX_MESSAGE_VALUES;

impl ModifyFile {
    /// Checks the number of operations, and the total length of their regular expressions.
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
        // Check the total: a call compiles all of them, and each may take as long as the longest.
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
    /// Checks the numbers of paths and of exclusion patterns.
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
    /// Checks the number of exclusion patterns.
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

/// Counts the values of a JSON text that arrives in pieces, without parsing it. Text that is not JSON is left to the
/// parser.
#[derive(Clone, Copy, Debug, Default)]
pub struct JsonValues {
    separators: usize,
    is_string: bool,
    is_escaped: bool,
}

impl JsonValues {
    /// Counts the next byte; returns false once the text holds more values than a request can use.
    pub fn take(&mut self, byte: u8) -> bool {
        match byte {
            // This arm comes first: an escaped quote neither ends the string nor begins another escape.
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' if self.is_string => self.is_escaped = true,
            b'"' => self.is_string = !self.is_string,
            b',' | b':' | b'[' | b'{' if !self.is_string => self.separators += 1,
            _ => {}
        }
        self.separators <= MAX_JSON_SEPARATORS
    }
}

/// Checks, without parsing it, that a JSON text holds no more values than a request can use. Text that is not JSON is left to the
/// parser.
///
/// # Errors
///
/// [`Reason::RequestTooLarge`] with the limit.
pub fn check_json_size(text: &[u8]) -> Result<(), WapError> {
    let mut values = JsonValues::default();
    if text.iter().all(|byte| values.take(*byte)) {
        return Ok(());
    }
    let text = format!("the message has more than {MAX_JSON_SEPARATORS} values: send it in parts");
    Err(WapError::new(Reason::RequestTooLarge, text).with("limit", MAX_JSON_SEPARATORS))
}
