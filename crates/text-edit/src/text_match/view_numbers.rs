//! Line numbers in front of lines, as in numbered views: `12|text`, `12 | text`, `12│text`, `12→text`, `12<TAB>text`.

use std::borrow::Cow;

use crate::Source;

/// The separators of a view that no line of code has after a leading number.
const BARS: [&str; 3] = ["|", "│", "→"];

/// Separators that a line may also have itself.
const LOOSE_BARS: [&str; 3] = ["\t", " |", " │"];

/// The separator of a program that prints the lines that it finds.
const COLON: &str = ":";

/// A line with its number in a view.
///
/// # Example
///
/// ```
/// use text_edit::NumberedLine;
///
/// let line = NumberedLine::of("  3→    b = 4").unwrap();
/// assert_eq!((line.number, line.text, line.width), (3, "    b = 4", 3));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberedLine<'l> {
    /// The number.
    pub number: u64,
    /// The line after the number and its bar.
    pub text: &'l str,
    /// The number of characters before the bar: spaces and digits.
    pub width: usize,
    /// The number of digits.
    pub digits: usize,
    /// The bar.
    pub bar: &'static str,
}

impl<'l> NumberedLine<'l> {
    /// Splits a line; `None` for one that does not begin with a number and a bar.
    #[must_use]
    pub fn of(line: &'l str) -> Option<NumberedLine<'l>> {
        let (number, rest) = number(line)?;
        let (bar, text) = BARS.iter().find_map(|bar| Some((*bar, rest.strip_prefix(bar)?)))?;
        Some(NumberedLine::new(line, number, rest, (bar, text)))
    }

    /// Checks whether the number can be that of a view of this width. With more leading spaces it is part of an indented line.
    #[must_use]
    pub fn is_within(&self, width: usize) -> bool {
        self.width <= width.max(self.digits)
    }

    /// Splits a line of a search text, where a match proves that the number is not part of the line: also with spaces around the
    /// bar, or a tab instead of it.
    fn of_searched(line: &'l str) -> Option<NumberedLine<'l>> {
        NumberedLine::of(line).or_else(|| {
            let (number, rest) = number(line)?;
            let (bar, text) = LOOSE_BARS.iter().find_map(|bar| Some((*bar, rest.strip_prefix(bar)?)))?;
            // A blank line may have lost the space after the bar.
            let text = if bar == "\t" { text } else { text.strip_prefix(' ').unwrap_or(text) };
            Some(NumberedLine::new(line, number, rest, (bar, text)))
        })
    }

    /// Splits a line numbered as by any program: also with a loose bar as in a search text, as `5:text`, or as `L5|text`. Lines of
    /// a file may have such forms themselves.
    #[must_use]
    pub fn of_any_form(line: &'l str) -> Option<NumberedLine<'l>> {
        let line = line.strip_prefix('L').filter(|line| NumberedLine::of(line).is_some()).unwrap_or(line);
        NumberedLine::of_searched(line).or_else(|| {
            let (number, rest) = number(line)?;
            Some(NumberedLine::new(line, number, rest, (COLON, rest.strip_prefix(COLON)?)))
        })
    }

    fn new(line: &str, number: u64, rest: &str, (bar, text): (&'static str, &'l str)) -> NumberedLine<'l> {
        let width = line.len() - rest.len();
        let digits = line.trim_start_matches(' ').len() - rest.len();
        NumberedLine { number, text, width, digits, bar }
    }
}

/// Returns the number at the start of a line, and the text after it.
fn number(line: &str) -> Option<(u64, &str)> {
    let line = line.trim_start_matches(' ');
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    Some((line[..digits].parse().ok()?, &line[digits..]))
}

/// Splits lines that all have consecutive numbers; `None` for others.
fn consecutive<'l>(lines: &[&'l str]) -> Option<Vec<NumberedLine<'l>>> {
    let numbered: Vec<NumberedLine<'l>> =
        lines.iter().map(|line| NumberedLine::of_searched(line)).collect::<Option<_>>()?;
    let is_next =
        |pair: &[NumberedLine<'_>]| pair[0].number.checked_add(1).is_some_and(|next| next == pair[1].number);
    numbered.windows(2).all(is_next).then_some(numbered)
}

