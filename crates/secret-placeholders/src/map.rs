//! The map between placeholders and values, and its form as bytes.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::detector::{NAME_KIND, is_common, is_ordinary, is_path};
use crate::finder::Finder;
use crate::marker::Marker;
use crate::private_key::{self, POSSIBLE_KIND};
use crate::secrets::spellings::decoded;

/// The kind of texts that look like a placeholder and are part of a file.
pub(crate) const LITERAL: &str = "literal";

/// The maximum number of values that are kept.
const MOST_VALUES: usize = 10_000;

/// The maximum number of values that only look like a placeholder: a folder full of those must leave room for secrets.
const MOST_LITERALS: usize = 2_000;

/// The longest value that is kept, in bytes.
const MOST_VALUE_BYTES: usize = 64 * 1_024;

/// The maximum number of bytes of all values.
const MOST_BYTES: usize = 4 << 20;

/// The shortest value that is replaced everywhere, even where no rule finds it; a shorter one that is all letters may
/// be an ordinary word.
const LEAST_KNOWN_BYTES: usize = 8;
const LEAST_KNOWN_WORD_BYTES: usize = 16;

/// The kinds of values that are recognised only by the name before them: a path and words may occur elsewhere by
/// chance.
const FIELD_KINDS: [&str; 6] = [
    "password-assignment",
    "generic-secret",
    "generic-api-key",
    "generic-token",
    "generic-key",
    "hexadecimal-key",
];

/// The values that have a placeholder.
#[derive(Debug, Default)]
pub(crate) struct SecretMap {
    by_value: HashMap<String, Kept>,
    by_marker: HashMap<Marker, String>,
    next: HashMap<String, u32>,
    bytes: usize,
    literals: usize,
    /// Values, by kind, that lack a placeholder because the map is full: they are hidden everywhere, too.
    hidden: HashMap<String, String>,
    hidden_bytes: usize,
    /// Other spellings, by kind, of the values that are replaced everywhere: they are hidden everywhere, too. One that
    /// occurs gets a placeholder of its own, so that each placeholder stands for the same bytes wherever it is.
    spellings: HashMap<String, String>,
    /// Finds the values in a text; built on demand.
    finder: Option<Finder>,
}

/// The placeholder of a value.
#[derive(Debug)]
struct Kept {
    marker: Marker,
    /// True if the value is replaced everywhere; cached since determining it takes longer than comparing the value.
    is_distinctive: bool,
}

#[derive(Serialize, Deserialize)]
struct Document {
    version: u32,
    secrets: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    kind: String,
    number: u32,
    value: String,
}

const VERSION: u32 = 1;

/// Returns a map with the entries of two, those of `own` first; `None` if one of them is not a map.
#[must_use]
pub fn merged_maps(own: Option<&[u8]>, other: &[u8]) -> Option<Vec<u8>> {
    let mut map = SecretMap::default();
    let is_whole = own.is_none_or(|own| map.absorb(own)) && map.absorb(other);
    is_whole.then(|| map.encode())
}

impl SecretMap {
    /// Adds the entries of a map as bytes. Returns false if they are not a map.
    pub(crate) fn absorb(&mut self, bytes: &[u8]) -> bool {
        let Ok(Document { version: VERSION, secrets }) = serde_json::from_slice(bytes) else { return false };
        for Entry { kind, number, value } in secrets {
            let marker = Marker { kind, number };
            if number > 0 && self.lacks(&marker, &value) {
                self.insert(marker, value);
            }
        }
        true
    }

