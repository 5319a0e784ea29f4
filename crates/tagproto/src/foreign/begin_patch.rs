//! Patches between `*** Begin Patch` and `*** End Patch`, as Codex has models write them.

use super::file_name::plain_name::{is_plain_name, peeled};
use super::hunk_end::is_bullet;
use super::near_form::INDENTED;
use super::unified_diff::Sides;
use super::{ForeignFault, Items, ReplyLine, body_of};
use crate::{Block, IfExists, TextHunk};

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";

/// The advice to write a plain name instead of a decorated one.
const PLAIN_NAME: &str = "write the bare path of the new file after *** Add File:, without quotes, marks or remarks (a path with \
                          such characters only works in CREATE_FILE)";

/// The maximum number of `@@` lines that lead to one hunk. Each of them costs a pass over the file.
const MOST_ANCHORS: usize = 16;

/// Reads the patch that begins with the first of the lines, and returns the number of its lines. A patch that cannot be
/// read whole is one error: the meaning of its other parts may depend on the unreadable one.
pub(super) fn read<'a>(lines: &[ReplyLine<'a>], items: &mut Items<'a>) -> Option<usize> {
    if !begins(lines.first()?.text) {
        return None;
    }
    if let Some(length) = indented_length(lines) {
        let line_number = lines[0].number;
        items.push_fault(&lines[..length], ForeignFault::NearForm { line_number, advice: INDENTED });
        return Some(length);
    }
    let Some(end) = lines.iter().position(|line| is_end(line.text)) else {
        items.push_fault(lines, ForeignFault::NoEnd);
        return Some(lines.len());
    };
    if let Some(line_number) = rest_of_patch(&lines[end + 1..]) {
        // The end of the patch is unknown, so later lines are not certain to be outside of it.
        items.push_fault(lines, ForeignFault::AfterEnd { line_number, end: lines[end].number });
        return Some(lines.len());
    }
    let mut sections = Items { items: Vec::new(), ending: items.ending, fence: items.fence };
    let mut index = 1;
    while index < end {
        let header = &lines[index];
        if header.text.trim().is_empty() {
            index += 1;
            continue;
        }
        let following = &lines[index + 1..end];
        let length = following.iter().take_while(|line| section(line.text).is_none()).count();
        let section_lines = &lines[index..=index + length];
        // Lines of a file cannot occur where a header is required, so whitespace in front of it is ignored.
        let read = match section(header.text.trim_start()) {
            Some((Kind::Add, path)) if !is_plain_name(path) => {
                let fault = ForeignFault::NearForm { line_number: header.number, advice: PLAIN_NAME };
                items.push_fault(&lines[..=end], fault);
                return Some(end + 1);
            }
            Some((Kind::Add, path)) => add(path, section_lines, &mut sections),
            Some((Kind::Delete, path)) => {
                sections.push(section_lines, Block::DeleteFile { path: path.into(), lines: None });
                first_with_text(&section_lines[1..])
            }
            Some((Kind::Update, path)) => update(path, section_lines, &mut sections),
            None => Err(header.number),
        };
        if let Err(line_number) = read {
            items.push_fault(&lines[..=end], ForeignFault::Line { line_number });
            return Some(end + 1);
        }
        index += length + 1;
    }
    if sections.items.is_empty() {
        items.push_fault(&lines[..=end], ForeignFault::Line { line_number: lines[end].number });
    }
    items.items.append(&mut sections.items);
    Some(end + 1)
}

