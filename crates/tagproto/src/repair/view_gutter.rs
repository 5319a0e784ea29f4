//! The numbers of `agentd`'s views in front of the lines of a body: `12|    return x`.
//!
//! Unlike the gutters of other programs, a view has no space after its bar, so the start of the text is certain. Without proof by
//! the numbers, the body stays unchanged or the block fails; content is never taken for a number.

use wap_core::numbered_line;

use crate::repair::file_kind::FileKind;

/// The result of looking for the numbers of a view.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ViewNumbers<'a> {
    /// No numbers of a view; numbers at the start of lines are content.
    None,
    /// Numbers that fit; holds the bare lines.
    Fit(Vec<&'a str>),
    /// Numbers that fit the lines of an edit. The workspace removes them, unless the file has such numbers itself.
    OfFile,
    /// Numbers of other lines, or numbers for which the start of the text is uncertain.
    Unfit,
}

/// The minimum number of lines whose numbers count as those of a view in a file of unknown kind.
const FEWEST: usize = 3;

/// The minimum number of lines of code whose consecutive numbers belong to a view although they begin elsewhere.
const FEWEST_ELSEWHERE: usize = 2;

/// Looks for consecutive numbers on all lines. `first` is the number of the first line in the file; `is_edit` is true if the
/// lines replace lines of it.
pub(crate) fn without<'a>(lines: &[&'a str], first: u64, is_edit: bool, file: FileKind) -> ViewNumbers<'a> {
    let Some(numbered) = lines.iter().map(|line| numbered_line(line)).collect::<Option<Vec<_>>>() else {
        return ViewNumbers::None;
    };
    let Some((start, _)) = numbered.first() else { return ViewNumbers::None };
    let is_consecutive = numbered.iter().zip(*start..).all(|((number, _), expected)| *number == expected);
    // The rows of a table may count.
    if !is_consecutive || !is_aligned(lines) || file == FileKind::Table {
        return ViewNumbers::None;
    }
    let bare: Vec<&str> = numbered.iter().map(|(_, rest)| *rest).collect();
    let is_code = file.is_code();
    if *start != first {
        let is_of_view = is_code && lines.len() >= FEWEST_ELSEWHERE;
        return if is_of_view { ViewNumbers::Unfit } else { ViewNumbers::None };
    }
    // A list has neither empty nor indented items.
    let has_shape = lines.len() >= FEWEST
        && bare.iter().any(|line| line.trim().is_empty() || line.starts_with([' ', '\t']));
    if is_edit {
        return if has_uncertain_space(&bare) { ViewNumbers::Unfit } else { ViewNumbers::OfFile };
    }
    // A new file may count its lines.
    if !is_code && !has_shape {
        return ViewNumbers::None;
    }
    // Text other than Markdown may be a listing with such numbers.
    let may_be_listing = !is_code && file != FileKind::Markdown;
    match has_uncertain_space(&bare) || may_be_listing {
        true => ViewNumbers::Unfit,
        false => ViewNumbers::Fit(bare),
    }
}

/// Checks that all bars are in one column, or that no number has a space before it, as after trimming.
fn is_aligned(lines: &[&str]) -> bool {
    let mut columns = lines.iter().map(|line| line.find('|'));
    let first = columns.next();
    columns.all(|column| Some(column) == first) || lines.iter().all(|line| !line.starts_with(' '))
}

/// Checks whether the smallest indentation is an odd number of spaces, one of which the model may have added after the bar. The
/// lines of a comment such as ` * text` have one leading space themselves.
fn has_uncertain_space(bare: &[&str]) -> bool {
    let texts = || bare.iter().filter(|line| !line.trim().is_empty());
    let spaces = |line: &&&str| line.len() - line.trim_start_matches(' ').len();
    let fewest = texts().map(|line| spaces(&line)).min().unwrap_or(0);
    fewest % 2 == 1
        && !texts().filter(|line| spaces(line) == fewest).all(|line| line.trim_start().starts_with('*'))
}
