//! Masking outgoing texts and restoring incoming ones.

mod restore_error;
mod searched;
pub(crate) mod spellings;
mod trial;
mod used_values;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub use self::restore_error::RestoreError;
use self::searched::Searched;
use self::spellings::decoded;
pub(crate) use self::used_values::GivenValues;
use self::used_values::UsedValues;
use crate::detector::{Detector, IsCancelled, Span, merge};
use crate::finder::Finder;
use crate::key_lines::KeyLines;
use crate::map::{LITERAL, SecretMap, is_replaced_anywhere};
use crate::marker::{Marker, markers};
use crate::new_values::NewValues;
use crate::private_key;
use crate::store::{PlaceholderStore, StoreError};

/// The maximum number of searches of a text: the values found may overlap others and are then merged with them.
const MOST_ROUNDS: usize = 4;

/// The secrets of a workspace: finds them, gives them placeholders, and restores them.
///
/// Can be shared between threads; several processes may share the store.
pub struct Secrets {
    store: Box<dyn PlaceholderStore>,
    state: Mutex<State>,
    used: UsedValues,
}

struct State {
    map: SecretMap,
    /// The store revision of `map`; `None` if it could not be determined.
    revision: Option<u64>,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the map: debug output may be logged.
        formatter.debug_struct("Secrets").finish_non_exhaustive()
    }
}

/// The range of a restored value in a text, and its placeholder.
pub(crate) type PutBack = (Range<usize>, Marker);

/// The origin of a text, which determines how placeholders in it are treated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// The user's bytes: a text like a placeholder is data and is itself replaced by a placeholder.
    Raw,
    /// Command output: as the user's bytes, but the placeholder of a coloured value stands for the value without
    /// colours, since no file has it coloured.
    Printed,
    /// A text with issued placeholders.
    Masked,
}

impl Secrets {
    /// Opens the secrets that a store keeps.
    ///
    /// # Errors
    ///
    /// If the store cannot be read, or does not hold a map.
    pub fn open(store: impl PlaceholderStore + 'static) -> Result<Secrets, StoreError> {
        let mut map = SecretMap::default();
        // Before the map: entries added in between are then read again.
        let revision = store.revision().ok();
        if let Some(bytes) = store.read()?
            && !map.absorb(&bytes)
        {
            return Err("the map of placeholders is damaged, or of a newer version".into());
        }
        Ok(Secrets {
            store: Box::new(store),
            state: Mutex::new(State { map, revision }),
            used: UsedValues::default(),
        })
    }

