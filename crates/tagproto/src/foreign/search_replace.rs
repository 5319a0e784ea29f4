//! SEARCH/REPLACE hunks under a file name, as aider has models write them.

use super::{ForeignFault, Items, ReplyLine, body_of};
use crate::block::hunk;
use crate::{Block, TextHunk};

/// The file name that the lines before a hunk give.
#[derive(Default)]
pub(super) struct FileName<'a> {
    last: Option<Candidate<'a>>,
    /// The file of the hunk before.
    current: Option<&'a str>,
}

#[derive(Clone, Copy)]
struct Candidate<'a> {
    path: &'a str,
    /// True if the line can hardly be anything but a path.
    is_plain: bool,
}

impl<'a> FileName<'a> {
    /// Takes note of a line of prose.
    pub(super) fn pass(&mut self, line: &'a str) {
        let line = line.trim();
        if line.is_empty() {
            self.last = self.last.filter(|last| last.is_plain);
        } else if !is_fence(line) {
            let path = line.trim_matches(['`', '*', '#', ':', ' ']);
            let is_plain =
                line.contains('`') || path.contains('/') || path.trim_end_matches('.').contains('.');
            let is_one = !path.is_empty() && !path.contains([' ', '\t', '"']);
            self.last = is_one.then_some(Candidate { path, is_plain });
        }
    }
}

/// Tags around code, which may have its language behind them. Behind another tag stands a file's name perhaps.
const CODE_TAGS: [&str; 5] = ["source", "sourcecode", "code", "codename", "pre"];

/// Checks whether a line stands around a hunk: backticks, tildes, a tag alone, or one around code with its language.
fn is_fence(line: &str) -> bool {
    let is_language = |text: &str| text.chars().all(|sign| sign.is_alphanumeric() || "+#-_".contains(sign));
    let tag = line.strip_prefix('<').and_then(|rest| rest.split_once('>'));
    line.starts_with("```")
        || line.starts_with("~~~")
        || tag.is_some_and(|(name, behind)| {
            !name.contains('<') && (behind.is_empty() || CODE_TAGS.contains(&name) && is_language(behind))
        })
}

/// Reads the hunk that begins with the first of the lines, and returns the number of its lines.
pub(super) fn read<'a>(
    lines: &[ReplyLine<'a>],
    name: &mut FileName<'a>,
    items: &mut Items<'a>,
) -> Option<usize> {
    let first = lines.first()?;
    let signs = hunk::opening(first.text)?;
    let (search, replacement, read) = match hunk::parts(lines[1..].iter().map(|line| line.text), signs) {
        Ok(parts) => parts,
        Err(fault) => {
            // Where it ends is unknown, so that nothing behind it is certain to be outside of it.
            items.push_fault(lines, ForeignFault::Hunk { line_number: first.number, fault });
            return Some(lines.len());
        }
    };
    let own = &lines[..=read];
    let candidate = name.last.take();
    // A file is made under a name that looks like one, and not under a word of prose.
    let named = candidate
        .filter(|candidate| candidate.is_plain || !search.is_empty())
        .map(|candidate| candidate.path);
    let Some(path) = named.or(name.current) else {
        items.push_fault(own, ForeignFault::NoPath);
        return Some(read + 1);
    };
    name.current = Some(path);
    if search.is_empty() {
        items.push(own, Block::CreateFile { path: path.into(), body: body_of(&replacement) });
    } else {
        items.push_hunk(own, path.into(), TextHunk::of(&search, &replacement, first.number));
    }
    Some(read + 1)
}
