//! Lines that all begin with consecutive numbers, as programs print the lines of a file.

use text_edit::NumberedLine;
use wap_core::FileKind;

/// The separator that code and YAML have after a number themselves.
pub(crate) const COLON: &str = ":";

/// Splits lines that all begin with consecutive numbers and the same bar, in the form of any program. The number of a blank line
/// may have lost its bar. `None` for other lines.
pub(crate) fn in_sequence<'l>(lines: &[&'l str]) -> Option<Vec<NumberedLine<'l>>> {
    let first = lines.first().and_then(|line| NumberedLine::of_any_form(line))?;
    let numbered = |(line, number): (&&'l str, u64)| {
        let blank = || {
            let bare = line.trim();
            let is_of_digits = bare.bytes().all(|byte| byte.is_ascii_digit());
            let width = line.trim_end().len();
            let number = bare.parse().ok().filter(|_| is_of_digits)?;
            Some(NumberedLine { number, text: "", width, digits: bare.len(), bar: first.bar })
        };
        let numbered = NumberedLine::of_any_form(line).or_else(blank)?;
        (numbered.number == number && numbered.bar == first.bar).then_some(numbered)
    };
    lines.iter().zip(first.number..).map(numbered).collect()
}

/// Checks whether lines in sequence are code as a program prints it, whatever the first number: there are several, and the text of
/// one is indented.
pub(crate) fn is_printed_code(kind: FileKind, numbered: &[NumberedLine<'_>]) -> bool {
    let is_fit = |line: &NumberedLine<'_>| match line.bar {
        COLON => kind.is_code() && line.width == line.digits,
        _ => kind.is_code() || kind == FileKind::Yaml,
    };
    numbered.len() >= 2
        && numbered.iter().all(is_fit)
        && numbered.iter().any(|line| is_indented(line.text) && !line.text.trim().is_empty())
}

/// Checks for the indentation of code. A single space may belong to the bar.
pub(crate) fn is_indented(text: &str) -> bool {
    text.starts_with("  ") || text.starts_with('\t')
}
