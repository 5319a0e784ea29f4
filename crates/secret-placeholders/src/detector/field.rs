//! The value behind a name: `"password": "…"`, `password = '…'`, `password=…`.

use std::borrow::Cow;
use std::ops::Range;

use super::value_end::{QUOTES, assigned, bare, is_connection, of_connection, quoted};

/// The prefixes of a quote in code, and of the first one of a list.
const PREFIXES: [&str; 16] =
    ["b", "r", "f", "u", "B", "L", "@", "$", "$@", "br", "rb", "[]byte(", "String::from(", "str(", "[", "[ "];

/// Signs in front of a name that tell code and addresses from a line of settings.
const OF_CODE: [char; 10] = ['"', '\'', '`', '(', '{', ',', '=', ';', '<', '?'];

/// The most words in front of the name in a line of settings: `declare -x`, `export`, `-`.
const MOST_WORDS: usize = 3;

/// The most bytes in front of it: a longer line is not looked at for each name in it.
const MOST_BEFORE_BYTES: usize = 256;

/// A value of which the name is in front of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Field<'l> {
    /// The whole word that ends with the keyword.
    pub(super) name: &'l str,
    /// The bytes of the line that are the value, without its quotes.
    pub(super) range: Range<usize>,
    /// The value without its escapes.
    pub(super) value: Cow<'l, str>,
    pub(super) form: Form,
    /// The name has no quotes: it is one of code or settings, and not of data, where labels stand.
    pub(super) is_plain_name: bool,
    /// The keyword is a part of the name of a resource: `…:secret:name`.
    pub(super) is_of_resource: bool,
}

/// The way in which a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Quoted,
    /// Alone on a line, behind a name: in a file of settings.
    Line {
        /// There are no blanks around the sign in between, as a shell wants it.
        is_joined: bool,
    },
    /// Beside other text.
    Inline {
        /// It is one of several in an address or in what describes a connection: `a=b;password=…`.
        is_parameter: bool,
    },
}

/// A value without quotes alone behind its name, and among others of its kind.
const ENTRY: Form = Form::Line { is_joined: true };
const PARAMETER: Form = Form::Inline { is_parameter: true };

impl<'l> Field<'l> {
    /// Reads the value at `start` of a line without blanks at its end; `name` are the bytes of the keyword. Beside other text, a value
    /// without quotes has only signs that `allows` names. Adds the bytes behind `start` that are searched for the end of the value to
    /// `looked_at`.
    pub(super) fn read(
        line: &'l str,
        name: Range<usize>,
        start: usize,
        allows: impl Fn(char) -> bool,
        looked_at: &mut usize,
    ) -> Option<Field<'l>> {
        // The sign behind the name may be the last of the line.
        if start >= line.len() {
            return None;
        }
        let is_of_name = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
        let before = line[..name.start].trim_end_matches(is_of_name);
        let is_joined = !line[name.end..start].contains(char::is_whitespace);
        let prefix = PREFIXES
            .iter()
            .find(|prefix| line[start..].strip_prefix(**prefix).is_some_and(|rest| rest.starts_with(QUOTES)));
        let is_of_resource = line[name.end..start] == *":" && line[..name.start].ends_with(':');
        let value_start = start + prefix.map_or(0, |prefix| prefix.len());
        let rest = &line[value_start..];
        let is_parameter = is_joined && before.ends_with([';', '&', '?']);
        let is_plain_name = !line[name.end..start].contains(QUOTES);
        let is_settings = before.len() <= MOST_BEFORE_BYTES
            && !before.contains(OF_CODE)
            && before.split_whitespace().count() <= MOST_WORDS
            && name.end < start;
        // The quote around a whole assignment: `"DB_PASSWORD=…"`, `'--password=…'`, `"-Ddb.password=…"`.
        let option = before.trim_end_matches(|sign| is_of_name(sign) || matches!(sign, '-' | '.'));
        let quote_around = option.chars().next_back().filter(|sign| QUOTES.contains(sign));
        let quote_around =
            quote_around.filter(|_| is_joined && line[name.end..].starts_with('=')).map(|quote| {
                let escapes =
                    option[..option.len() - 1].bytes().rev().take_while(|byte| *byte == b'\\').count();
                (quote, escapes)
            });
        let is_of_connection = is_parameter && is_connection(before);
        let name = &line[before.len()..name.end];
        let is_entry = is_of_environment(name) || before.ends_with('-');
        let assigned = quote_around.and_then(|quote| assigned(rest, quote, is_entry, looked_at));
        if assigned == Some(0) {
            return None;
        }
        // A quote as the first sign of an assigned value may be closed by one behind the value.
        let quoted = quoted(rest, looked_at).filter(|range| assigned.is_none_or(|end| range.end < end));
        let (range, form) = match quoted {
            Some(range) => (range, Form::Quoted),
            // The second colon of `Secret::new`.
            None if rest.starts_with(':') && line[..start].ends_with(':') => return None,
            None if let Some(end) = assigned => {
                (0..end, if is_of_environment(name) { ENTRY } else { PARAMETER })
            }
            None if is_of_connection => (0..of_connection(rest, looked_at)?, PARAMETER),
            None => {
                // The quote behind it is on another line, or was cut off.
                let behind_quote = rest.trim_start_matches('\\').trim_start_matches(QUOTES).trim_start();
                let quote = rest.len() - behind_quote.len();
                let (range, form) =
                    bare(behind_quote, is_settings, is_joined, is_parameter, allows, looked_at)?;
                (quote + range.start..quote + range.end, form)
            }
        };
        let raw = &rest[range.clone()];
        let value = if form == Form::Quoted { unescaped(raw) } else { Cow::Borrowed(raw) };
        Some(Field {
            name,
            range: value_start + range.start..value_start + range.end,
            value,
            form,
            is_plain_name,
            is_of_resource,
        })
    }
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
                // Half of a character beyond the first 65,536 is none by itself.
                plain.push(char::from_u32(code).unwrap_or('\u{fffd}'));
                rest = &rest[5..];
            }
            None if rest.starts_with(['n', 'r', 't']) && !is_drive(&plain) => {
                plain.push(' ');
                rest = &rest[1..];
            }
            None if rest.starts_with(|sign: char| sign.is_ascii_alphanumeric()) => plain.push('\\'),
            None => {}
        }
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// Checks for a text that begins like a path of Windows.
pub(super) fn is_drive(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Option<(&str, Form)> {
        let name = line.find("password")?;
        let name = name..name + "password".len();
        let start =
            name.end + line[name.end..].find(|sign: char| !"=: \"\\".contains(sign) || sign == '|')?;
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
