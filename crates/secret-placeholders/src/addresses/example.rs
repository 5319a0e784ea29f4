//! Texts that stand for a password: examples, variables, fields of a template.

/// Words of examples, in lower case.
const WORDS: [&str; 47] = [
    "a",
    "access",
    "an",
    "api",
    "apikey",
    "auth",
    "bar",
    "change",
    "changeit",
    "changeme",
    "credential",
    "db",
    "dummy",
    "example",
    "fake",
    "foo",
    "guest",
    "here",
    "hidden",
    "key",
    "login",
    "masked",
    "me",
    "my",
    "name",
    "oauth",
    "pass",
    "passphrase",
    "passwd",
    "password",
    "placeholder",
    "port",
    "private",
    "pw",
    "pwd",
    "redacted",
    "replace",
    "sample",
    "secret",
    "some",
    "test",
    "the",
    "this",
    "token",
    "user",
    "username",
    "your",
];

/// The delimiters of a template field.
const FIELDS: [(&str, &str); 9] = [
    ("${", "}"),
    ("$(", ")"),
    ("#{", "}"),
    ("%{", "}"),
    ("%(", ")"),
    ("{", "}"),
    ("[", "]"),
    ("<", ">"),
    ("\\u003c", "\\u003e"),
];

/// Checks for a text that stands for the password of an address.
pub(crate) fn is_example(value: &str) -> bool {
    is_variable(value)
        || is_format(value)
        || FIELDS
            .iter()
            .any(|(open, close)| value.strip_prefix(open).is_some_and(|rest| rest.contains(close)))
        || is_words(value)
        || is_mask(value)
}

/// Checks for a text that consists only of template fields.
pub(crate) fn is_template(value: &str) -> bool {
    let is_field = |(open, close): &(&str, &str)| value.starts_with(open) && value.ends_with(close);
    FIELDS[..6].iter().any(is_field)
}

/// Checks for a variable with its sigil: `$TOKEN`, `$dbPassword`, `$env:TOKEN`, `%TOKEN%`.
fn is_variable(value: &str) -> bool {
    let is_upper = |name: &str| {
        name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    };
    let is_camel = |name: &str| {
        let is_capital = |pair: &[u8]| pair[0].is_ascii_uppercase() && !pair[1].is_ascii_lowercase();
        name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
            && name.starts_with(|first: char| first.is_ascii_lowercase() || first == '_')
            && !name.as_bytes().windows(2).any(is_capital)
    };
    let name = value.strip_prefix('$').map(|name| name.strip_prefix("env:").unwrap_or(name));
    let of_shell = name.is_some_and(|name| is_upper(name) || is_camel(name));
    let between = value.strip_prefix('%').and_then(|name| name.strip_suffix('%'));
    of_shell || between.is_some_and(|name| !name.is_empty() && (is_upper(name) || is_camel(name)))
}

/// Checks for a format directive: `%s`, `%1$s`, `%[1]q`.
fn is_format(value: &str) -> bool {
    value.strip_prefix('%').is_some_and(|rest| {
        let letter = rest.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '$' | '[' | ']'));
        letter.len() == 1 && letter.bytes().all(|byte| byte.is_ascii_alphabetic())
    })
}

/// Checks for example words that only numbers follow.
fn is_words(value: &str) -> bool {
    let mut words = value.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let is_of_example = |word: &str| {
        let word = word.trim_end_matches(|digit: char| digit.is_ascii_digit()).to_ascii_lowercase();
        WORDS.contains(&word.as_str())
    };
    let is_plain =
        value.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+' | '!'));
    is_plain && words.clone().next().is_some() && words.all(is_of_example)
}

/// Checks for masking characters such as `***`.
fn is_mask(value: &str) -> bool {
    !value.is_empty()
        && value.chars().all(|c| matches!(c, '*' | 'x' | 'X' | '.' | '…' | '•' | '#' | '_' | '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_differ_from_passwords() {
        for value in [
            "password",
            "PASSWORD",
            "Password",
            "guest",
            "REPLACE_ME",
            "%TOKEN%",
            "%1$s",
            "%s",
            "$env:TOKEN",
            "$TOKEN",
            "$dbPassword",
            "REDACTED",
            "••••",
            "****",
            "xxxx",
            "...",
            "your-password",
            "test123",
            "{password}",
            "${process.env.DB_PASS}",
            "#{ENV['X']}",
            "<pass>",
            "[redacted]",
            "%(pass)s",
            "$(cat pw)",
            "access_token",
            "\\u003cpass\\u003e",
        ] {
            assert!(is_example(value), "{value}");
        }
        for value in [
            "Q7xxxxLatest",
            "Fastest-Car-77",
            "{k7Qz",
            "[k7Qz",
            "...k7Qz",
            "%(k7Qz",
            "$(k7Qz",
            "%40k7Qz",
            "$k7QzWm2",
            "hunter2",
            "postgres",
            "yourself-77",
            "$ECRETk7",
            "",
        ] {
            assert!(!is_example(value), "{value}");
        }
        for (value, is_field) in
            [("${A}", true), ("{a}{b}", true), ("{a}b", false), ("<a>", false), ("k7Qz}", false)]
        {
            assert_eq!(is_template(value), is_field, "{value}");
        }
    }
}
