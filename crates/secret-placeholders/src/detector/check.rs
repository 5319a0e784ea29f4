//! Checks of values that no pattern expresses.

use super::field::{Field, Form, is_drive};
use super::text::{is_expression, is_form, is_path, is_reference, is_remembered, is_text};
use super::words::{is_surely_of_words, is_surely_random, reads_like_words};
use crate::addresses::is_example;
use crate::private_key::base64_bytes;

/// The shortest password.
const LEAST_PASSWORD_CHARACTERS: usize = 8;

/// The shortest value of a secret and of a key for an interface.
const LEAST_SECRET_BYTES: usize = 16;
const LEAST_API_KEY_BYTES: usize = 20;

/// The shortest unquoted password of letters only.
const LEAST_BARE_LETTERS: usize = 12;

/// The same with characters that are rare in names, and the minimum number of those.
const LEAST_ODD_LETTERS: usize = 4;
const LEAST_ODD: usize = 3;
const ODD_CHARACTERS: &str = "!@#$%^&*=+<>?{}[]()~|\\";

/// Characters that occur neither in variable names nor in their types.
const OF_PASSWORDS: &str = "!@#$%^*+~-";

/// The maximum number of digits in a long name.
const MOST_NUMBER_DIGITS: usize = 2;

/// Words in a field's name that say its value is the name of a secret, and the maximum number of
/// digits in such a value.
const OF_REFERENCES: [&str; 3] = ["existing", "pullsecret", "tls"];
const MOST_REFERENCE_DIGITS: usize = 4;

/// The shortest token of hexadecimal digits.
const LEAST_DIGITS: usize = 32;

/// The minimum number of digits in a token that is recognised only by its field, unless its letters are clearly
/// not words.
const LEAST_TOKEN_DIGITS: usize = 2;

/// The variables with the current and previous folder of a shell.
const OF_FOLDERS: [&str; 2] = ["PWD", "OLDPWD"];

/// An unquoted value among other parameters, and one in any other text.
const PARAMETER: Form = Form::Inline { is_parameter: true };
const ENTRY: Form = Form::Line { is_joined: true };
const IN_TEXT: Form = Form::Inline { is_parameter: false };

/// A condition on the value of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Check {
    None,
    /// The password of an address: it may be an example, a template field, or code after the address.
    OfAddress,
    /// A password field: its value may be a label, a type, a path or code.
    Password,
    /// A password field with an ambiguous name: its value has to be random.
    ShortName,
    /// An argument of a command or call that takes a password: it has to be random.
    Surely,
    /// The field of a secret or an API key: its value may be a name.
    Secret,
    ApiKey,
    /// The field of a token or a key, which are ambiguous names: its value has to be random.
    Token,
    /// A token without a distinctive prefix.
    Random,
    /// A user and a password in Base64.
    Login,
}

impl Check {
    /// Checks whether an unquoted value next to other text may contain a character.
    pub(super) fn allows(self, c: char) -> bool {
        matches!(self, Check::Password | Check::ShortName)
            || c.is_ascii_alphanumeric()
            || matches!(c, '_' | '-' | '.' | '~' | '+' | '/' | '=')
            || self == Check::Token && c == ':'
    }

    /// Checks whether the rule's pattern ends before the value, which is then read as a [`Field`].
    pub(super) fn reads_field(self) -> bool {
        matches!(self, Check::Password | Check::ShortName | Check::Secret | Check::ApiKey | Check::Token)
    }

    pub(super) fn accepts(self, value: &str) -> bool {
        match self {
            Check::None
            | Check::Password
            | Check::ShortName
            | Check::Secret
            | Check::ApiKey
            | Check::Token => true,
            Check::Surely => is_surely_password(value) && !is_code(value) && !is_example(value),
            Check::OfAddress => !is_example(value) && !value.contains(['"', '\'', '`', '<', '>']),
            Check::Random => is_random(value) && !is_example(value),
            Check::Login => is_login(value),
        }
    }

