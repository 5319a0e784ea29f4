//! Values after a password's name that are not passwords: labels, messages, validation rules, paths, references, code.

use std::sync::LazyLock;

use regex::RegexSet;

use super::field::is_drive;
use super::words::{is_surely_of_words, reads_like_words, speaks_of_passwords};
use crate::addresses::is_example;

/// The punctuation of sentences beyond ASCII.
const PUNCTUATION: &str = "…–—‘’‚“”„«»‹›¿¡·";

/// Characters that are rare in sentences.
const OF_NO_SENTENCE: [char; 8] = ['=', '[', ']', '@', '^', '~', '|', '\\'];

/// The shortest part of a sentence that is checked for a random value, and the number of digits that suffices.
const LEAST_RANDOM_BYTES: usize = 8;
const LEAST_RANDOM_DIGITS: usize = 4;

/// The minimum number of letters in the name of a called function; a constant's name needs twice as many.
const LEAST_NAME_LETTERS: usize = 5;

/// Words for the type of a password, and for a missing one.
const OF_TYPES: [&str; 10] = [
    "required",
    "optional",
    "nullable",
    "confirmed",
    "undefined",
    "sensitive",
    "encrypted",
    "varchar",
    "redacted",
    "filtered",
];

/// The longest name of a numeric type.
const MOST_TYPE_BYTES: usize = 5;

/// The delimiters of a single template field, which may also be the first and last character of a random value.
const AROUND_NAMES: [(char, char); 5] = [('{', '}'), ('[', ']'), ('<', '>'), ('%', '%'), ('@', '@')];

/// Forms that no random value has by chance.
const FORMS: [&str; 12] = [
    // A template.
    r"^\{\{.*\}\}$",
    r"^(?:[$#%]\{.*\}|[$%]\(.*\)|<%.*%>|\{%.*%\})$",
    r"\$\{[a-z]\}|[$#]\{[A-Za-z_][A-Za-z_.]{3,}\d?\}|\{\{[A-Za-z_][A-Za-z0-9_.]+\}\}",
    // A version, an object identifier.
    r"^v?\d+(?:\.\d+)+$",
    // A variable.
    r"^\$(?:env:)?[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$",
    // An address, a resource name.
    r"^[a-z][a-z0-9+.-]*://",
    r"^arn:[a-z-]+:",
    // A reference to a secret store: `vault:secret/data/db1#password`, `@Microsoft.KeyVault(SecretUri=…)`.
    r"^vault:[\w./-]+#\w+$",
    r"^@Microsoft\.KeyVault\(",
    // A value encrypted by sops or Ansible.
    r"^ENC\[(?:AES256_GCM\b|[A-Z]+,)",
    // An environment variable in JavaScript.
    r"^(?:import\.meta|process)\.env\b",
    // A regular expression for a value.
    r"^[/^].*(?:\(\?[=!:i]|\[[Aa0]-[Zz9]|\.\{\d|\{\d+,)",
];

/// Forms that a random value may have, unless its letters are words.
const FORMS_OF_WORDS: [&str; 10] = [
    // Template fields within other text.
    r"(?:\$\{|#\{|\{\{-?|\$\()\s*[A-Za-z_][A-Za-z_.:]{2,}[A-Za-z0-9_.:\[\]()|' -]*[\})]",
    r"\{[A-Za-z_][A-Za-z_.]{2,}\}",
    // A variable in markup: `{form.password1}`, `{passwords[0]}`.
    r"^\{[A-Za-z_$]{3,}\d{0,2}(?:\??\.[A-Za-z_$]+\d{0,2}|\[\d{1,3}\])*\}$",
    // A rule for a value: `required|min:8`, `required,min=8`.
    r"^[a-z_]{2,}(?:[:=][\w./^$,-]*)?(?:[|,;] ?[a-z_]{2,}(?:[:=][\w./^$,-]*)?)+$",
    // A database type.
    r"^(?:[a-z_]{3,}|[A-Z_]{3,}) ?\(\d{1,5}(?:, ?\d{1,3})?\)(?: [A-Za-z ]+)?$",
    // Calls, an indexed element.
    r"^[a-z_]{3,}[A-Za-z_]*(?:\.[A-Za-z_]\w*)*\(.*\)[;,]?$",
    r"^[A-Za-z_]{2,}(?:\.[A-Za-z_]\w*)+[\[(].*[\])][;,]?$",
    r#"^[A-Za-z_]{3,}\[['"].*['"]\]$"#,
    // Markup.
    r"^<[a-zA-Z][^<>]*>.*</?[a-zA-Z][^<>]*>$",
    // The name of a constant.
    r"^[A-Z]{2,}[A-Z0-9]*(?:_[A-Z0-9]+)+$",
];