    /// Returns the map as bytes, in the order of the placeholders.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut markers: Vec<(&Marker, &String)> = self.by_marker.iter().collect();
        markers.sort();
        let entry = |(marker, value): (&Marker, &String)| Entry {
            kind: marker.kind.clone(),
            number: marker.number,
            value: value.clone(),
        };
        let document = Document { version: VERSION, secrets: markers.into_iter().map(entry).collect() };
        serde_json::to_vec(&document).expect("texts and numbers")
    }

    pub(crate) fn marker_of(&self, value: &str) -> Option<&Marker> {
        self.by_value.get(value).map(|kept| &kept.marker)
    }

    /// Checks whether a value has a placeholder that is usable for a kind: that of a possible key is not usable for a
    /// secret.
    pub(crate) fn has(&self, kind: &str, value: &str) -> bool {
        self.marker_of(value).is_some_and(|marker| marker.kind != POSSIBLE_KIND || kind == POSSIBLE_KIND)
    }

    pub(crate) fn value_of(&self, marker: &Marker) -> Option<&str> {
        self.by_marker.get(marker).map(String::as_str)
    }

    /// Returns the kinds of the placeholders, in order.
    pub(crate) fn kinds(&self) -> Vec<String> {
        let mut kinds: Vec<String> = self.next.keys().cloned().collect();
        kinds.sort();
        kinds
    }

    /// Returns the number of placeholders.
    pub(crate) fn len(&self) -> usize {
        self.by_marker.len()
    }

    /// Checks whether a further value can be kept.
    pub(crate) fn has_room(&self, kind: &str, value: &str) -> bool {
        self.has_room_with(kind, value, 0, 0)
    }

    /// Checks whether a further value can be kept in addition to `others` values with `bytes` bytes.
    pub(crate) fn has_room_with(&self, kind: &str, value: &str, others: usize, bytes: usize) -> bool {
        self.by_marker.len() + others < MOST_VALUES
            && (kind != LITERAL || self.literals < MOST_LITERALS)
            && value.len() <= MOST_VALUE_BYTES
            && self.bytes + bytes + value.len() <= MOST_BYTES
    }

    /// Gives placeholders to values without one, while the map has room. The values of one text take at most half of
    /// the remaining room, so that no file takes all of it.
    pub(crate) fn assign(&mut self, values: &[(&str, &str)]) {
        let most = (MOST_VALUES - self.len().min(MOST_VALUES)).div_ceil(2);
        let most_bytes = (MOST_BYTES - self.bytes.min(MOST_BYTES)).div_ceil(2);
        let (before, bytes_before) = (self.len(), self.bytes);
        for (kind, value) in values {
            let has_share =
                self.len() - before < most && self.bytes - bytes_before + value.len() <= most_bytes;
            if has_share && !self.has(kind, value) && self.has_room(kind, value) {
                let number = self.next.get(*kind).copied().unwrap_or(1);
                self.insert(Marker { kind: (*kind).to_owned(), number }, (*value).to_owned());
            }
        }
    }

    /// Checks whether a value is hidden without a placeholder.
    pub(crate) fn hides(&self, value: &str) -> bool {
        self.hidden.contains_key(value)
    }

    /// Hides values for which there was no room, in this process. Returns false if that changes nothing. Lines of keys
    /// are not added: quotations of their file are recognised without, and an edit after which another process would
    /// not recognise them has to be refused.
    pub(crate) fn hide(&mut self, values: &[(&str, &str)]) -> bool {
        let before = self.hidden.len();
        for (kind, value) in values {
            let has_room = self.hidden.len() < MOST_VALUES
                && value.len() <= MOST_VALUE_BYTES
                && self.hidden_bytes + value.len() <= MOST_BYTES;
            let is_new = !self.has(kind, value) && !self.hides(value);
            if has_room && is_new && *kind != private_key::KIND && is_replaced_anywhere(kind, value) {
                self.hidden_bytes += value.len();
                self.hidden.insert((*value).to_owned(), (*kind).to_owned());
                self.add_spellings(kind, value);
            }
        }
        let is_changed = self.hidden.len() > before;
        if is_changed {
            self.finder = None;
        }
        is_changed
    }

    /// Moves the values that another map hides without a placeholder to this one.
    pub(crate) fn take_hidden(&mut self, other: &mut SecretMap) {
        self.hidden = std::mem::take(&mut other.hidden);
        self.hidden_bytes = std::mem::take(&mut other.hidden_bytes);
        self.add_hidden_spellings();
    }

    /// Copies the values that another map hides without a placeholder.
    pub(crate) fn adopt_hidden(&mut self, other: &SecretMap) {
        self.hidden = other.hidden.clone();
        self.hidden_bytes = other.hidden_bytes;
        self.add_hidden_spellings();
    }

    fn add_hidden_spellings(&mut self) {
        let hidden = std::mem::take(&mut self.hidden);
        hidden.iter().for_each(|(value, kind)| self.add_spellings(kind, value));
        self.hidden = hidden;
        self.finder = None;
    }

    /// Adds the other spellings of a value that is replaced everywhere. The lines of keys are recognised by themselves.
    fn add_spellings(&mut self, kind: &str, value: &str) {
        if kind != private_key::KIND {
            for spelling in decoded(value) {
                if self.spellings.len() < MOST_VALUES && is_replaced_anywhere(kind, &spelling) {
                    self.spellings.insert(spelling, kind.to_owned());
                }
            }
        }
    }

    /// Adds the entries of another map whose value and placeholder are new here.
    pub(crate) fn adopt(&mut self, other: &SecretMap) {
        for (marker, value) in &other.by_marker {
            if self.lacks(marker, value) {
                self.insert(marker.clone(), value.clone());
            }
        }
    }

    /// Checks whether an entry of another map is new here. A possible key can have a second placeholder as a secret.
    fn lacks(&self, marker: &Marker, value: &str) -> bool {
        !self.by_marker.contains_key(marker)
            && (marker.kind == POSSIBLE_KIND || !self.has(&marker.kind, value))
    }

    fn insert(&mut self, marker: Marker, value: String) {
        let next = self.next.entry(marker.kind.clone()).or_insert(1);
        *next = (*next).max(marker.number.saturating_add(1));
        self.bytes += value.len();
        self.literals += usize::from(marker.kind == LITERAL);
        if !self.has(&marker.kind, &value) {
            let is_distinctive = is_replaced_anywhere(&marker.kind, &value);
            if is_distinctive {
                self.add_spellings(&marker.kind, &value);
            }
            self.by_value.insert(value.clone(), Kept { marker: marker.clone(), is_distinctive });
        }
        self.by_marker.insert(marker, value);
        self.finder = None;
    }

    /// Returns the values that are replaced everywhere, each with its kind.
    fn distinctive(&self) -> impl Iterator<Item = (&String, &String)> {
        let kept = self.by_value.iter().filter(|(_, kept)| kept.is_distinctive);
        // A spelling comes first: of two kinds for the same value, the last counts.
        let kept = kept.map(|(value, kept)| (value, &kept.marker.kind));
        self.spellings.iter().chain(kept).chain(&self.hidden)
    }

    /// Returns how many bytes at the start of a text are the rest of such a value.
    pub(crate) fn rest_at_start(&self, text: &str) -> usize {
        let start = &text.as_bytes()[..text.len().min(MOST_VALUE_BYTES)];
        if start.is_empty() {
            return 0;
        }
        // For each prefix of the text, its longest border, as in Knuth-Morris-Pratt, so that no byte is compared
        // repeatedly.
        let mut borders = vec![0_usize; start.len()];
        let advance = |borders: &[usize], mut length: usize, byte: u8| {
            while length == start.len() || length > 0 && start[length] != byte {
                length = borders[length - 1];
            }
            length + usize::from(start[length] == byte)
        };
        for at in 1..start.len() {
            borders[at] = advance(&borders, borders[at - 1], start[at]);
        }
        let rest_of = |value: &String| {
            let end = &value.as_bytes()[value.len().saturating_sub(start.len())..];
            end.iter().fold(0, |length, byte| advance(&borders, length, *byte))
        };
        self.distinctive().map(|(value, _)| rest_of(value)).max().unwrap_or(0)
    }

    /// Returns the finder of all values that are replaced everywhere; `None` if there are none.
    pub(crate) fn finder(&mut self) -> Option<&Finder> {
        if self.finder.is_none() {
            let distinctive: Vec<(&String, &String)> = self.distinctive().collect();
            if distinctive.is_empty() {
                return None;
            }
            let values = distinctive.iter().map(|(value, kind)| (value.as_bytes(), (*kind).clone()));
            self.finder = Finder::new(values);
        }
        self.finder.as_ref()
    }
}

