//! Masking the texts of one answer.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};

use serde::Serialize;
use serde::de::DeserializeOwned;
use wap_core::{Call, ReadFile, ReadFileResponse, Workspace, numbered_line};

use super::growth::output_within_growth;
use crate::detector::{MOST_LINES_BELOW, may_be_below, may_begin_below};
use crate::hunk_context::without_cut_contexts;
use crate::key_lines::KeyLines;
use crate::new_values::NewValues;
use crate::private_key::{has_body_line, may_be_body};
use crate::secrets::GivenValues;
use crate::surroundings::{
    CUT, Surroundings, before_cut, without_cut_end, without_cut_secrets, without_cut_start,
};
use crate::withheld::CUT_AT_GAPS;
use crate::{Secrets, json};

/// The number of lines around an excerpt that are searched for the boundaries of a private key.
const AROUND_LINES: i64 = 200;

/// The beginning of the line that stands for omitted output, and words in it.
const GAP: &str = "\n… ";
const LEFT_OUT: &str = " bytes left out";

/// The maximum number of gaps in an output at which cut words are searched for: an engine leaves one, but a program may
/// print any number of similar lines. After these, the whole lines next to a gap are left out.
const MOST_GAPS: usize = 16;

/// The maximum number of reads of a file for an answer that does not state which lines it quotes: one returns up to a
/// mebibyte.
const MOST_READINGS: usize = 16;

/// The maximum number of bytes of files kept in memory between the two passes over them.
pub(super) const MOST_KEPT_BYTES: usize = 32 << 20;

/// A number of lines that extends to the end of any file.
const ALL_LINES: i64 = i64::MAX;

/// Masks the answer to one call.
pub(super) struct Veil<'a, W> {
    pub(super) inner: &'a W,
    pub(super) secrets: &'a Secrets,
    pub(super) call: &'a Call<'a>,
    /// The file that the answer quotes.
    pub(super) path: Option<&'a str>,
    /// The values of the command whose output the answer has.
    given: Option<&'a GivenValues>,
    /// The file, once examined.
    learned: OnceCell<LearnedFile>,
    /// True once the file was read for its values; the file itself, unless it is large.
    is_read: Cell<bool>,
    read_before: Cell<Option<FileParts>>,
    /// True once output was cut because placeholders made it too long, or next to gaps in it.
    has_cut_output: Cell<bool>,
    is_cut_at_gaps: Cell<bool>,
}

/// The readable parts of a file.
#[derive(Default)]
struct FileParts {
    parts: Vec<String>,
    is_whole: bool,
}

/// The examined part of a file that an answer quotes.
#[derive(Default)]
struct LearnedFile {
    parts: Vec<Surroundings>,
    /// The lines of its private keys, which a quotation may hold without the boundaries of the key.
    keys: KeyLines,
    is_whole: bool,
}

