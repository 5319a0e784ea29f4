//! The quoted lines in another version of a file, where they have another indentation.

use std::ops::Range;

use super::merge::{Same, shifted};
use super::passage::{Line, Passage, Sign, lines};

/// Returns the passages at their positions in `before`, with the indentation that it has there: each where its lines stand once, or
/// where they stand once with another indentation and git sees the lines of `as_read`, but for blanks. `None` if one does not.
///
/// Written without the code that is judged.
pub(super) fn reindented(passages: &[Passage], as_read: &str, before: &str) -> Option<Vec<Passage>> {
    passages.iter().map(|passage| placed(passage, as_read, before)).collect()
}

fn placed(passage: &Passage, as_read: &str, before: &str) -> Option<Passage> {
    let (all, old) = (lines(before), passage.old());
    if let Some(at) = only(&all, &old, str::trim_end) {
        return Some(Passage { at, lines: passage.lines.clone() });
    }
    let at = only(&all, &old, str::trim)?;
    if shifted(as_read, before, &passage.at, Same::ButForBlanks)? != at {
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
    let mut positions = all.windows(wanted.len().max(1)).enumerate().filter(|(_, window)| is_same(window));
    match (positions.next(), positions.next()) {
        (Some((start, _)), None) => Some(start..start + wanted.len()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::passage::{Context, passages};
    use super::*;

    #[test]
    fn lines_are_recognised_where_git_sees_them_only() {
        let as_read = "a\n  b\n  c\nend\n";
        let passages = passages(as_read, "a\n  b\n  d\nend\n", Context::Lines(1));
        let before = "a\nif\n      b\n      c\n  end\nend\n";
        let placed = reindented(&passages, as_read, before);
        assert_eq!(placed, None, "the line after is indented otherwise");
        let passage = Passage { at: 1..3, lines: passages[0].lines[..3].to_vec() };
        let placed =
            reindented(std::slice::from_ref(&passage), as_read, before).expect("they are indented anew");
        assert_eq!((placed[0].at.clone(), placed[0].new_lines()), (2..4, vec!["  b", "      d"]));
        let elsewhere = "a\n  b\nend\n      b\n      c\n";
        assert_eq!(reindented(std::slice::from_ref(&passage), as_read, elsewhere), None);
    }
}
