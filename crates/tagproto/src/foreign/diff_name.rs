//! The names of a file in the header of a unified diff.

use std::borrow::Cow;

use super::file_name::plain_name::peeled;

/// Remarks in parentheses that models put after the two names of one file.
const REMARKS: [&str; 13] = [
    "original", "updated", "modified", "old", "new", "before", "after", "current", "fixed", "changed",
    "new file", "created", "added",
];

/// Reads the two names after `diff --git`.
pub(super) fn both(paths: &str) -> Option<(Cow<'_, str>, Cow<'_, str>)> {
    let (old, new) = match paths.strip_prefix('"') {
        // Git quotes each name separately, so one of them may be unquoted.
        Some(_) => split_after_quoted(paths)?,
        None => paths.split_once(" b/").map_or_else(
            || paths.split_once(" \"b/").map(|(old, _)| (old, &paths[old.len() + 1..])),
            |(old, _)| Some((old, &paths[old.len() + 1..])),
        )?,
    };
    let (old, new) = (unquoted(old), unquoted(new));
    let old = without_side(old.clone(), "a/").unwrap_or(old);
    Some((old, without_side(new, "b/")?))
}

/// Returns the name in a header line after `---` or `+++`, without the time that may follow a tab.
pub(super) fn of_line(text: &str) -> Cow<'_, str> {
    let name = text.split('\t').next().unwrap_or_default().trim();
    match unquoted(name) {
        Cow::Borrowed(name) => Cow::Borrowed(peeled(name)),
        unquoted => unquoted,
    }
}

/// Removes `a/` and `b/` from two names that both have them, and remarks from names that only differ in remarks.
pub(super) fn bare<'a>(old: Cow<'a, str>, new: Cow<'a, str>, no_file: &str) -> (Cow<'a, str>, Cow<'a, str>) {
    let sided = |name: &Cow<'a, str>, side| match *name == no_file {
        true => Some(name.clone()),
        false => without_side(name.clone(), side),
    };
    let (old, new) = match (sided(&old, "a/"), sided(&new, "b/")) {
        (Some(old), Some(new)) => (old, new),
        _ => (old, new),
    };
    if old == new {
        return (old, new);
    }
    match (without_remark(&old), without_remark(&new)) {
        (Some(one), Some(other)) if one == other => {
            (Cow::Owned(one.to_owned()), Cow::Owned(other.to_owned()))
        }
        (_, Some(name)) if old == no_file => (old, Cow::Owned(name.to_owned())),
        // The backup copy of `patch`, as the old name of a file that stays.
        _ if old.strip_suffix(".orig").is_some_and(|stem| stem == new) => (new.clone(), new),
        _ => (old, new),
    }
}

fn without_side<'a>(name: Cow<'a, str>, side: &str) -> Option<Cow<'a, str>> {
    match name {
        Cow::Borrowed(name) => name.strip_prefix(side).map(Cow::Borrowed),
        Cow::Owned(name) => name.strip_prefix(side).map(|name| Cow::Owned(name.to_owned())),
    }
}

/// Returns a name without the remark after it; `None` without a remark.
fn without_remark(name: &str) -> Option<&str> {
    let (name, remark) = name.strip_suffix(')')?.rsplit_once(" (")?;
    REMARKS.iter().any(|usual| remark.eq_ignore_ascii_case(usual)).then_some(name)
}

/// Splits after a quoted name.
fn split_after_quoted(paths: &str) -> Option<(&str, &str)> {
    let mut is_escaped = false;
    let end = paths.char_indices().skip(1).find_map(|(at, c)| {
        let ends = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends.then_some(at + 1)
    })?;
    Some((&paths[..end], paths[end..].strip_prefix(' ')?))
}

/// Unquotes a name as quoted by Git, with bytes as octal numbers. Unquoted names and names that are not UTF-8 stay unchanged.
fn unquoted(name: &str) -> Cow<'_, str> {
    let inner = name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inner.and_then(unescaped).map_or(Cow::Borrowed(name), Cow::Owned)
}

fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let [escape, tail @ ..] = rest else { return None };
        rest = tail;
        bytes.push(match escape {
            b'"' | b'\\' => *escape,
            b'n' => b'\n',
            b't' => b'\t',
            b'0'..=b'3' => {
                let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
                let low = u8::from_str_radix(digits, 8).ok()?;
                rest = &rest[2..];
                (escape - b'0') * 64 + low
            }
            _ => return None,
        });
    }
    String::from_utf8(bytes).ok()
}
