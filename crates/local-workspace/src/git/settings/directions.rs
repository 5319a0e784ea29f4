//! Settings that determine what git fetches and pushes, and where, for display to the user.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::git::settings::text::{Setting, settings};

/// Settings that determine what git fetches and pushes, and where, which the user should see.
const DIRECTIONS: &[(&str, &[&str])] = &[
    ("remote.*", &["url", "pushurl", "fetch", "push", "gh-resolved"]),
    ("remote", &["pushdefault"]),
    ("branch.*", &["remote", "pushremote", "merge"]),
    ("push", &["default", "followtags"]),
    ("submodule.*", &["url"]),
];

/// Settings that determine which changes git notices in files, and logs for references.
const NOTICE: &[(&str, &[&str])] =
    &[("core", &["checkstat", "trustctime", "ignorecase", "filemode", "logallrefupdates"])];

/// The longest name or value that is shown, in characters.
const SHOWN_CHARACTERS: usize = 100;

/// The settings of `after` that determine what git fetches and pushes, and where, and that `before` lacked or had with
/// other values, each with its value; also removed ones. Credentials are masked.
pub(crate) fn changed_directions(before: Option<&[u8]>, after: &[u8]) -> Vec<String> {
    changed(before, after, DIRECTIONS)
}

/// Returns the same for settings that determine which changes git notices and records.
pub(crate) fn changed_notice(before: &[u8], after: &[u8]) -> Vec<String> {
    changed(Some(before), after, NOTICE)
}

fn changed(before: Option<&[u8]>, after: &[u8], list: &[(&str, &[&str])]) -> Vec<String> {
    let directions = |bytes: &[u8]| -> Vec<Setting> {
        let all = settings(bytes).unwrap_or_default();
        all.into_iter().filter(|setting| setting.is_in(list) && !setting.names_same_branch()).collect()
    };
    let (before, after) = (before.map(directions).unwrap_or_default(), directions(after));
    // There may be many thousands of them.
    let had: BTreeSet<&Setting> = before.iter().collect();
    let keys: BTreeSet<(Rc<str>, &str)> = after.iter().map(key).collect();
    let new = after.iter().filter(|setting| !had.contains(setting)).map(rendered);
    let gone = before.iter().filter(|setting| !keys.contains(&key(setting)));
    new.chain(gone.map(|setting| format!("{} is gone", setting.display_name()))).collect()
}

fn key(setting: &Setting) -> (Rc<str>, &str) {
    (Rc::clone(&setting.section), &setting.key)
}

/// Returns name and value for people.
fn rendered(setting: &Setting) -> String {
    let value = setting.value.as_deref().unwrap_or("true");
    let masked = crate::git::credentials::mask(value.as_bytes());
    format!("{} = {}", setting.display_name(), shortened(&String::from_utf8_lossy(&masked)))
}

/// Returns a text that fits into a line for people.
fn shortened(text: &str) -> String {
    let is_long = text.chars().nth(SHOWN_CHARACTERS).is_some();
    let short = text.chars().take(SHOWN_CHARACTERS).map(printable);
    short.chain(is_long.then_some('…')).collect()
}

/// Replaces a character that is not allowed in a line for people.
fn printable(character: char) -> char {
    if character.is_control() { char::REPLACEMENT_CHARACTER } else { character }
}

impl Setting {
    /// Returns whether it links a branch to the remote one of the same name, as nearly all do.
    fn names_same_branch(&self) -> bool {
        let branch = self.section.strip_prefix("branch.").filter(|_| self.key == "merge");
        let other = self.value.as_deref().and_then(|value| value.strip_prefix("refs/heads/"));
        branch.is_some() && branch == other
    }

    /// Returns the name for people.
    pub(super) fn display_name(&self) -> String {
        shortened(&self.to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::changed_directions;
    use crate::git::settings::text::COMPARED;

    fn remotes(count: usize, host: &str) -> String {
        (0..count).fold(String::new(), |mut text, number| {
            let _ = writeln!(text, "[remote \"r{number}\"]\n\turl = {host}:r{number}");
            text
        })
    }

    #[test]
    fn comparisons_of_many_remotes_do_not_grow_with_their_square() {
        let compared = |count: usize| {
            let before = COMPARED.get();
            let named =
                changed_directions(Some(remotes(count, "h").as_bytes()), remotes(count, "other").as_bytes());
            assert_eq!(named.len(), count);
            COMPARED.get() - before
        };
        let (few, many) = (compared(100), compared(1_000));
        assert!(few > 0, "the count counts");
        // Each is looked up in a tree.
        assert!(many < 20 * few, "{few} {many}");
    }
}
