//! Edits by line numbers, compared with a list of lines.

use arbitrary::{Result, Unstructured};
use text_edit::{EditLimits, Lines, Numbering, Operation, Source, apply};

use super::short_lines;

/// Checks that edits by line numbers have the same effect on a text as on a list of its lines, and that every line that the map
/// reports as kept has its old bytes.
pub fn line_edits(data: &[u8]) {
    let mut choices = Unstructured::new(data);
    let Ok((text, operations)) = case(&mut choices) else { return };
    let limits = EditLimits::default();
    let lines: Vec<String> = lines_of(text.as_bytes());
    match apply(text.as_bytes(), &operations, Numbering::Sequential, &limits) {
        Ok(edited) => {
            let wanted = operations.iter().try_fold(lines.clone(), edit);
            let wanted = wanted.unwrap_or_else(|| panic!("{operations:?} do not fit {text:?}"));
            assert_eq!(lines_of(&edited.bytes), wanted, "{operations:?} of {text:?}");
            check_kept(&text, &edited.bytes, &edited.line_map);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    if let Ok(edited) = apply(text.as_bytes(), &operations, Numbering::Original, &limits) {
        check_kept(&text, &edited.bytes, &edited.line_map);
    }
}

fn check_kept(old: &str, new: &[u8], map: &text_edit::LineMap) {
    let (old, new) = (Source::parse(old.as_bytes()).expect("a text"), Source::parse(new).expect("a text"));
    assert_eq!((map.old_lines(), map.new_lines()), (old.total_lines(), new.total_lines()));
    for line in 1..=old.total_lines() {
        if let text_edit::Mapped::Kept(now) = map.map(line) {
            assert_eq!(old.line_text(line), new.line_text(now), "line {line} is line {now}");
        }
    }
}

fn lines_of(bytes: &[u8]) -> Vec<String> {
    let source = Source::parse(bytes).expect("a text");
    (1..=source.total_lines()).map(|line| source.line_text(line).expect("a line").into_owned()).collect()
}

fn case(choices: &mut Unstructured<'_>) -> Result<(String, Vec<Operation>)> {
    let text = short_lines(choices, 12)?;
    let mut operations = Vec::new();
    for _ in 0..choices.int_in_range(1..=5)? {
        let content = Lines::from_content(&short_lines(choices, 3)?);
        let start_line = i64::from(choices.int_in_range(-1_i8..=16)?);
        let end_line = start_line + i64::from(choices.int_in_range(-1_i8..=4)?);
        operations.push(match choices.int_in_range(0..=2)? {
            0 => Operation::Replace { start_line, end_line, content },
            1 => Operation::Insert { after_line: start_line, content },
            _ => Operation::Delete { start_line, end_line },
        });
    }
    Ok((text, operations))
}

/// Applies one operation to a list of lines; `None` if its numbers are not in the list.
fn edit(mut lines: Vec<String>, operation: &Operation) -> Option<Vec<String>> {
    let (range, content) = match operation {
        Operation::Replace { start_line, end_line, content } => {
            (range(&lines, *start_line, *end_line)?, Some(content))
        }
        Operation::Delete { start_line, end_line } => (range(&lines, *start_line, *end_line)?, None),
        Operation::Insert { after_line, content } => {
            let at = usize::try_from(*after_line).ok()?.min(lines.len());
            (at..at, Some(content))
        }
        Operation::ReplaceText { .. } | Operation::RegexReplace { .. } => return None,
    };
    let new: Vec<String> =
        content.map(|content| content.iter().map(str::to_owned).collect()).unwrap_or_default();
    lines.splice(range, new);
    Some(lines)
}

fn range(lines: &[String], start_line: i64, end_line: i64) -> Option<std::ops::Range<usize>> {
    let (start, end) = (usize::try_from(start_line).ok()?, usize::try_from(end_line).ok()?);
    (start >= 1 && start <= end && start <= lines.len()).then(|| start - 1..end.min(lines.len()))
}
