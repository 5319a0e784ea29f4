//! The signs between the name of a field and its value.

use std::sync::LazyLock;

use regex::Regex;

use super::value_end::QUOTES;

/// The part between the keyword of a field and its value: the number of an element, the quote of the name, a type, an equals sign or a colon;
/// a comma behind a name in quotes; the sign of a value that stands for a missing one; or only blanks.
pub(super) const BETWEEN: &str = r#"(?x:
    \\*['"]\s*,\s*(?:\\*['"]value\\*['"]\s*:\s*)?
    | (?:\\*['"])? (?:\[\d{0,3})? \]? (?:
        \s*(?:
            :\s*&?(?:'\w+\ )?[A-Za-z_][\w.<>:?|&\[\]\ ]{0,40}?\s=\s
            | [?+|]{0,2}[=:]=?>?
            | \|\| | \?\? | or\b
        )\s*
        | \s+
    )
)"#;

/// The words in front of a name with nothing but blanks behind it, in commands and settings: `ENV`, `login me`.
const COMMANDS: &str = r"^\s*(?:(?:ENV|ARG|set(?:\s+-\w+)*|setx|setenv|machine\s+\S+|login\s+\S+|user\s+\S+|account\s+\S+)\s+)*(?:[A-Za-z_]*\.)?$";

/// Names of passwords in files whose lines are a name and a value.
const DIRECTIVES: [&str; 3] = ["requirepass", "masterauth", "bindpw"];

/// The most bytes in front of such a name.
const MOST_BEFORE_BYTES: usize = 256;

/// The kind of the signs between a name and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joint {
    /// An equals sign, a colon.
    Sign,
    /// A comma in a list of arguments, or an operator: `define('DB_PASSWORD', '…')`, `env.PASSWORD || '…'`.
    Listed,
    /// `PASSWORD '…'`, `login me password …`.
    Blank,
}

impl Joint {
    pub(super) fn of(between: &str) -> Joint {
        let signs = between.trim();
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
    before.len() <= MOST_BEFORE_BYTES && BEFORE.is_match(before)
}

/// Checks for one of the [`DIRECTIVES`].
pub(super) fn is_directive(name: &str) -> bool {
    DIRECTIVES.contains(&name)
}

/// Returns the first sign of a text behind its backslashes, if it is a quote.
pub(super) fn first_quote(text: &str) -> Option<char> {
    text.trim_start_matches('\\').chars().next().filter(|sign| QUOTES.contains(sign))
}