/// Checks whether a value is replaced everywhere.
pub(crate) fn is_replaced_anywhere(kind: &str, value: &str) -> bool {
    let may_be_text =
        || FIELD_KINDS.contains(&kind) && (is_ordinary(value) || is_path(value) || is_common(value));
    is_distinctive(value) && ![LITERAL, POSSIBLE_KIND, NAME_KIND].contains(&kind) && !may_be_text()
}

/// Checks whether a value is unlikely to occur anywhere by chance.
fn is_distinctive(value: &str) -> bool {
    let has = |is_of: fn(&u8) -> bool| value.as_bytes().iter().any(is_of);
    let is_mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    value.len() >= if is_mixed { LEAST_KNOWN_BYTES } else { LEAST_KNOWN_WORD_BYTES }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_rest_at_the_start_is_the_longest(
            values in prop::collection::btree_set("[ab]{8,9}[01]", 1..6),
            text in "[ab]{0,9}[012]?[ab01]{0,4}",
        ) {
            let mut map = SecretMap::default();
            values.iter().for_each(|value| map.assign(&[("kind", value)]));
            let is_rest = |length: &usize| values.iter().any(|value| value.ends_with(&text[..*length]));
            let expected = (1..=text.len()).rev().find(is_rest).unwrap_or(0);
            prop_assert_eq!(map.rest_at_start(&text), expected);
        }
    }
}
