//! Masking the texts of one answer.

use std::borrow::Cow;
use std::cell::Cell;

use serde::Serialize;
use serde::de::DeserializeOwned;
use wap_core::{Call, ReadFile, Workspace, numbered_line};

use crate::private_key::{has_body_line, may_be_body};
use crate::{Secrets, json};

/// The lines around an excerpt among which the first and the last line of a private key are looked for.
const AROUND_LINES: i64 = 200;

/// The beginning of the line that stands for output that was left out, and words in it.
const GAP: &str = "\n… ";
const LEFT_OUT: &str = " bytes left out";

/// The most lines of a file that are looked at for an answer that does not say which of them it quotes.
const MOST_LEARNT_LINES: usize = 1_000_000;

/// The most bytes of a word at a cut that are left out, since it may be the rest of a secret.
const CUT_BYTES: usize = 512;

/// The shortest word at a cut that is left out.
const LEAST_CUT_BYTES: usize = 8;

/// Masks the answer to one call.
pub(super) struct Veil<'a, W> {
    pub(super) inner: &'a W,
    pub(super) secrets: &'a Secrets,
    pub(super) call: &'a Call<'a>,
    /// The file that the answer quotes.
    pub(super) path: Option<&'a str>,
    /// True once the whole file was looked at.
    pub(super) has_learned: Cell<bool>,
}

impl<'a, W: Workspace> Veil<'a, W> {
    pub(super) fn new(
        inner: &'a W,
        secrets: &'a Secrets,
        call: &'a Call<'a>,
        path: Option<&'a str>,
    ) -> Veil<'a, W> {
        Veil { inner, secrets, call, path, has_learned: Cell::new(false) }
    }

    /// Masks every text of an answer or an error.
    pub(super) fn all<T: Serialize + DeserializeOwned>(&self, value: T) -> T {
        json::masked(value, &|text| self.text(text))
    }

    /// Masks every text of an answer with output, which may have been cut.
    pub(super) fn all_outputs<T: Serialize + DeserializeOwned>(&self, value: T) -> T {
        json::masked(value, &|text| self.output(text))
    }

    /// Masks output, which may have been cut.
    pub(super) fn output<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match without_cut_words(text) {
            Cow::Borrowed(text) => self.text(text),
            Cow::Owned(text) => Cow::Owned(self.text(&text).into_owned()),
        }
    }

    /// Masks a text, which may be a view with numbers in front of its lines.
    pub(super) fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if text.lines().any(|line| may_be_body(numbered_line(line).map_or(line, |(_, rest)| rest))) {
            self.learn_file();
        }
        self.lines(text)
    }

    /// Masks the lines `first..` of the file.
    pub(super) fn excerpt<'t>(&self, text: &'t str, first: i64) -> Cow<'t, str> {
        if has_body_line(text)
            && let Some(masked) = self.masked_within(text, first)
        {
            return if masked == text { Cow::Borrowed(text) } else { Cow::Owned(masked) };
        }
        self.secrets.mask(text)
    }

    /// Masks an excerpt together with the lines around it; `None` if the file does not have its lines there, since it has
    /// changed or a line of the excerpt was cut.
    fn masked_within(&self, text: &str, first: i64) -> Option<String> {
        let (begin, around) = self.learn(first, text.split_inclusive('\n').count())?;
        let masked = self.secrets.mask(&around);
        let before = usize::try_from(first - begin).ok()?;
        let mut pairs = around.split_inclusive('\n').zip(masked.split_inclusive('\n')).skip(before);
        let mut excerpt = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            let (real, masked) = pairs.next()?;
            if real.trim_end_matches('\n') != line.trim_end_matches('\n') {
                return None;
            }
            excerpt.push_str(if line.ends_with('\n') { masked } else { masked.trim_end_matches('\n') });
        }
        Some(excerpt)
    }

    /// Gives placeholders to the secrets around some lines, so that they are known wherever they stand: a part of a
    /// private key does not show what it is a part of. Returns the lines, with the number of the first.
    fn learn(&self, first: i64, lines: usize) -> Option<(i64, String)> {
        let lines = i64::try_from(lines).unwrap_or(i64::MAX);
        let begin = first.saturating_sub(AROUND_LINES).max(1);
        let request = ReadFile {
            path: self.path?.to_owned(),
            start_line: Some(begin),
            end_line: Some(first.saturating_add(lines).saturating_add(AROUND_LINES)),
            line_numbers: None,
        };
        let read = self.inner.read_file(self.call, &request).ok()?;
        let _ = self.secrets.mask(&read.content);
        Some((begin, read.content))
    }

    fn learn_file(&self) {
        if !self.has_learned.replace(true) {
            let _ = self.learn(1, MOST_LEARNT_LINES);
        }
    }

    fn lines<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let is_numbered = |line: &str| numbered_line(line).is_some();
        if !text.split_inclusive('\n').any(is_numbered) {
            return self.secrets.mask(text);
        }
        // The numbers would hide that the lines of a key follow each other.
        let mut plain = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            plain.push_str(numbered_line(line).map_or(line, |(_, rest)| rest));
        }
        let masked = match self.secrets.mask(&plain) {
            Cow::Borrowed(_) => return Cow::Borrowed(text),
            Cow::Owned(masked) => masked,
        };
        let mut view = String::with_capacity(text.len());
        for (line, masked) in text.split_inclusive('\n').zip(masked.split_inclusive('\n')) {
            let rest = numbered_line(line).map_or(line.len(), |(_, rest)| rest.len());
            view.push_str(&line[..line.len() - rest]);
            view.push_str(masked);
        }
        Cow::Owned(view)
    }
}

/// Returns output without the words on both sides of a gap in it, which may be parts of secrets.
pub(super) fn without_cut_words(output: &str) -> Cow<'_, str> {
    let gap = output.match_indices(GAP).find_map(|(start, _)| {
        let line = output[start + 1..].find('\n').map_or(output.len(), |at| start + 1 + at + 1);
        output[start..line].contains(LEFT_OUT).then_some(start..line)
    });
    let Some(gap) = gap else { return Cow::Borrowed(output) };
    let (head, tail) = (without_cut_end(&output[..gap.start]), without_cut_start(&output[gap.end..]));
    if head.len() + gap.len() + tail.len() == output.len() {
        return Cow::Borrowed(output);
    }
    Cow::Owned(format!("{head}{}{tail}", &output[gap]))
}

/// Returns a text that was cut at its end without the word at the cut.
pub(super) fn without_cut_end(text: &str) -> &str {
    let word = text.bytes().rev().take(CUT_BYTES).take_while(|byte| !is_between(*byte)).count();
    if word < LEAST_CUT_BYTES { text } else { &text[..text.floor_char_boundary(text.len() - word)] }
}

/// Returns a text that was cut at its beginning without the word at the cut.
pub(super) fn without_cut_start(text: &str) -> &str {
    let word = text.bytes().take(CUT_BYTES).take_while(|byte| !is_between(*byte)).count();
    if word < LEAST_CUT_BYTES { text } else { &text[text.ceil_char_boundary(word)..] }
}

fn is_between(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b',' | b';' | b'(' | b')')
}
