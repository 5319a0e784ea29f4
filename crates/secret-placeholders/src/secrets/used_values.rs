//! Values that were restored in commands, as they occur in the output.

use std::borrow::Cow;
use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::searched::Searched;
use super::{Secrets, Source, is_single_value, without_markers};
use crate::detector::{Span, merge};
use crate::finder::Finder;
use crate::map::is_replaced_anywhere;
use crate::marker::{Marker, markers};

/// The maximum number of placeholders of commands that are remembered. Further ones evict those of the oldest commands.
const MOST_REMEMBERED: usize = 16_384;

/// The placeholders in commands, by a name for the command or its output, the oldest first.
#[derive(Default)]
pub(super) struct UsedValues {
    commands: Mutex<VecDeque<(String, BTreeSet<Marker>)>>,
}

/// The values given to a command that are not hidden elsewhere: short ones, words, names.
///
/// A model knows where such a value appears in the output of its command, so each occurrence would reveal the value.
#[derive(Debug)]
pub(crate) struct GivenValues(Finder);

impl GivenValues {
    /// Returns the occurrences of the values in a text as whole words.
    fn spans(&self, text: &str) -> Vec<Span> {
        let mut spans = Vec::new();
        self.0.find(text, &mut spans);
        spans.retain(|span| is_whole_word(text, &span.range));
        spans
    }
}

/// Checks whether a part of a text is not part of a longer word.
fn is_whole_word(text: &str, part: &Range<usize>) -> bool {
    let bytes = text.as_bytes();
    let is_of_word = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphanumeric);
    let continues = |at: usize| at > 0 && is_of_word(at - 1) && is_of_word(at);
    !continues(part.start) && !continues(part.end)
}

impl Secrets {
    /// Masks the output of a command that ran earlier, as [`mask`](Self::mask), and so the values of the placeholders in the
    /// command itself, however short: a model that reads both would learn the value.
    #[must_use]
    pub fn mask_output(&self, command: &str, output: &str) -> String {
        let masked = self.mask_printed(output);
        let given = self.given_values(&self.used_in([command]));
        self.without_given(&masked, given.as_ref()).into_owned()
    }

    /// Returns the placeholders in the texts of a command whose values are not hidden everywhere.
    pub(crate) fn used_in<'t>(&self, texts: impl IntoIterator<Item = &'t str>) -> BTreeSet<Marker> {
        // Another process may have issued one.
        self.read_what_was_added();
        let used: BTreeSet<Marker> = texts.into_iter().flat_map(markers).map(|(_, marker)| marker).collect();
        let map = &self.lock().map;
        let is_visible = |marker: &Marker| {
            let value = map.value_of(marker).filter(|_| is_single_value(&marker.kind));
            value.is_some_and(|value| !value.is_empty() && !is_replaced_anywhere(&marker.kind, value))
        };
        used.into_iter().filter(is_visible).collect()
    }

    /// Remembers the placeholders of a command by a name, replacing earlier ones of that name.
    pub(crate) fn remember_used(&self, name: &str, used: &BTreeSet<Marker>) {
        let mut commands = self.used.commands.lock().unwrap_or_else(PoisonError::into_inner);
        commands.retain(|(other, _)| other != name);
        if used.is_empty() {
            return;
        }
        commands.push_back((name.to_owned(), used.clone()));
        let mut count: usize = commands.iter().map(|(_, used)| used.len()).sum();
        while count > MOST_REMEMBERED
            && let Some((_, oldest)) = commands.pop_front()
        {
            count -= oldest.len();
        }
    }

    /// Returns the values of a command that was remembered by a name; `None` if it has none.
    pub(crate) fn remembered_values(&self, name: &str) -> Option<GivenValues> {
        let used = {
            let commands = self.used.commands.lock().unwrap_or_else(PoisonError::into_inner);
            commands.iter().find(|(other, _)| other == name)?.1.clone()
        };
        self.given_values(&used)
    }

    /// Returns the values of some placeholders; `None` if there are none.
    pub(crate) fn given_values(&self, used: &BTreeSet<Marker>) -> Option<GivenValues> {
        if used.is_empty() {
            return None;
        }
        let map = &self.lock().map;
        let values = used.iter().filter_map(|marker| Some((map.value_of(marker)?, marker.kind.clone())));
        Finder::new(values.map(|(value, kind)| (value.as_bytes(), kind))).map(GivenValues)
    }

    /// Replaces the values that a command was given in its output, which is already masked.
    pub(crate) fn without_given<'t>(&self, masked: &'t str, given: Option<&GivenValues>) -> Cow<'t, str> {
        let Some(given) = given else { return Cow::Borrowed(masked) };
        let text = Searched::new(masked);
        let ours: Vec<Range<usize>> = markers(masked).map(|(range, _)| range).collect();
        let spans = text.spans(given.spans(text.plain()));
        let pieces: Vec<Span> = spans.iter().flat_map(|span| without_markers(span, &ours)).collect();
        let pieces = merge(pieces);
        if pieces.is_empty() {
            return Cow::Borrowed(masked);
        }
        Cow::Owned(self.replaced(&text, pieces, Source::Printed))
    }
}

#[cfg(test)]
mod tests {
    use crate::MemoryStore;

    use super::*;

    #[test]
    fn a_short_value_is_hidden_in_the_output_of_a_command_that_was_given_it() {
        let secrets = Secrets::open(MemoryStore::default()).expect("an empty store");
        let view = secrets.mask("password = \"postgres\"\n").into_owned();
        let command = view.replace("password =", "login");
        assert_eq!(
            secrets.mask_output(&command, "no user postgres\n"),
            "no user ⟦secret:password-assignment:1⟧\n"
        );
        // The control: a command without the placeholder.
        assert_eq!(secrets.mask_output("login", "no user postgres\n"), "no user postgres\n");
    }

    #[test]
    fn the_oldest_commands_are_forgotten_first() {
        let secrets = Secrets::open(MemoryStore::default()).expect("an empty store");
        let view = secrets.mask("password = \"postgres\"\n").into_owned();
        let used = secrets.used_in([view.as_str()]);
        assert_eq!(used.len(), 1, "{view}");
        let is_remembered = |name: &str| secrets.remembered_values(name).is_some();
        secrets.remember_used("first", &used);
        secrets.remember_used("second", &used);
        secrets.remember_used("second", &BTreeSet::new());
        assert!(is_remembered("first") && !is_remembered("second"));
        let many = |count: u32| (1..=count).map(|number| Marker { kind: "a".into(), number }).collect();
        let most = u32::try_from(MOST_REMEMBERED).unwrap();
        secrets.remember_used("second", &many(most - 1));
        assert!(is_remembered("first"));
        secrets.remember_used("third", &many(1));
        assert!(!is_remembered("first"));
    }
}
