//! Texts that resemble a placeholder: if written, they would replace the value.

use std::cell::{LazyCell, OnceCell};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use wap_core::{ExecuteCommand, FileChange, Reason, WapError};

use crate::map::LITERAL;
use crate::workspace::written_texts::written;
use crate::{Marker, Secrets, markers};

/// A character that was encoded, as in an address, a string literal or HTML.
const ENCODED: &str = r"%[0-9a-f]{2}|\\u\{?[0-9a-f]{4}\}?|&\#?[a-z0-9]{1,8};";

/// A colon or a hyphen as placeholders have them, of any width, escaped or encoded.
const COLON: &str = r"\\?(?:[:\u{ff1a}\u{a789}]|%3a|\\u\{?003a\}?|&\#58;|&\#x3a;|&colon;)";
const HYPHEN: &str = r"(?:[-\u{2010}-\u{2015}\u{2212}\u{ff0d}\u{ad}]|%2d|\\u\{?002d\}?|&\#45;|&\#x2d;)";

/// The brackets of a placeholder or similar ones, with the text between them; the last may be missing.
const BRACKETS: &str = r"⟦[^⟦⟧\n]{0,80}⟧?|[〚【⟬❲〖⟨][^\n〛】⟭❳〗⟩]{0,80}[〛】⟭❳〗⟩]";

/// Returns the pattern of a text that resembles a placeholder of one of `kinds`, with a group for the kind and one for the
/// number.
///
/// The brackets determine the separators that count. Within those of placeholders, or encoded ones, any separator counts.
/// Within others, names of variables and paths do not. Without brackets, only colons and hyphens count: a path such
/// as `secrets/private-key-1` or a name such as `SECRET_PRIVATE_KEY_1` is an ordinary text.
fn near_pattern(kinds: &[String]) -> String {
    let any = format!(r"(?:(?:{ENCODED}|[^\w\s⟦⟧]|_)|\s)");
    let within = format!(r"(?:{ENCODED}|[^\w\s⟦⟧/,.$]|\s)");
    let names = |join: &str| {
        let names = kinds.iter().map(|kind| kind.split('-').collect::<Vec<_>>().join(join));
        names.collect::<Vec<String>>().join("|")
    };
    let pattern = |group: &str, separator: &str, join: &str| {
        format!(
            r"secrets?{separator}(?P<kind_{group}>{})(?:{separator})0*(?P<number_{group}>[1-9][0-9]{{0,8}})",
            names(join)
        )
    };
    let in_own = pattern("own", &format!("{any}{{1,5}}"), &format!("{any}{{0,3}}"));
    let in_others = pattern("other", &format!("{within}{{1,5}}"), &format!("{within}{{0,3}}"));
    let bare = pattern("bare", &format!(r"\s?{COLON}\s?"), HYPHEN);
    format!(r"(?i)(?:[⟦〚【⟬❲〖⟨]|{ENCODED})\W{{0,3}}{in_own}|[\[({{<]\s?{in_others}\s?[\])}}>]|{bare}")
}

/// The search for texts that resemble one of the issued placeholders.
struct NearPlaceholders<'a> {
    secrets: &'a Secrets,
    kinds: Vec<String>,
    /// The words of a placeholder with any separators, whatever surrounds them.
    words: Option<Regex>,
}

impl<'a> NearPlaceholders<'a> {
    /// Returns the search for texts that resemble an issued placeholder.
    fn new(secrets: &'a Secrets) -> NearPlaceholders<'a> {
        let kinds = secrets.kinds();
        let words =
            (!kinds.is_empty()).then(|| Regex::new(&near_pattern(&kinds)).expect("the expression is valid"));
        NearPlaceholders { secrets, kinds, words }
    }

    /// Returns the parts of a text, outside of whole placeholders, that resemble a placeholder, with that placeholder
    /// if it can be determined.
    fn find(&self, text: &str) -> Vec<(Range<usize>, Option<Marker>)> {
        static BRACKETED: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(BRACKETS).expect("the expression is valid"));
        let whole: Vec<Range<usize>> = markers(text).map(|(range, _)| range).collect();
        let is_apart = |range: &Range<usize>| {
            let next = &whole[whole.partition_point(|whole| whole.end <= range.start)..];
            next.first().is_none_or(|whole| whole.start >= range.end)
        };
        let words = self.words.iter().flat_map(|words| words.captures_iter(text)).filter_map(|captures| {
            let [kind, number] = ["kind", "number"].map(|group| {
                ["own", "other", "bare"].iter().find_map(|form| captures.name(&format!("{group}_{form}")))
            });
            let kind = letters(kind?.as_str());
            let kind = self.kinds.iter().find(|other| letters(other) == kind)?.clone();
            let marker = Marker { kind, number: number?.as_str().parse().ok()? };
            let is_issued = self.secrets.has_issued(&marker);
            is_issued.then(|| (captures.get_match().range(), Some(marker)))
        });
        let brackets = BRACKETED.find_iter(text).map(|bracketed| bracketed.range());
        let has_words = |range: &Range<usize>| {
            let bracketed = &text[range.clone()];
            let letters = letters(bracketed);
            let is_similar = bracketed.contains(':') || letters.contains("secret");
            bracketed.starts_with('⟦') && is_similar || self.has_kind(&letters)
        };
        let brackets = brackets.filter(has_words).map(|range| (range, None));
        words.chain(brackets).filter(|(range, _)| is_apart(range)).collect()
    }

