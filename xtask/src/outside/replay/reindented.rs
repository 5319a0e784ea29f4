//! Lines of another version of a file that are the quoted ones with another indentation, where git sees the quoted ones replaced.

use std::ops::Range;

use super::merge::Replaced;
use super::passage::{Line, Passage, Sign, lines};

/// Returns the passages at their positions in `before`, with the indentation that it has there: each where its lines stand once, or
/// where they stand once with another indentation among the lines by which `before` has replaced them. `None` if one does not.
///
/// Written without the code that is judged.
pub(super) fn reindented(passages: &[Passage], replaced: &[Replaced], before: &str) -> Option<Vec<Passage>> {
    let all = lines(before);
    passages.iter().map(|passage| placed(passage, replaced, &all)).collect()
}

fn placed(passage: &Passage, replaced: &[Replaced], all: &[&str]) -> Option<Passage> {
    let old = passage.old();
    if let Some(at) = only(all, &old, str::trim_end) {
        return Some(Passage { at, lines: passage.lines.clone() });
    }
    let at = only(all, &old, str::trim)?;
    let is_replaced = replaced.iter().any(|Replaced { old, new }| {
        old.start <= passage.at.start
            && passage.at.end <= old.end
            && new.start <= at.start
            && at.end <= new.end
    });
    if !is_replaced {
        return None;
    }
    let pairs = || all[at.clone()].iter().zip(&old).filter(|(_, old)| !old.trim().is_empty());
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let by = |(here, old): (&&str, &&str)| indentation(here) as isize - indentation(old) as isize;
    let shift = pairs().map(by).next()?;
    if !pairs().all(|pair| by(pair) == shift) {
        return None;
    }
    let line = |line: &Line| {
        let text = match (line.sign, line.text.trim().is_empty()) {
            (Sign::Add, false) if shift > 0 => format!("{}{}", " ".repeat(shift.unsigned_abs()), line.text),
            (Sign::Add, false) => line.text.get(shift.unsigned_abs()..)?.to_owned(),
            _ => line.text.clone(),
        };
        Some(Line { sign: line.sign, text })
    };
    Some(Passage { at, lines: passage.lines.iter().map(line).collect::<Option<Vec<_>>>()? })
}

/// Returns the only position of lines, compared by `key`.
fn only(all: &[&str], wanted: &[&str], key: fn(&str) -> &str) -> Option<Range<usize>> {
    let is_same = |window: &[&str]| window.iter().zip(wanted).all(|(one, other)| key(one) == key(other));
    let mut found = all.windows(wanted.len().max(1)).enumerate().filter(|(_, window)| is_same(window));
    match (found.next(), found.next()) {
        (Some((start, _)), None) => Some(start..start + wanted.len()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::passage::{Context, passages};
    use super::*;

    #[test]
    fn lines_are_recognised_in_the_lines_that_replaced_them_only() {
        let passages = passages("a\n  b\n  c\n", "a\n  b\n  d\n", Context::Lines(1));
        let before = "if\n      b\n      c\nend\n";
        let within = [Replaced { old: 0..3, new: 0..4 }];
        let placed = reindented(&passages, &within, before).expect("they are indented anew");
        assert_eq!((placed[0].at.clone(), placed[0].new_lines()), (1..3, vec!["  b", "      d"]));
        let elsewhere = [Replaced { old: 0..3, new: 0..1 }];
        assert_eq!(reindented(&passages, &elsewhere, before), None);
    }
}