/// Returns the number of lines of the patch that begins with the first of the lines; `None` without a patch, or if another patch
/// begins before its end.
pub(super) fn length(lines: &[ReplyLine<'_>]) -> Option<usize> {
    let rest = lines.split_first().filter(|(first, _)| begins(first.text))?.1;
    let edge = rest.iter().position(|line| is_end(line.text) || line.text.trim_end() == BEGIN)?;
    is_end(rest[edge].text).then_some(edge + 2)
}

/// Returns the number of lines of a patch of which all lines are indented like the first one.
fn indented_length(lines: &[ReplyLine<'_>]) -> Option<usize> {
    let first = lines.first()?.text;
    let indentation = &first[..first.len() - first.trim_start().len()];
    let is_before_end = |line: &ReplyLine<'_>| match line.text.trim().is_empty() {
        true => Some(true),
        false => line.text.strip_prefix(indentation).map(|line| !is_end(line)),
    };
    let before_end = lines.iter().map(is_before_end).take_while(|line| *line == Some(true)).count();
    let ends = !indentation.is_empty() && lines.get(before_end).map(is_before_end) == Some(Some(false));
    ends.then_some(before_end + 1)
}

/// Checks whether a line begins a patch.
pub(super) fn begins(line: &str) -> bool {
    line.trim() == BEGIN
}

/// Checks for the last line of a patch. With a space in front it is a line of the file.
fn is_end(line: &str) -> bool {
    line.trim_end() == END
}

/// Returns the first line after the end of a patch that seems to be part of the patch: then that end may be a line of the file.
fn rest_of_patch(following: &[ReplyLine<'_>]) -> Option<u32> {
    let next = following.iter().find(|line| !line.text.trim().is_empty());
    let is_part = |line: &&ReplyLine<'_>| {
        let is_hunk_line =
            line.text.starts_with(['+', '-']) && !is_bullet(line.text) && !line.text.starts_with("---");
        is_hunk_line || line.text.starts_with("@@") || section(line.text).is_some()
    };
    let before_next_patch = following.iter().take_while(|line| !begins(line.text));
    let other_end = before_next_patch.into_iter().find(|line| is_end(line.text));
    next.filter(is_part).or(other_end).map(|line| line.number)
}

#[derive(Clone, Copy)]
enum Kind {
    Add,
    Delete,
    Update,
}

fn section(line: &str) -> Option<(Kind, &str)> {
    let kinds = [("Add File:", Kind::Add), ("Delete File:", Kind::Delete), ("Update File:", Kind::Update)];
    let rest = line.trim_end().strip_prefix("*** ")?;
    kinds.into_iter().find_map(|(name, kind)| {
        let path = peeled(rest.strip_prefix(name)?);
        (!path.is_empty()).then_some((kind, path))
    })
}

/// Returns the line of the file that a `@@` line names; `None` without a name, or with the numbers of a diff.
fn anchor_line(text: &str) -> Option<&str> {
    let anchor = text.strip_prefix(' ').unwrap_or(text).trim_end();
    let anchor = anchor.strip_suffix("@@").unwrap_or(anchor).trim_end();
    // The line after the numbers of a diff may be cut short, or belong to another function.
    let is_of_diff = anchor.starts_with("-") && anchor.contains(" +") && anchor.contains("@@");
    let is_numbers =
        anchor.split([' ', ',', '-', '+']).all(|part| part.parse::<u32>().is_ok() || part.is_empty());
    (!anchor.trim().is_empty() && anchor != "..." && !is_of_diff && !is_numbers).then_some(anchor)
}

fn first_with_text(lines: &[ReplyLine<'_>]) -> Result<(), u32> {
    lines.iter().find(|line| !line.text.trim().is_empty()).map_or(Ok(()), |line| Err(line.number))
}

fn add<'a>(path: &'a str, lines: &[ReplyLine<'a>], items: &mut Items<'a>) -> Result<(), u32> {
    let added = lines[1..].iter().take_while(|line| line.text.starts_with('+')).count();
    first_with_text(&lines[1 + added..])?;
    let body: Vec<&str> = lines[1..=added].iter().map(|line| &line.text[1..]).collect();
    items.push(
        lines,
        Block::CreateFile { path: path.into(), body: body_of(&body), if_exists: IfExists::ReplaceWithNote },
    );
    Ok(())
}

fn update<'a>(path: &'a str, lines: &[ReplyLine<'a>], items: &mut Items<'a>) -> Result<(), u32> {
    let mut hunks: Vec<(u32, Vec<&str>, Sides<'a>)> = Vec::new();
    let mut moved_to = None;
    for line in &lines[1..] {
        if let Some(to) = line.text.strip_prefix("*** Move to:").filter(|_| hunks.is_empty()) {
            moved_to = Some(to.trim());
            continue;
        }
        // This mark adds nothing: the text to find has to be unique anyway.
        if line.text.trim_end() == "*** End of File" {
            continue;
        }
        if let Some(anchor) = line.text.strip_prefix("@@") {
            let anchor = anchor_line(anchor);
            match hunks.last_mut() {
                // Several such lines can lead to one hunk: a class, and a function of it.
                Some((_, anchors, sides)) if sides.old.is_empty() && sides.new.is_empty() => {
                    anchors.extend(anchor);
                    if anchors.len() > MOST_ANCHORS {
                        return Err(line.number);
                    }
                }
                _ => hunks.push((line.number, anchor.into_iter().collect(), Sides::default())),
            }
            continue;
        }
        if line.text.is_empty() && hunks.is_empty() {
            continue;
        }
        if hunks.is_empty() {
            hunks.push((line.number, Vec::new(), Sides::default()));
        }
        if !hunks.last_mut().is_some_and(|(_, _, sides)| sides.take(line.text)) {
            return Err(line.number);
        }
    }
    if let Some(to) = moved_to {
        items.push_fault(lines, ForeignFault::Rename { from: path.to_owned(), to: to.to_owned() });
        return Ok(());
    }
    let mut texts = Vec::new();
    for (number, mut anchors, sides) in hunks {
        let mut sides = sides.finish();
        if sides.old == sides.new {
            continue;
        }
        let adds_after_anchor = sides.old.is_empty();
        if adds_after_anchor {
            // New lines alone go after the line that the hunk names last.
            let Some(anchor) = anchors.pop() else {
                items.push_fault(lines, ForeignFault::NoContext { line_number: number });
                return Ok(());
            };
            sides.old.push(anchor);
            sides.new.insert(0, anchor);
        }
        let anchors = anchors.into_iter().map(str::to_owned).collect();
        texts.push(TextHunk { anchors, adds_after_anchor, ..TextHunk::of(&sides.old, &sides.new, number) });
    }
    if texts.is_empty() {
        items.push_fault(lines, ForeignFault::Empty { path: path.to_owned() });
    } else {
        items.push(lines, Block::EditText { path: path.into(), within: None, hunks: texts });
    }
    Ok(())
}
