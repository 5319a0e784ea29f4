//! A file that a patch changes: where the chunks stand in it, and what it becomes.

use wap_core::{FileVersion, LineExchange, ReadFileResponse};

use crate::parse::Chunk;

/// The byte-order mark, which belongs to no line.
const MARK: char = '\u{feff}';

/// The text of a file, by lines without their endings.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) version: Option<FileVersion>,
    /// The lines as the chunks so far leave them.
    pub(crate) lines: Vec<String>,
    pub(crate) exchanges: Vec<LineExchange>,
    /// Below this index nothing was looked for yet.
    next: usize,
}

impl Draft {
    pub(crate) fn of(file: &ReadFileResponse) -> Draft {
        let lines = file.content.trim_start_matches(MARK).lines().map(str::to_owned).collect();
        Draft { version: file.version.clone(), lines, exchanges: Vec::new(), next: 0 }
    }

    /// Returns the whole text with the line ending, the mark and the end of the one that it was made from; nothing if that
    /// has several kinds of line endings.
    pub(crate) fn text_like(&self, original: &str) -> Option<String> {
        let (all, windows) = (original.matches('\n').count(), original.matches("\r\n").count());
        let ending = match windows {
            0 => "\n",
            some if some == all => "\r\n",
            _ => return None,
        };
        let mark = if original.starts_with(MARK) { MARK.to_string() } else { String::new() };
        let is_ended = original.is_empty() || original.ends_with('\n');
        Some(mark + &self.lines.join(ending) + if is_ended && !self.lines.is_empty() { ending } else { "" })
    }

    /// Finds a chunk's lines and exchanges them.
    ///
    /// # Errors
    ///
    /// What there is instead, for the model.
    pub(crate) fn take(&mut self, chunk: &Chunk) -> Result<(), String> {
        let mut from = self.next;
        for anchor in &chunk.anchors {
            from = self.anchor(anchor, from)? + 1;
        }
        let at = self.place(chunk, from)?;
        self.lines.splice(at..at + chunk.old.len(), chunk.new.iter().cloned());
        self.next = at + chunk.new.len();
        // Lines that stay are not written again, so that their bytes stay.
        let same = |pair: &(&String, &String)| pair.0 == pair.1;
        let head = chunk.old.iter().zip(&chunk.new).take_while(same).count();
        let (old, new) = (&chunk.old[head..], &chunk.new[head..]);
        let tail = old.iter().rev().zip(new.iter().rev()).take_while(same).count();
        let (old, new) = (old[..old.len() - tail].to_vec(), new[..new.len() - tail].to_vec());
        self.exchanges.push(LineExchange { at: at + head, old, new });
        Ok(())
    }

    fn anchor(&self, anchor: &str, from: usize) -> Result<usize, String> {
        let below = || self.lines.iter().enumerate().skip(from);
        let exact: Vec<usize> = below().filter(|(_, line)| *line == anchor).map(|(at, _)| at).collect();
        let loose = || below().filter(|(_, line)| line.trim() == anchor.trim()).map(|(at, _)| at).collect();
        // Models write an anchor without the blanks before it.
        let found: Vec<usize> = if exact.is_empty() { loose() } else { exact };
        match found[..] {
            [only] => Ok(only),
            [] => Err(format!("the line after @@ is not there below line {from}: {anchor:?}")),
            _ => Err(format!(
                "the line after @@ stands at the lines {}: {anchor:?}; put a line above it on an @@ line before",
                numbers(&found)
            )),
        }
    }

    /// The index at which a chunk's lines stand.
    fn place(&self, chunk: &Chunk, from: usize) -> Result<usize, String> {
        let (old, end) = (&chunk.old, self.lines.len());
        if old.is_empty() {
            // Right below its anchor, else at the end.
            return Ok(if chunk.anchors.is_empty() || chunk.is_at_end { end } else { from });
        }
        let fits = |at: usize, same: &dyn Fn(&str, &str) -> bool| {
            (!chunk.is_at_end || at + old.len() == end)
                && self.lines[at..].iter().zip(old).all(|(line, old)| same(line, old))
        };
        let starts = || from..(end + 1).saturating_sub(old.len()).max(from);
        let found: Vec<usize> = starts().filter(|at| fits(*at, &|line, old| line == old)).collect();
        match found[..] {
            [only] => return Ok(only),
            // The anchor says which of them is meant: the first below it.
            [first, ..] if !chunk.anchors.is_empty() => return Ok(first),
            [] => {}
            _ => {
                let numbers = numbers(&found);
                return Err(format!(
                    "its lines stand more than once, at the lines {numbers}: say with `@@ line` below which line, or add \
                     lines around them"
                ));
            }
        }
        let loose: Vec<usize> =
            starts().filter(|at| fits(*at, &|line, old| line.trim() == old.trim())).collect();
        if let [at] = loose[..]
            && let Some((index, (line, old))) =
                self.lines[at..].iter().zip(old).enumerate().find(|(_, (line, old))| line != old)
        {
            let number = at + index + 1;
            return Err(format!(
                "its lines differ in blanks: line {number} of the file is {line:?}, the patch has {old:?}"
            ));
        }
        let is_new = |at: &usize| !chunk.new.is_empty() && self.lines[*at..].starts_with(&chunk.new);
        if let Some(at) = (0..end).find(is_new) {
            return Err(format!(
                "its lines are not there; what is to come stands at line {} already",
                at + 1
            ));
        }
        let above = (0..from).any(|at| at + old.len() <= end && self.lines[at..].starts_with(old));
        Err(if above {
            format!(
                "its lines stand above line {} only: chunks go from the top of a file to its end",
                from + 1
            )
        } else if chunk.is_at_end {
            "its lines are not the last ones of the file: read the file again".to_owned()
        } else {
            "its lines are not there: read the file again and copy them as they are".to_owned()
        })
    }
}

fn numbers(found: &[usize]) -> String {
    found.iter().map(|index| (index + 1).to_string()).collect::<Vec<_>>().join(", ")
}