/// Strips the numbers from lines that all have consecutive ones; `None` for others.
pub(super) fn without(lines: &[&str]) -> Option<String> {
    Some(consecutive(lines)?.iter().flat_map(|line| [line.text, "\n"]).collect())
}

/// Checks whether the numbers of a search text can be those of a view where it matches without them. Rows of the text with such a
/// bar may be what was searched for, unless the numbers are those of the lines.
pub(super) fn can_be_of_view(source: &Source<'_>, search: &[&str], first_line: usize) -> bool {
    let Some(first) = search.first().and_then(|line| NumberedLine::of_searched(line)) else { return false };
    let is_row =
        |line: Cow<'_, str>| NumberedLine::of_searched(&line).is_some_and(|row| row.bar == first.bar);
    !LOOSE_BARS.contains(&first.bar)
        || first.number == first_line as u64
        || !(1..=source.total_lines()).any(|number| source.line_text(number).is_some_and(is_row))
}

/// Checks whether a line begins with a number as in a view of this width.
pub(super) fn is_row(line: &str, width: usize) -> bool {
    NumberedLine::of_searched(line).is_some_and(|line| line.is_within(width))
}

/// Strips the numbers from the replacement of a search text that has such numbers.
///
/// Among rows that begin with a number themselves, a number in front of a new line may be the first field of a row. There, all
/// lines must be numbered, starting with the number of the search text, and the rows must be rows without the numbers too. `None`
/// for others, and elsewhere for a line without a number that has the bar of a numbered one.
pub(super) fn of_replacement<'l>(
    search: &[&str],
    new: &[&'l str],
    is_among_rows: bool,
) -> Option<Vec<&'l str>> {
    let search_lines = consecutive(search)?;
    let width = search_lines.iter().map(|line| line.width).max().unwrap_or(0);
    let of_view = |line: &'l str| NumberedLine::of_searched(line).filter(|line| line.is_within(width));
    if !is_among_rows {
        let has_bar = |line: &&str| search_lines.iter().any(|numbered| has_bar_of(line, numbered));
        if new.iter().any(|line| of_view(line).is_some()) && new.iter().any(has_bar) {
            return None;
        }
        return Some(new.iter().map(|line| of_view(line).map_or(*line, |line| line.text)).collect());
    }
    if !new.iter().any(|line| of_view(line).is_some()) {
        return Some(new.to_vec());
    }
    let numbered = consecutive(new).filter(|numbered| numbered[0].number == search_lines[0].number)?;
    let is_row = |line: &NumberedLine<'_>| is_row(line.text, 0);
    let is_fit = |(index, line): (usize, &NumberedLine<'_>)| {
        let stays_another = search_lines.get(index).is_some_and(|old| !is_row(old));
        is_row(line) || stays_another || search.contains(&new[index])
    };
    let is_certain = numbered.iter().enumerate().all(is_fit);
    is_certain.then(|| numbered.iter().map(|line| line.text).collect())
}

/// Checks whether a line has the bar of a numbered one without a number of its own: after as many spaces, or after a number and a
/// letter, such as `5a|`.
fn has_bar_of(line: &str, numbered: &NumberedLine<'_>) -> bool {
    let bare = line.trim_start_matches(' ');
    let is_empty = line.len() - bare.len()
        == numbered.width + numbered.bar.len() - numbered.bar.trim_start_matches(' ').len()
        && bare.starts_with(numbered.bar.trim_start_matches(' '));
    let rest = bare.trim_start_matches(|first: char| first.is_ascii_digit());
    let has_letter = rest.len() < bare.len()
        && rest
            .strip_prefix(|first: char| first.is_ascii_alphabetic())
            .is_some_and(|rest| rest.starts_with(numbered.bar));
    is_empty || has_letter
}
