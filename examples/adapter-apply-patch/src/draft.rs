//! A file that a patch changes: the lines of its chunks, and its new text.

use wap_core::{FileVersion, LineExchange, ReadFileResponse};

use crate::parse::Chunk;
use crate::position::Lines;

/// The byte-order mark, which belongs to no line.
const MARK: char = '\u{feff}';

/// The text of a file, by lines without their endings.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) version: Option<FileVersion>,
    /// The lines as the chunks so far leave them.
    pub(crate) lines: Vec<String>,
    pub(crate) exchanges: Vec<LineExchange>,
    /// The ending of each line; `None` for new ones, and for the last one of a file without an ending.
    endings: Vec<Option<&'static str>>,
    /// Below this index nothing was looked for yet.
    next: usize,
}

impl Draft {
    pub(crate) fn of(file: &ReadFileResponse) -> Draft {
        let text = file.content.trim_start_matches(MARK);
        let lines = text.lines().map(str::to_owned).collect();
        let endings = text.split_inclusive('\n').map(ending).collect();
        Draft { version: file.version.clone(), lines, exchanges: Vec::new(), endings, next: 0 }
    }

    /// Returns the whole text as the file would have it: lines that stay keep their endings, new ones get the most common one
    /// of the original, and the last one has an ending if the original's has.
    pub(crate) fn text_like(&self, original: &str) -> String {
        let usual = usual_ending(original);
        let is_ended = original.is_empty() || original.ends_with('\n');
        let mut text = if original.starts_with(MARK) { MARK.to_string() } else { String::new() };
        for (index, (line, ending)) in self.lines.iter().zip(&self.endings).enumerate() {
            text.push_str(line);
            // A blank line without an ending would be no line.
            if index + 1 < self.lines.len() || is_ended || line.is_empty() {
                text.push_str(ending.unwrap_or(usual));
            }
        }
        text
    }

    /// Finds a chunk's lines and exchanges them.
    ///
    /// # Errors
    ///
    /// A description of the file's lines, for the model.
    pub(crate) fn take(&mut self, chunk: &Chunk) -> Result<(), String> {
        let lines = Lines::new(&self.lines);
        let mut from = self.next;
        for anchor in &chunk.anchors {
            from = lines.anchor(anchor, from)? + 1;
        }
        let shorter = chunk.without_blank_end();
        let (at, chunk) = match (lines.position(chunk, from), &shorter) {
            // Added lines without context do not go before a blank line that merely ends the chunk.
            (_, Some(shorter)) if shorter.old.is_empty() => (lines.position(shorter, from)?, shorter),
            (Ok(at), Some(shorter)) if lines.position(shorter, from) != Ok(at) => {
                return Err("only the blank line at its end says where: write that as a line of one blank, or add lines"
                    .to_owned());
            }
            (Ok(at), _) => (at, chunk),
            (Err(why), Some(shorter)) => (lines.position(shorter, from).map_err(|_| why)?, shorter),
            (Err(why), None) => return Err(why),
        };
        self.exchange(at, chunk);
        Ok(())
    }

    fn exchange(&mut self, at: usize, chunk: &Chunk) {
        let mut endings = vec![None; chunk.new.len()];
        let mut done = (0, 0);
        // Lines that stay are not written again, so that their bytes stay.
        for &(old, new) in chunk.kept.iter().chain([&(chunk.old.len(), chunk.new.len())]) {
            if (old, new) != done {
                let (gone, come) = (chunk.old[done.0..old].to_vec(), chunk.new[done.1..new].to_vec());
                self.exchanges.push(LineExchange { at: at + done.1, old: gone, new: come });
            }
            if let Some(ending) = endings.get_mut(new) {
                *ending = self.endings[at + old];
            }
            done = (old + 1, new + 1);
        }
        self.lines.splice(at..at + chunk.old.len(), chunk.new.iter().cloned());
        self.endings.splice(at..at + chunk.old.len(), endings);
        self.next = at + chunk.new.len();
    }
}

/// Returns the ending of a line.
fn ending(line: &str) -> Option<&'static str> {
    ["\r\n", "\n"].into_iter().find(|ending| line.ends_with(ending))
}

/// Returns the ending of most lines of a text; the first of them on a tie.
fn usual_ending(text: &str) -> &'static str {
    let (all, windows) = (text.matches('\n').count(), text.matches("\r\n").count());
    match (windows * 2).cmp(&all) {
        std::cmp::Ordering::Greater => "\r\n",
        std::cmp::Ordering::Less => "\n",
        std::cmp::Ordering::Equal => text.split_inclusive('\n').find_map(ending).unwrap_or("\n"),
    }
}
