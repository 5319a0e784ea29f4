//! The value after a name: `"password": "…"`, `password = '…'`, `password=…`.

use std::borrow::Cow;
use std::ops::Range;

use super::joint::{
    Joint, first_quote, is_command, is_directive, is_first_word, is_option, is_outside_of_quotes,
};
use super::text_line::{begins_escape, line_in_text};
use super::value_end::{QUOTES, assigned, bare, is_connection, of_connection, of_element, quoted};

/// The prefixes of a quote in code, and of the first quote in a list.
const PREFIXES: [&str; 26] = [
    "b",
    "r",
    "f",
    "u",
    "B",
    "L",
    "@",
    "$",
    "$@",
    "br",
    "rb",
    "[]byte(",
    "String::from(",
    "str(",
    "[",
    "[ ",
    "(",
    "{",
    "Some(",
    "bytes(",
    "new String(",
    "Buffer.from(",
    "Field(",
    "Field(default=",
    "Field(..., default=",
    "SecretStr(",
];

/// The maximum number of bytes of a value that are judged.
const MOST_JUDGED_BYTES: usize = 512;

/// The option of `kubectl` that takes a name and its value.
const LITERAL_OPTION: &str = "--from-literal=";

/// Characters before a name that distinguish code and addresses from a settings line.
const OF_CODE: [char; 10] = ['"', '\'', '`', '(', '{', ',', '=', ';', '<', '?'];

/// The maximum number of words before the name on a settings line: `declare -x`, `export`, `-`.
const MOST_WORDS: usize = 3;

/// The maximum number of bytes before it: a longer line is not examined for each of its names.
const MOST_BEFORE_BYTES: usize = 256;

/// A value after its name.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Field<'l> {
    /// The whole word that ends with the keyword.
    pub(super) name: &'l str,
    /// The bytes of the line that are the value, without its quotes.
    pub(super) range: Range<usize>,
    /// The unescaped value, up to the judged length.
    pub(super) value: Cow<'l, str>,
    pub(super) form: Form,
    /// The name is unquoted: it belongs to code or settings rather than data, which has labels.
    pub(super) is_plain_name: bool,
    /// The keyword is a part of the name of a resource: `…:secret:name`.
    pub(super) is_of_resource: bool,
    /// Only its position after the name marks it as the value: there is no separator, no command, and the name is not
    /// an environment variable.
    pub(super) is_apart: bool,
    /// It is an argument of a function or an option of a command, which may be a name.
    pub(super) is_argument: bool,
}

/// The way in which a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Quoted,
    /// Alone on a line after a name: in a settings file.
    Line {
        /// There are no spaces around the separator, as a shell requires.
        is_joined: bool,
    },
    /// Next to other text.
    Inline {
        /// It is one of several parameters of an address or connection string: `a=b;password=…`.
        is_parameter: bool,
    },
}

/// An unquoted value alone after its name.
const ENTRY: Form = Form::Line { is_joined: true };
const PARAMETER: Form = Form::Inline { is_parameter: true };

