//! One name that other programs obey.

use crate::found_names::FoundName;
use crate::protected::fold_path;

/// The rule for a name that other programs obey.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NameRule {
    /// Nothing is written, deleted or renamed there.
    Never,
    /// Changes are made, and reported to the user.
    Reported,
}

/// One name that other programs obey, or several that a pattern describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtectedName {
    /// Components in their folded form, in which a `*` stands for any characters; never empty.
    pub(crate) folded: Vec<String>,
    pub(crate) pattern: String,
    pub(crate) rule: NameRule,
    pub(crate) reason: String,
    /// True if it only counts from the root, and not at any depth.
    pub(crate) is_exact: bool,
}

impl ProtectedName {
    /// Creates the entry of a found path. Its name begins with `./` if it only counts from the root.
    pub(crate) fn from_found(name: FoundName) -> ProtectedName {
        let is_exact = !name.is_at_any_depth;
        let path = String::from_utf8_lossy(name.path.as_bytes());
        ProtectedName {
            folded: fold_path(name.path.as_bytes()),
            pattern: if is_exact { format!("./{path}") } else { path.into_owned() },
            rule: name.rule,
            reason: name.reason,
            is_exact,
        }
    }

    /// Returns the name as given.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Returns its rule.
    pub fn rule(&self) -> NameRule {
        self.rule
    }

    /// Returns the reason as a clause: the program that obeys the name, and its effect.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Checks whether these folded names begin with the pattern.
    pub(crate) fn begins(&self, names: &[String]) -> bool {
        names.len() >= self.folded.len()
            && names.iter().zip(&self.folded).all(|(name, wanted)| fits(name, wanted))
    }
}

/// Checks whether a folded name matches a component of a pattern, or is its short form.
fn fits(name: &str, wanted: &str) -> bool {
    let is_same = if wanted.contains('*') { fits_pattern(name, wanted) } else { name == wanted };
    // Every short name contains a tilde, so the costlier comparison is rare.
    is_same || name.contains('~') && is_short_form(name, wanted)
}

/// Matches `*` as any number of characters. Patterns come from the user and are short; the time is at most
/// the product of both lengths.
fn fits_pattern(name: &str, pattern: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    // The first and the last piece are anchored; those between match at their first occurrence, which leaves
    // the most room for the rest.
    let mut pieces: Vec<&str> = pieces.collect();
    let Some(last) = pieces.pop() else { return rest.is_empty() };
    for piece in pieces {
        match rest.find(piece) {
            Some(start) => rest = &rest[start + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Checks whether `name` could be the 8.3 name that a FAT or NTFS volume gives to `wanted`: at most six characters of the stem
/// without dots, `~` and a digit, and at most three of the extension. A pattern is compared only up to its first `*`.
fn is_short_form(name: &str, wanted: &str) -> bool {
    let (wanted_stem, wanted_extension) = match wanted.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => (stem, extension),
        _ => (wanted, ""),
    };
    let (stem, extension) = name.split_once('.').unwrap_or((name, ""));
    let Some((base, digit)) = stem.split_once('~') else { return false };
    let one_digit = digit.len() == 1 && digit.bytes().all(|byte| matches!(byte, b'1'..=b'9'));
    // A valid short name has no other short form, unless a leading dot or its length made it invalid.
    let shortened = wanted_stem.starts_with('.')
        || wanted.contains('*')
        || wanted_stem.len() > 8
        || wanted_extension.len() > 3;
    shortened
        && one_digit
        && is_cut(base, wanted_stem.chars().filter(|character| !matches!(character, '.' | ' ')), 6)
        && is_cut(extension, wanted_extension.chars(), 3)
}

/// Checks whether `short` equals the first `length` characters of `wanted`, up to a `*`.
fn is_cut(short: &str, wanted: impl Iterator<Item = char>, length: usize) -> bool {
    let mut short = short.chars();
    for wanted in wanted.take(length) {
        if wanted == '*' {
            return true;
        }
        if short.next() != Some(wanted) {
            return false;
        }
    }
    short.next().is_none()
}
