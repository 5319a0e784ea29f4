//! The files that the first message shows without a request, and the lines of each that fit into the budget.
//!
//! Breadth comes before depth: as many files as possible are shown with their most relevant lines, and then the first of them
//! with more lines, or whole.

use wap_core::{FileVersion, LineSpan};

use super::fence;
use super::line_text::escape_name;
use super::structure::{NOT_SHOWN, SUGGESTED};

/// Counts the tokens of a text. The count is at most the sum of the counts of its pieces, and at most the number of its bytes.
pub type TokenCounter = fn(&str) -> u64;

/// A file that matters for the task, in its current version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuggestedFile {
    /// Canonical path.
    pub path: String,
    /// The first lines of the file; all of them unless the file is very long.
    pub text: String,
    /// The version of the file; `None` if the workspace has no versions.
    pub version: Option<FileVersion>,
    /// Lines in the whole file.
    pub total_lines: u64,
    /// Lines to show first, the most relevant first; they may extend beyond the end of the file.
    pub passages: Vec<LineSpan>,
    /// The first lines of definitions, ascending.
    pub outline: Vec<u64>,
    /// The warnings of reading it, such as that secrets are hidden; each is a note after the lines.
    pub warnings: Vec<String>,
    /// The maximum number of tokens that are spent on it.
    pub most_tokens: u64,
}

/// The chosen lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct View {
    /// Index of the file.
    pub(super) file: usize,
    /// The lines, ascending and disjoint; a whole file is one span.
    pub(super) lines: Vec<LineSpan>,
    cost: u64,
}

/// The maximum number of tokens of a file that is shown for breadth.
const BREADTH: u64 = 320;
/// The maximum numbers of tokens of a file that is shown for depth, tried in this order.
const DEPTH: [u64; 4] = [3_000, 1_600, 900, 600];
/// The share of the tokens that breadth may use, in percent.
const BREADTH_SHARE: u64 = 70;
/// The tokens of the number and the bar before a line, and of the fences around a file without its path.
const NUMBER: u64 = 3;
const FENCES: u64 = 40;
/// The maximum number of files that are named because they do not fit.
const NAMED: usize = 10;
/// The maximum number of lines of a passage.
const PASSAGE_LINES: u64 = 40;

/// Chooses the lines of each file, in the order of the files, so that all of them cost at most `tokens`.
pub(super) fn choose(files: &[SuggestedFile], tokens: u64, count: TokenCounter) -> Vec<View> {
    let costs: Vec<Costs<'_>> = files.iter().map(|file| Costs::of(file, count)).collect();
    let mut views: Vec<View> = Vec::new();
    let mut used = 0;
    for (index, costs) in costs.iter().enumerate() {
        let Some((lines, cost)) = costs.within(BREADTH.min(costs.file.most_tokens)) else { continue };
        if used + cost <= tokens * BREADTH_SHARE / 100 {
            used += cost;
            views.push(View { file: index, lines, cost });
        }
    }
    for view in &mut views {
        let costs = &costs[view.file];
        for depth in DEPTH {
            let deeper = costs.within(depth.min(costs.file.most_tokens));
            if let Some((lines, cost)) = deeper
                && cost > view.cost
                && used - view.cost + cost <= tokens
            {
                used = used - view.cost + cost;
                (view.lines, view.cost) = (lines, cost);
                break;
            }
        }
    }
    views
}

/// Returns views of all files: whole, or for a file with a token limit, the lines within as many bytes.
pub(super) fn all(files: &[SuggestedFile]) -> Vec<View> {
    let bytes: TokenCounter = |text| text.len() as u64;
    let whole = |(index, file): (usize, &SuggestedFile)| {
        let (lines, cost) = Costs::of(file, bytes).within(file.most_tokens)?;
        Some(View { file: index, lines, cost })
    };
    files.iter().enumerate().filter_map(whole).collect()
}

/// Writes the views of files, and a line about the files that are left out; returns the lines of each that are shown.
pub(super) fn write<'f>(
    out: &mut String,
    files: &'f [SuggestedFile],
    views: &[View],
) -> Vec<(&'f SuggestedFile, Vec<LineSpan>)> {
    out.push_str(&format!("\n{SUGGESTED}\n"));
    let mut excerpts = Vec::new();
    for View { file, lines, .. } in views {
        let file = &files[*file];
        fence::write_lines_of(out, file, lines);
        excerpts.push((file, lines.clone()));
    }
    let is_shown = |index: usize| views.iter().any(|view| view.file == index);
    let others: Vec<String> = (0..files.len())
        .filter(|index| !is_shown(*index))
        .map(|index| escape_name(&files[index].path))
        .take(NAMED)
        .collect();
    if !others.is_empty() {
        out.push_str(&format!("{NOT_SHOWN}{})\n", others.join(", ")));
    }
    excerpts
}

/// The tokens of each line of a file.
struct Costs<'f> {
    file: &'f SuggestedFile,
    lines: Vec<u64>,
    fences: u64,
}

