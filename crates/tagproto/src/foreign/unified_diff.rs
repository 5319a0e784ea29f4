//! Unified diffs. The line numbers in their hunk headers are ignored, and the counts only matter at the end of a hunk: models
//! count badly, and the text is better evidence.

use std::borrow::Cow;

use super::file_name::plain_name::is_plain_name;
use super::hunk_end::{Counts, HunkEnd, begin_list};
use super::{Ending, ForeignFault, Items, ReplyLine, body_of, diff_name};
use crate::repair::Fence;
use crate::{Block, IfExists, TextHunk};

const NO_FILE: &str = "/dev/null";

/// The start of the hash of an empty text, as the second of two hashes.
const EMPTY_TEXT: &str = "..e69de29";

/// The advice to write a plain name for a new file instead of a decorated one.
const PLAIN_NAME: &str = "write the bare path of the new file after +++ b/, without quotes, marks or remarks (a path with such characters \
                          only works in CREATE_FILE)";

/// The old and new lines of one hunk.
#[derive(Default)]
pub(super) struct Sides<'a> {
    pub(super) old: Vec<&'a str>,
    pub(super) new: Vec<&'a str>,
    /// The number of empty lines at the end without a prefix: they may follow the hunk.
    unprefixed_blank: usize,
    /// True if the hunk says of a line that it has no line ending.
    has_end_mark: bool,
}

impl<'a> Sides<'a> {
    /// Adds a line with its prefix; returns `false` for any other line.
    pub(super) fn take(&mut self, line: &'a str) -> bool {
        match line.as_bytes().first() {
            None => {
                self.old.push("");
                self.new.push("");
            }
            Some(b' ') => {
                self.old.push(&line[1..]);
                self.new.push(&line[1..]);
            }
            Some(b'-') => self.old.push(&line[1..]),
            Some(b'+') => self.new.push(&line[1..]),
            // "\ No newline at end of file": the file keeps its end.
            Some(b'\\') => self.has_end_mark = true,
            Some(_) => return false,
        }
        self.unprefixed_blank = if line.is_empty() { self.unprefixed_blank + 1 } else { 0 };
        true
    }

    /// Checks whether a list begins after an empty line without a prefix, outside of a code fence: the hunk may end before it.
    pub(super) fn may_end_before(&self, lines: &[ReplyLine<'_>], fence: Option<Fence>) -> bool {
        self.unprefixed_blank > 0 && fence.is_none() && begin_list(lines)
    }

    /// Checks whether the reply ends in this hunk, before the number of lines in its header. Models count badly, so a complete
    /// last line that is in the file outweighs the numbers.
    fn may_be_cut_off(&self, counts: Counts, last: ReplyLine<'_>, ending: Ending) -> bool {
        let is_last = last.number == ending.last_line;
        let ends_in_file = last.text.starts_with(' ') && ending.has_line_end;
        let is_short = !ends_in_file && counts.is_short(self) && !counts.are_exceeded(self);
        // Without a line end, a new line may itself be cut, unless the hunk has exactly the lines of its header.
        let may_be_part = !ending.has_line_end && last.text.starts_with(['+', '-']) && !counts.are_met(self);
        is_last && (is_short || may_be_part)
    }

    /// Removes the empty lines at the end that have no prefix.
    pub(super) fn finish(mut self) -> Sides<'a> {
        self.old.truncate(self.old.len() - self.unprefixed_blank);
        self.new.truncate(self.new.len() - self.unprefixed_blank);
        self.unprefixed_blank = 0;
        self
    }
}

/// Reads the part of a diff about one file, if the lines begin with one, and returns the number of its lines.
pub(super) fn read<'a>(lines: &[ReplyLine<'a>], items: &mut Items<'a>) -> Option<usize> {
    let header = Header::read(lines)?;
    let Hunks { hunks, lines: hunk_lines, fault, mut is_cut_off } =
        Hunks::read(&lines[header.lines..], items);
    is_cut_off |= header.is_cut_off() && hunks.iter().all(|(_, sides)| sides.new.is_empty());
    // An unclosed fence is the fence of the diff, and the reply ends in it.
    is_cut_off |= items.ending.open_fence.is_some_and(|fence| fence < lines[0].number);
    let cut_off = || ForeignFault::CutOff { path: header.path().to_owned() };
    let diff_lines = &lines[..header.lines + hunk_lines];
    match fault.or_else(|| (is_cut_off && !header.is_binary).then(cut_off)) {
        Some(fault) => items.push_fault(diff_lines, fault),
        None => push(&header, &hunks, diff_lines, items),
    }
    Some(diff_lines.len())
}