    pub(super) fn accepts_field(self, field: &Field<'_>) -> bool {
        match self {
            Check::Password => is_password(field),
            Check::ShortName => {
                let value = &*field.value;
                // Foreign words and other parts of an address may look random.
                is_short_name(field.name)
                    && value.bytes().all(|byte| byte.is_ascii_graphic())
                    && is_surely_password(value)
                    && !(value.contains(':') && value.contains('/'))
                    && is_password(field)
            }
            Check::Secret => is_secret(field, LEAST_SECRET_BYTES),
            Check::ApiKey => is_secret(field, LEAST_API_KEY_BYTES),
            Check::Token => is_token(field),
            _ => true,
        }
    }
}

fn is_password(field: &Field<'_>) -> bool {
    let value = &*field.value;
    if value.chars().count() < LEAST_PASSWORD_CHARACTERS || is_folder(field) {
        return false;
    }
    if field.is_apart && !is_surely_password(value) {
        return false;
    }
    match field.form {
        Form::Quoted => !is_text(value) || field.is_plain_name && is_remembered(value),
        form => is_bare_password(value, form) && !is_code(value),
    }
}

/// Checks whether a name ends with one of the short words for a password as a separate part: `dbPass`, `admin_pw`, and
/// not `bypass`.
fn is_short_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let start = ["pass", "pw", "psk"].iter().filter_map(|word| lower.rfind(word)).max();
    let Some((before, word)) = start.and_then(|start| name.split_at_checked(start)) else { return false };
    let is_part = word.starts_with(char::is_uppercase) && before.ends_with(|c: char| c.is_ascii_lowercase());
    is_part || !before.ends_with(|c: char| c.is_ascii_alphanumeric())
}

/// Checks for mixed-case letters with digits between them, and for long ones that are not words: names of algorithms
/// and fields have neither.
fn is_surely_password(value: &str) -> bool {
    let has = |is: fn(&u8) -> bool| value.as_bytes().iter().any(is);
    let is_mixed = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_digit);
    !is_surely_of_words(value) && (is_mixed || value.len() >= LEAST_SECRET_BYTES && !reads_like_words(value))
}

/// Checks for unquoted text that code, templates and settings have instead of a value.
fn is_code(value: &str) -> bool {
    is_form(value) || is_reference(value) || is_path(value) || is_expression(value)
}

/// Checks for a folder after a folder variable: `PWD=/home/me`.
fn is_folder(field: &Field<'_>) -> bool {
    let (name, value) = (field.name, &*field.value);
    if !name.eq_ignore_ascii_case("pwd") && !OF_FOLDERS.contains(&name) || field.form == PARAMETER {
        return false;
    }
    let begins = |starts: &[&str]| starts.iter().any(|start| value.starts_with(start));
    let is_relative = begins(&["./", "../", "~/", "$(", "${"]) || value == "~";
    let is_absolute = value.starts_with('/') || is_drive(value);
    is_relative || is_absolute && (OF_FOLDERS.contains(&name) || value[1..].contains(['/', '\\']))
}

