//! The part of a line that fits into a row of the terminal.

use std::ops::Range;

use crate::marks::{Shape, Shapes};

/// The number of cells between two tab stops.
const TAB_CELLS: usize = 4;

/// The maximum number of characters read per cell before the visible part.
const CHARACTERS_PER_CELL: usize = 4;

/// The visible part of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CutLine {
    /// The visible text: nothing in it controls a terminal or is invisible.
    pub text: String,
    /// The width of the text in cells.
    pub cells: usize,
    /// True if the line continues to the right of it.
    pub is_cut: bool,
}

/// Returns at most `width` cells of a line, from the cell `skipped` on.
///
/// Characters that control a terminal, change the direction of writing or are invisible are shown as marks: `␛` for an
/// escape, `⟨202E⟩` for a character without a glyph, including accents without a letter. A reviewer has to see that
/// they are there. The end of the line, `\n` or `\r\n`, is not part of it. Only the part of the line up to the end of
/// the row is read, however long the line is.
///
/// # Example
///
/// ```
/// use review_view::cut_line;
///
/// assert_eq!(cut_line("red: \u{1b}[31m", 0, 20).text, "red: ␛[31m");
/// assert_eq!(cut_line("a\u{202e}b", 0, 20).text, "a⟨202E⟩b");
/// let line = cut_line("let width = 80;", 4, 5);
/// assert_eq!((line.text.as_str(), line.is_cut), ("width", true));
/// ```
#[must_use]
pub fn cut_line(line: &str, skipped: usize, width: usize) -> CutLine {
    let mut row = Row { cut: CutLine::default(), column: 0, visible: skipped..skipped.saturating_add(width) };
    let mut shapes = Shapes::default();
    // Otherwise a line of only combining characters would be read to its end.
    let most = row.visible.end.saturating_add(1).saturating_mul(CHARACTERS_PER_CELL);
    let line = line.strip_suffix("\r\n").or_else(|| line.strip_suffix('\n')).unwrap_or(line);
    for (read, character) in line.chars().enumerate() {
        if read >= most {
            row.cut.is_cut = true;
            break;
        }
        let fits = match shapes.next(character) {
            Shape::Tab => (0..TAB_CELLS - row.column % TAB_CELLS).all(|_| row.put(' ', 1)),
            Shape::Mark(mark) => mark.chars().all(|character| row.put(character, 1)),
            Shape::Combining => row.put(character, 0),
            Shape::Plain(cells) => row.put(character, cells),
        };
        if !fits {
            break;
        }
    }
    row.cut
}

/// A row that is filled from the left.
struct Row {
    cut: CutLine,
    /// The cells before the next character, from the start of the line.
    column: usize,
    visible: Range<usize>,
}

impl Row {
    /// Appends a character. Returns false if it no longer fits.
    fn put(&mut self, character: char, cells: usize) -> bool {
        let start = self.column;
        let end = start + cells;
        if end > self.visible.end {
            self.cut.is_cut = true;
            return false;
        }
        self.column = end;
        if start < self.visible.start {
            // A wide character across the edge leaves a space.
            let spaces = end.saturating_sub(self.visible.start);
            self.cut.text.extend(std::iter::repeat_n(' ', spaces));
            self.cut.cells += spaces;
        } else if cells > 0 || !self.cut.text.is_empty() {
            self.cut.text.push(character);
            self.cut.cells += cells;
        }
        true
    }
}