impl<'a, W: Workspace> Veil<'a, W> {
    pub(super) fn new(
        inner: &'a W,
        secrets: &'a Secrets,
        call: &'a Call<'a>,
        path: Option<&'a str>,
    ) -> Veil<'a, W> {
        Veil {
            inner,
            secrets,
            call,
            path,
            given: None,
            learned: OnceCell::new(),
            is_read: Cell::new(false),
            read_before: Cell::new(None),
            has_cut_output: Cell::new(false),
            is_cut_at_gaps: Cell::new(false),
        }
    }

    /// Masks the values that a command was given, too.
    pub(super) fn without_given(self, given: Option<&'a GivenValues>) -> Veil<'a, W> {
        Veil { given, ..self }
    }

    /// Adds the values without a placeholder in the texts of an answer or an error, and in the file if the texts are
    /// examined together with it, as [`add_values_of_lines`](Self::add_values_of_lines).
    pub(super) fn add_values<T: Serialize>(
        &self,
        value: &T,
        values: &mut NewValues,
        most_bytes: usize,
    ) -> usize {
        let mut needs_file = false;
        json::each_text(value, &mut |text| {
            let plain = without_numbers(text);
            let plain = plain.as_deref().unwrap_or(text);
            // A version is not a line of the file.
            needs_file |= plain.contains('\n') && has_body_line(plain);
            self.secrets.add_values(plain, &KeyLines::default(), values);
        });
        if needs_file { self.add_values_of_file(values, most_bytes) } else { 0 }
    }

    /// Adds the values in lines of the file, and in the whole file if the lines are examined together with it. The file
    /// is read once for this and for masking, unless that would keep more than `most_bytes`; returns the number of
    /// bytes kept.
    pub(super) fn add_values_of_lines(
        &self,
        text: &str,
        is_cut: bool,
        values: &mut NewValues,
        most_bytes: usize,
    ) -> usize {
        // Where a line is cut, a part of a value is not a value.
        if !is_cut {
            self.secrets.add_values(text, &KeyLines::default(), values);
        }
        if is_cut || has_body_line(text) { self.add_values_of_file(values, most_bytes) } else { 0 }
    }

    fn add_values_of_file(&self, values: &mut NewValues, most_bytes: usize) -> usize {
        if self.learned.get().is_some() || self.is_read.get() {
            return 0;
        }
        let file = self.read_file();
        for part in &file.parts {
            self.secrets.add_values(part, &KeyLines::default(), values);
        }
        self.is_read.set(true);
        let bytes = file.parts.iter().map(String::len).sum();
        if bytes > most_bytes {
            return 0;
        }
        self.read_before.set(Some(file));
        bytes
    }

    /// Masks every text of an answer or an error.
    pub(super) fn all<T: Serialize + DeserializeOwned>(&self, value: T) -> T {
        json::masked(value, &|text| self.text(text))
    }

    /// Masks every text of an answer with output, which may have been cut.
    pub(super) fn all_outputs<T: Serialize + DeserializeOwned>(&self, value: T) -> T {
        json::masked(value, &|text| self.output(text))
    }

    /// Masks output, which may have been cut, and truncates it if placeholders make it too long.
    fn output<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut lacks_lines = false;
        let masked = match without_cut_words(self.secrets, text, &mut lacks_lines) {
            Cow::Borrowed(text) => self.text(text),
            Cow::Owned(text) => Cow::Owned(self.text(&text).into_owned()),
        };
        let masked = match self.secrets.without_given(&masked, self.given) {
            Cow::Borrowed(_) => masked,
            Cow::Owned(masked) => Cow::Owned(masked),
        };
        if lacks_lines {
            self.has_cut_output.set(true);
            self.is_cut_at_gaps.set(true);
        }
        match output_within_growth(text, &masked) {
            Some(cut) => {
                self.has_cut_output.set(true);
                Cow::Owned(cut)
            }
            None => masked,
        }
    }

    /// Reports whether [`all_outputs`](Self::all_outputs) has cut output.
    pub(super) fn has_cut_output(&self) -> bool {
        self.has_cut_output.get()
    }

    /// Returns the warning of an answer with output that lacks lines at its gaps.
    pub(super) fn cut_warning(&self) -> Option<String> {
        self.is_cut_at_gaps.get().then(|| CUT_AT_GAPS.to_owned())
    }

    /// Masks a text, which may be a view with line numbers.
    pub(super) fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let may_need_file = |line: &str| {
            let line = numbered_line(line).map_or(line, |(_, rest)| rest);
            may_be_body(line) || self.path.is_some() && may_be_below(line)
        };
        if text.lines().any(may_need_file) {
            self.file();
        }
        if self.path.is_some() && text.contains(CUT) {
            let rest =
                |line: &str| line.len() - numbered_line(line).map_or(line.len(), |(_, rest)| rest.len());
            if let Some(kept) = without_cut_secrets(self.secrets, text, &self.file().parts, rest) {
                return Cow::Owned(self.lines(&kept).into_owned());
            }
        }
        self.lines(text)
    }

    /// Returns a line of the file, masked; `None` if it cannot be read to its end.
    pub(super) fn whole_line(&self, number: u64) -> Option<String> {
        let number = i64::try_from(number).ok()?;
        let read = self.read(self.path?, number, number).filter(|read| !read.is_truncated)?;
        Some(self.excerpt(read.content.trim_end_matches(['\n', '\r']), number).into_owned())
    }

    /// Returns the part that may be shown of a line of the file that was cut at its end.
    pub(super) fn before_cut<'t>(&self, line: &'t str) -> &'t str {
        before_cut(self.secrets, line, &self.file().parts)
    }

    /// Masks the lines `first..` of the file.
    pub(super) fn excerpt<'t>(&self, text: &'t str, first: i64) -> Cow<'t, str> {
        let around = if has_body_line(text) && !self.file().is_whole {
            AROUND_LINES
        } else if first > 1 && may_begin_below(text) {
            // A value in the first lines may have its name above them.
            MOST_LINES_BELOW as i64
        } else {
            0
        };
        if around > 0
            && let Some(masked) = self.masked_within(text, first, around)
        {
            return if masked == text { Cow::Borrowed(text) } else { Cow::Owned(masked) };
        }
        self.mask(text)
    }

    /// Masks a text that may quote the file, if that was examined.
    fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.learned.get() {
            // Without a file, it is command output.
            _ if self.path.is_none() => self.secrets.mask_printed(text),
            Some(learned) => self.secrets.mask_with(text, &learned.keys),
            None => self.secrets.mask(text),
        }
    }

    /// Masks an excerpt together with the lines around it; `None` if the file does not have its lines there, since it has
    /// changed or a line of the excerpt was cut.
    fn masked_within(&self, text: &str, first: i64, lines: i64) -> Option<String> {
        let (begin, around) = self.learn(first, text.split_inclusive('\n').count(), lines)?;
        let masked = self.mask(&around);
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

    /// Gives placeholders to the secrets around some lines, so that they are recognised everywhere: a part of a
    /// private key cannot be recognised by itself. Returns the lines, with the number of the first.
    fn learn(&self, first: i64, lines: usize, around: i64) -> Option<(i64, String)> {
        let lines = i64::try_from(lines).unwrap_or(i64::MAX);
        let begin = first.saturating_sub(around).max(1);
        let read = self.read(self.path?, begin, first.saturating_add(lines).saturating_add(around))?;
        let _ = self.secrets.mask(&read.content);
        Some((begin, read.content))
    }

    /// Returns the examined part of the file, whose secrets then have placeholders.
    fn file(&self) -> &LearnedFile {
        self.learned.get_or_init(|| {
            let file = self.read_before.take().unwrap_or_else(|| self.read_file());
            let mut keys = KeyLines::default();
            file.parts.iter().for_each(|part| keys.add(part));
            let parts = file.parts.into_iter().map(|part| Surroundings::new(self.secrets, part)).collect();
            LearnedFile { parts, keys, is_whole: file.is_whole }
        })
    }

    fn read_file(&self) -> FileParts {
        let mut file = FileParts::default();
        let mut first = 1;
        for _ in 0..MOST_READINGS {
            let Some(read) = self.path.and_then(|path| self.read(path, first, ALL_LINES)) else { break };
            let lines = i64::try_from(read.returned_lines).unwrap_or(i64::MAX);
            file.parts.push(read.content);
            file.is_whole = !read.is_truncated;
            if !read.is_truncated || lines == 0 {
                break;
            }
            first = first.saturating_add(lines);
        }
        file
    }

    fn read(&self, path: &str, first: i64, last: i64) -> Option<ReadFileResponse> {
        let request = ReadFile {
            path: path.to_owned(),
            start_line: Some(first),
            end_line: Some(last),
            line_numbers: None,
        };
        self.inner.read_file(self.call, &request).ok()
    }

    /// Masks a view without its numbers, each run of consecutive lines together with the lines above.
    fn masked_view(&self, view: &str, plain: &str) -> String {
        let number = |line: &str| Some(i64::try_from(numbered_line(line)?.0).unwrap_or(i64::MAX));
        let lines: Vec<(Option<i64>, &str)> =
            view.split_inclusive('\n').map(number).zip(plain.split_inclusive('\n')).collect();
        let masked = self.mask(plain);
        let mut masked_lines: Vec<Cow<'_, str>> = masked.split_inclusive('\n').map(Cow::Borrowed).collect();
        let follows = |one: &(Option<i64>, &str), next: &(Option<i64>, &str)| {
            one.0.is_some_and(|number| next.0 == number.checked_add(1))
        };
        let mut start = 0;
        for part in lines.chunk_by(follows).filter(|_| self.path.is_some()) {
            let text: String = part.iter().map(|(_, line)| *line).collect();
            if let Some(first) = part[0].0.filter(|first| *first > 1)
                && may_begin_below(&text)
                && let Some(masked) = self.masked_within(&text, first, MOST_LINES_BELOW as i64)
            {
                let pairs = part.iter().zip(masked.split_inclusive('\n')).enumerate();
                for (index, ((_, line), masked)) in pairs.filter(|(_, ((_, line), masked))| line != masked) {
                    if masked_lines[start + index] == *line {
                        masked_lines[start + index] = Cow::Owned(masked.to_owned());
                    }
                }
            }
            start += part.len();
        }
        masked_lines.concat()
    }

    fn lines<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let Some(plain) = without_numbers(text) else { return self.mask(text) };
        let masked = self.masked_view(text, &plain);
        if masked == plain {
            return self.mask(text);
        }
        let mut view = String::with_capacity(text.len());
        for (line, masked) in text.split_inclusive('\n').zip(masked.split_inclusive('\n')) {
            let rest = numbered_line(line).map_or(line.len(), |(_, rest)| rest.len());
            view.push_str(&line[..line.len() - rest]);
            view.push_str(masked);
        }
        // An apparent number may be the start of a value.
        Cow::Owned(self.secrets.mask_rest(&view).into_owned())
    }
}