/// Checks for an unquoted password, where code may have an expression.
fn is_bare_password(value: &str, form: Form) -> bool {
    let has = |is: fn(&u8) -> bool| value.bytes().any(|byte| is(&byte));
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    if is_time(value) {
        return false;
    }
    if letters < 2 {
        return form == ENTRY && value.bytes().all(|byte| byte.is_ascii_digit());
    }
    let odd = value.chars().filter(|c| ODD_CHARACTERS.contains(*c)).count();
    if !has(u8::is_ascii_digit) {
        let is_random = letters >= LEAST_BARE_LETTERS && is_surely_random(value)
            || letters >= LEAST_ODD_LETTERS && odd >= LEAST_ODD && !reads_like_words(value);
        return form != IN_TEXT && is_random;
    }
    // Words with a number are a password in a settings file, and a variable name elsewhere.
    let ends_with_number =
        value.rsplit(['-', '.']).next().is_some_and(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    // The first character may be part of an expression.
    let has_punctuation = value.chars().skip(1).any(|c| OF_PASSWORDS.contains(c));
    let is_remembered = match form {
        Form::Line { is_joined: true } => true,
        Form::Line { is_joined: false } | PARAMETER => has_punctuation || ends_with_number,
        _ => false,
    };
    is_remembered || !is_surely_of_words(value)
}

/// Checks for a time that begins with a date.
fn is_time(value: &str) -> bool {
    let form = b"0000-00-00";
    let fits = |(byte, form): (u8, &u8)| if *form == b'0' { byte.is_ascii_digit() } else { byte == *form };
    value.len() >= form.len() && value.bytes().zip(form).all(fits)
}

/// Checks for letters, digits and a few other characters that do not read like a name.
fn is_secret(field: &Field<'_>, least_bytes: usize) -> bool {
    let value = &*field.value;
    let is_of_secret =
        |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>');
    value.len() >= least_bytes
        && !field.is_of_resource
        && (!field.is_argument || is_surely_password(value))
        && value.bytes().all(is_of_secret)
        && !is_name(value)
        && !is_name_of_resource(field)
        && !is_code(value)
        && !is_example(value)
}

/// Checks for the name of a secret in a cluster, which may end with a number: `existingSecret: my-release-2`, `secret: credentials-v2`.
fn is_name_of_resource(field: &Field<'_>) -> bool {
    let value = &*field.value;
    let is_of_name =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let is_reference = || OF_REFERENCES.iter().any(|start| field.name.to_ascii_lowercase().contains(start));
    let version = value.rsplit(['-', '.']).next().and_then(|part| part.strip_prefix('v'));
    let is_version = version.is_some_and(|number| number.len() <= MOST_NUMBER_DIGITS && !number.is_empty());
    value.bytes().all(is_of_name)
        && value.contains('-')
        && digits <= MOST_REFERENCE_DIGITS
        && is_surely_of_words(value)
        && (is_version || is_reference())
}

/// Checks for letters and digits that are certainly random.
fn is_token(field: &Field<'_>) -> bool {
    let value = &*field.value;
    // Laravel's notation for keys.
    let value = value.strip_prefix("base64:").unwrap_or(value);
    let is_number = value.len() >= LEAST_DIGITS && value.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_of_token = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'~' | b'+' | b'/' | b'=')
    };
    value.len() >= LEAST_API_KEY_BYTES
        && !field.is_of_resource
        && value.bytes().all(is_of_token)
        && (value.bytes().filter(u8::is_ascii_digit).count() >= LEAST_TOKEN_DIGITS || is_surely_random(value))
        && is_random(value)
        && (is_number || !reads_like_words(value))
        && !is_code(value)
        && !is_example(value)
}

/// Checks for a name: words of letters, joined by punctuation or capitals. A long one may have a number, but not as its
/// last part, as memorable passwords do.
fn is_name(value: &str) -> bool {
    let value = value.trim_end_matches('=');
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let is_of_words = if digits == 0 { reads_like_words(value) } else { is_surely_of_words(value) };
    let ends_with_digit = value.ends_with(|c: char| c.is_ascii_digit());
    is_of_words
        && digits <= MOST_NUMBER_DIGITS
        && (digits == 0 || !ends_with_digit)
        && value.bytes().all(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b':' | b'+')
        })
}

/// Checks for letters of both cases, or letters with digits, that are not words; for a number of many hexadecimal digits, and for a UUID.
fn is_random(value: &str) -> bool {
    let has = |is: fn(&u8) -> bool| value.as_bytes().iter().any(is);
    if value.contains("..") {
        return false;
    }
    let is_mixed = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    let is_digit = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
    let is_number = value.len() >= LEAST_DIGITS && value.bytes().all(is_digit);
    match has(u8::is_ascii_digit) {
        true => is_mixed || has(u8::is_ascii_alphabetic) && (is_number || !reads_like_words(value)),
        false => is_mixed && is_surely_random(value),
    }
}

/// Checks for `user:password` in Base64. The password may have non-ASCII letters in any encoding.
fn is_login(value: &str) -> bool {
    let login = base64_bytes(value.trim_end_matches('='));
    let Some(user) = login.iter().position(|byte| *byte == b':').filter(|user| *user > 0) else {
        return false;
    };
    let is_printable = |byte: &u8| !byte.is_ascii_control();
    login[..user].iter().all(|byte| (b' '..=b'~').contains(byte)) && login[user..].iter().all(is_printable)
}