/// The hunks of one file.
#[derive(Default)]
pub(super) struct Hunks<'a> {
    /// The hunks with the lines of their headers.
    hunks: Vec<(u32, Sides<'a>)>,
    pub(super) lines: usize,
    /// The first fault according to the lines after a hunk.
    fault: Option<ForeignFault>,
    /// True if the reply may have been cut off in the last hunk.
    is_cut_off: bool,
}

impl<'a> Hunks<'a> {
    /// Reads the hunks at the start of the lines.
    pub(super) fn read(lines: &[ReplyLine<'a>], items: &Items<'a>) -> Hunks<'a> {
        let mut read = Hunks::default();
        let mut index = 0;
        while lines.get(index).is_some_and(|line| is_hunk_header(line.text)) {
            let number = lines[index].number;
            let counts = Counts::of(lines[index].text);
            index += 1;
            let mut sides = Sides::default();
            // The first line of a list in the hunk, which may follow the diff instead.
            let mut list = None;
            while let Some(line) = lines.get(index)
                && Header::read(&lines[index..]).is_none()
                && !counts.is_end(&lines[index..], &sides, items.fence)
            {
                if sides.may_end_before(&lines[index..], items.fence) {
                    list = list.or(Some(line.number));
                }
                if !sides.take(line.text) {
                    break;
                }
                index += 1;
            }
            let hunk = HunkEnd {
                line_number: number,
                is_short: counts.is_short(&sides),
                is_met: counts.are_met(&sides),
                fence: items.fence,
            };
            index -= sides.unprefixed_blank;
            let list =
                list.filter(|_| !hunk.is_met).map(|line_number| ForeignFault::Unsigned { line_number });
            let fault = || hunk.fault(&lines[index..]);
            read.fault = read.fault.or(list).or_else(fault);
            let sides = sides.finish();
            read.is_cut_off = sides.may_be_cut_off(counts, lines[index - 1], items.ending);
            read.hunks.push((number, sides));
            read.lines = index;
            let blank = lines[index..].iter().take_while(|line| line.text.trim().is_empty()).count();
            if lines.get(index + blank).is_some_and(|line| is_hunk_header(line.text)) {
                index += blank;
            }
        }
        read
    }

    /// Checks whether a hunk removes or adds a line.
    pub(super) fn change(&self) -> bool {
        self.hunks.iter().any(|(_, sides)| sides.old != sides.new)
    }
}

fn push<'a>(header: &Header<'a>, hunks: &[(u32, Sides<'a>)], lines: &[ReplyLine<'a>], items: &mut Items<'a>) {
    let (old, new) = (header.old.as_deref().unwrap_or(NO_FILE), header.new.as_deref().unwrap_or(NO_FILE));
    let path = header.path();
    let own_path = || Cow::Owned(path.to_owned());
    if header.is_binary {
        items.push_fault(lines, ForeignFault::Binary { path: path.to_owned() });
    } else if old != NO_FILE && new != NO_FILE && old != new {
        let (from, to) = (old.to_owned(), new.to_owned());
        let fault = match header.renames {
            true => ForeignFault::Rename { from, to },
            false => ForeignFault::TwoNames { old: from, new: to },
        };
        items.push_fault(lines, fault);
    } else if new == NO_FILE {
        match hunks.iter().find(|(_, sides)| has_text(&sides.new)) {
            // A new line contradicts this: it is not certain that the file is to be removed.
            Some((number, _)) => items.push_fault(lines, ForeignFault::Line { line_number: *number }),
            None => {
                // A diff without hunks, for instance of an empty file, says nothing about the lines.
                let old = || hunks.iter().flat_map(|(_, sides)| &sides.old).map(|line| (*line).to_owned());
                let old = (!hunks.is_empty()).then(|| old().collect());
                items.push(lines, Block::DeleteFile { path: own_path(), lines: old });
            }
        }
    } else if old == NO_FILE && !header.is_by_git && !is_plain_name(path) {
        let line_number = lines[0].number;
        items.push_fault(lines, ForeignFault::NearForm { line_number, advice: PLAIN_NAME });
    } else if old == NO_FILE && !hunks.iter().any(|(_, sides)| has_text(&sides.old)) {
        // An old line contradicts this: then the file exists and is edited.
        let body: Vec<&str> = hunks.iter().flat_map(|(_, sides)| sides.new.iter().copied()).collect();
        items.push(
            lines,
            Block::CreateFile { path: own_path(), body: body_of(&body), if_exists: IfExists::Refuse },
        );
    } else if hunks.iter().all(|(_, sides)| sides.old == sides.new) {
        let has_change = header.changes_mode || hunks.iter().any(|(_, sides)| sides.has_end_mark);
        let path = path.to_owned();
        let fault = if has_change { ForeignFault::NoLine { path } } else { ForeignFault::Empty { path } };
        items.push_fault(lines, fault);
    } else if let Some((number, _)) = hunks.iter().find(|(_, sides)| sides.old.is_empty()) {
        items.push_fault(lines, ForeignFault::NoContext { line_number: *number });
    } else {
        let hunks =
            hunks.iter().map(|(number, sides)| TextHunk::of(&sides.old, &sides.new, *number)).collect();
        items.push(lines, Block::EditText { path: own_path(), within: None, hunks });
    }
}

