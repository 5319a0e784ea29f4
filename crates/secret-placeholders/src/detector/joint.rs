//! The text between the name of a field and its value.

use std::sync::LazyLock;

use regex::Regex;

use super::line_prefix::{Start, starts};
use super::value_end::QUOTES;

/// The text between the keyword of a field and its value: an index, the quote of the name, a type, an equals sign or a
/// colon; a comma after a quoted name, with the text that options and settings have before their default; the name of
/// the value itself, as in manifests and XML; an operator for a default value; the parenthesis of a call; or only
/// spaces.
const BETWEEN: &str = r#"^(?x-u:
    \\*['"]\s*,\s*(?:(?:\w{1,20}\s*=\s*[\w.]{1,40}|\\*['"]-\w\\*['"])\s*,\s*){0,3}default\s*=\s*
    |
    \\*['"]\s*,\s*(?:\\*['"]\w{1,20}\\*['"]\s*:\s*(?:true|false|null)\s*,\s*)?(?:\\*['"](?i:parameter)?(?i:value)\\*['"]\s*:\s*)?
    | ,\s*(?i:parameter)?(?i:value)\s*[:=]\s*
    | \\*['"](?:\s+value\s*=\s*|\s*\{\s*(?:default|value)\s*=\s*)
    | \\*['"]\s*\)\s*(?:\|\||\?\?|or\b|\.(?:unwrap_or|or_else|orElse|getOrElse)\()\s*
    | (?:\\*['"])?\s*[:=]\s*\{\s*\\*['"]?value\\*['"]?\s*[:=]\s*
    | \s*\{\s*get;[\w\s;]{0,20}\}\s*=\s*
    | \s+(?:[Ss]tring|\[\]byte)\s*=\s*
    | (?:\\*['"])?\s*>\s*
    | </\w{1,20}>\s*<\w{1,20}>
    | (?:\.equals)?\(\s*
    | (?:\\*['"])? (?:\[\d{0,3})? \]? (?:
        \s*(?:
            :\s*&?(?:'\w+\ )?[A-Za-z_][\w.<>:?|&\[\]\ ]{0,40}?\s=\s
            | [?+|!]{0,2}[=:]={0,2}>?
            | \|\| | \?\? | or\b
        )\s*
        | \s+
    )
)"#;

/// Returns the end of the text between a name and its value, which begins at `start`; `None` if there is none.
pub(super) fn end_between(line: &str, start: usize) -> Option<usize> {
    static PATTERN: LazyLock<Regex> = LazyLock::new(|| Regex::new(BETWEEN).expect("the expression is valid"));
    PATTERN.find(&line[start..]).map(|between| start + between.end())
}

/// The words before a name that only spaces separate from its value, in commands and settings: `ENV`, `login me`.
const COMMANDS: &str = r"^\s*(?:(?:ENV|ARG|set(?:\s+-\w+)*|setx|setenv|machine\s+\S+|login\s+\S+|user\s+\S+|account\s+\S+)\s+)*(?:[A-Za-z_]*\.)?$";

/// Password names in files whose lines consist of a name and a value.
const DIRECTIVES: [&str; 3] = ["requirepass", "masterauth", "bindpw"];

/// The maximum number of bytes before such a name.
const MOST_BEFORE_BYTES: usize = 256;

/// The same with prefixes that tools add to a line.
const MOST_PREFIXED_BYTES: usize = 512;

/// The kind of text between a name and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joint {
    /// An equals sign, a colon.
    Sign,
    /// A comma in a list of arguments, or an operator: `define('DB_PASSWORD', '…')`, `env.PASSWORD || '…'`.
    Listed,
    /// `PASSWORD '…'`, `login me password …`, `--password …`.
    Blank,
    /// The name of the value in a list: `name: PASSWORD, value: …`.
    Value,
    /// The tag before a text: `<password>…</password>`.
    Element,
    /// `setPassword("…")`.
    Call,
}

impl Joint {
    pub(super) fn of(between: &str) -> Joint {
        let trimmed = between.trim();
        if trimmed.ends_with('>') && !trimmed.contains('=') {
            return Joint::Element;
        }
        if trimmed.ends_with('(') && !trimmed.contains(')') {
            return Joint::Call;
        }
        if trimmed.starts_with(',') {
            return Joint::Value;
        }
        match trimmed.chars().next_back() {
            None if !between.is_empty() => Joint::Blank,
            Some('=' | ':' | '>') if !trimmed.contains(',') => Joint::Sign,
            // The name of a test directly precedes the value.
            None => Joint::Sign,
            Some(_) => Joint::Listed,
        }
    }
}

/// Checks whether a quoted value can follow a name after spaces: if the name itself were quoted, the next quote would
/// be the closing one.
pub(super) fn is_outside_of_quotes(before: &str, quote: char) -> bool {
    before.len() <= MOST_BEFORE_BYTES && before.matches(quote).count().is_multiple_of(2)
}

/// Checks whether an unquoted value can follow a name after spaces.
pub(super) fn is_command(before: &str) -> bool {
    static BEFORE: LazyLock<Regex> = LazyLock::new(|| Regex::new(COMMANDS).expect("the expression is valid"));
    before.len() <= MOST_PREFIXED_BYTES
        && starts(before).iter().flat_map(Start::texts).any(|text| BEFORE.is_match(text))
}

/// Checks whether a name may be the first word of a line, apart from prefixes that tools add.
pub(super) fn is_first_word(before: &str) -> bool {
    before.len() <= MOST_PREFIXED_BYTES
        && starts(before).iter().flat_map(Start::texts).any(|text| text.trim().is_empty())
}

/// Checks whether a text ends with the beginning of an option: `--db-`, `-`.
pub(super) fn is_option(before: &str) -> bool {
    let is_of_option = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let rest = before.trim_end_matches(is_of_option);
    let is_start = |c: char| c.is_whitespace() || QUOTES.contains(&c);
    before[rest.len()..].starts_with('-') && (rest.is_empty() || rest.ends_with(is_start))
}

/// Checks for one of the [`DIRECTIVES`].
pub(super) fn is_directive(name: &str) -> bool {
    DIRECTIVES.contains(&name)
}

/// Returns the first character of a text after its backslashes, if it is a quote.
pub(super) fn first_quote(text: &str) -> Option<char> {
    text.trim_start_matches('\\').chars().next().filter(|c| QUOTES.contains(c))
}