/// Checks for a value in quotes that is not a password. `value` is unescaped.
pub(super) fn is_text(value: &str) -> bool {
    let value = value.trim();
    is_of_other_script(value)
        || is_form(value)
        || is_reference(value)
        || is_path(value)
        || is_between_strings(value)
        || if value.contains(char::is_whitespace) { is_sentence(value) } else { is_name(value) }
}

/// Checks for a script without capitals, which no password generator uses.
fn is_of_other_script(value: &str) -> bool {
    value.chars().any(|c| c.is_alphabetic() && !c.is_lowercase() && !c.is_uppercase())
}

/// Checks for one of the [`FORMS`].
pub(super) fn is_form(value: &str) -> bool {
    static SETS: LazyLock<[RegexSet; 2]> = LazyLock::new(|| {
        [&FORMS[..], &FORMS_OF_WORDS].map(|forms| RegexSet::new(forms).expect("a test compiles them"))
    });
    let [certain, of_words] = &*SETS;
    certain.is_match(value) || of_words.is_match(value) && is_surely_of_words(value)
}

/// Checks for a name in template delimiters, and an example. Unlike in addresses, the delimiters alone prove nothing: a
/// generated password is mostly punctuation.
pub(super) fn is_reference(value: &str) -> bool {
    let is_name = |name: &str| {
        let is_of_name = |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '.' | ' ' | '-' | ':');
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(is_of_name)
            && reads_like_words(name)
    };
    let between = |(open, close): &(char, char)| value.strip_prefix(*open)?.strip_suffix(*close);
    let mut names = AROUND_NAMES.iter().filter_map(between);
    let has_delimiters = value.starts_with(['{', '[', '<', '%', '\\']);
    let has_digits = value.bytes().any(|byte| byte.is_ascii_digit());
    let is_of_test = value.starts_with("test") && is_surely_of_words(value);
    names.any(is_name)
        || is_of_test
        || !has_delimiters && !has_digits && is_example(value)
        || is_one_letter(value)
}

/// Checks for one repeated letter, as in `xxxx`.
fn is_one_letter(value: &str) -> bool {
    let mut characters = value.chars();
    characters.next().is_some_and(|first| first.is_alphabetic() && characters.all(|c| c == first))
}

/// Checks for the path of a file or an address.
pub(crate) fn is_path(value: &str) -> bool {
    let is_of_path = |c: char| {
        c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '#' | '*' | '{' | '}' | '$' | '@')
    };
    let separator = if is_drive(value) { '\\' } else { '/' };
    let is_long = value.trim_matches(separator).contains(separator);
    let has_start = ["/", "./", "../", "~/"].iter().any(|start| value.starts_with(start)) || is_drive(value);
    (is_long || has_start)
        && value.split(['/', '\\']).all(|part| part.chars().all(is_of_path))
        && is_surely_of_words(value)
        // Parts of a path are a few letters; random text between slashes has digits inside.
        && value.split(['/', '\\', '.', '-', '_']).all(|part| !has_inner_digits(part))
}

