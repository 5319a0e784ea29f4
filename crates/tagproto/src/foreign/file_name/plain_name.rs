//! The path meant by a decorated name: with quotes, Markdown or a link.
//!
//! A new file gets exactly the name that is written, so an extra character would stay in its name.

use super::name_form::{EXTENSIONS, NO_PATHS, is_file_name, is_path_like};

/// Pairs of characters around a name.
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

/// The maximum number of characters that are removed on each side of a name.
const MOST_AROUND: usize = 8;

/// Characters that decorate a name or join it to another word. File names rarely contain them.
const DECORATION: &str = "`<>|*\"“”„‟«»‹›•…,;:=?!";

/// Characters with which a file name may begin, apart from letters and digits.
const FIRST: &str = "._/@$~([{+";

/// Characters with which a file name may end, apart from letters and digits.
const LAST: &str = "_-+~";

/// Returns the title between dashes on a line: `--- web/app.js ---`.
pub(in crate::foreign) fn between_dashes(line: &str) -> Option<&str> {
    let text = line.trim().strip_prefix("---")?.strip_suffix("---")?;
    text.trim_matches('-').strip_prefix(' ')?.strip_suffix(' ')
}

/// Returns the path without the characters around it; for a link, the path on which the label and the address agree.
pub(in crate::foreign) fn peeled(text: &str) -> &str {
    let mut name = text.trim();
    for _ in 0..MOST_AROUND {
        let Some(inner) = AROUND.iter().find_map(|pair| within(name, *pair)) else { break };
        name = inner.trim();
    }
    linked(name).unwrap_or(name)
}

fn within(name: &str, (open, close): (char, char)) -> Option<&str> {
    let inner = name.strip_prefix(open)?.strip_suffix(close)?;
    // File names may begin and end with an underscore, but no extension ends with one.
    let is_around = open != '_' || has_extension(inner.trim_matches('_'));
    (is_around && !inner.is_empty()).then_some(inner)
}

fn has_extension(path: &str) -> bool {
    let extension = super::file_name(path).rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|text| !text.is_empty() && text.chars().all(char::is_alphanumeric))
}

/// Returns the path of a Markdown link, `[web/app.js](web/app.js)`; `None` if it is not certain.
pub(super) fn linked(text: &str) -> Option<&str> {
    let (label, address) = text.strip_prefix('[')?.strip_suffix(')')?.split_once("](")?;
    let label = without_lines(label.trim_matches(['`', '*']));
    let (address, is_page) = match address.split_once("://") {
        Some((_, address)) => (address, true),
        None => (address, false),
    };
    let address = address.split('#').next().unwrap_or(address).trim_end_matches('/');
    let address = address.strip_prefix("./").unwrap_or(address);
    // Programs that turn names into links invent an address.
    let is_end = || address.strip_suffix(label).is_some_and(|before| before.ends_with('/'));
    match (address == label, is_page) {
        (true, _) => is_path_like(label).then_some(label),
        (false, true) => (is_path_like(label) && label.contains('/') && is_end()).then_some(label),
        (false, false) => (is_path_like(label) && !label.contains('/') && is_end()).then_some(address),
    }
}

/// Returns a path without the line numbers after it: `a.js:4-6`, `a.js#L4`.
pub(super) fn without_lines(path: &str) -> &str {
    let parts = path.split_once("#L").or_else(|| path.split_once(':'));
    let is_lines = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_digit())
            && text.chars().all(|c| c.is_ascii_digit() || "-–:L".contains(c))
    };
    match parts {
        Some((name, lines)) if !name.is_empty() && is_lines(lines) => name,
        _ => path,
    }
}

/// Checks whether a file may be created under a name: it has neither decoration nor a remark after it.
pub(in crate::foreign) fn is_plain_name(path: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric();
    let is_forbidden = |c: char| DECORATION.contains(c) || c.is_control() || c.is_whitespace() && c != ' ';
    let begins = path.starts_with(|c| is_word(c) || FIRST.contains(c)) && !path.starts_with("++");
    let ends = path.ends_with(|c| is_word(c) || LAST.contains(c));
    // ".js" is the rest of "*.js".
    let is_extension = path.strip_prefix('.').is_some_and(|name| EXTENSIONS.contains(&name));
    begins
        && ends
        && !is_of_shell(path)
        && !is_extension
        && !path.contains(is_forbidden)
        && !path.contains("//")
        && path.split('/').all(has_whole_brackets)
        && !has_remark(path)
}

/// Checks for a path whose first folder is one that a shell replaces: `~`, `~name`, `$HOME`, `${HOME}`.
fn is_of_shell(path: &str) -> bool {
    let Some((first, _)) = path.split_once('/') else { return path == "~" };
    let name = first.strip_prefix('$').map(|name| name.trim_matches(['{', '}']));
    let is_variable =
        |name: &str| name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    first.starts_with('~') || name.is_some_and(is_variable)
}

/// Checks whether the brackets of a path component are balanced, as in `[id]` and `(group)` but not around a path.
fn has_whole_brackets(part: &str) -> bool {
    let mut open = 0_usize;
    for c in part.chars() {
        match c {
            '(' | '[' | '{' => open += 1,
            ')' | ']' | '}' if open == 0 => return false,
            ')' | ']' | '}' => open -= 1,
            _ => {}
        }
    }
    open == 0
}

/// Checks whether something other than a path follows a space: punctuation, or words after a file name.
fn has_remark(path: &str) -> bool {
    let Some((before, _)) = path.rsplit_once(' ') else { return false };
    path.split(' ').skip(1).any(|word| !word.starts_with(char::is_alphanumeric))
        || before.split(' ').any(|word| is_file_name(word, "", false))
}

/// Checks whether a word with a dot or a slash does not name a file: `and/or`, `e.g./x`, a fraction, or the number of a version.
pub(super) fn is_word_of_prose(word: &str) -> bool {
    let number = word.strip_prefix('v').unwrap_or(word);
    let is_other = |word: &str| NO_PATHS.iter().any(|other| word.eq_ignore_ascii_case(other));
    is_other(word)
        || word.split('/').any(|part| is_other(part.trim_end_matches('.')))
        || number.chars().all(|c| c.is_ascii_digit() || "./".contains(c))
}
