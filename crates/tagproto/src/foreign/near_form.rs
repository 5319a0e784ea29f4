//! Edits in forms that are not read, in a reply that has nothing else: the model should learn which form is.

use super::{ForeignFault, Items, ReplyLine, begin_patch, unified_diff, visible_lines};
use crate::Item;
use crate::block::hunk;

const MARKS: &str = "write the marks <<<<<<< SEARCH, ======= and >>>>>>> REPLACE, each alone on its line, below the path of the file";
const INDENTED: &str =
    "begin the lines of an edit at the start of their lines, without blanks or a sign before them";
const IN_JSON: &str = "send the lines of the patch as they are, from *** Begin Patch to *** End Patch";

/// Returns the error of the first edit in a form that is not read; `None` if there is none.
pub(crate) fn near_form(text: &str) -> Option<Item<'_>> {
    let lines = visible_lines(text);
    let (at, advice) = (0..lines.len()).find_map(|at| Some((at, advice(&lines[at..])?)))?;
    let mut items = Items::of_ending(Default::default());
    let line_number = lines[at].number;
    items.push_fault(&lines[at..=at], ForeignFault::NearForm { line_number, advice });
    items.items.pop()
}

fn advice(lines: &[ReplyLine<'_>]) -> Option<&'static str> {
    let line = lines.first()?.text;
    let bare = line.trim_start_matches([' ', '\t', '>']);
    let is_opening = |line: &str| hunk::opening(line).is_some() || begin_patch::begins(line);
    if bare.len() < line.len() {
        let bare_lines = || -> Vec<ReplyLine<'_>> {
            let first = lines.iter().take(LINES_OF_A_HEADER);
            first
                .map(|line| ReplyLine { text: line.text.trim_start_matches([' ', '\t', '>']), ..*line })
                .collect()
        };
        let begins = is_opening(bare) || bare.starts_with("--- ") && unified_diff::begins(&bare_lines());
        return begins.then_some(INDENTED);
    }
    if line.contains("*** Begin Patch\\n") {
        return Some(IN_JSON);
    }
    let is_other_mark =
        line.starts_with("<<<<<<< ") || ["------- SEARCH", "<<<<<<<"].contains(&line.trim_end());
    (is_other_mark && ends_as_hunk(&lines[1..])).then_some(MARKS)
}

/// The lines by which a diff is recognised.
const LINES_OF_A_HEADER: usize = 3;

/// The most lines in which the last mark of a hunk is looked for.
const LINES_OF_A_HUNK: usize = 1000;

fn ends_as_hunk(lines: &[ReplyLine<'_>]) -> bool {
    let mut lines = lines.iter().take(LINES_OF_A_HUNK);
    lines.any(|line| line.text.trim_end() == "=======")
        && lines.any(|line| line.text.starts_with(">>>>>>>") || line.text.starts_with("+++++++ REPLACE"))
}