/// Returns a view without its line numbers, which would separate the lines of a key; `None` if it has none.
fn without_numbers(text: &str) -> Option<String> {
    if !text.split_inclusive('\n').any(|line| numbered_line(line).is_some()) {
        return None;
    }
    let lines = text.split_inclusive('\n');
    Some(lines.map(|line| numbered_line(line).map_or(line, |(_, rest)| rest)).collect())
}

/// Returns output without the words at cuts in it, which may be parts of secrets: on both sides of gaps, and where git
/// cuts lines. Sets `lacks_lines` if parts of the lines next to a gap were left out.
pub(super) fn without_cut_words<'t>(
    secrets: &Secrets,
    output: &'t str,
    lacks_lines: &mut bool,
) -> Cow<'t, str> {
    match without_cut_contexts(secrets, output) {
        Cow::Borrowed(output) => without_words_at_gaps(secrets, output, lacks_lines),
        Cow::Owned(output) => Cow::Owned(without_words_at_gaps(secrets, &output, lacks_lines).into_owned()),
    }
}

/// Checks whether a line stands for omitted output.
pub(super) fn is_gap(line: &str) -> bool {
    line.starts_with(GAP.trim_start()) && line.contains(LEFT_OUT)
}

fn without_words_at_gaps<'t>(secrets: &Secrets, output: &'t str, lacks_lines: &mut bool) -> Cow<'t, str> {
    let mut kept = String::new();
    // The number of finished bytes, the start of the text between two gaps, and the number of gaps so far.
    let mut start = 0;
    let mut gaps = 0;
    let without_start = |text: &'t str, gaps: usize| match gaps {
        0 => text,
        1..=MOST_GAPS => without_cut_start(secrets, text),
        _ => text.split_once('\n').map_or("", |(_, rest)| rest),
    };
    for (at, _) in output.match_indices(GAP) {
        let end = output[at + 1..].find('\n').map_or(output.len(), |length| at + 1 + length + 1);
        if at < start || !output[at..end].contains(LEFT_OUT) {
            continue;
        }
        let before = without_start(&output[start..at], gaps);
        gaps += 1;
        kept.push_str(match gaps {
            ..=MOST_GAPS => without_cut_end(secrets, before),
            _ => before.rsplit_once('\n').map_or("", |(rest, _)| rest),
        });
        kept.push_str(&output[at..end]);
        start = end;
    }
    if gaps == 0 {
        return Cow::Borrowed(output);
    }
    kept.push_str(without_start(&output[start..], gaps));
    if kept.len() == output.len() {
        return Cow::Borrowed(output);
    }
    *lacks_lines = true;
    Cow::Owned(kept)
}