    /// Replaces the secrets in a text of the user by placeholders, and so texts that look like placeholders, so that
    /// [`restore`](Self::restore) returns the same bytes. The number of lines stays the same.
    ///
    /// New values are in the store before this returns. A value that could not be kept has the number 0.
    #[must_use]
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.mask_with(text, &KeyLines::default())
    }

    /// Like [`mask`](Self::mask), but returns `None` if cancelled.
    pub(crate) fn mask_unless<'t>(
        &self,
        text: &'t str,
        is_cancelled: IsCancelled<'_>,
    ) -> Option<Cow<'t, str>> {
        self.mask_source_unless(text, Source::Raw, &KeyLines::default(), is_cancelled)
    }

    /// Masks the output of a command, as [`mask`](Self::mask). A value with terminal colours in it has the same
    /// placeholder as without them.
    pub(crate) fn mask_printed<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.mask_source(text, Source::Printed, &KeyLines::default())
    }

    /// Masks a text that quotes a file with private keys.
    pub(crate) fn mask_with<'t>(&self, text: &'t str, keys: &KeyLines) -> Cow<'t, str> {
        self.mask_source(text, Source::Raw, keys)
    }

    /// Masks a text that was composed of masked ones, whose placeholders stay.
    #[must_use]
    pub fn mask_rest<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.mask_source(text, Source::Masked, &KeyLines::default())
    }

    /// Checks whether [`mask`](Self::mask) would leave a text unchanged.
    #[must_use]
    pub fn is_clean(&self, text: &str) -> bool {
        self.read_what_was_added();
        self.spans(text).is_empty()
    }

    /// Returns the ranges that [`mask`](Self::mask) would replace, sorted and disjoint.
    pub(crate) fn ranges(&self, text: &str) -> Vec<Range<usize>> {
        self.read_what_was_added();
        self.spans(text).into_iter().map(|span| span.range).collect()
    }

    /// Returns the ranges that [`mask`](Self::mask) would replace, including further occurrences of values found in the
    /// text.
    pub(crate) fn ranges_with_values(&self, text: &str) -> Vec<Range<usize>> {
        self.read_what_was_added();
        let text = Searched::new(text);
        let mut spans = self.spans_in(&text, Source::Raw, &KeyLines::default());
        let values: Vec<(&[u8], String)> = spans
            .iter()
            .map(|span| (text.value(&span.range), span.kind.clone()))
            .filter(|(value, kind)| is_replaced_anywhere(kind, value))
            .map(|(value, kind)| (value.as_bytes(), kind.into_owned()))
            .collect();
        if !values.is_empty()
            && let Some(finder) = Finder::new(values.into_iter())
        {
            let mut elsewhere = Vec::new();
            finder.find(text.plain(), &mut elsewhere);
            spans.extend(text.spans(elsewhere));
        }
        merge(spans).into_iter().map(|span| span.range).collect()
    }

    /// Returns the values of a text that [`mask`](Self::mask) would replace, except lines of private keys and texts
    /// like placeholders.
    pub(crate) fn values(&self, text: &str) -> Vec<String> {
        self.read_what_was_added();
        let text = Searched::new(text);
        let spans = self.spans_in(&text, Source::Raw, &KeyLines::default());
        let spans = spans.iter().filter(|span| is_single_value(&span.kind));
        spans.map(|span| text.value(&span.range).to_owned()).collect()
    }

    /// Masks a text as [`mask`](Self::mask), except for the values in `visible`.
    pub(crate) fn mask_except(&self, text: &str, visible: &[String]) -> String {
        self.read_what_was_added();
        let text = Searched::new(text);
        let mut spans = self.spans_in(&text, Source::Raw, &KeyLines::default());
        let is_shown = |value: &str| visible.iter().any(|own| own == value);
        spans.retain(|span| !is_single_value(&span.kind) || !is_shown(text.value(&span.range)));
        self.replaced(&text, spans, Source::Raw)
    }

    /// Restores the values that are among `visible`, encoded by `written`.
    pub(crate) fn with_values(
        &self,
        text: &str,
        visible: &[String],
        written: &dyn Fn(&str) -> String,
    ) -> String {
        let mut put_back = String::with_capacity(text.len());
        let mut end = 0;
        let hits = if visible.is_empty() { Vec::new() } else { markers(text).collect() };
        let map = &self.lock().map;
        for (range, marker) in hits {
            let value = map.value_of(&marker).filter(|value| visible.iter().any(|own| own == value));
            if let Some(value) = value {
                put_back.push_str(&text[end..range.start]);
                put_back.push_str(&written(value));
                end = range.end;
            }
        }
        put_back.push_str(&text[end..]);
        put_back
    }

    /// Returns the value of a placeholder if it may stand for another one, which a program reads from its file.
    pub(crate) fn escaped_value(&self, marker: &Marker) -> Option<String> {
        self.read_what_was_added();
        let map = &self.lock().map;
        let value = map.value_of(marker).filter(|_| is_single_value(&marker.kind))?;
        (!decoded(value).is_empty()).then(|| value.to_owned())
    }

    /// Returns how many bytes at the end of a text are the beginning of a value that has a placeholder.
    pub(crate) fn beginning_at_end(&self, text: &str) -> usize {
        self.read_what_was_added();
        let searched = Searched::new(text);
        let plain = searched.plain();
        let bytes = self.lock().map.finder().map_or(0, |finder| finder.beginning_at_end(plain));
        if bytes == 0 { 0 } else { text.len() - searched.range(plain.len() - bytes..plain.len()).start }
    }

    /// Returns how many bytes at the start of a text are the rest of a value that has a placeholder.
    pub(crate) fn rest_at_start(&self, text: &str) -> usize {
        self.read_what_was_added();
        let searched = Searched::new(text);
        let bytes = self.lock().map.rest_at_start(searched.plain());
        if bytes == 0 { 0 } else { searched.range(0..bytes).end }
    }

    /// Restores the values. Placeholders that were never issued are data and stay.
    ///
    /// # Errors
    ///
    /// [`RestoreError::NotKept`] for the placeholder of a value that was not kept.
    pub fn restore<'t>(&self, text: &'t str) -> Result<Cow<'t, str>, RestoreError> {
        self.restore_within(text, usize::MAX)
    }

    /// Restores the values in a text whose restored form has at most `most_bytes`.
    ///
    /// # Errors
    ///
    /// As [`restore`](Self::restore), and [`RestoreError::TooLong`].
    pub fn restore_within<'t>(&self, text: &'t str, most_bytes: usize) -> Result<Cow<'t, str>, RestoreError> {
        let put_back = self.put_back(text, |value| Cow::Borrowed(value), most_bytes)?;
        Ok(put_back.map_or(Cow::Borrowed(text), |(restored, _)| Cow::Owned(restored)))
    }

    /// Restores the values, encoded by `written`, and returns the text with the ranges of the values; `None` if there
    /// are none. A text that would exceed `most_bytes` is refused before more than that is copied.
    pub(crate) fn put_back(
        &self,
        text: &str,
        written: impl Fn(&str) -> Cow<'_, str>,
        most_bytes: usize,
    ) -> Result<Option<(String, Vec<PutBack>)>, RestoreError> {
        let hits: Vec<(Range<usize>, Marker)> = markers(text).collect();
        if hits.is_empty() {
            return Ok(None);
        }
        // Another process may have issued it.
        self.read_what_was_added();
        let map = &self.lock().map;
        let mut restored = String::with_capacity(text.len());
        let mut values = Vec::new();
        let mut end = 0;
        for (range, marker) in hits {
            if marker.number == 0 {
                return Err(RestoreError::NotKept(marker));
            }
            let Some(value) = map.value_of(&marker) else { continue };
            restored.push_str(&text[end..range.start]);
            let start = restored.len();
            let value = written(value);
            if start + value.len() > most_bytes {
                return Err(RestoreError::TooLong { most_bytes });
            }
            restored.push_str(&value);
            values.push((start..restored.len(), marker));
            end = range.end;
        }
        restored.push_str(&text[end..]);
        if !values.is_empty() && restored.len() > most_bytes {
            return Err(RestoreError::TooLong { most_bytes });
        }
        Ok((!values.is_empty()).then_some((restored, values)))
    }

    /// Returns a text of a model as the model will see it in a file: a placeholder that was never issued is data, and
    /// is replaced by a placeholder itself.
    pub(crate) fn as_shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let hits: Vec<(Range<usize>, Marker)> = markers(text).collect();
        if hits.is_empty() {
            return Cow::Borrowed(text);
        }
        self.read_what_was_added();
        // Decided before any of them is issued here, and kept all at once: each call writes the map durably.
        let invented: Vec<Span> = {
            let map = &self.lock().map;
            let is_invented = |marker: &Marker| marker.number > 0 && map.value_of(marker).is_none();
            let hits = hits.into_iter().filter(|(_, marker)| is_invented(marker));
            hits.map(|(range, _)| Span { range, kind: LITERAL.into() }).collect()
        };
        if invented.is_empty() {
            return Cow::Borrowed(text);
        }
        let text = Searched::new(text);
        self.keep(&mut self.lock().map, &text.values(&invented));
        Cow::Owned(self.replaced(&text, invented, Source::Raw))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the entries that other processes have stored since the last read: a value that a rule has found for one of
    /// them is a secret everywhere.
    fn read_what_was_added(&self) {
        let mut state = self.lock();
        // Before the map: entries added in between are then read again.
        let revision = self.store.revision().ok();
        if revision.is_some() && revision == state.revision {
            return;
        }
        let Ok(bytes) = self.store.read() else { return };
        // A damaged map stays damaged until it changes; the entries read before remain in force.
        if let Some(bytes) = bytes {
            state.map.absorb(&bytes);
        }
        state.revision = revision;
    }

    fn mask_source<'t>(&self, text: &'t str, source: Source, keys: &KeyLines) -> Cow<'t, str> {
        let masked = self.mask_source_unless(text, source, keys, &|| false);
        masked.expect("only a search that is cancelled has no outcome")
    }

    fn mask_source_unless<'t>(
        &self,
        text: &'t str,
        source: Source,
        keys: &KeyLines,
        is_cancelled: IsCancelled<'_>,
    ) -> Option<Cow<'t, str>> {
        self.read_what_was_added();
        let searched = Searched::new(text);
        let mut spans = self.spans_unless(&searched, source, keys, is_cancelled)?;
        if spans.is_empty() {
            return Some(Cow::Borrowed(text));
        }
        for _ in 0..MOST_ROUNDS {
            if !self.keep(&mut self.lock().map, &searched.values(&spans)) {
                break;
            }
            // A value found just now is also replaced where no rule finds it.
            spans = self.spans_unless(&searched, source, keys, is_cancelled)?;
        }
        Some(Cow::Owned(self.replaced(&searched, spans, source)))
    }

    /// Collects the values of a text that have no placeholder yet.
    pub(crate) fn add_values(&self, text: &str, keys: &KeyLines, values: &mut NewValues) {
        self.read_what_was_added();
        let text = Searched::new(text);
        let spans = self.spans_in(&text, Source::Raw, keys);
        let map = &self.lock().map;
        for (kind, value) in text.values(&spans) {
            values.add(map, kind, value);
        }
    }

    /// Gives placeholders to the values of several texts at once.
    pub(crate) fn keep_all(&self, values: &NewValues) {
        self.keep(&mut self.lock().map, &values.values());
    }

    /// Replaces parts of a text by their placeholders.
    fn replaced(&self, text: &Searched<'_>, spans: Vec<Span>, source: Source) -> String {
        let map = &self.lock().map;
        let mut masked = String::with_capacity(text.text.len());
        let mut end = 0;
        for Span { range, kind } in spans {
            masked.push_str(&text.text[end..range.start]);
            let value = text.value(&range);
            // Restored without its colours, it would differ from the text.
            let is_exact = source == Source::Printed || value.len() == range.len();
            match map.marker_of(value).filter(|_| is_exact) {
                Some(marker) => masked.push_str(&marker.to_string()),
                None => masked.push_str(&Marker { kind: kind.into_owned(), number: 0 }.to_string()),
            }
            end = range.end;
        }
        masked.push_str(&text.text[end..]);
        masked
    }

    /// Gives each value a placeholder, in the store first, or hides it without one. Returns true if some values were
    /// not hidden everywhere before.
    fn keep(&self, map: &mut SecretMap, values: &[(&str, &str)]) -> bool {
        let is_new = |(kind, value): &&(&str, &str)| !map.has(kind, value) && !map.hides(value);
        let values: Vec<(&str, &str)> = values.iter().filter(is_new).copied().collect();
        // A full map stays full, so it is not read again for each text.
        if !values.iter().any(|(kind, value)| map.has_room(kind, value)) {
            return map.hide(&values);
        }
        let mut changed = None;
        let updated = self.store.update(&mut |bytes| {
            let mut kept = SecretMap::default();
            // A damaged map is not replaced: it may be the only copy of the values.
            if bytes.is_some_and(|bytes| !kept.absorb(&bytes)) {
                return None;
            }
            let before = kept.len();
            // Issued placeholders keep their meaning even if the store was emptied in the meantime.
            kept.adopt(map);
            kept.assign(&values);
            let encoded = (kept.len() > before).then(|| kept.encode());
            changed = Some(kept);
            encoded
        });
        // Only stored placeholders may be issued.
        let (Ok(()), Some(mut kept)) = (updated, changed) else { return false };
        kept.take_hidden(map);
        kept.hide(&values);
        *map = kept;
        true
    }

    fn spans(&self, text: &str) -> Vec<Span> {
        self.spans_in(&Searched::new(text), Source::Raw, &KeyLines::default())
    }

    fn spans_in(&self, text: &Searched<'_>, source: Source, keys: &KeyLines) -> Vec<Span> {
        self.spans_unless(text, source, keys, &|| false).unwrap_or_default()
    }

    fn spans_unless(
        &self,
        text: &Searched<'_>,
        source: Source,
        keys: &KeyLines,
        is_cancelled: IsCancelled<'_>,
    ) -> Option<Vec<Span>> {
        let mut spans = Detector::usual().find_unless(text.plain(), is_cancelled)?;
        keys.find(text.plain(), &mut spans);
        if let Some(finder) = self.lock().map.finder() {
            finder.find(text.plain(), &mut spans);
        }
        let mut spans = text.spans(spans);
        let markers = markers(text.text).map(|(range, _)| Span { range, kind: LITERAL.into() });
        Some(match source {
            Source::Raw | Source::Printed => {
                spans.extend(markers);
                merge(spans)
            }
            Source::Masked => {
                let ours: Vec<Range<usize>> = markers.map(|marker| marker.range).collect();
                // Text next to a placeholder is hidden all the same: the placeholder may be invented.
                let pieces = spans.iter().flat_map(|span| without_markers(span, &ours));
                merge(pieces.filter(|piece| !text.text[piece.range.clone()].trim().is_empty()).collect())
            }
        })
    }
}

/// Returns true for the kinds of values that rules find one at a time.
fn is_single_value(kind: &str) -> bool {
    ![LITERAL, private_key::KIND, private_key::POSSIBLE_KIND].contains(&kind)
}

/// Returns the parts of a span between placeholders, which are sorted.
fn without_markers(span: &Span, ours: &[Range<usize>]) -> Vec<Span> {
    let mut pieces = Vec::new();
    let mut start = span.range.start;
    // Next to the placeholder of a key is its boundary, which may be shown.
    let is_key = [private_key::KIND, private_key::POSSIBLE_KIND].contains(&&*span.kind);
    for marker in &ours[ours.partition_point(|marker| marker.end <= start)..] {
        if marker.start >= span.range.end {
            break;
        }
        if is_key {
            return Vec::new();
        }
        // Empty pieces are dropped when pieces are merged.
        pieces.push(Span { range: start..marker.start.max(start), kind: span.kind.clone() });
        start = marker.end;
    }
    pieces.push(Span { range: start.min(span.range.end)..span.range.end, kind: span.kind.clone() });
    pieces
}
