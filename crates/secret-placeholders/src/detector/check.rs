//! Checks of values that no pattern expresses.

use crate::addresses::is_example;
use crate::private_key::base64_bytes;

/// The fewest letters of each word in a text, on average.
const LEAST_WORD_LETTERS: usize = 3;

/// The shortest name with a number in it that is not a password, and the most digits of the number.
const LEAST_NUMBERED_BYTES: usize = 16;
const MOST_NUMBER_DIGITS: usize = 2;

/// The shortest token of hexadecimal digits.
const LEAST_DIGITS: usize = 32;

/// A condition on the value of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Check {
    None,
    /// The match of the rule may be the name of a variable.
    NotIdentifier,
    /// The value of an address may be an example, a field of a template, or code behind the address.
    OfAddress,
    /// The value of a field in data: it may be a label, a type, an identifier.
    NotText,
    /// A token that no prefix tells from other words.
    Random,
    /// A user and a password in Base64.
    Login,
}

impl Check {
    pub(super) fn accepts(self, value: &str) -> bool {
        match self {
            Check::None => true,
            Check::NotIdentifier => !is_identifier(value),
            Check::OfAddress => !is_example(value) && !value.contains(['"', '\'', '`', '<', '>']),
            Check::NotText => !is_text(value) && !is_identifier(value) && !is_example(value),
            Check::Random => is_random(value) && !is_example(value),
            Check::Login => is_login(value),
        }
    }
}

/// Checks whether a value reads like the name of a variable or function: words of letters, joined by underscores, hyphens
/// or capitals. Random letters change their case far more often.
fn is_identifier(value: &str) -> bool {
    if value.bytes().any(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let mut words = 0;
    let mut letters = 0;
    for part in value.split(['_', '-']).filter(|part| !part.is_empty()) {
        letters += part.len();
        let is_lower_then_upper = |pair: &[u8]| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
        words += 1 + part.as_bytes().windows(2).filter(|pair| is_lower_then_upper(pair)).count();
    }
    words >= 2 && letters >= 4 * words && letters <= 12 * words
}

/// Checks for the label of a field, a type, a rule for its value, a path.
fn is_text(value: &str) -> bool {
    if value.contains(char::is_whitespace) || value.contains(['(', '|']) || value.starts_with(['/', '.', '~'])
    {
        return true;
    }
    // A long name may have a number.
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    if digits > 0 && (value.len() < LEAST_NUMBERED_BYTES || digits > MOST_NUMBER_DIGITS) {
        return false;
    }
    is_of_words(value)
}

/// Checks for words of letters, joined by signs or capitals.
fn is_of_words(value: &str) -> bool {
    let parts = value.split(|sign: char| !sign.is_alphabetic()).filter(|part| !part.is_empty());
    let (mut words, mut letters) = (0, 0);
    for part in parts {
        let mut before = None;
        for letter in part.chars() {
            words += usize::from(letter.is_uppercase() && before.is_some_and(char::is_lowercase));
            letters += 1;
            before = Some(letter);
        }
        words += 1;
    }
    letters >= LEAST_WORD_LETTERS * words
}

/// Checks for letters of both cases with digits, or many hexadecimal digits.
fn is_random(value: &str) -> bool {
    let has = |is: fn(&u8) -> bool| value.as_bytes().iter().any(is);
    let is_mixed = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    let is_hexadecimal = value.len() >= LEAST_DIGITS && value.bytes().all(|byte| byte.is_ascii_hexdigit());
    has(u8::is_ascii_digit)
        && (is_mixed || is_hexadecimal && has(u8::is_ascii_alphabetic))
        && !value.contains("..")
}

/// Checks for `user:password` in Base64.
fn is_login(value: &str) -> bool {
    let login = base64_bytes(value.trim_end_matches('='));
    let is_text = !login.is_empty() && login.iter().all(|byte| (b' '..=b'~').contains(byte));
    is_text && login[1..].contains(&b':')
}
