//! The numbers of our own views in front of the lines of a body: `12|    return x`.
//!
//! Unlike the gutters of other programs, a view has no blank behind its bar, so that the text behind it is certain. What
//! the numbers cannot prove is left as it is, or fails the block; content is never taken for a number.

use wap_core::numbered_line;

use crate::repair::file_kind::FileKind;

/// The result of looking for the numbers of a view.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ViewNumbers<'a> {
    /// There are none; numbers at the start of lines are content.
    None,
    /// They fit, and these are the lines without them.
    Fit(Vec<&'a str>),
    /// They fit the lines of an edit. The workspace takes them off, unless the file has such numbers itself.
    OfFile,
    /// They are not those of this body, or the start of the text behind them is uncertain.
    Unfit,
}

/// The fewest lines whose numbers are those of a view in a file of unknown kind.
const FEWEST: usize = 3;

/// The fewest lines of code whose consecutive numbers belong to a view although they begin elsewhere.
const FEWEST_ELSEWHERE: usize = 2;

/// Looks for consecutive numbers on all lines. `first` is the number that the first line has in the file, and `is_edit` is
/// whether the lines replace others of it.
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
    // A list has neither blank nor indented items.
    let has_shape = lines.len() >= FEWEST
        && bare.iter().any(|line| line.trim().is_empty() || line.starts_with([' ', '\t']));
    if is_edit {
        return if has_uncertain_blank(&bare) { ViewNumbers::Unfit } else { ViewNumbers::OfFile };
    }
    // A new file may count its lines.
    if !is_code && !has_shape {
        return ViewNumbers::None;
    }
    // Text apart from Markdown may be a listing that has such numbers.
    let may_be_listing = !is_code && file != FileKind::Markdown;
    match has_uncertain_blank(&bare) || may_be_listing {
        true => ViewNumbers::Unfit,
        false => ViewNumbers::Fit(bare),
    }
}

/// Checks that all bars stand in one column, or that no number has a blank before it, as after trimming.
fn is_aligned(lines: &[&str]) -> bool {
    let mut columns = lines.iter().map(|line| line.find('|'));
    let first = columns.next();
    columns.all(|column| Some(column) == first) || lines.iter().all(|line| !line.starts_with(' '))
}

/// Checks whether each line has an odd number of blanks in front, one of which may be a blank behind the bar that a
/// writer added. The lines of a comment such as ` * text` have one blank of their own.
fn has_uncertain_blank(bare: &[&str]) -> bool {
    let texts = || bare.iter().filter(|line| !line.trim().is_empty());
    let blanks = |line: &&&str| line.len() - line.trim_start_matches(' ').len();
    let fewest = texts().map(|line| blanks(&line)).min().unwrap_or(0);
    fewest % 2 == 1
        && !texts().filter(|line| blanks(line) == fewest).all(|line| line.trim_start().starts_with('*'))
}
