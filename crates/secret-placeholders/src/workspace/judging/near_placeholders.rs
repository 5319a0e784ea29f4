//! Texts that are nearly a placeholder: written, they would stand where the value was.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use wap_core::{FileChange, Reason, WapError};

use crate::map::LITERAL;
use crate::workspace::written_texts::written;
use crate::{Marker, Secrets, markers};

/// The words of a placeholder, with other hyphens and capitals, whatever stands around them.
const WORDS: &str = r"(?i)secret:([a-z][a-z0-9_\u{2010}-\u{2015}-]{1,40}):0*([1-9][0-9]{0,8})";

/// Returns the words of placeholders outside of whole ones, with the placeholder that each is nearly.
fn near_placeholders(text: &str) -> Vec<(Range<usize>, Marker)> {
    static PATTERN: LazyLock<Regex> = LazyLock::new(|| Regex::new(WORDS).expect("the expression is valid"));
    let mut whole = markers(text).map(|(range, _)| range).peekable();
    let mut near = Vec::new();
    for captures in PATTERN.captures_iter(text) {
        let range = captures.get_match().range();
        while whole.next_if(|whole| whole.end <= range.start).is_some() {}
        if whole.peek().is_some_and(|whole| whole.start < range.start) {
            continue;
        }
        let kind = captures[1].chars().map(|sign| match sign {
            sign if sign.is_ascii_alphanumeric() => sign.to_ascii_lowercase(),
            _ => '-',
        });
        if let Ok(number) = captures[2].parse() {
            near.push((range, Marker { kind: kind.collect(), number }));
        }
    }
    near
}

/// Refuses a change that writes what is nearly a placeholder that was given out, or into a file with secrets another number of a kind,
/// unless the file has that text already. `before` returns the text of the file; `None` if it cannot be read.
pub(super) fn check_placeholders(
    secrets: &Secrets,
    change: &FileChange,
    before: &dyn Fn() -> Option<String>,
) -> Result<(), WapError> {
    let file = OnceCell::new();
    let file = || file.get_or_init(|| before().unwrap_or_default()).as_str();
    let in_file = OnceCell::new();
    let is_new = |text: &str| {
        let texts = in_file.get_or_init(|| {
            let ranges = near_placeholders(file()).into_iter().chain(markers(file()));
            ranges.map(|(range, _)| &file()[range]).collect::<HashSet<&str>>()
        });
        !texts.contains(text)
    };
    // Of a kind that no value has, it is more likely a text about placeholders.
    let is_of_kind = |marker: &Marker| secrets.has_given_out(&Marker { number: 1, ..marker.clone() });
    for text in written(change) {
        let near = each_once(text, near_placeholders(text));
        if let Some((near, marker)) =
            near.iter().find(|(near, marker)| secrets.has_given_out(marker) && is_new(near))
        {
            let text = format!(
                "`{near}` is not a placeholder, and would be written instead of a value: write {marker} exactly so"
            );
            return Err(WapError::new(Reason::InvalidField, text));
        }
        let invented = invented(secrets, text);
        if let Some((_, marker)) = invented.iter().find(|(text, marker)| is_of_kind(marker) && is_new(text))
            && !secrets.values(file()).is_empty()
        {
            let text = format!(
                "{marker} was not given out and stands for no value: write the placeholders of the file exactly as it shows them"
            );
            return Err(WapError::new(Reason::InvalidField, text));
        }
    }
    Ok(())
}

/// Returns the warning about placeholders that a change has written as they are, since they were not given out.
pub(in crate::workspace) fn warning(secrets: &Secrets, change: &FileChange) -> Option<String> {
    let invented = written(change).into_iter().find_map(|text| invented(secrets, text).into_iter().next());
    invented.map(|(_, marker)| {
        format!("{marker} was not given out: it is in the file as it is, and stands for no value")
    })
}

fn invented<'t>(secrets: &Secrets, text: &'t str) -> Vec<(&'t str, Marker)> {
    let mut invented = each_once(text, markers(text));
    invented
        .retain(|(_, marker)| marker.number > 0 && marker.kind != LITERAL && !secrets.has_given_out(marker));
    invented
}

/// Returns the parts of a text, each different one once: a text may have very many.
fn each_once(text: &str, parts: impl IntoIterator<Item = (Range<usize>, Marker)>) -> Vec<(&str, Marker)> {
    let mut added = HashSet::new();
    let parts = parts.into_iter().map(|(range, marker)| (&text[range], marker));
    parts.filter(|(part, _)| added.insert(*part)).collect()
}

#[cfg(test)]
mod tests {
    use super::near_placeholders;

    #[test]
    fn what_is_nearly_a_placeholder_is_recognised() {
        for text in [
            "[secret:a-b:1]",
            "[[secret:a-b:1]]",
            "⟦ secret:a-b:1 ⟧",
            "⟦SECRET:A-B:1⟧",
            "⟦secret:a\u{2011}b:1⟧",
            "⟦secret:a_b:1⟧",
            "⟦secret:a-b:01⟧",
            "⟦secret:a-b:1\u{200b}⟧",
            "〚secret:a-b:1〛",
            "⟦secret:a-b:1",
            r"\u27e6secret:a-b:1\u27e7",
        ] {
            let near = near_placeholders(text);
            assert_eq!(near.len(), 1, "{text}");
            assert_eq!(near[0].1.to_string(), "⟦secret:a-b:1⟧", "{text}");
        }
        // The control.
        for text in ["⟦secret:a-b:1⟧", "arn:secret:name", "secret:a-b:0", "⟦secret:a-b:1⟧⟦secret:a-b:2⟧"]
        {
            assert_eq!(near_placeholders(text), [], "{text}");
        }
    }
}