/// Checks for unquoted code: a number, a call, an indexed element, a type.
pub(super) fn is_expression(value: &str) -> bool {
    let value = value.trim_start_matches(['&', '*', '!', '-', '@']);
    if let Some(digits) = value.strip_prefix("0x") {
        let unit = digits.trim_start_matches(|c: char| c.is_ascii_hexdigit());
        return unit.is_empty() || unit.starts_with('_') && unit.len() <= MOST_TYPE_BYTES;
    }
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':' | '?');
    let name = &value[..value.find(|c| !is_of_name(c)).unwrap_or(value.len())];
    let called = &value[name.len()..];
    // `Errno(5)`.
    if name.starts_with(char::is_uppercase) && called.strip_prefix('(').is_some_and(is_number) {
        return true;
    }
    let letters = name.bytes().filter(u8::is_ascii_alphabetic).count();
    let is_start = |c: char| c.is_ascii_alphabetic() || c == '_';
    if letters < LEAST_NAME_LETTERS || !name.starts_with(is_start) || name.ends_with(['.', ':']) {
        return false;
    }
    let has_parts =
        name.contains("::") || name.contains('_') && !name.contains(|c: char| c.is_ascii_uppercase());
    let is_constant =
        letters >= 2 * LEAST_NAME_LETTERS && name.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    let is_named = has_parts || is_constant || is_surely_of_words(name);
    match called.chars().next() {
        Some('(' | '[') => is_named,
        Some('<' | '{') => {
            let is_of_type = |c: char| {
                is_of_name(c) || matches!(c, '<' | '>' | '[' | ']' | ';' | ',' | '&' | '\'' | '{' | '}')
            };
            is_named && value.chars().all(is_of_type) && is_surely_of_words(value)
        }
        _ => false,
    }
}