impl<'l> Field<'l> {
    /// Reads the value at `start` of a line without trailing whitespace; `name` is the range of the keyword. Next to
    /// other text, an unquoted value has only characters that `allows` accepts. Adds the bytes after `start` that are
    /// searched for the end of the value to `looked_at`.
    pub(super) fn read(
        line: &'l str,
        name: Range<usize>,
        start: usize,
        allows: impl Fn(char) -> bool,
        looked_at: &mut usize,
    ) -> Option<Field<'l>> {
        // The separator after the name may end the line.
        if start >= line.len() {
            return None;
        }
        let word_start = line[..name.start].trim_end_matches(is_of_name).len();
        let name_start = word_start + usize::from(begins_escape(line, word_start, name.start));
        // A settings line within a quoted text is read like one in a file.
        let (line_start, line_end) = line_in_text(line, name_start, start, looked_at);
        if start >= line_end {
            return None;
        }
        let (line, before) = (&line[..line_end], &line[line_start..name_start]);
        let between = &line[name.end..start];
        let joint = Joint::of(between);
        let is_joined = !between.contains(char::is_whitespace);
        let start = if is_joined { start } else { start + tag_bytes(&line[start..]) };
        let prefix = PREFIXES
            .iter()
            .find(|prefix| line[start..].strip_prefix(**prefix).is_some_and(|rest| rest.starts_with(QUOTES)));
        let value_start = start + prefix.map_or(0, |prefix| prefix.len());
        let rest = &line[value_start..];
        let is_option = is_option(before);
        let is_possible = match (joint, first_quote(rest)) {
            (Joint::Sign | Joint::Value | Joint::Element, _) | (Joint::Listed | Joint::Call, Some(_)) => true,
            (Joint::Listed | Joint::Call, None) => false,
            (Joint::Blank, Some(quote)) => is_outside_of_quotes(before, quote),
            (Joint::Blank, None) => is_command(before) || is_option,
        };
        if !is_possible {
            return None;
        }
        let is_of_settings = || {
            before.len() <= MOST_BEFORE_BYTES
                && !before.contains(OF_CODE)
                && before.split_whitespace().count() <= MOST_WORDS
        };
        let around = Around {
            is_settings: joint == Joint::Blank || !between.is_empty() && is_of_settings(),
            is_joined,
            is_parameter: is_joined
                && (before.ends_with([';', '&', '?']) || before.ends_with(LITERAL_OPTION)),
            follows_colon: line[..start].ends_with(':'),
            before,
            name: &line[name_start..name.end],
            quote: is_joined.then(|| quote_around(before)).flatten().filter(|_| between.starts_with('=')),
        };
        let is_variable = is_of_environment(around.name);
        // Only a command has such words before the name, or such a name.
        let is_of_command = first_quote(rest).is_none()
            && (is_directive(around.name)
                || if joint == Joint::Blank { !is_first_word(before) } else { !before.trim().is_empty() });
        let is_argument = joint == Joint::Call || joint == Joint::Blank && is_option;
        let (range, form) = match joint {
            Joint::Element => (of_element(before, around.name, between, rest, looked_at)?, Form::Quoted),
            _ => around.value(rest, allows, looked_at)?,
        };
        let range = of_default(rest, range);
        // A longer value is judged by its beginning: its words take time for each name in it.
        let raw =
            &rest[range.start..rest.floor_char_boundary(range.end.min(range.start + MOST_JUDGED_BYTES))];
        let value = if form == Form::Quoted { unescaped(raw) } else { Cow::Borrowed(raw) };
        Some(Field {
            name: around.name,
            range: value_start + range.start..value_start + range.end,
            value,
            form,
            is_plain_name: !between.contains(QUOTES) && joint != Joint::Element,
            is_of_resource: between == ":" && line[..name.start].ends_with(':'),
            is_apart: match joint {
                Joint::Sign | Joint::Element => false,
                Joint::Listed | Joint::Blank | Joint::Value => is_argument || !is_variable && !is_of_command,
                Joint::Call => true,
            },
            is_argument,
        })
    }
}

/// The context of a value in its line.
struct Around<'l> {
    is_settings: bool,
    is_joined: bool,
    is_parameter: bool,
    follows_colon: bool,
    before: &'l str,
    name: &'l str,
    /// The quote around the whole assignment, with the number of backslashes before it.
    quote: Option<(char, usize)>,
}

impl Around<'_> {
    /// Returns the bytes of the value at the start of a text, and how it is written.
    fn value(
        &self,
        rest: &str,
        allows: impl Fn(char) -> bool,
        looked_at: &mut usize,
    ) -> Option<(Range<usize>, Form)> {
        let is_variable = is_of_environment(self.name);
        let is_only = is_variable || self.before.ends_with('-');
        let assigned = self.quote.and_then(|quote| assigned(rest, quote, is_only, looked_at));
        if assigned == Some(0) {
            return None;
        }
        // A quote at the start of an assigned value may be closed by one after the value.
        if let Some(range) =
            quoted(rest, looked_at).filter(|range| assigned.is_none_or(|end| range.end < end))
        {
            return Some((range, Form::Quoted));
        }
        // The second colon of `Secret::new`.
        if rest.starts_with(':') && self.follows_colon {
            return None;
        }
        if let Some(end) = assigned {
            return Some((0..end, if is_variable { ENTRY } else { PARAMETER }));
        }
        if self.is_parameter && is_connection(self.before) {
            return Some((0..of_connection(rest, looked_at)?, PARAMETER));
        }
        // The closing quote is on another line, or was cut off.
        let after_quote = rest.trim_start_matches('\\').trim_start_matches(QUOTES).trim_start();
        let quote = rest.len() - after_quote.len();
        let Around { is_settings, is_joined, is_parameter, .. } = *self;
        let (range, form) = bare(after_quote, is_settings, is_joined, is_parameter, allows, looked_at)?;
        // Before a shell command, the value ends with a space.
        let is_of_command = is_variable
            && is_settings
            && is_joined
            && self.before.trim().is_empty()
            && after_quote[range.end..].starts_with(' ');
        let form = if is_of_command { ENTRY } else { form };
        Some((quote + range.start..quote + range.end, form))
    }
}

/// Checks for a character of a name.
fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Returns the quote that opens before the name at the end of a text and encloses the whole assignment:
/// `"DB_PASSWORD=…"`, `'--password=…'`, `"-Ddb.password=…"`; with the number of backslashes before it.
fn quote_around(before: &str) -> Option<(char, usize)> {
    let option = before.trim_end_matches(|c| is_of_name(c) || matches!(c, '-' | '.'));
    let quote = option.chars().next_back().filter(|c| QUOTES.contains(c))?;
    let escapes = option[..option.len() - 1].bytes().rev().take_while(|byte| *byte == b'\\').count();
    Some((quote, escapes))
}