/// Checks whether any line is not blank. Blank lines without a prefix are on both sides of any diff.
fn has_text(lines: &[&str]) -> bool {
    lines.iter().any(|line| !line.trim().is_empty())
}

pub(super) fn is_hunk_header(line: &str) -> bool {
    line == "@@" || line.starts_with("@@ ")
}

/// Checks whether lines begin with the part of a diff about one file.
pub(super) fn begins(lines: &[ReplyLine<'_>]) -> bool {
    Header::read(lines).is_some()
}

/// The lines before the hunks of one file.
#[derive(Default)]
struct Header<'a> {
    old: Option<Cow<'a, str>>,
    new: Option<Cow<'a, str>>,
    is_binary: bool,
    /// True if the diff renames the file.
    renames: bool,
    /// True if the new name is the one after `diff --git`, which Git wrote, so any character in it is meant.
    is_by_git: bool,
    changes_mode: bool,
    /// True if the new text is empty, by its hash.
    is_empty_file: bool,
    lines: usize,
}

impl<'a> Header<'a> {
    /// Returns the path of the file.
    fn path(&self) -> &str {
        let new = self.new.as_deref().filter(|new| *new != NO_FILE);
        new.or(self.old.as_deref()).unwrap_or(NO_FILE)
    }

    /// Checks whether the text of a new file is required to follow.
    fn is_cut_off(&self) -> bool {
        self.old.as_deref() == Some(NO_FILE) && !self.is_empty_file
    }

    /// Reads `diff --git` with the lines after it, or `---` and `+++` directly before a hunk, perhaps with a blank line.
    fn read(lines: &[ReplyLine<'a>]) -> Option<Header<'a>> {
        let first = lines.first()?.text;
        let mut header = Header::default();
        if let Some(paths) = first.strip_prefix("diff --git ") {
            let (old, new) = diff_name::both(paths)?;
            header.renames = old != new;
            header.is_by_git = true;
            (header.old, header.new, header.lines) = (Some(old), Some(new), 1);
            while let Some(line) = lines.get(header.lines).filter(|line| is_extended(line.text)) {
                let text = line.text;
                if text.starts_with("new file mode") {
                    header.old = Some(Cow::Borrowed(NO_FILE));
                } else if text.starts_with("deleted file mode") {
                    header.new = Some(Cow::Borrowed(NO_FILE));
                } else if text.starts_with("new mode ") {
                    header.changes_mode = true;
                } else if text.starts_with("Binary files ") || text == "GIT binary patch" {
                    header.is_binary = true;
                } else if text.starts_with("index ") && text.contains(EMPTY_TEXT) {
                    header.is_empty_file = true;
                }
                header.lines += 1;
            }
            if header.is_binary {
                // The encoded bytes, up to the blank line after them.
                let rest = &lines[header.lines..];
                header.lines += rest.iter().take_while(|line| is_encoded(line.text)).count();
                return Some(header);
            }
        }
        let [old, new, rest @ ..] = lines.get(header.lines..)? else {
            return (header.lines > 0).then_some(header);
        };
        let named = |line: &'a str, prefix: &str| {
            line.strip_prefix(prefix).map(diff_name::of_line).filter(|name| !name.is_empty())
        };
        if let (Some(old), Some(new)) = (named(old.text, "--- "), named(new.text, "+++ "))
            && let Some(blank) = rest.iter().take(2).position(|line| is_hunk_header(line.text))
            && rest[..blank].iter().all(|line| line.text.trim().is_empty())
        {
            let (old, new) = diff_name::bare(old, new, NO_FILE);
            header.is_by_git = header.new.as_ref() == Some(&new);
            (header.old, header.new) = (Some(old), Some(new));
            header.lines += 2 + blank;
        }
        (header.lines > 0).then_some(header)
    }
}

/// Checks whether a line may occur between `diff --git` and the hunks.
fn is_extended(line: &str) -> bool {
    let starts = [
        "index ",
        "old mode ",
        "new mode ",
        "new file mode ",
        "deleted file mode ",
        "similarity index ",
        "dissimilarity index ",
        "rename from ",
        "rename to ",
        "copy from ",
        "copy to ",
        "Binary files ",
    ];
    line == "GIT binary patch" || starts.iter().any(|start| line.starts_with(start))
}

fn is_encoded(line: &str) -> bool {
    line.starts_with("literal ") || line.starts_with("delta ") || (!line.is_empty() && !line.contains(' '))
}
