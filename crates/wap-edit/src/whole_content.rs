//! The content of a whole file that is not its text.

use text_edit::Source;
use wap_core::{FileKind, Reason, WapError};

use crate::counted_lines::{in_sequence, is_printed_code};
use crate::diff_prefixes::{has_header, is_diff};
use crate::view_numbers::{is_short, label};

/// Refuses a content that is a diff, or code with the numbers of its lines, over a file that is not so itself.
///
/// # Errors
///
/// [`Reason::InvalidField`] for a content that begins with the headers of a diff, in a file of code or in the file that they name,
/// and for code whose lines all begin with consecutive numbers.
pub fn check_whole_content(path: &str, old: Option<&[u8]>, content: &str) -> Result<(), WapError> {
    let old = old.and_then(|old| Source::parse(old).ok());
    let was = |is_of_kind: &dyn Fn(&str) -> bool| old.as_ref().is_some_and(|old| is_of_kind(&old.text()));
    let refused = |text: String| {
        Err(WapError::new(Reason::InvalidField, text).with("field", "content").with("path", path))
    };
    if is_diff(path, content) && !was(&|old| has_header(path, old)) {
        return refused(
            "content begins with the headers of a diff (@@), which are not part of the file: send the whole text of the file, or \
             edit its lines. If a diff is its text, write it with a command"
                .to_owned(),
        );
    }
    if let Some(first) = first_number(path, content)
        && !was(&|old| first_number(path, old).is_some())
    {
        return refused(format!(
            "content begins its lines with numbers ('{first}'), which are not part of the file: send the lines without them. If \
             such lines are text of the file, write it with a command"
        ));
    }
    Ok(())
}

/// Returns the first number of code whose lines all begin with consecutive ones.
fn first_number(path: &str, text: &str) -> Option<String> {
    if !is_short(text) {
        return None;
    }
    let lines: Vec<&str> = text.lines().collect();
    let numbered = in_sequence(&lines).filter(|numbered| is_printed_code(FileKind::of(path), numbered))?;
    numbered.first().copied().map(label)
}
