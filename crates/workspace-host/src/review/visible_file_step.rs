//! The change of a file as a model may see it.

use change_review::FileStep;

use crate::SecretRules;

/// Stands for lines whose whole text is missing.
const NOT_SHOWN: &str = "(lines that are not shown, since the whole text is not kept)\n";

/// Returns a change of a file with its path, its texts and the lines of its hunks as a model may see them; the hunks are those of the
/// real texts.
///
/// The texts are masked whole and the hunks take their lines from them: lines from the middle of a key are not
/// recognised by themselves.
#[must_use]
pub fn visible_file_step(file: &FileStep, rules: &SecretRules) -> FileStep {
    if rules.secrets.is_none() {
        return file.clone();
    }
    let sides = [&file.before, &file.after].map(|side| side.as_deref().map(|text| Side::of(text, rules)));
    let mut hunks = file.hunks.clone();
    for hunk in &mut hunks {
        let ranges = [(hunk.old_first, hunk.old_count), (hunk.new_first, hunk.new_count)];
        let texts = [&mut hunk.old_text, &mut hunk.new_text];
        for ((side, (first, count)), text) in sides.iter().zip(ranges).zip(texts) {
            let visible = side.as_ref().and_then(|side| side.lines(first, count, text));
            *text = visible.unwrap_or_else(|| NOT_SHOWN.repeat(count.min(1)));
        }
    }
    let [before, after] = sides.map(|side| side.map(|side| side.masked));
    FileStep {
        path: rules.mask_file_text(&file.path),
        before,
        after,
        hunks,
        note: file.note.as_ref().map(|note| rules.mask_rest(note)),
        ..file.clone()
    }
}

/// A text and its masked form, which has the same number of lines.
struct Side<'a> {
    plain: Vec<&'a str>,
    masked: String,
    /// The first byte of each line of the masked text, and its end.
    starts: Vec<usize>,
}

impl<'a> Side<'a> {
    fn of(text: &'a str, rules: &SecretRules) -> Side<'a> {
        let masked = rules.mask_file_text(text);
        let mut starts = vec![0];
        for line in masked.split_inclusive('\n') {
            starts.push(starts[starts.len() - 1] + line.len());
        }
        Side { plain: text.split_inclusive('\n').collect(), masked, starts }
    }

    /// Returns `count` lines from the line `first` on, 1-based; `None` if they are not those of `expected`.
    fn lines(&self, first: usize, count: usize, expected: &str) -> Option<String> {
        let start = first.checked_sub(1)?;
        let end = start.checked_add(count)?;
        let is_expected = self.plain.len() + 1 == self.starts.len()
            && self.plain.get(start..end).is_some_and(|lines| lines.concat() == expected);
        is_expected.then(|| self.masked[self.starts[start]..self.starts[end]].to_owned())
    }
}