impl<'f> Costs<'f> {
    fn of(file: &'f SuggestedFile, count: TokenCounter) -> Costs<'f> {
        let lines = file.text.split_inclusive('\n').map(|line| count(line) + NUMBER).collect();
        let warnings: u64 = file.warnings.iter().map(|warning| count(warning) + NUMBER).sum();
        Costs { file, lines, fences: FENCES + 2 * count(&file.path) + warnings }
    }

    /// Returns the most relevant lines that cost at most `most` tokens, and their cost with the fences; `None` if no line fits.
    fn within(&self, most: u64) -> Option<(Vec<LineSpan>, u64)> {
        let total = self.lines.len() as u64;
        let all: u64 = self.lines.iter().sum();
        if all + self.fences <= most {
            return Some((vec![LineSpan { first: 1, last: total }], all + self.fences));
        }
        let mut chosen = Chosen {
            costs: self,
            taken: vec![false; self.lines.len()],
            left: most.checked_sub(self.fences)?,
        };
        let mut passages = self.file.passages.iter();
        chosen.add(passages.next().copied());
        // The outline shows what else the file has, and may use half of the remaining tokens.
        let reserved = chosen.left / 2;
        chosen.left -= reserved;
        for line in &self.file.outline {
            chosen.add(Some(LineSpan { first: *line, last: *line }));
        }
        chosen.left += reserved;
        for passage in passages {
            chosen.add(Some(*passage));
        }
        if !chosen.taken.contains(&true) {
            chosen.add(Some(LineSpan { first: 1, last: PASSAGE_LINES }));
        }
        let lines = spans(&chosen.taken);
        let cost = most - self.fences - chosen.left + self.fences;
        (!lines.is_empty()).then_some((lines, cost))
    }
}

/// The lines chosen so far.
struct Chosen<'c, 'f> {
    costs: &'c Costs<'f>,
    taken: Vec<bool>,
    left: u64,
}

impl Chosen<'_, '_> {
    /// Adds lines from the first one as long as they fit.
    fn add(&mut self, lines: Option<LineSpan>) {
        let Some(LineSpan { first, last }) = lines else { return };
        let last = last.min(first.saturating_add(PASSAGE_LINES - 1)).min(self.taken.len() as u64);
        for line in first.max(1)..=last {
            let index = (line - 1) as usize;
            if self.taken[index] {
                continue;
            }
            let Some(left) = self.left.checked_sub(self.costs.lines[index]) else { return };
            self.left = left;
            self.taken[index] = true;
        }
    }
}

/// Returns the spans of the taken lines.
fn spans(taken: &[bool]) -> Vec<LineSpan> {
    let mut spans: Vec<LineSpan> = Vec::new();
    for (index, _) in taken.iter().enumerate().filter(|(_, is_taken)| **is_taken) {
        let line = index as u64 + 1;
        match spans.last_mut() {
            Some(span) if span.last + 1 == line => span.last = line,
            _ => spans.push(LineSpan { first: line, last: line }),
        }
    }
    spans
}

/// Estimates the tokens of a text: a quarter of its characters, rounded up.
#[must_use]
pub fn estimated_tokens(text: &str) -> u64 {
    (text.chars().count() as u64).div_ceil(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, lines: usize) -> SuggestedFile {
        SuggestedFile {
            path: path.to_owned(),
            text: "fn name() {}\n".repeat(lines),
            version: None,
            total_lines: lines as u64,
            passages: vec![LineSpan { first: 50, last: 52 }],
            outline: vec![1, 20, 21],
            warnings: Vec::new(),
            most_tokens: u64::MAX,
        }
    }

    #[test]
    fn all_files_are_shown_a_little_before_one_is_shown_whole() {
        let files: Vec<SuggestedFile> = (0..6).map(|number| file(&format!("{number}"), 300)).collect();
        let views = choose(&files, 3_000, estimated_tokens);
        assert_eq!(views.iter().map(|view| view.file).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
        let count = |view: &View| view.lines.iter().map(|span| span.last + 1 - span.first).sum::<u64>();
        assert!(count(&views[0]) > 2 * count(&views[5]), "{views:?}");
        for view in &views {
            for line in [1, 20, 21, 50, 51, 52] {
                assert!(
                    view.lines.iter().any(|span| span.first <= line && line <= span.last),
                    "{line} {view:?}"
                );
            }
        }
        assert!(views.iter().map(|view| view.cost).sum::<u64>() <= 3_000);
    }

    #[test]
    fn a_small_file_is_whole_and_a_large_file_is_left_out() {
        let files = [file("small", 4), file("large", 300)];
        let views = choose(&files, 120, estimated_tokens);
        assert_eq!(views.len(), 1);
        assert_eq!(views[0].lines, [LineSpan { first: 1, last: 4 }]);
        assert_eq!(choose(&files, 10, estimated_tokens), []);
    }

    #[test]
    fn lines_beyond_the_end_and_none_are_not_shown() {
        let beyond = SuggestedFile {
            passages: vec![LineSpan { first: 900, last: 910 }, LineSpan { first: 0, last: 1 }],
            outline: vec![700],
            ..file("a", 300)
        };
        let views = choose(&[beyond], 500, estimated_tokens);
        assert_eq!(views[0].lines.first().map(|span| span.first), Some(1));
        assert!(views[0].lines.iter().all(|span| span.last <= 300));
    }
}