    /// Checks whether the letters of a text contain those of a kind.
    fn has_kind(&self, letters_of_text: &str) -> bool {
        self.kinds.iter().any(|kind| letters_of_text.contains(&letters(kind)))
    }
}

/// Returns the letters of a text in lower case, to compare forms of a kind.
fn letters(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// Refuses a change that writes a text resembling a placeholder, or one that was not issued, into a file with secrets,
/// unless the file already has that text. In other files, it is a text about placeholders. `before` returns the text of
/// the file; `None` if it cannot be read.
pub(super) fn check_placeholders(
    secrets: &Secrets,
    change: &FileChange,
    before: &dyn Fn() -> Option<String>,
) -> Result<(), WapError> {
    let texts = written(change);
    if !texts.iter().any(|text| may_have_near(text)) {
        return Ok(());
    }
    let file = OnceCell::new();
    let file = || file.get_or_init(|| before().unwrap_or_default()).as_str();
    if secrets.values(file()).is_empty() {
        return Ok(());
    }
    let near = NearPlaceholders::new(secrets);
    let in_file = LazyCell::new(|| {
        let ranges = near.find(file()).into_iter().map(|(range, _)| range);
        let ranges = ranges.chain(markers(file()).map(|(range, _)| range));
        ranges.map(|range| &file()[range]).collect::<HashSet<&str>>()
    });
    for text in texts {
        let near = each_once(text, near.find(text));
        if let Some((near, marker)) = near.iter().find(|(near, _)| !in_file.contains(near)) {
            return Err(refused(near, marker.as_ref()));
        }
        let invented = invented(secrets, text);
        if let Some((_, marker)) = invented.iter().find(|(text, _)| !in_file.contains(text)) {
            let text = format!(
                "{marker} was never issued and has no value: write the placeholders of the file exactly as it shows them"
            );
            return Err(WapError::new(Reason::InvalidField, text));
        }
    }
    Ok(())
}

/// Refuses a command with a text that resembles a placeholder: it may write that instead of the value.
pub(in crate::workspace) fn check_command(
    secrets: &Secrets,
    request: &ExecuteCommand,
) -> Result<(), WapError> {
    let variables = request.environment.iter().flat_map(|variables| variables.values());
    let mut texts = variables.chain([&request.command]).filter(|text| may_have_near(text)).peekable();
    if texts.peek().is_none() {
        return Ok(());
    }
    let near = NearPlaceholders::new(secrets);
    for text in texts {
        let is_of_secret = |(range, marker): &(Range<usize>, Option<Marker>)| {
            let near_text = &text[range.clone()];
            let letters = letters(near_text);
            // A search for placeholders, such as `grep "⟦secret:"`, writes none.
            let is_closed = near_text.ends_with('⟧');
            marker.is_some() || is_closed && letters.contains("secret") || near.has_kind(&letters)
        };
        if let Some((range, marker)) = near.find(text).into_iter().find(is_of_secret) {
            return Err(refused(&text[range], marker.as_ref()));
        }
    }
    Ok(())
}

/// Checks cheaply whether a text may have a text that resembles a placeholder. Most do not.
fn may_have_near(text: &str) -> bool {
    static PATTERN: LazyLock<Regex> =
        LazyLock::new(|| Regex::new("(?i)secret|[⟦〚【⟬❲]").expect("the expression is valid"));
    PATTERN.is_match(text)
}

fn refused(near: &str, marker: Option<&Marker>) -> WapError {
    let advice = match marker {
        Some(marker) => format!("write {marker} exactly so"),
        None => "write the placeholders of the file exactly as it shows them".to_owned(),
    };
    let text = format!("`{near}` is not a placeholder, and would be written instead of a value: {advice}");
    WapError::new(Reason::InvalidField, text)
}

/// Returns the warning about placeholders that a change has written literally, since they were not issued.
pub(in crate::workspace) fn warning(secrets: &Secrets, change: &FileChange) -> Option<String> {
    let invented = written(change).into_iter().find_map(|text| invented(secrets, text).into_iter().next());
    invented.map(|(_, marker)| {
        format!("{marker} was never issued: it is in the file literally, and has no value")
    })
}

fn invented<'t>(secrets: &Secrets, text: &'t str) -> Vec<(&'t str, Marker)> {
    let mut invented = each_once(text, markers(text));
    invented.retain(|(_, marker)| marker.number > 0 && marker.kind != LITERAL && !secrets.has_issued(marker));
    invented
}

