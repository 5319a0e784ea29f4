//! The text of a reply as blocks. This half knows no workspace.

use crate::apply::Refusal;

/// One block: lines to find in a file, and those to put in their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The file, as the model spelled it.
    pub path: String,
    /// The lines to find, without their endings; none for a new file.
    pub search: Vec<String>,
    /// The lines to put there.
    pub replace: Vec<String>,
    /// The line of the reply at which the block begins, 1-based.
    pub line_number: usize,
}

/// What begins and ends a block; the first cannot stand in one.
const MARKS: [&str; 2] = ["<<<<<<< SEARCH", ">>>>>>> REPLACE"];

/// Reads all blocks of a reply; what stands between them is prose.
///
/// # Errors
///
/// [`Refusal`]. A reply with one bad block is refused as a whole: what the others mean may depend on it.
pub fn parse(reply: &str) -> Result<Vec<Block>, Refusal> {
    let (mut blocks, mut said) = (Vec::<Block>::new(), None);
    let mut lines = reply.lines().zip(1..);
    while let Some((line, line_number)) = lines.next() {
        if line.trim_end() == MARKS[0] {
            let path = said.take().or_else(|| Some(blocks.last()?.path.clone()));
            let path = path.ok_or(Refusal::NoPath(line_number))?;
            let mut part = |end: &str| {
                let mut part = Vec::new();
                loop {
                    match lines.next() {
                        Some((line, _)) if line.trim_end() == end => return Ok(part),
                        Some((line, _)) if !MARKS.contains(&line.trim_end()) => part.push(line.to_owned()),
                        _ => return Err(Refusal::NotWhole(line_number)),
                    }
                }
            };
            blocks.push(Block { path, search: part("=======")?, replace: part(MARKS[1])?, line_number });
        } else if !line.trim_start().starts_with("```") {
            // The line just before the block counts, or the one before the fence around it.
            let name = line.trim().trim_matches(['`', '*', '#', ':', ' ']);
            said = (!name.is_empty() && !name.contains(' ')).then(|| name.to_owned());
        }
    }
    if blocks.is_empty() { Err(Refusal::NoBlock) } else { Ok(blocks) }
}
