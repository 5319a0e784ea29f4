//! SEARCH/REPLACE hunks under a file name, as aider has models write them.

use super::file_name::FileName;
use super::{ForeignFault, Items, ReplyLine, body_of};
use crate::block::hunk;
use crate::{Block, IfExists, TextHunk};

/// Reads the hunk that begins with the first of the lines, and returns the number of its lines.
pub(super) fn read<'a>(
    lines: &[ReplyLine<'a>],
    name: &mut FileName<'a>,
    items: &mut Items<'a>,
) -> Option<usize> {
    let first = lines.first()?;
    let mark_length = hunk::opening(first.text)?;
    let (search, replacement, read) = match hunk::parts(lines[1..].iter().map(|line| line.text), mark_length)
    {
        Ok(parts) => parts,
        Err(fault) => {
            // The end of the hunk is unknown, so later lines are not certain to be outside of it.
            items.push_fault(lines, ForeignFault::Hunk { line_number: first.number, fault });
            return Some(lines.len());
        }
    };
    let edit = &lines[..=read];
    let (search, has_position) = match without_position(&search) {
        Some(rest) => (rest, true),
        None => (&search[..], false),
    };
    let Some(path) = name.of_hunk(search, &replacement) else {
        items.push_fault(edit, name.fault(first.number));
        return Some(read + 1);
    };
    if search.is_empty() && has_position {
        items.push_fault(edit, ForeignFault::NoContext { line_number: first.number });
    } else if search.is_empty() {
        // In this format, an empty search text means a missing or empty file.
        let (body, if_exists) = (body_of(&replacement), IfExists::Refuse);
        items.push(edit, Block::CreateFile { path: path.into(), body, if_exists });
    } else {
        let hunk = TextHunk::of(search, &replacement, first.number);
        items.push_hunk(edit, path.into(), TextHunk { has_assumed_file: name.is_assumed, ..hunk });
    }
    Some(read + 1)
}

/// Returns the lines to find without the position that Roo has models write before them: `:start_line:4` and a rule. `None`
/// without such a position.
fn without_position<'s, 'a>(search: &'s [&'a str]) -> Option<&'s [&'a str]> {
    let is_number = |line: &str, key: &str| {
        let number = line.strip_prefix(key).map(str::trim);
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()))
    };
    let (first, rest) = search.split_first()?;
    let end = usize::from(rest.first().is_some_and(|line| is_number(line, ":end_line:")));
    let (rule, rest) = rest[end..].split_first()?;
    (is_number(first, ":start_line:") && rule.trim_end() == "-------").then_some(rest)
}