/// Returns the distinct parts of a text: it may repeat them very often.
fn each_once<M>(text: &str, parts: impl IntoIterator<Item = (Range<usize>, M)>) -> Vec<(&str, M)> {
    let mut added = HashSet::new();
    let parts = parts.into_iter().map(|(range, marker)| (&text[range], marker));
    parts.filter(|(part, _)| added.insert(*part)).collect()
}

#[cfg(test)]
mod tests {
    use super::NearPlaceholders;
    use crate::{MemoryStore, Secrets};

    #[test]
    fn what_is_nearly_a_placeholder_is_recognised() {
        let secrets = Secrets::open(MemoryStore::default()).expect("an empty store");
        let view = secrets.mask("password = \"kX7qzWm2Rt9\"\n").into_owned();
        assert!(view.contains("⟦secret:password-assignment:1⟧"));
        let near = NearPlaceholders::new(&secrets);
        for text in [
            "[secret:password-assignment:1]",
            "⟦ secret:password-assignment:1 ⟧",
            "⟦SECRET:PASSWORD-ASSIGNMENT:1⟧",
            "secret:password\u{2011}assignment:01",
            "⟦secret:password-assignment: 1⟧",
            "⟦secret: password-assignment:1⟧",
            "⟦secrets:password-assignment:1⟧",
            "⟦secret:password-assignment-1⟧",
            "⟦secret:password-assignment#1⟧",
            "⟦secret:password assignment:1⟧",
            "secret：password-assignment：1",
            "⟦secret:password-assignment:1\u{200b}⟧",
            "〚secret:password-assignment:1〛",
            "〖secret:password-assignment:1〗",
            "[secret password-assignment:1]",
            "[secret-password-assignment-1]",
            "<secret:password-assignment:1>",
            "⟦secret:password-assignment:1",
            r"\u27e6secret\:password-assignment\:1\u27e7",
            "%E2%9F%A6secret%3Apassword-assignment%3A1%E2%9F%A7",
        ] {
            let near = near.find(text);
            let marker = near.iter().find_map(|(_, marker)| marker.clone());
            assert_eq!(
                marker.map(|marker| marker.to_string()).as_deref(),
                Some("⟦secret:password-assignment:1⟧"),
                "{text}"
            );
        }
        for text in [
            "⟦secret:password-assignment⟧",
            "⟦password-assignment:1⟧",
            "〚password-assignment:1〛",
            "⟦secret:password-assignment",
            "⟦secret:password: 1⟧",
        ] {
            assert_eq!(near.find(text).len(), 1, "{text}");
        }
        // The control.
        for text in [
            "⟦secret:password-assignment:1⟧",
            "arn:secret:name",
            "secret:password-assignment:0",
            "secret:password-assignment:2",
            "secret password assignment 1",
            "secrets/password-assignment-1.pub",
            "secret/password-assignment-1",
            "secrets: password assignment 1 rotated",
            "${SECRET_PASSWORD_ASSIGNMENT_1}",
            "os.environ[\"SECRET_PASSWORD_ASSIGNMENT_1\"]",
            "sign(secrets.password_assignment, 1)",
            "sign([secrets.password_assignment, 1])",
            "⟦e⟧",
            "【password】",
            "⟦secret:a-b:1⟧⟦secret:a-b:2⟧",
        ] {
            assert_eq!(near.find(text), [], "{text}");
        }
    }
}
