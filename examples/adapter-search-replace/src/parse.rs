//! The text of a reply as blocks. This half does not use a workspace.

use crate::apply::Refusal;

/// One block: lines to find in a file, and their replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The file, as the model spelled it.
    pub path: String,
    /// The lines to find, without their endings; none for a new file.
    pub search: Vec<String>,
    /// The lines that replace them.
    pub replace: Vec<String>,
    /// The line of the reply at which the block begins, 1-based.
    pub line_number: usize,
}

/// The numbers of signs that a mark may have: usually seven. All marks of a block have the same number.
const SIGNS: std::ops::RangeInclusive<usize> = 5..=9;

/// A path on a line of its own.
struct Said {
    path: String,
    /// True if the line can hardly be anything but a path.
    is_plain: bool,
    /// True if a file may be created under this name: not under a word of prose.
    may_be_new: bool,
}

/// Reads all blocks of a reply; the text between them is prose.
///
/// # Errors
///
/// [`Refusal`]. A reply with one bad block is refused as a whole: what the others mean may depend on it.
pub fn parse(reply: &str) -> Result<Vec<Block>, Refusal> {
    let (mut blocks, mut said) = (Vec::<Block>::new(), None);
    let mut lines = reply.lines().zip(1..);
    while let Some((line, line_number)) = lines.next() {
        if let Some(signs) = SIGNS.into_iter().find(|signs| is_mark(line, '<', *signs)) {
            let mut part = |end: char| {
                let mut part = Vec::new();
                loop {
                    match lines.next() {
                        Some((line, _)) if is_mark(line, end, signs) => return Ok(part),
                        // A second one: either may be the one that divides the parts.
                        Some((line, _)) if is_mark(line, '=', signs) => {
                            return Err(Refusal::DividedTwice(line_number));
                        }
                        Some((line, _)) if !['<', '>'].iter().any(|sign| is_mark(line, *sign, signs)) => {
                            part.push(line.to_owned());
                        }
                        _ => return Err(Refusal::NotWhole(line_number)),
                    }
                }
            };
            let (search, replace) = (part('=')?, part('>')?);
            let path = match said.take() {
                Some(Said { may_be_new: false, .. }) if search.is_empty() => None,
                Some(Said { path, .. }) => Some(path),
                None => blocks.last().map(|block| block.path.clone()),
            };
            let path = path.ok_or(Refusal::NoPath(line_number))?;
            blocks.push(Block { path, search, replace, line_number });
        } else if line.trim().is_empty() {
            said = said.filter(|said| said.is_plain);
        } else if !is_fence(line) {
            // The last line before the block counts, or the one before the fence around it.
            said = Said::on(line);
        }
    }
    if blocks.is_empty() { Err(Refusal::NoBlock) } else { Ok(blocks) }
}

/// Checks whether a line begins (`<`), divides (`=`) or ends (`>`) a block with so many signs in its marks.
fn is_mark(line: &str, sign: char, signs: usize) -> bool {
    let word = line.trim_end().trim_start_matches(sign);
    line.trim_end().len() - word.len() == signs
        && word
            == match sign {
                '<' => " SEARCH",
                '>' => " REPLACE",
                _ => "",
            }
}

/// Checks whether a line is a fence around a block: backticks, tildes, or a tag alone, such as `<source>`.
fn is_fence(line: &str) -> bool {
    let line = line.trim();
    let tag = line.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    let name = tag.map(|tag| tag.trim_start_matches('/').split(' ').next().unwrap_or_default());
    line.starts_with("```")
        || line.starts_with("~~~")
        || name.is_some_and(|name| {
            name.chars().all(|one| one.is_alphanumeric() || matches!(one, '-' | '_' | ':'))
        })
}

impl Said {
    fn on(line: &str) -> Option<Said> {
        let line = line.trim();
        let path = line.trim_matches(['`', '*', '#', ':', ' ']).to_owned();
        let is_plain = line.contains('`') || path.contains('/') || path.trim_end_matches('.').contains('.');
        let is_bare = path == line && path.ends_with(|last: char| last.is_alphanumeric());
        let is_one = !path.is_empty() && !path.contains(' ');
        is_one.then_some(Said { path, is_plain, may_be_new: is_plain || is_bare })
    }
}
