//! The signs between the name of a field and its value.

use std::sync::LazyLock;

use regex::Regex;

use super::line_prefix::{Start, starts};
use super::value_end::QUOTES;

/// The part between the keyword of a field and its value: the number of an element, the quote of the name, a type, an equals sign or a colon;
/// a comma behind a name in quotes, with what an option and a setting have in front of their default; the name of the value itself, as
/// manifests and XML have it; the sign of a value that stands for a missing one; the parenthesis of a call; or only blanks.
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

/// Returns where the part between a name and its value ends that begins at a byte; `None` if there is none.
pub(super) fn end_between(line: &str, start: usize) -> Option<usize> {
    static PATTERN: LazyLock<Regex> = LazyLock::new(|| Regex::new(BETWEEN).expect("the expression is valid"));
    PATTERN.find(&line[start..]).map(|between| start + between.end())
}

/// The words in front of a name with nothing but blanks behind it, in commands and settings: `ENV`, `login me`.
const COMMANDS: &str = r"^\s*(?:(?:ENV|ARG|set(?:\s+-\w+)*|setx|setenv|machine\s+\S+|login\s+\S+|user\s+\S+|account\s+\S+)\s+)*(?:[A-Za-z_]*\.)?$";

/// Names of passwords in files whose lines are a name and a value.
const DIRECTIVES: [&str; 3] = ["requirepass", "masterauth", "bindpw"];

/// The most bytes in front of such a name.
const MOST_BEFORE_BYTES: usize = 256;

/// The same with what tools have put in front of a line.
const MOST_PREFIXED_BYTES: usize = 512;

/// The kind of the signs between a name and its value.
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
    /// The tag in front of a text: `<password>…</password>`.
    Element,
    /// `setPassword("…")`.
    Call,
}

impl Joint {
    pub(super) fn of(between: &str) -> Joint {
        let signs = between.trim();
        if signs.ends_with('>') && !signs.contains('=') {
            return Joint::Element;
        }
        if signs.ends_with('(') && !signs.contains(')') {
            return Joint::Call;
        }
        if signs.starts_with(',') {
            return Joint::Value;
        }
        match signs.chars().next_back() {
            None if !between.is_empty() => Joint::Blank,
            Some('=' | ':' | '>') if !signs.contains(',') => Joint::Sign,
            // The name of a test is directly in front of the value.
            None => Joint::Sign,
            Some(_) => Joint::Listed,
        }
    }
}

/// Checks whether a value in quotes can follow a name with blanks between them: the name is not itself in quotes, where the one behind it
/// would be the closing one.
pub(super) fn is_outside_of_quotes(before: &str, quote: char) -> bool {
    before.len() <= MOST_BEFORE_BYTES && before.matches(quote).count().is_multiple_of(2)
}

/// Checks whether a value without quotes can follow a name with blanks between them.
pub(super) fn is_command(before: &str) -> bool {
    static BEFORE: LazyLock<Regex> = LazyLock::new(|| Regex::new(COMMANDS).expect("the expression is valid"));
    before.len() <= MOST_PREFIXED_BYTES
        && starts(before).iter().flat_map(Start::texts).any(|text| BEFORE.is_match(text))
}

/// Checks whether a name may be the first word of a line, with nothing in front but what a tool has put there.
pub(super) fn is_first_word(before: &str) -> bool {
    before.len() <= MOST_PREFIXED_BYTES
        && starts(before).iter().flat_map(Start::texts).any(|text| text.trim().is_empty())
}

/// Checks whether a text ends with the beginning of an option: `--db-`, `-`.
pub(super) fn is_option(before: &str) -> bool {
    let is_of_option = |sign: char| sign.is_ascii_alphanumeric() || sign == '-';
    let rest = before.trim_end_matches(is_of_option);
    let is_start = |sign: char| sign.is_whitespace() || QUOTES.contains(&sign);
    before[rest.len()..].starts_with('-') && (rest.is_empty() || rest.ends_with(is_start))
}

/// Checks for one of the [`DIRECTIVES`].
pub(super) fn is_directive(name: &str) -> bool {
    DIRECTIVES.contains(&name)
}

/// Returns the first sign of a text behind its backslashes, if it is a quote.
pub(super) fn first_quote(text: &str) -> Option<char> {
    text.trim_start_matches('\\').chars().next().filter(|sign| QUOTES.contains(sign))
}
