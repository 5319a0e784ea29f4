//! Code fences that are indented, as models write them in the items of a list.

use std::borrow::Cow;

use super::ReplyLine;
use crate::repair::Fence;

/// Removes the indentation of the fence that begins with the line at `index` from all its lines, as Markdown does. Leaves a fence
/// without an end, with another fence in it, or with a line that is indented less: the indentation of its text is not certain.
pub(super) fn remove_indentation(lines: &mut Cow<'_, [ReplyLine<'_>]>, index: usize) {
    let Some((indentation, length)) = extent(&lines[index..]) else { return };
    for line in &mut lines.to_mut()[index..index + length] {
        line.text = line.text.strip_prefix(indentation).unwrap_or_default();
    }
}

/// Returns the indentation of the fence that begins with the first of the lines, and the number of its lines. Stops at the next
/// fence, so that each line is read once.
fn extent<'a>(lines: &[ReplyLine<'a>]) -> Option<(&'a str, usize)> {
    let (first, rest) = lines.split_first()?;
    let bare = first.text.trim_start_matches([' ', '\t']);
    let indentation = first.text.strip_suffix(bare).filter(|indentation| !indentation.is_empty())?;
    let opening = Fence::read(bare)?;
    for (index, line) in rest.iter().enumerate() {
        if line.text.trim().is_empty() {
            continue;
        }
        if let Some(fence) = Fence::read(line.text.strip_prefix(indentation)?) {
            return fence.closes(opening).then_some((indentation, index + 2));
        }
    }
    None
}