/// Checks for a number, optionally typed, at the end of a call: `5)`, `5i32)`.
fn is_number(text: &str) -> bool {
    let text = text.trim_end_matches(')');
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let bits = unit.trim_start_matches(['_', 'i', 'u']);
    unit.len() < text.len() && unit.len() <= MOST_TYPE_BYTES && bits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Checks for the code between two quoted texts: `" + word + "`.
fn is_between_strings(value: &str) -> bool {
    let joins = |c: char| matches!(c, '"' | '\'' | '`' | '+' | '.' | ',' | ')' | '(' | '&' | '|' | ';' | ':');
    let is_first = value.starts_with(['"', '\'', '`', '+', '.', ',', ')']);
    let is_last = value.ends_with(['"', '\'', '`', '+', '.', ',', '(']);
    let inner = value.trim_matches(|c: char| joins(c) || c.is_whitespace());
    let has_delimiters = value.len() >= inner.len() + 4 || inner.is_empty();
    is_first && is_last && (has_delimiters || value.starts_with('+')) && is_surely_of_words(inner)
}

/// Checks for words, except for a few of them with a number, which is a memorable password.
fn is_sentence(value: &str) -> bool {
    if value.contains(OF_NO_SENTENCE) && !speaks_of_passwords(value) {
        return false;
    }
    let parts = || value.split_whitespace();
    let has_digits = value.bytes().any(|byte| byte.is_ascii_digit());
    if !has_digits {
        return reads_like_words(value);
    }
    let is_random = |part: &str| {
        let digits = part.bytes().filter(u8::is_ascii_digit).count();
        let is_mixed = has_inner_digits(part) && !is_surely_of_words(part);
        part.len() >= LEAST_RANDOM_BYTES && (digits >= LEAST_RANDOM_DIGITS || is_mixed)
    };
    let is_punctuation = |c: char| c.is_ascii_punctuation() || PUNCTUATION.contains(c);
    let is_plain = !value.contains(is_punctuation);
    !parts().any(is_random) && reads_like_words(value) && (!is_plain || speaks_of_passwords(value))
}

/// Checks for small words that show no sign of being a label or a message: code and settings have such passwords.
pub(super) fn is_remembered(value: &str) -> bool {
    let is_small = |c: char| {
        c.is_lowercase() || c.is_ascii_digit() || c.is_whitespace() || matches!(c, '|' | ',' | '\'')
    };
    let is_message = value.contains(char::is_whitespace) && speaks_of_passwords(value);
    value.chars().all(is_small)
        && !is_message
        && !OF_TYPES.contains(&value)
        && !is_form(value)
        && !is_reference(value)
}

/// Checks for words of letters, joined by punctuation or capitals: a name, a label.
fn is_name(value: &str) -> bool {
    let joins = |c: char| matches!(c, '_' | '-' | '.' | ':' | '/' | '\'');
    let label =
        value.trim_end_matches([':', '?', '*', '…', '.']).trim_start_matches(['#', '.', '@', '-', '$']);
    label.chars().all(|c| c.is_alphabetic() || joins(c)) && reads_like_words(label)
}

/// Checks for digits between two letters.
fn has_inner_digits(text: &str) -> bool {
    let rest = text.trim_start_matches(|c: char| !c.is_alphabetic());
    let rest = rest.trim_end_matches(|c: char| !c.is_alphabetic());
    let mut before = None;
    rest.chars().any(|c| {
        let is_inner = c.is_ascii_digit() && before.is_some_and(char::is_alphanumeric);
        before = Some(c);
        is_inner
    })
}

/// Checks for words followed by numbers, and for a path: such a value may occur elsewhere by chance.
pub(crate) fn is_ordinary(value: &str) -> bool {
    let joins = |c: char| c.is_whitespace() || matches!(c, '_' | '-' | '.' | ':' | ',' | '/' | '\\' | '~');
    let is_joined = value.chars().all(|c| c.is_alphanumeric() || joins(c));
    // Several words with a number are unlikely to.
    let is_phrase = value.contains(' ') && value.contains(|c: char| c.is_ascii_digit());
    is_joined && !is_phrase && is_surely_of_words(value) && !value.split(joins).any(has_inner_digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_has_a_text() {
        let texts = [
            "{{ lookup(\"env\", \"X\") }}",
            "${DB_PASS:-a1}",
            "word${i}",
            "1.3.6.1.4.1.311.21.40",
            "$DB_PASS_2",
            "https://host/a1?b=2",
            "arn:aws:iam::123:role/x",
            "vault:secret/data/db1#password",
            "@Microsoft.KeyVault(SecretUri=https://v1.vault.azure.net/secrets/db1/)",
            "ENC[AES256_GCM,data:p6RPzQ==,type:str]",
            "import.meta.env.VITE_KEY_2",
            "^(?=.*[A-Z]).{8,}$",
            "prefix-${DB_PASS | lower}-1!",
            "{registry_id}-1",
            "{form?.passwords2[0]}",
            "required|min:8|max:64",
            "varchar(255)",
            "getPassword(8)",
            "os.environ['DB_PASS1']",
            "ENV['DB_PASS1']",
            "<label>Another word 1</label>",
            "ERROR_TOO_SHORT_8",
        ];
        let forms = FORMS.into_iter().chain(FORMS_OF_WORDS);
        assert_eq!(texts.len(), FORMS.len() + FORMS_OF_WORDS.len());
        for (text, form) in texts.iter().zip(forms) {
            assert!(regex::Regex::new(form).unwrap().is_match(text), "{form}: {text}");
            assert!(is_text(text), "{text}");
        }
        // The control: with letters that are not words, some of these forms are passwords.
        for value in ["xq{kzvwq}7", "{kX7q.zWm2}", "{kxqzvw7}", "P@ssw0rd(1)", "ZQXVKW_7_QXZ", "kxq[zvwqp7]"]
        {
            assert!(!is_text(value), "{value}");
        }
    }
}