/// Returns the length of the YAML tag or anchor at the start of a text, up to the value.
fn tag_bytes(text: &str) -> usize {
    let Some(rest) = text.strip_prefix("!!").or_else(|| text.strip_prefix('&')) else { return 0 };
    let tail = rest.trim_start_matches(is_of_name);
    // A type of Rust.
    let is_tag = tail.len() < rest.len() && tail.starts_with(' ') && !rest.starts_with("mut ");
    if is_tag { text.len() - tail.trim_start().len() } else { 0 }
}

/// Returns the bytes of the value in `${NAME:-value}` and `${name:value}`; `range` itself for any other form.
fn of_default(text: &str, range: Range<usize>) -> Range<usize> {
    let default = text[range.clone()].strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    let default = default.and_then(|inner| {
        let tail = inner.trim_start_matches(|c| is_of_name(c) || c == '.').strip_prefix(':')?;
        Some(tail.trim_start_matches(['-', '=']))
    });
    default.map_or(range.clone(), |default| range.end - 1 - default.len()..range.end - 1)
}

/// Checks for the name of a variable of the environment.
fn is_of_environment(name: &str) -> bool {
    !name.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// Returns a value as the program sees it, however often its escapes are escaped.
fn unescaped(value: &str) -> Cow<'_, str> {
    if !value.contains('\\') {
        return Cow::Borrowed(value);
    }
    let mut plain = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        rest = rest[at..].trim_start_matches('\\');
        let code = rest.strip_prefix('u').and_then(|rest| rest.get(..4));
        let code = code.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        match code {
            Some(code) => {
                // A lone surrogate is not a character.
                plain.push(char::from_u32(code).unwrap_or('\u{fffd}'));
                rest = &rest[5..];
            }
            None if rest.starts_with(['n', 'r', 't']) && !is_drive(&plain) => {
                plain.push(' ');
                rest = &rest[1..];
            }
            None if rest.starts_with(|c: char| c.is_ascii_alphanumeric()) => plain.push('\\'),
            None => {}
        }
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// Checks for a text that begins like a Windows path.
pub(super) fn is_drive(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Option<(&str, Form)> {
        let name = line.find("password")?;
        let name = name..name + "password".len();
        let start = name.end + line[name.end..].find(|c: char| !"=: \"\\".contains(c) || c == '|')?;
        let start = line[..start].trim_end_matches(['"', '\\']).len();
        let field = Field::read(line, name, start, |_| true, &mut 0)?;
        Some((&line[field.range], field.form))
    }

    #[test]
    fn a_value_ends_at_the_quote_with_which_it_began() {
        for (line, value) in [
            (r#"password = "it's one""#, "it's one"),
            (r#"password = 'a "b" c'"#, r#"a "b" c"#),
            (r#"password: "a\"b", "c""#, r#"a\"b"#),
            (r#"password: "a\\", "c""#, r"a\\"),
            (r#"{\"password\": \"a\\\"b\", \"c\""#, r#"a\\\"b"#),
            (r#"{\"password\": \"a\\\\\", \"c\""#, r"a\\\\"),
            (r#"{\\\"password\\\": \\\"a'b\\\", \\\"c"#, "a'b"),
            ("password: 'it''s one' # 'two'", "it''s one"),
            (r"password='ab\' c", r"ab\"),
        ] {
            assert_eq!(read(line), Some((value, Form::Quoted)), "{line}");
        }
    }

    #[test]
    fn a_value_without_quotes_ends_with_the_line_or_its_word() {
        let line = |is_joined| Form::Line { is_joined };
        let inline = Form::Inline { is_parameter: false };
        for (text, value, form) in [
            ("export DB_password=a;b,c", "a;b,c", line(true)),
            ("  password: a&b  # c", "a&b", line(false)),
            ("x.ini:3:password = \"a", "a", line(false)),
            ("Server=h;password=a;x=1", "a", Form::Inline { is_parameter: true }),
            ("f(password=a.b(c), d)", "a.b(c", inline),
            ("password=a,", "a", inline),
            ("the password: abc. Then", "abc", inline),
        ] {
            assert_eq!(read(text), Some((value, form)), "{text}");
        }
    }

    #[test]
    fn escapes_are_resolved() {
        for (value, plain) in [
            (r"a\u0026b", "a&b"),
            (r"Contrase\\u00f1a", "Contraseña"),
            (r#"a\"b\\\"c\/d"#, r#"a"b"c/d"#),
            (r"a\nb", "a b"),
            (r"C:\new\dir", r"C:\new\dir"),
            (r"a\ud83d", "a\u{fffd}"),
            (r"a\u00é", r"a\u00é"),
        ] {
            assert_eq!(unescaped(value), plain, "{value}");
        }
    }
}
