//! How many values a JSON text has, before it is parsed: a short value takes many times its length in memory.

use wap_core::{Reason, WapError};

/// The most values of a text. A request with as many operations as are allowed has some ten thousand.
const MOST_VALUES: usize = 200_000;

/// Fails if a text has too many values.
///
/// # Errors
///
/// `RequestTooLarge`. Whether the text is JSON at all is not looked at.
pub(crate) fn check(text: &[u8]) -> Result<(), WapError> {
    if count(text) <= MOST_VALUES {
        return Ok(());
    }
    let why = format!("the JSON has more than {MOST_VALUES} values");
    Err(WapError::new(Reason::RequestTooLarge, why).with("limit", MOST_VALUES))
}

/// Counts what separates and opens values outside of strings: at least as many as there are values, but for one.
fn count(text: &[u8]) -> usize {
    let (mut count, mut is_string, mut is_escaped) = (0, false, false);
    for byte in text {
        match (is_string, is_escaped, byte) {
            (true, true, _) => is_escaped = false,
            (true, false, b'\\') => is_escaped = true,
            (_, _, b'"') => is_string = !is_string,
            (false, _, b',' | b'[' | b'{' | b':') => count += 1,
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::{MOST_VALUES, check, count};

    #[test]
    fn values_are_counted_outside_of_strings_only() {
        let cases = [
            ("", 0),
            ("5", 0),
            ("[1,2,3]", 3),
            (r#"{"a":[],"b":{"c":1}}"#, 7),
            (r#"{"a":",,,[[{{::\",,"}"#, 2),
            (r#"["\\",","]"#, 2),
        ];
        for (text, expected) in cases {
            assert_eq!(count(text.as_bytes()), expected, "{text}");
        }
        assert!(check(format!("[{}0]", "0,".repeat(MOST_VALUES - 1)).as_bytes()).is_ok());
        assert!(check(format!("[{}0]", "0,".repeat(MOST_VALUES)).as_bytes()).is_err());
    }
}
