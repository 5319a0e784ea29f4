//! Line numbers in front of the lines of a file body.

use crate::repair::file_kind::FileKind;

/// The result of looking for line numbers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Gutter<'a> {
    /// No line numbers; numbers at the start of lines are content.
    None,
    /// Numbers on every line; holds the bare lines.
    All(Vec<&'a str>),
    /// Numbers that cannot be separated from the text, with the index of the line that prevents it.
    Incomplete { line_index: usize },
}

/// A line that begins with a number.
struct Numbered<'a> {
    number: u64,
    separator: char,
    has_space_before_separator: bool,
    rest: &'a str,
}

/// The minimum number of numbered lines for a gutter; fewer are content.
const FEWEST: usize = 3;

/// Looks for consecutive numbers from `first` on.
///
/// The text after the numbers distinguishes a gutter from numbered content: code has an indented or an empty line.
pub(crate) fn without<'a>(lines: &[&'a str], first: u64, file: FileKind) -> Gutter<'a> {
    let Some(start) = lines.first().and_then(|line| numbered(line)).filter(|start| start.number == first)
    else {
        return Gutter::None;
    };
    let is_content = match file {
        FileKind::Table => true,
        FileKind::Yaml => start.separator == ':',
        _ => false,
    };
    if is_content || lines.len() < FEWEST {
        return Gutter::None;
    }
    let mut in_sequence = Vec::with_capacity(lines.len());
    let mut first_gap = None;
    // A gap counts once a numbered line follows it: lines after the last number may be text.
    let mut has_gap_between = false;
    for (index, line) in lines.iter().enumerate() {
        match numbered(line) {
            Some(line)
                if line.number == first + in_sequence.len() as u64 && line.separator == start.separator =>
            {
                has_gap_between |= first_gap.is_some();
                in_sequence.push(line);
            }
            // A number out of sequence: a list, a table, or data.
            Some(_) => return Gutter::None,
            None => first_gap = first_gap.or(Some(index)),
        }
    }
    if in_sequence.len() < FEWEST {
        return Gutter::None;
    }
    match first_gap {
        None => unnumbered(&in_sequence),
        Some(line_index) if has_gap_between && matches!(start.separator, '|' | '│') => {
            Gutter::Incomplete { line_index }
        }
        Some(_) => Gutter::None,
    }
}

fn numbered(line: &str) -> Option<Numbered<'_>> {
    let from_digits = line.trim_start_matches(' ');
    let after_digits = from_digits.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = from_digits[..from_digits.len() - after_digits.len()].parse().ok()?;
    let at_separator = after_digits.trim_start_matches(' ');
    let separator = at_separator.chars().next().filter(|c| matches!(c, '|' | '│' | ':' | '\t'))?;
    let rest = &at_separator[separator.len_utf8()..];
    Some(Numbered {
        number,
        separator,
        has_space_before_separator: at_separator.len() < after_digits.len(),
        rest,
    })
}

/// Removes the gutter, with the single space that may belong to it.
fn unnumbered<'a>(lines: &[Numbered<'a>]) -> Gutter<'a> {
    let leading = |line: &Numbered<'_>| line.rest.len() - line.rest.trim_start_matches(' ').len();
    let with_text = lines.iter().enumerate().filter(|(_, line)| !line.rest.trim().is_empty());
    let (line_index, fewest) = with_text
        .map(|(index, line)| (index, leading(line)))
        .min_by_key(|(_, spaces)| *spaces)
        .unwrap_or((0, 0));
    let tabbed = lines.iter().all(|line| line.separator == '\t');
    let has_space = match fewest {
        _ if tabbed => false,
        0 => false,
        1 => true,
        // Every line is indented. `12 | text` has a space on both sides; after `12:` an odd number of spaces is one plus an
        // indentation, while an even number proves nothing.
        _ if lines.iter().all(|line| line.has_space_before_separator) => true,
        odd if odd % 2 == 1 => true,
        _ => return Gutter::Incomplete { line_index },
    };
    let bare = |line: &Numbered<'a>| line.rest.strip_prefix(' ').filter(|_| has_space).unwrap_or(line.rest);
    let bare: Vec<&str> = lines.iter().map(bare).collect();
    // A numbered list has neither empty nor indented items.
    let is_code = bare.iter().any(|line| line.trim().is_empty() || line.starts_with([' ', '\t']));
    if is_code { Gutter::All(bare) } else { Gutter::None }
}
