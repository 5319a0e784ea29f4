//! The path that is meant by a name with signs around it: quotes, marks of Markdown, a link.
//!
//! A file that is made has exactly the name that is written, so a sign too many would be a part of it for good.

use super::{EXTENSIONS, NO_PATHS, is_file_name, is_path_like};

/// Signs that stand around a name, as they open and close.
const AROUND: [(char, char); 11] = [
    ('`', '`'),
    ('*', '*'),
    ('_', '_'),
    ('"', '"'),
    ('\'', '\''),
    ('“', '”'),
    ('„', '“'),
    ('„', '”'),
    ('‘', '’'),
    ('«', '»'),
    ('‹', '›'),
];

/// The most signs on each side of a name that are taken off it.
const MOST_AROUND: usize = 8;

/// Signs that decorate a name or join it to another word. Hardly any file has one in its name.
const DECORATION: &str = "`<>|*\"“”„‟«»‹›•…,;:=?!";

/// Signs with which the name of a file begins, apart from letters and digits.
const FIRST: &str = "._/@$~([{+";

/// Signs with which the name of a file ends, apart from letters and digits.
const LAST: &str = "_-+~";

/// Returns the path without the signs around it. Of a link, it is the one that the label and the address agree on.
pub(in crate::foreign) fn peeled(text: &str) -> &str {
    let mut name = text.trim();
    for _ in 0..MOST_AROUND {
        let Some(inner) = AROUND.iter().find_map(|signs| within(name, *signs)) else { break };
        name = inner.trim();
    }
    linked(name).unwrap_or(name)
}

fn within(name: &str, (open, close): (char, char)) -> Option<&str> {
    let inner = name.strip_prefix(open)?.strip_suffix(close)?;
    // Files may begin and end with this sign, but no extension ends so.
    let is_around = open != '_' || has_extension(inner.trim_matches('_'));
    (is_around && !inner.is_empty()).then_some(inner)
}

fn has_extension(path: &str) -> bool {
    let extension = super::file_name(path).rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|text| !text.is_empty() && text.chars().all(char::is_alphanumeric))
}

/// Returns the path of a link of Markdown, `[web/app.js](web/app.js)`; `None` if it is not certain.
pub(super) fn linked(text: &str) -> Option<&str> {
    let (label, address) = text.strip_prefix('[')?.strip_suffix(')')?.split_once("](")?;
    let label = without_lines(label.trim_matches(['`', '*']));
    let (address, is_page) = match address.split_once("://") {
        Some((_, address)) => (address, true),
        None => (address, false),
    };
    let address = address.split('#').next().unwrap_or(address).trim_end_matches('/');
    let address = address.strip_prefix("./").unwrap_or(address);
    // A program that makes links of names invents an address.
    let is_end = || address.strip_suffix(label).is_some_and(|before| before.ends_with('/'));
    match (address == label, is_page) {
        (true, _) => is_path_like(label).then_some(label),
        (false, true) => (is_path_like(label) && label.contains('/') && is_end()).then_some(label),
        (false, false) => (is_path_like(label) && !label.contains('/') && is_end()).then_some(address),
    }
}

/// Returns a path without the numbers of lines behind it: `a.js:4-6`, `a.js#L4`.
pub(super) fn without_lines(path: &str) -> &str {
    let parts = path.split_once("#L").or_else(|| path.split_once(':'));
    let is_lines = |text: &str| {
        text.starts_with(|sign: char| sign.is_ascii_digit())
            && text.chars().all(|sign| sign.is_ascii_digit() || "-–:L".contains(sign))
    };
    match parts {
        Some((name, lines)) if !name.is_empty() && is_lines(lines) => name,
        _ => path,
    }
}

/// Checks whether a file may be made under a name: it has no sign that decorates a name, and no remark behind it.
pub(in crate::foreign) fn is_plain_name(path: &str) -> bool {
    let is_word = |sign: char| sign.is_alphanumeric();
    let has_sign =
        |sign: char| DECORATION.contains(sign) || sign.is_control() || sign.is_whitespace() && sign != ' ';
    let begins = path.starts_with(|sign| is_word(sign) || FIRST.contains(sign)) && !path.starts_with("++");
    let ends = path.ends_with(|sign| is_word(sign) || LAST.contains(sign));
    // ".js" is what is left of "*.js".
    let is_extension = path.strip_prefix('.').is_some_and(|name| EXTENSIONS.contains(&name));
    begins
        && ends
        && !is_extension
        && !path.contains(has_sign)
        && !path.contains("//")
        && path.split('/').all(has_whole_brackets)
        && !has_remark(path)
}

/// Checks whether the brackets of a part of a path are in pairs: those of `[id]` and `(group)` are, those around a path are not.
fn has_whole_brackets(part: &str) -> bool {
    let mut open = 0_usize;
    for sign in part.chars() {
        match sign {
            '(' | '[' | '{' => open += 1,
            ')' | ']' | '}' if open == 0 => return false,
            ')' | ']' | '}' => open -= 1,
            _ => {}
        }
    }
    open == 0
}

/// Checks whether something other than a path stands behind a blank: a sign, or words behind the name of a file.
fn has_remark(path: &str) -> bool {
    let Some((before, _)) = path.rsplit_once(' ') else { return false };
    path.split(' ').skip(1).any(|word| !word.starts_with(char::is_alphanumeric))
        || before.split(' ').any(|word| is_file_name(word, "", false))
}

/// Checks whether a word with a dot or a slash does not name a file: `and/or`, or the number of a version.
pub(super) fn is_word_of_prose(word: &str) -> bool {
    let number = word.strip_prefix('v').unwrap_or(word);
    NO_PATHS.iter().any(|other| word.eq_ignore_ascii_case(other))
        || number.chars().all(|sign| sign.is_ascii_digit() || sign == '.')
}
